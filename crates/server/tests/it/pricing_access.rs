//! Access to the pricing tools: each refusal has its own message and counter, and none shows a
//! token.

use std::path::Path;

use serde_json::{Value, json};

use crate::contract_examples::every_scope;
use crate::pricing_path::{OPTIMIZER, ask, mint};
use crate::process::{Folder, Server, run, stoa};

/// Arguments that are invalid as well: the credential is checked first.
fn nonsense() -> Value {
    json!({ "sku": 7, "our_price": "dear", "colour": "red" })
}

struct House {
    server: Server,
    folder: Folder,
    tokens: Vec<String>,
}

impl House {
    async fn refusal(&self, token: Option<&Value>, args: Value) -> String {
        let mut args = args;
        if let Some(token) = token {
            args["capability_token"] = token.clone();
        }
        let said = ask(&self.server.url(OPTIMIZER), None, "propose_price", args).await.unwrap();
        let error = said.unwrap_err();
        let shown = error.to_string();
        assert!(self.tokens.iter().all(|it| !shown.contains(it.as_str())), "{shown}");
        assert_eq!(
            (&error["ok"], &error["error_code"]),
            (&json!(false), &json!("auth_error")),
            "{error}"
        );
        error["message"].as_str().unwrap().to_owned()
    }

    fn minted(&mut self, args: &[&str]) -> Value {
        self.kept(mint(self.folder.path(), args))
    }

    fn kept(&mut self, token: String) -> Value {
        self.tokens.push(token.clone());
        Value::from(token)
    }

    /// Repeats the call until it is refused with this message, because time has to pass.
    async fn until(&self, token: &Value, told: &str) {
        for _ in 0..600 {
            let mut args = nonsense();
            args["capability_token"] = token.clone();
            let said = ask(&self.server.url(OPTIMIZER), None, "propose_price", args).await.unwrap();
            let error = said.unwrap_err();
            if error["error_code"] == "auth_error" {
                assert!(error["message"].as_str().unwrap().contains(told), "{error}");
                return;
            }
            assert_eq!(error["error_code"], "validation_error", "{error}");
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        panic!("the token never became {told}");
    }
}

#[tokio::test]
async fn every_refusal_has_its_own_words_and_is_counted() {
    let folder = Folder::new();
    let settings = [("STOA_LOG", "debug"), ("STOA_RATE_PER_SECOND", "0")];
    let server = Server::start(folder.path(), &settings);
    let mut house = House { server, folder, tokens: Vec::new() };
    let master = house.kept(every_scope(house.folder.path()));
    let strange = {
        let elsewhere = Folder::new();
        house.kept(mint(elsewhere.path(), &["--scope", "propose"]))
    };
    let reader = house.minted(&["--scope", "read,explain"]);
    let toys = house.minted(&["--scope", "propose", "--sku-prefix", "TOY-"]);
    let abroad = house.minted(&["--scope", "propose", "--market", "FR"]);
    let short = house.minted(&["--scope", "propose", "--ttl", "1s"]);
    let doomed = house.minted(&["--scope", "propose"]);
    let cut = Value::from(&master.as_str().unwrap()[..master.as_str().unwrap().len() / 2]);
    house.tokens.push(cut.as_str().unwrap().to_owned());

    let good = json!({ "sku": "BOOK-1", "our_price": 10, "cost": 5 });
    let no_text = json!(17);
    for (token, args, told) in [
        (None, nonsense(), "no capability token was given"),
        (Some(&json!("rubbish")), nonsense(), "cannot be read"),
        (Some(&no_text), nonsense(), "no capability token was given"),
        (Some(&cut), nonsense(), "cannot be read"),
        (Some(&strange), nonsense(), "was not signed by this server"),
        (Some(&reader), nonsense(), "needs the scope \"propose\""),
        (Some(&toys), good.clone(), "do not reach SKU \"BOOK-1\""),
        (Some(&abroad), good.clone(), "do not reach market \"DEFAULT\""),
    ] {
        let message = house.refusal(token, args).await;
        assert!(message.contains(told), "{message:?} does not say {told:?}");
    }
    house.until(&short, "expired").await;
    let mut revoke = stoa(house.folder.path());
    let (code, _, err) =
        run(revoke.args(["token", "revoke"]).env("STOA_TOKEN", doomed.as_str().unwrap()));
    assert_eq!(code, 0, "{err}");
    house.until(&doomed, "was revoked").await;

    let url = house.server.url(OPTIMIZER);
    let mut args = good;
    args["capability_token"] = master.clone();
    ask(&url, None, "propose_price", args).await.unwrap().unwrap();
    let admin = json!({ "capability_token": master });
    let seen = ask(&url, None, "auth_metrics", admin).await.unwrap().unwrap();
    assert_eq!(seen["result"]["service"], "price-optimizer");
    let seen = &seen["result"]["metrics"];
    let exact = [
        ("missing_tokens", 2),
        ("invalid_tokens", 3),
        ("scope_denials", 1),
        ("expired_tokens", 1),
        ("revoked_tokens", 1),
        ("auth_failures", 8),
    ];
    for (name, count) in exact {
        assert_eq!(seen[name], count, "{name}: {seen}");
    }
    assert_eq!(seen["scope_requests"]["admin"], 1, "{seen}");
    assert!(seen["tokens_verified"].as_u64().unwrap() >= 4, "{seen}");
    nowhere(house);
}

/// Neither a token nor its secret part is in the log or in any file.
fn nowhere(house: House) {
    let House { server, folder, tokens } = house;
    let log = server.log();
    server.kill();
    let mut files = Vec::new();
    read_all(folder.path(), &mut files);
    assert!(files.iter().any(|(name, _)| name.contains("stoa")), "there is a database");
    for token in &tokens {
        let tail = &token[token.len().saturating_sub(24)..];
        assert!(!log.contains(tail), "the log has a token");
        for (name, bytes) in &files {
            let found = bytes.windows(tail.len()).any(|part| part == tail.as_bytes());
            assert!(!found, "{name} has a token");
        }
    }
}

fn read_all(folder: &Path, files: &mut Vec<(String, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read_all(&path, files);
        } else {
            files.push((path.display().to_string(), std::fs::read(&path).unwrap()));
        }
    }
}

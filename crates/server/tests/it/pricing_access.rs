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

struct Fixture {
    server: Server,
    folder: Folder,
    tokens: Vec<String>,
}

impl Fixture {
    async fn refusal(&self, token: Option<&Value>, args: Value) -> String {
        let mut args = args;
        if let Some(token) = token {
            args["capability_token"] = token.clone();
        }
        let reply = ask(&self.server.url(OPTIMIZER), None, "propose_price", args).await.unwrap();
        let error = reply.unwrap_err();
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
        self.record(mint(self.folder.path(), args))
    }

    fn record(&mut self, token: String) -> Value {
        self.tokens.push(token.clone());
        Value::from(token)
    }

    /// Repeats the call until it is refused with this message, because time has to pass.
    async fn until(&self, token: &Value, expected: &str) {
        for _ in 0..600 {
            let mut args = nonsense();
            args["capability_token"] = token.clone();
            let reply =
                ask(&self.server.url(OPTIMIZER), None, "propose_price", args).await.unwrap();
            let error = reply.unwrap_err();
            if error["error_code"] == "auth_error" {
                assert!(error["message"].as_str().unwrap().contains(expected), "{error}");
                return;
            }
            assert_eq!(error["error_code"], "validation_error", "{error}");
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        panic!("the token never became {expected}");
    }
}

#[tokio::test]
async fn every_refusal_has_its_own_message_and_counter() {
    let folder = Folder::new();
    let settings = [("STOA_LOG", "debug"), ("STOA_RATE_PER_SECOND", "0")];
    let server = Server::start(folder.path(), &settings);
    let mut fixture = Fixture { server, folder, tokens: Vec::new() };
    let master = fixture.record(every_scope(fixture.folder.path()));
    let strange = {
        let elsewhere = Folder::new();
        fixture.record(mint(elsewhere.path(), &["--scope", "propose"]))
    };
    let reader = fixture.minted(&["--scope", "read,explain"]);
    let toys = fixture.minted(&["--scope", "propose", "--sku-prefix", "TOY-"]);
    let abroad = fixture.minted(&["--scope", "propose", "--market", "FR"]);
    let short = fixture.minted(&["--scope", "propose", "--ttl", "1s"]);
    let doomed = fixture.minted(&["--scope", "propose"]);
    let cut = Value::from(&master.as_str().unwrap()[..master.as_str().unwrap().len() / 2]);
    fixture.tokens.push(cut.as_str().unwrap().to_owned());

    let good = json!({ "sku": "BOOK-1", "our_price": 10, "cost": 5 });
    let no_text = json!(17);
    for (token, args, expected) in [
        (None, nonsense(), "no capability token was given"),
        (Some(&json!("rubbish")), nonsense(), "cannot be read"),
        (Some(&no_text), nonsense(), "no capability token was given"),
        (Some(&cut), nonsense(), "cannot be read"),
        (Some(&strange), nonsense(), "was not signed by this server"),
        (Some(&strange), nonsense(), "`stoa token mint --scope propose`"),
        (Some(&reader), nonsense(), "needs the scope \"propose\""),
        (Some(&reader), nonsense(), "`stoa token mint --scope propose`"),
        (Some(&toys), good.clone(), "do not include SKU \"BOOK-1\""),
        (Some(&abroad), good.clone(), "do not include market \"DEFAULT\""),
    ] {
        let message = fixture.refusal(token, args).await;
        assert!(message.contains(expected), "{message:?} does not say {expected:?}");
    }
    fixture.until(&short, "expired").await;
    let mut revoke = stoa(fixture.folder.path());
    let (code, _, err) =
        run(revoke.args(["token", "revoke"]).env("STOA_TOKEN", doomed.as_str().unwrap()));
    assert_eq!(code, 0, "{err}");
    fixture.until(&doomed, "was revoked").await;

    let url = fixture.server.url(OPTIMIZER);
    let mut args = good;
    args["capability_token"] = master.clone();
    ask(&url, None, "propose_price", args).await.unwrap().unwrap();
    let admin = json!({ "capability_token": master });
    let metrics = ask(&url, None, "auth_metrics", admin).await.unwrap().unwrap();
    assert_eq!(metrics["result"]["service"], "price-optimizer");
    let metrics = &metrics["result"]["metrics"];
    let exact = [
        ("missing_tokens", 2),
        ("invalid_tokens", 4),
        ("scope_denials", 2),
        ("expired_tokens", 1),
        ("revoked_tokens", 1),
        ("auth_failures", 10),
    ];
    for (name, count) in exact {
        assert_eq!(metrics[name], count, "{name}: {metrics}");
    }
    assert_eq!(metrics["scope_requests"]["admin"], 1, "{metrics}");
    assert!(metrics["tokens_verified"].as_u64().unwrap() >= 4, "{metrics}");
    nowhere(fixture);
}

/// Neither a token nor its secret part is in the log or in any file.
fn nowhere(fixture: Fixture) {
    let Fixture { server, folder, tokens } = fixture;
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

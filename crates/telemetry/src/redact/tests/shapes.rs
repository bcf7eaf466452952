//! No shape in which a program writes a value shows the secret of a secret key.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::redact;

const KEYS: [&str; 14] = [
    "password",
    "Password",
    "token",
    "capability_token",
    "capabilityToken",
    "refreshToken",
    "refresh_token",
    "authorization",
    "x-api-key",
    "api_key",
    "LLM_API_KEY",
    "apiKey",
    "client_secret",
    "credentials",
];

#[derive(Debug)]
#[expect(dead_code, reason = "only their Debug form is used")]
enum Held {
    Text(String),
    Named { value: String },
    Deep(Option<Box<Held>>),
}

#[derive(Debug)]
#[expect(dead_code, reason = "only their Debug form is used")]
struct Login {
    name: &'static str,
    password: Held,
    token: Option<String>,
    secret: Vec<String>,
    n: u8,
}

/// What programs print of a secret under a key.
fn shapes(key: &str, secret: &str) -> Vec<String> {
    let plain = json!({ "before": 1, key: secret, "after": [2] });
    let nested = json!({ "params": { "arguments": { key: secret }, "n": null } });
    let list = json!({ key: [secret, secret], "after": 1 });
    let object = json!({ key: { "value": secret, "n": [{ "x": secret }] }, "after": 1 });
    let mut all = Vec::new();
    for value in [&plain, &nested, &list, &object] {
        all.extend([value.to_string(), format!("{value:?}"), format!("{value:#?}")]);
        all.push(serde_json::to_string_pretty(value).unwrap());
        let map: Option<&Value> = value.get(key);
        all.push(format!("call failed: {key}: {map:?} after"));
        all.push(format!("{:?}", value.to_string()));
        all.push(format!("{:?}", bytes(&value.to_string())));
    }
    all.push(format!("{key}={secret:?} after=1"));
    all.push(format!("{key}: {:?}, after: 1", Some(secret)));
    all.push(format!("{key}: {:?}", Held::Deep(Some(Box::new(Held::Text(secret.to_owned()))))));
    let login = Login {
        name: "ann",
        password: Held::Named { value: secret.to_owned() },
        token: Some(secret.to_owned()),
        secret: vec![secret.to_owned(), secret.to_owned()],
        n: 1,
    };
    all.extend([format!("{login:?}"), format!("{login:#?}")]);
    all
}

/// The text in the Debug form of bytes.
fn bytes(text: &str) -> String {
    text.escape_default().to_string()
}

/// The line as it is, as the message of a JSON line, and as a text within that.
fn lines(shape: &str) -> [String; 4] {
    let message = json!({ "level": "DEBUG", "message": shape, "n": 1 }).to_string();
    let deeper = json!({ "message": message, "n": 1 }).to_string();
    let debug = json!({ "message": format!("{:?}", json!({ "body": shape })), "n": 1 }).to_string();
    [shape.to_owned(), message, deeper, debug]
}

#[track_caller]
fn check(key: &str, secret: &str, marks: &[&str]) {
    for shape in shapes(key, secret) {
        for line in lines(&shape) {
            let masked = redact(&line);
            for mark in marks {
                assert!(!masked.contains(mark), "{key} {secret:?}\n{line}\n{masked}");
            }
            if line.starts_with("{\"") && serde_json::from_str::<Value>(&line).is_ok() {
                let read = serde_json::from_str::<Value>(&masked);
                assert!(read.is_ok(), "{line}\n{masked}");
            }
        }
    }
}

#[test]
fn every_key_is_masked_in_every_shape() {
    let marks = ["Hun73r", "Sw0rd"];
    for key in KEYS {
        for secret in
            ["Hun73rSw0rd", "Hun73r Sw0rd", r#"Hun73r"Sw0rd"#, r"Hun73r\Sw0rd\", "Hun73r)]}Sw0rd"]
        {
            check(key, secret, &marks);
        }
    }
}

proptest! {
    #[test]
    fn any_secret_is_masked_in_every_shape(
        at in 0..KEYS.len(),
        between in vec("[ \\\\\"'(){}\\[\\],;:=&@/.ж\n\t-]{0,3}", 2),
    ) {
        let secret = format!("Aq7{}Bw8{}Ce9", between[0], between[1]);
        check(KEYS[at], &secret, &["Aq7", "Bw8", "Ce9"]);
    }
}

//! Capability tokens: a text that is read as a token can be shown and narrowed, and narrowing adds one
//! block and no right.

use auth::{Narrowing, TOKEN_PREFIX, inspect, narrow};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;

pub(super) const WORDS: &[&str] = &[
    "stoa1_",
    "\"id\":",
    "\"subject\":",
    "\"scopes\":[",
    "\"issued\":",
    "\"expires\":",
    "\"limits\":{",
    "\"sku_prefix\":[",
    "\"market\":[",
    "\"service\":[",
    "\"note\":",
    "null",
    "-1",
    "9223372036854775807",
    "\\u0000",
    "\\n",
    "\0\x02{}",
    "=",
    "é",
];

const ROOT: &str = r#"{"id":"00112233445566778899aabbccddeeff","subject":"ops","scopes":["read","write"],"issued":1000,"expires":2000}"#;
const NARROWING: &str = r#"{"scopes":["read"],"expires":1500,"limits":{"service":["quotes"],"sku_prefix":["A"]},"note":"for a test"}"#;

/// The bytes of a token before base64; the signature is not checked here.
fn framed(blocks: &[&str]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for block in blocks {
        bytes.extend((block.len() as u16).to_be_bytes());
        bytes.extend(block.bytes());
    }
    bytes.extend([7; 32]);
    bytes
}

fn text(bytes: &[u8]) -> String {
    format!("{TOKEN_PREFIX}{}", BASE64_URL_SAFE_NO_PAD.encode(bytes))
}

pub(super) fn tokens() -> Vec<Vec<u8>> {
    let (root, narrowed) = (framed(&[ROOT]), framed(&[ROOT, NARROWING, "{}"]));
    vec![text(&root).into_bytes(), text(&narrowed).into_bytes(), root, narrowed]
}

/// The input is a token's text, and also the bytes below the text.
pub(super) fn check(bytes: &[u8]) {
    check_text(&String::from_utf8_lossy(bytes));
    check_text(&text(bytes));
}

fn check_text(token: &str) {
    let Ok(read) = inspect(token) else { return };
    assert!(!read.to_string().contains(|it: char| it.is_control() && it != '\n'));
    let Ok(narrowed) = narrow(token, &Narrowing::default()) else { return };
    let after = inspect(narrowed.reveal()).expect("a narrowed token is read");
    assert_eq!((after.narrowings, &after.id), (read.narrowings + 1, &read.id));
    assert_eq!((after.scopes, after.limits), (read.scopes, read.limits));
    assert_eq!((after.issued_at, after.expires_at), (read.issued_at, read.expires_at));
}

//! Lines with secrets of every kind, and lines that only look like them.

mod shapes;

use super::*;

#[track_caller]
fn check(line: &str, expected: &str) {
    assert_eq!(redact(line), expected);
    // Masking is idempotent.
    assert_eq!(redact(expected), expected);
}

#[track_caller]
fn check_kept(line: &str) {
    assert!(matches!(redact(line), Cow::Borrowed(kept) if kept == line), "{}", redact(line));
}

#[test]
fn tokens_are_masked_anywhere() {
    check("got stoa1_AbC-_9 from", "got stoa1_*** from");
    check("stoa1_AbC", "stoa1_***");
    check("(stoa1_AbC)", "(stoa1_***)");
    check(r#"{"a":"stoa1_AbC","b":1}"#, r#"{"a":"stoa1_***","b":1}"#);
    check("one stoa1_a, two stoa1_b", "one stoa1_***, two stoa1_***");
    check("/x?t=stoa1_a&u=1", "/x?t=stoa1_***&u=1");
}

#[test]
fn bearers_are_masked() {
    check("Bearer abc.def", "Bearer ***");
    check("sent bearer  abc, then", "sent bearer  ***, then");
    check("Authorization: Bearer abc", "Authorization: ***");
    check("authorization=Basic dXNlcjpwYXNz", "authorization=***");
    check("cookie: a=1; session=xyz\n", "cookie: ***\n");
    check(r#"{"m":"Cookie: a=1; b=2","n":1}"#, r#"{"m":"Cookie: ***","n":1}"#);
    check(r#"{"authorization": "Bearer abc"}"#, r#"{"authorization": "***"}"#);
}

#[test]
fn values_of_secret_keys_are_masked() {
    check("password=hunter2", "password=***");
    check("password = hunter2 user=ann", "password = *** user=ann");
    check("PASSWORD: hunter2\n", "PASSWORD: ***\n");
    check(r#"password="two words" a=1"#, r#"password="***" a=1"#);
    check("?api_key=abc&x=1", "?api_key=***&x=1");
    check("x-api-key: abc", "x-api-key: ***");
    check("X-MBX-APIKEY: abc", "X-MBX-APIKEY: ***");
    check("MCP_HTTP_TOKEN=abc", "MCP_HTTP_TOKEN=***");
    check(r#"Config { secret: "s", port: 1 }"#, r#"Config { secret: "***", port: 1 }"#);
    check(r#"Config { secret: Some("s") }"#, "Config { secret: *** }");
    check(r#"cookie=["a=b"]"#, "cookie=***");
    check(r#"{"password": String("s")} 1"#, r#"{"password": "***"} 1"#);
    check(r#"password=b"s" 1"#, r#"password=b"***" 1"#);
    check(r#"auth: Token { token: Secret("s", 1), n: 2 }"#, "auth: Token { token: ***, n: 2 }");
    check("password=a(b)[c]{d};e next", "password=*** next");
    check(r"password=a\b next", "password=*** next");
    check(r#"{"m":"password=a\\b\"","n":1}"#, r#"{"m":"password=***\"","n":1}"#);
    check("password='x y' z", "password='***' z");
    check(r#"password="never closed"#, r#"password="***"#);
    check("пароль password=секрет слово", "пароль password=*** слово");
}

#[test]
fn json_stays_json() {
    let lines = [
        (r#"{"capability_token":"abc","n":1}"#, r#"{"capability_token":"***","n":1}"#),
        (r#"{"token":12345,"n":1}"#, r#"{"token":"***","n":1}"#),
        (r#"{"token":null,"n":1}"#, r#"{"token":null,"n":1}"#),
        (r#"{"password":"a\"b\\","n":1}"#, r#"{"password":"***","n":1}"#),
        (r#"{"password":"","n":1}"#, r#"{"password":"","n":1}"#),
        (r#"{"token":{"kind":"x"},"n":1}"#, r#"{"token":"***","n":1}"#),
        (r#"{"tokens":{"kind":"x"}}"#, r#"{"tokens":{"kind":"x"}}"#),
        (
            r#"{"message":"got {\"password\":\"pw\",\"n\":1}"}"#,
            r#"{"message":"got {\"password\":\"***\",\"n\":1}"}"#,
        ),
        (r#"{"message":"password=pw"}"#, r#"{"message":"password=***"}"#),
        (r#"{"message":"Bearer abc"}"#, r#"{"message":"Bearer ***"}"#),
        (r#"{"url":"postgres://ann:pw@db/x"}"#, r#"{"url":"postgres://***@db/x"}"#),
    ];
    for (line, expected) in lines {
        assert!(serde_json::from_str::<serde_json::Value>(expected).is_ok(), "{expected}");
        check(line, expected);
    }
}

#[test]
fn user_info_of_addresses_is_masked() {
    check("postgres://ann:p@ss@db:5432/x", "postgres://***@db:5432/x");
    check("to https://ann@host/a?b=c@d now", "to https://***@host/a?b=c@d now");
    check_kept("http://host/path@2x.png");
    check_kept("see https://host:8080/a and mail me@host");
}

#[test]
fn harmless_lines_are_not_copied() {
    check_kept("");
    check_kept("listening on http://127.0.0.1:8080");
    check_kept("tokens=15 tool=quotes.live elapsed_ms=3");
    check_kept("the bearer of this letter"[..10].trim_end());
    check_kept(r#"{"level":"INFO","fields":{"message":"ready","tickers":["A","B"]}}"#);
    check_kept("token=");
    check_kept("password:");
    check_kept("stoa1_");
    check_kept("://@");
    check_kept("INFO auth::token: minted for ops");
    check_kept("at auth::token::mint");
    check_kept("auth::token::mint failed");
    check_kept("token::mint(7) failed");
}

#[test]
fn any_line_is_masked_without_panic_and_json_stays_json() {
    let pieces =
        ["password", "=", ":", "\"", "\\", " ", "stoa1_", "://", "@", "ж", "Bearer", "(", "{", "'"];
    for a in pieces {
        for b in pieces {
            for c in pieces {
                for d in pieces {
                    let line = [a, b, c, d].concat();
                    let masked = redact(&line).into_owned();
                    assert_eq!(redact(&masked), masked, "{line:?}");
                    let json = serde_json::json!({"message": line, "token": line, "n": 1});
                    let json = json.to_string();
                    let masked = redact(&json);
                    let read = serde_json::from_str::<serde_json::Value>(&masked);
                    assert!(read.is_ok_and(|it| it["n"] == 1), "{json}\n{masked}");
                }
            }
        }
    }
}

#[test]
fn every_secret_key_is_found() {
    for key in SECRET_KEYS {
        let key = String::from_utf8(key.to_vec()).unwrap();
        check(&format!("{key}=x"), &format!("{key}=***"));
        let key = key.to_uppercase();
        check(&format!("MY_{key}: x"), &format!("MY_{key}: ***"));
    }
}

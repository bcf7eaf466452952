//! The log at its most talkative: no password and no token may be in it, whichever way it came.

use std::time::Duration;

use serde_json::{Value, json};

use crate::process::{Folder, Server, http, mcp_headers};

const OPERATOR: &str = "op-Hun73r-token-0123456789";
const PASSWORD: &str = "Sw0rd-Passw0rd-XYZ";
const TRICKY: &str = "Sw0rd \"Passw0rd\" \\XYZ), ok";

async fn mcp(server: &Server, path: &str, bearer: Option<&str>, tool: &str, params: Value) {
    let mut params = params;
    params["name"] = json!(tool);
    let request = http().post(server.url(path));
    let request = match bearer {
        Some(token) => request.bearer_auth(token),
        None => request,
    };
    mcp_headers(request, "tools/call", params).send().await.unwrap();
}

/// Waits until the server has written what it has to say.
async fn quiet(server: &Server) -> String {
    let (mut before, mut same) = (0, 0);
    for _ in 0..200 {
        tokio::time::sleep(Duration::from_millis(50)).await;
        let now = server.log().len();
        same = if now == before { same + 1 } else { 0 };
        before = now;
        if same >= 10 {
            break;
        }
    }
    server.log()
}

async fn check(format: &str) {
    let folder = Folder::new();
    let settings = [
        ("STOA_LOG", "trace"),
        ("STOA_LOG_FORMAT", format),
        ("MCP_HTTP_TOKEN", OPERATOR),
        ("STOA_ARCHIVE_REGISTRATION", "true"),
    ];
    let server = Server::start(folder.path(), &settings);
    let url = server.url("/api/arkiver/auth");
    let mut secrets = vec![OPERATOR.to_owned(), "Hun73r".to_owned(), "Sw0rd".to_owned()];
    for (name, password) in [("ann", PASSWORD), ("bob", TRICKY)] {
        for action in ["register", "login"] {
            let who = json!({ "action": action, "username": name, "password": password });
            let answer: Value =
                http().post(&url).json(&who).send().await.unwrap().json().await.unwrap();
            for key in ["token", "refreshToken"] {
                let token = answer[key].as_str().unwrap_or_else(|| panic!("{answer}"));
                secrets.push(token[token.len() - 20..].to_owned());
            }
            let call = json!({ "arguments": who });
            for path in ["/mcp", "/mcp/archive"] {
                mcp(&server, path, None, "auth", call.clone()).await;
            }
            let refresh = json!({ "action": "refresh", "refreshToken": answer["refreshToken"] });
            http().post(&url).json(&refresh).send().await.unwrap();
            mcp(&server, "/mcp", None, "auth", json!({ "arguments": refresh })).await;
        }
    }
    let price = json!({ "sku": "A", "our_price": 10, "capability_token": OPERATOR });
    for path in ["/mcp", "/mcp/optimizer"] {
        mcp(&server, path, None, "propose_price", json!({ "arguments": price })).await;
    }
    let live = json!({ "arguments": { "tickers": ["BTCUSDT"] } });
    mcp(&server, "/mcp", Some(OPERATOR), "quotes_live", live.clone()).await;
    let mut in_meta = live;
    in_meta["_meta"] = json!({ "auth": { "token": OPERATOR } });
    mcp(&server, "/mcp", None, "quotes_live", in_meta).await;
    let log = quiet(&server).await;
    assert!(log.len() > 10_000 && log.contains("***"), "the log says too little: {log}");
    for secret in secrets {
        let leak = log.lines().find(|line| line.contains(&secret));
        assert!(leak.is_none(), "{secret}: {}", leak.unwrap());
    }
}

#[tokio::test]
async fn no_secret_is_in_the_json_log() {
    check("json").await;
}

#[tokio::test]
async fn no_secret_is_in_the_readable_log() {
    check("pretty").await;
}

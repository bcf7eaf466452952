//! A server with a token stays closed, whatever other settings the operator makes.

use serde_json::{Value, json};

use crate::process::{Folder, Server, http};

const TOKEN: (&str, &str) = ("MCP_HTTP_TOKEN", "a-token-of-ours-0123");

async fn register(server: &Server, name: &str) -> (u16, Value) {
    let who = json!({ "action": "register", "username": name, "password": "password123" });
    let request = http().post(server.url("/api/arkiver/auth")).json(&who);
    let response = request.send().await.unwrap();
    (response.status().as_u16(), response.json().await.unwrap())
}

async fn status(server: &Server, path: &str) -> u16 {
    http().get(server.url(path)).send().await.unwrap().status().as_u16()
}

#[tokio::test]
async fn registration_is_closed_unless_the_operator_opens_it() {
    let folder = Folder::new();
    let closed = Server::start(folder.path(), &[TOKEN]);
    let (code, told) = register(&closed, "mallory").await;
    assert_eq!(code, 403, "{told}");
    assert!(told.to_string().contains("registration is closed"), "{told}");
    assert!(closed.log().contains("registration is closed"), "{}", closed.log());
    drop(closed);
    let settings = [TOKEN, ("STOA_ARCHIVE_REGISTRATION", "true")];
    let invited = Server::start(folder.path(), &settings);
    assert_eq!(register(&invited, "ann").await.0, 200);
    drop(invited);
    let open = Server::start(folder.path(), &[]);
    assert_eq!(register(&open, "bob").await.0, 200);
}

#[tokio::test]
async fn a_token_that_is_set_is_required_with_insecure_too() {
    let folder = Folder::new();
    let server = Server::start_with(folder.path(), &[TOKEN], &["--insecure"]);
    assert_eq!(status(&server, "/v1/quotes?tickers=BTCUSDT").await, 401);
    let card = http().get(server.url("/.well-known/agent-card.json")).send().await.unwrap();
    let card: Value = card.json().await.unwrap();
    assert!(!card["securityRequirements"].as_array().unwrap().is_empty(), "{card}");
    assert!(server.log().contains("\"access\":\"bearer token required"), "{}", server.log());
    drop(server);
    let open = Server::start_with(folder.path(), &[], &["--insecure"]);
    assert_eq!(status(&open, "/v1/quotes?tickers=BTCUSDT").await, 200);
    assert!(open.log().contains("\"access\":\"open for reading"), "{}", open.log());
}

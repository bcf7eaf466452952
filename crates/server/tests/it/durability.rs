//! Acknowledged data survives a kill of the process.

use serde_json::Value;

use crate::process::{Folder, Server, http, run, stoa};

const HISTORY: &str =
    "/v1/quotes/historical?tickers=BTCUSDT&from=2024-01-01&to=2024-03-31&interval=1d&page_size=200";

async fn history(server: &Server) -> Value {
    http().get(server.url(HISTORY)).send().await.unwrap().json().await.unwrap()
}

#[tokio::test]
async fn bars_survive_a_kill_and_are_not_fetched_again() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    let before = history(&server).await;
    assert_eq!(before["total"], 91);
    server.kill();
    let server = Server::start(folder.path(), &[]);
    assert_eq!(history(&server).await, before);
    let metrics = http().get(server.url("/metrics")).send().await.unwrap().text().await.unwrap();
    let fetched = metrics
        .lines()
        .filter(|line| line.starts_with("stoa_upstream_requests_total") && line.contains("klines"));
    // Only the start of the series was requested again: its first row, and whether anything lies
    // before it.
    for line in fetched {
        let count: f64 = line.rsplit(' ').next().unwrap().parse().unwrap();
        assert!(count <= 2.0, "{line}");
    }
}

#[tokio::test]
async fn markets_of_different_seeds_are_never_mixed() {
    let folder = Folder::new();
    let first = Server::start(folder.path(), &[("STOA_SIM_SEED", "1")]);
    let one = history(&first).await;
    first.kill();
    let second = Server::start(folder.path(), &[("STOA_SIM_SEED", "2")]);
    let two = history(&second).await;
    assert_eq!((&one["total"], &two["total"]), (&Value::from(91), &Value::from(91)));
    assert_ne!(one["items"], two["items"]);
}

#[tokio::test]
async fn a_revoked_token_stays_revoked() {
    let folder = Folder::new();
    let settings = [("MCP_HTTP_TOKEN", "only-for-the-operator")];
    let (_, token, _) = run(stoa(folder.path()).args(["token", "mint", "--scope", "read,write"]));
    let token = token.trim();
    let narrowed = run(stoa(folder.path())
        .args(["token", "attenuate", "--scope", "read"])
        .env("STOA_TOKEN", token));
    let server = Server::start(folder.path(), &settings);
    let ask = |server: &Server, token: &str| {
        let request = http().get(server.url("/v1/metadata")).bearer_auth(token);
        async move { request.send().await.unwrap().status().as_u16() }
    };
    assert_eq!(ask(&server, narrowed.1.trim()).await, 200);
    server.kill();
    let (code, _, _) = run(stoa(folder.path()).args(["token", "revoke"]).env("STOA_TOKEN", token));
    assert_eq!(code, 0);
    let server = Server::start(folder.path(), &settings);
    assert_eq!(ask(&server, token).await, 401);
    assert_eq!(ask(&server, narrowed.1.trim()).await, 401);
}

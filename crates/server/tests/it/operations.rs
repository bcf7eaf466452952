//! Operation: stopping, PostgreSQL, several servers on one store.

use std::collections::BTreeSet;
use std::process::Command;
use std::sync::Arc;

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::process::{Folder, Server, http, run, stoa};

const HISTORY: &str = "/v1/quotes/historical?tickers=BTCUSDT,ETHUSDT&from=2024-01-01&to=2024-02-29&interval=1d&page_size=200";

async fn history(server: &Server) -> Value {
    http().get(server.url(HISTORY)).send().await.unwrap().json().await.unwrap()
}

#[tokio::test]
async fn sigterm_stops_the_server_cleanly() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    assert_eq!(history(&server).await["total"], 120);
    let killed = Command::new("kill").args(["-TERM", &server.pid.to_string()]).status().unwrap();
    assert!(killed.success());
    assert_eq!(server.wait(), Some(0));
}

#[tokio::test]
async fn a_hang_up_stops_the_server_cleanly_unless_it_is_ignored() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    let hang_up = |pid: u32| Command::new("kill").args(["-HUP", &pid.to_string()]).status();
    assert!(hang_up(server.pid).unwrap().success());
    assert_eq!(server.wait(), Some(0));
    let server = Server::start_ignoring_hangups(folder.path());
    assert!(hang_up(server.pid).unwrap().success());
    assert_eq!(http().get(server.url("/health")).send().await.unwrap().status(), 200);
}

/// The token that the banner suggests is right for every pricing tool that is not an operator's.
#[tokio::test]
async fn the_suggested_token_fits_every_pricing_tool() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    let log = server.log();
    let (_, suggested) = log.split_once("stoa token mint --scope ").unwrap();
    let suggested = suggested.split([' ', '`']).next().unwrap();
    let suggested: BTreeSet<&str> = suggested.split(',').collect();
    let services = ["tools", "--services", "collector,optimizer"];
    let (_, tools, _) = run(stoa(folder.path()).args(services));
    let rows =
        tools.lines().filter(|line| line.contains(" collector ") || line.contains(" optimizer "));
    let scope = |line: &str| line.split_whitespace().nth(2).map(str::to_owned);
    let mut needed: BTreeSet<String> = rows.filter_map(scope).collect();
    assert!(needed.len() > 5, "{tools}");
    needed.retain(|scope| scope != "admin" && scope != "open");
    assert_eq!(suggested, needed.iter().map(String::as_str).collect());
}

/// Every line on stderr is JSON where the logs are, from the first line to the last.
#[tokio::test]
async fn the_banner_does_not_break_json_logs() {
    let folder = Folder::new();
    let settings = [("STOA_LOG", "info"), ("STOA_LISTNE", "x")];
    let server = Server::start(folder.path(), &settings);
    let log = server.log();
    let lines: Vec<Value> = log.lines().map(|line| line.parse().unwrap()).collect();
    let banner = lines.iter().find(|line| line["mcp"].is_string()).unwrap();
    assert_eq!(banner["mcp"], server.url("/mcp"));
    assert_eq!(banner["access"], "open for reading on this machine");
    assert!(lines.iter().any(|line| line["message"].to_string().contains("STOA_LISTNE")), "{log}");
    assert!(!log.contains("migrated the database"), "{log}");
}

/// One line a request, for operators who ask for it; never the path, which may hold a secret.
#[tokio::test]
async fn requests_are_logged_where_the_operator_asks_for_it() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[("STOA_LOG", "info,access=debug")]);
    let address = server.url("/v1/quotes?tickers=BTCUSDT,HUNTER2");
    let response = http().get(address).send().await.unwrap();
    let id = response.headers()["x-request-id"].to_str().unwrap().to_owned();
    // The line is written before the answer and read from a pipe, perhaps a moment later.
    while !server.log().contains(&id) {
        tokio::task::yield_now().await;
    }
    let log = server.log();
    let lines: Vec<Value> = log.lines().map(|line| line.parse().unwrap()).collect();
    let line = lines.iter().find(|line| line["request_id"] == id.as_str()).unwrap();
    assert_eq!((&line["route"], &line["status"]), (&"/v1/quotes".into(), &206.into()), "{line}");
    assert!(line["duration_ms"].is_number() && !log.contains("HUNTER2"), "{log}");
}

#[tokio::test]
async fn the_port_comes_from_the_environment() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let folder = Folder::new();
    let server = Server::start_by_settings(folder.path(), &[("PORT", &free.to_string())]);
    assert_eq!(server.base, format!("http://127.0.0.1:{free}"));
    assert_eq!(http().get(server.url("/health")).send().await.unwrap().status(), 200);
}

/// The answer to a connection over the limit, and its counter in the metrics.
async fn check_turned_away(limit: &str, status: u16, word: &str) {
    let folder = Folder::new();
    let setting = format!("STOA_{}", limit.to_uppercase());
    let server = Server::start(folder.path(), &[(&setting, "1")]);
    // A connection that has sent a request keeps its slot.
    let mut open = tokio::net::TcpStream::connect(server.address()).await.unwrap();
    open.write_all(b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
    assert!(open.read(&mut [0; 1024]).await.unwrap() > 0);
    let refused = http().get(server.url("/health")).send().await.unwrap();
    assert_eq!(refused.status().as_u16(), status);
    assert_eq!(refused.headers()["retry-after"], "5");
    let body: Value = refused.json().await.unwrap();
    assert_eq!(body["error"]["type"], word, "{body}");
    drop(open);
    // The slot is free a moment after the connection ends.
    let metrics = loop {
        let answer = http().get(server.url("/metrics")).send().await.unwrap();
        if answer.status() == 200 {
            break answer.text().await.unwrap();
        }
    };
    let counted = format!("stoa_connections_turned_away_total{{limit=\"{limit}\"}} ");
    assert!(metrics.lines().any(|it| it.starts_with(&counted)), "{counted} in\n{metrics}");
}

#[tokio::test]
async fn connections_are_limited_per_address_and_in_total() {
    check_turned_away("connections_per_client_max", 429, "RATE_LIMITED").await;
    check_turned_away("connections_max", 503, "OVERLOADED").await;
}

#[tokio::test]
async fn several_servers_share_one_postgres() {
    let Some(url) = testkit::postgres::database() else { return };
    let folders = [Folder::new(), Folder::new()];
    let settings = [("DATABASE_URL", url.as_str())];
    let copies = Arc::new(folders.each_ref().map(|it| Server::start(it.path(), &settings)));
    // Both servers fill the same series at the same time.
    let ask = |at: usize| {
        let copies = Arc::clone(&copies);
        async move { history(&copies[at]).await }
    };
    let (one, two) = tokio::join!(ask(0), ask(1));
    assert_eq!(one["total"], 120, "{one}");
    assert_eq!(one, two);
}

#[tokio::test]
async fn both_stores_give_the_same_answers() {
    let Some(url) = testkit::postgres::database() else { return };
    let folders = [Folder::new(), Folder::new()];
    let sqlite = Server::start(folders[0].path(), &[]);
    let postgres = Server::start(folders[1].path(), &[("DATABASE_URL", &url)]);
    assert_eq!(history(&sqlite).await, history(&postgres).await);
}

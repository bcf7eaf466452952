//! Every health tool looks at the database: one that is broken or cannot be written is unhealthy.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::time::Duration;

use serde_json::{Value, json};
use store::{Db, StoreConfig};

use crate::process::{Folder, Server, http, mcp_call};

/// The answer of one health tool: the name of a service, or an address.
async fn health(server: &Server, tool: &str) -> Value {
    if tool.starts_with('/') {
        return http().get(server.url(tool)).send().await.unwrap().json().await.unwrap();
    }
    let name = if tool == "indicators" { "health" } else { "health_check" };
    let answer = mcp_call(server, &format!("/mcp/{tool}"), name, &json!({})).await;
    answer["result"]["structuredContent"].clone()
}

/// Every health tool with its words for a sound and for a broken database.
const TOOLS: [(&str, &str, &str); 5] = [
    ("collector", "healthy", "unhealthy"),
    ("optimizer", "healthy", "unhealthy"),
    ("indicators", "ok", "error"),
    ("/health", "ok", "error"),
    // Quotes are served without the archive.
    ("/v1/health", "ok", "degraded"),
];

/// Asks until every health tool reports this; a result is up to 3 seconds old.
async fn until(server: &Server, sound: bool) {
    for (tool, healthy, broken) in TOOLS {
        let expected = if sound { healthy } else { broken };
        let mut last = Value::Null;
        let reported = async {
            while last["status"] != expected {
                tokio::time::sleep(Duration::from_millis(100)).await;
                last = health(server, tool).await;
            }
        };
        let reported = tokio::time::timeout(Duration::from_secs(60), reported).await;
        assert!(reported.is_ok(), "{tool} is not {expected}: {last}");
    }
}

#[tokio::test]
async fn a_database_that_takes_no_write_is_unhealthy_until_it_does() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    assert_eq!(health(&server, "collector").await["status"], "healthy");
    let other = Db::open(&StoreConfig::sqlite(folder.path())).await.unwrap();
    let lock = other.begin().await.unwrap();
    until(&server, false).await;
    let report = health(&server, "optimizer").await;
    assert_eq!(report["ok"], false, "{report}");
    assert_ne!(report["dependencies"]["database"], "ok", "{report}");
    let report = health(&server, "/v1/health").await;
    let archive = report["checks"].as_array().unwrap().iter().find(|it| it["name"] == "archive");
    assert_eq!(archive.unwrap()["status"], "down", "{report}");
    drop(lock);
    until(&server, true).await;
    other.close().await;
}

#[tokio::test]
async fn a_database_that_was_overwritten_is_unhealthy() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    until(&server, true).await;
    for file in ["stoa.db", "stoa.db-wal", "stoa.db-shm"] {
        // Not truncated first: the server has mapped one of them into its memory.
        let mut file = OpenOptions::new().write(true).open(folder.path().join(file)).unwrap();
        file.write_all(&[0x5a; 65_536]).unwrap();
    }
    until(&server, false).await;
}

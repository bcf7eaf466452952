//! `health_check` of the pricing services looks at the database: one that is broken or cannot be
//! written is unhealthy.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::time::Duration;

use serde_json::{Value, json};
use store::{Db, StoreConfig};

use crate::process::{Folder, Server, mcp_call};

async fn health(server: &Server, service: &str) -> Value {
    let answer = mcp_call(server, &format!("/mcp/{service}"), "health_check", &json!({})).await;
    answer["result"]["structuredContent"].clone()
}

/// Asks until the services report this status; a result is up to 2 seconds old.
async fn until(server: &Server, status: &str) {
    let reported = async {
        for service in ["collector", "optimizer"] {
            while health(server, service).await["status"] != status {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(60), reported).await.unwrap();
}

#[tokio::test]
async fn a_database_that_takes_no_write_is_unhealthy_until_it_does() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    assert_eq!(health(&server, "collector").await["status"], "healthy");
    let other = Db::open(&StoreConfig::sqlite(folder.path())).await.unwrap();
    let lock = other.begin().await.unwrap();
    until(&server, "unhealthy").await;
    let report = health(&server, "optimizer").await;
    assert_eq!(report["ok"], false, "{report}");
    assert_ne!(report["dependencies"]["database"], "ok", "{report}");
    drop(lock);
    until(&server, "healthy").await;
    other.close().await;
}

#[tokio::test]
async fn a_database_that_was_overwritten_is_unhealthy() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    until(&server, "healthy").await;
    for file in ["stoa.db", "stoa.db-wal", "stoa.db-shm"] {
        // Not truncated first: the server has mapped one of them into its memory.
        let mut file = OpenOptions::new().write(true).open(folder.path().join(file)).unwrap();
        file.write_all(&[0x5a; 65_536]).unwrap();
    }
    until(&server, "unhealthy").await;
}

//! The contract's own examples, sent over MCP and over HTTP: same answer, right shape.

use serde_json::{Map, Value, json};

use crate::process::{Folder, Server, http, mcp_call};
use crate::tables::services;

fn examples(service: &str) -> Vec<(String, Value)> {
    let folder = format!("{}/../../contracts/{service}/examples", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            (path.file_name().unwrap().to_string_lossy().into_owned(), text.parse().unwrap())
        })
        .collect()
}

#[track_caller]
fn check(name: &str, expected: &Map<String, Value>, actual: &Value) {
    for (pointer, value) in expected {
        assert_eq!(actual.pointer(pointer), Some(value), "{name} at {pointer}: {actual}");
    }
}

/// Asks the same over HTTP and returns the body.
async fn over_http(server: &Server, path: &str, args: &Value) -> (u16, Value) {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    };
    let query: Vec<(String, String)> =
        args.as_object().unwrap().iter().map(|(name, value)| (name.clone(), text(value))).collect();
    let request = http().get(server.url(path)).query(&query);
    let response = request.send().await.unwrap();
    (response.status().as_u16(), response.json().await.unwrap())
}

#[tokio::test]
async fn examples_hold_over_mcp_and_http() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    for service in services() {
        let path =
            format!("{}/../../contracts/{service}/contract.json", env!("CARGO_MANIFEST_DIR"));
        let contract: Value = std::fs::read_to_string(path).unwrap().parse().unwrap();
        for (name, example) in examples(&service) {
            let (tool, args) = (example["tool"].as_str().unwrap(), &example["arguments"]);
            let answer = mcp_call(&server, &format!("/mcp/{service}"), tool, args).await;
            let result = &answer["result"];
            let binding =
                contract["tools"].as_array().unwrap().iter().find(|it| it["name"] == tool);
            let path = binding.unwrap()["http"]["path"].as_str();
            let failed = example["error"].as_object();
            assert_eq!(
                result["isError"].as_bool().unwrap_or(false),
                failed.is_some(),
                "{name}: {answer}"
            );
            let told = match failed {
                None => result["structuredContent"].clone(),
                Some(_) => result["content"][0]["text"].as_str().unwrap().parse().unwrap(),
            };
            let expected = failed.or(example["expect"].as_object()).unwrap();
            check(&name, expected, &told);
            let Some(path) = path else { continue };
            let (status, body) = over_http(&server, path, args).await;
            match failed {
                Some(_) => {
                    check(&name, expected, &body["error"]);
                    assert_eq!(json!(status), told["http_status"], "{name}");
                }
                None => compare(&name, status, &told, &body),
            }
        }
    }
}

/// What HTTP says in its status and headers, a tool result says in fields; the rest is the same.
#[track_caller]
fn compare(name: &str, status: u16, told: &Value, body: &Value) {
    if let Some(source) = told["source_status"].as_u64() {
        assert_eq!(u64::from(status), source, "{name}");
    }
    let volatile = ["request_id", "source_status", "quotes"];
    for (field, value) in told.as_object().unwrap() {
        if !volatile.contains(&field.as_str()) {
            assert_eq!(&body[field], value, "{name}: {field}");
        }
    }
}

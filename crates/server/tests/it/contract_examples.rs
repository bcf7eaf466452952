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
async fn over_http(server: &Server, binding: &Value, args: &Value) -> (u16, Value) {
    let url = server.url(binding["path"].as_str().unwrap());
    if binding["method"] == "POST" {
        let response = http().post(url).json(args).send().await.unwrap();
        return (response.status().as_u16(), response.json().await.unwrap());
    }
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    };
    let query: Vec<(String, String)> =
        args.as_object().unwrap().iter().map(|(name, value)| (name.clone(), text(value))).collect();
    let request = http().get(url).query(&query);
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
            let tools = contract["tools"].as_array().unwrap();
            let tool = tools.iter().find(|it| it["name"] == example["tool"]).unwrap();
            let failed = example["error"].as_object();
            let expected = failed.or(example["expect"].as_object()).unwrap();
            let told = match tool["http_only"] == true {
                true => None,
                false => Some(over_mcp(&server, &service, &name, &example).await),
            };
            if let Some(told) = &told {
                check(&name, expected, told);
            }
            if tool["http"].is_null() {
                continue;
            }
            let (status, body) = over_http(&server, &tool["http"], &example["arguments"]).await;
            match (failed, &told) {
                // Some contracts wrap their error over HTTP, some send it as it is.
                (Some(_), Some(told)) if told["error"].is_null() => {
                    check(&name, expected, &body["error"]);
                    assert_eq!(told["http_status"], json!(status), "{name}");
                }
                (None, Some(told)) => compare(&name, status, told, &body),
                _ => check(&name, expected, &body),
            }
            assert_eq!(status >= 400, failed.is_some(), "{name}: {status}");
        }
    }
}

/// The structured content of a success, or the error object of a failure.
async fn over_mcp(server: &Server, service: &str, name: &str, example: &Value) -> Value {
    let (tool, args) = (example["tool"].as_str().unwrap(), &example["arguments"]);
    let answer = mcp_call(server, &format!("/mcp/{service}"), tool, args).await;
    let result = &answer["result"];
    let failed = result["isError"].as_bool().unwrap_or(false);
    assert_eq!(failed, example["error"].is_object(), "{name}: {answer}");
    match failed {
        false => result["structuredContent"].clone(),
        true => result["content"][0]["text"].as_str().unwrap().parse().unwrap(),
    }
}

/// What HTTP says in its status and headers, a tool result says in fields; the rest is the same.
#[track_caller]
fn compare(name: &str, status: u16, told: &Value, body: &Value) {
    if let Some(source) = told["source_status"].as_u64() {
        assert_eq!(u64::from(status), source, "{name}");
    }
    let volatile = ["request_id", "source_status", "quotes", "meta", "updatedAt"];
    for (field, value) in told.as_object().unwrap() {
        if !volatile.contains(&field.as_str()) {
            assert_eq!(untimed(&body[field]), untimed(value), "{name}: {field}");
        }
    }
}

/// How long a call took is never the same twice.
fn untimed(value: &Value) -> Value {
    match value {
        Value::Array(list) => list.iter().map(untimed).collect(),
        Value::Object(fields) => fields
            .iter()
            .filter(|(name, _)| *name != "duration_ms")
            .map(|(name, value)| (name.clone(), untimed(value)))
            .collect(),
        plain => plain.clone(),
    }
}

//! The contract's own examples, sent over MCP and over HTTP: same answer, right shape.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::process::{Folder, Server, http, mcp_call, run, stoa};
use crate::tables::{contract_file, services};

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
    let token = every_scope(folder.path());
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
                false => {
                    let stage = Stage { server: &server, service: &service, token: &token };
                    Some(stage.over_mcp(&name, &example).await)
                }
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

/// A token that may do everything.
pub(crate) fn every_scope(data: &Path) -> String {
    let scopes = "read,write,collect,import,propose,explain,apply,admin";
    let mut mint = stoa(data);
    let (code, token, err) = run(mint.args(["token", "mint", "--scope", scopes, "--ttl", "1h"]));
    assert_eq!(code, 0, "{err}");
    token.trim().to_owned()
}

/// Where an example is played.
struct Stage<'a> {
    server: &'a Server,
    service: &'a str,
    token: &'a str,
}

impl Stage<'_> {
    /// The structured content of a success, or the error object of a failure. What an example needs
    /// to have happened stands in its `before`; what those steps `keep` by name, its arguments take
    /// as `$name`.
    async fn over_mcp(&self, name: &str, example: &Value) -> Value {
        let mut kept = Map::new();
        for step in example["before"].as_array().into_iter().flatten() {
            let (failed, told) = self.played(step, &kept).await;
            assert!(!failed, "{name}, before: {told}");
            for (word, pointer) in step["keep"].as_object().into_iter().flatten() {
                let value = told.pointer(pointer.as_str().unwrap()).unwrap();
                kept.insert(format!("${word}"), value.clone());
            }
        }
        let (failed, told) = self.played(example, &kept).await;
        assert_eq!(failed, example["error"].is_object(), "{name}: {told}");
        told
    }

    /// One call; a step may be of another service than the example.
    async fn played(&self, step: &Value, kept: &Map<String, Value>) -> (bool, Value) {
        let service = step["service"].as_str().unwrap_or(self.service);
        let tool = step["tool"].as_str().unwrap();
        let mut args = step["arguments"].clone();
        for value in args.as_object_mut().unwrap().values_mut() {
            if let Some(known) = value.as_str().and_then(|word| kept.get(word)) {
                *value = known.clone();
            }
        }
        // An example that says nothing of a token has one that may do everything.
        if takes_token(service, tool) && step.get("token").is_none() {
            args["capability_token"] = Value::from(self.token);
        }
        let answer = mcp_call(self.server, &format!("/mcp/{service}"), tool, &args).await;
        let result = &answer["result"];
        match result["isError"].as_bool().unwrap_or(false) {
            false => (false, result["structuredContent"].clone()),
            true => (true, result["content"][0]["text"].as_str().unwrap().parse().unwrap()),
        }
    }
}

fn takes_token(service: &str, tool: &str) -> bool {
    let contract = contract_file(&format!("{service}/contract.json"));
    let tools = contract["tools"].as_array().unwrap();
    let tool = tools.iter().find(|it| it["name"] == tool).unwrap();
    let at = tool["input"].as_str().unwrap();
    let (file, pointer) = at.split_once('#').unwrap_or((at, ""));
    let schema = contract_file(&format!("{service}/{file}"));
    schema.pointer(pointer).unwrap()["properties"].get("capability_token").is_some()
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

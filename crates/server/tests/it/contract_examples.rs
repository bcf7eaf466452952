//! The contract's own examples, sent over MCP and HTTP: the same answer in the right shape.

use std::path::Path;

use reqwest::RequestBuilder;
use serde_json::{Map, Value, json};

use crate::process::{Folder, Server, http, mcp_post, run, stoa};
use crate::tables::{contract_file, services};

pub(crate) fn examples(service: &str) -> Vec<(String, Value)> {
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

#[tokio::test]
async fn contract_examples_hold_over_mcp_and_http() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    let token = every_scope(folder.path());
    for service in services() {
        let contract = contract_file(&format!("{service}/contract.json"));
        let in_arguments = !contract["access"]["argument"].is_null();
        let closed = !in_arguments && contract["access"]["closed"] == true;
        for (name, example) in examples(&service) {
            // Each example has its own caller, so that none reaches the limits of another.
            let bearer = closed.then(|| every_scope_of(folder.path(), &unique()));
            let (server, token) = (&server, &token);
            let bearer = bearer.as_deref();
            let stage = Stage { server, service: &service, token, bearer, in_arguments };
            match example["upload"].is_object() {
                true => stage.check_upload(&name, &example).await,
                false => stage.check(&name, &example, tool(&contract, &example["tool"])).await,
            }
        }
    }
}

/// The main example of each tool that changes something: the good one with the shortest name.
fn writes(service: &str, contract: &Value) -> Vec<(String, Value)> {
    let mut all = examples(service);
    all.sort_by_key(|(name, _)| (name.len(), name.clone()));
    let tools = contract["tools"].as_array().unwrap().iter();
    let writing =
        tools.filter(|it| it["annotations"]["readOnlyHint"] == false && it["http_only"] != true);
    writing
        .map(|tool| {
            let is_good =
                |it: &&(String, Value)| it.1["tool"] == tool["name"] && it.1["error"].is_null();
            let found = all.iter().find(is_good);
            found.unwrap_or_else(|| panic!("{} has no good example", tool["name"])).clone()
        })
        .collect()
}

#[tokio::test]
async fn every_write_names_the_next_call() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    let token = every_scope(folder.path());
    for service in services() {
        let contract = contract_file(&format!("{service}/contract.json"));
        let in_arguments = !contract["access"]["argument"].is_null();
        for (name, example) in writes(&service, &contract) {
            let bearer = every_scope_of(folder.path(), &unique());
            let (server, token) = (&server, &token);
            let closed = !in_arguments && contract["access"]["closed"] == true;
            let bearer = closed.then_some(&*bearer);
            let stage = Stage { server, service: &service, token, bearer, in_arguments };
            let values = stage.prepare(&name, &example).await;
            let args = substituted(&example["arguments"], &values);
            let tool = example["tool"].as_str().unwrap();
            let text = stage.text_of(tool, args).await;
            let next = text.lines().find_map(|line| line.strip_prefix("next: "));
            let (next, args) =
                next.and_then(|it| it.split_once(' ')).unwrap_or_else(|| panic!("{name}: {text}"));
            stage.text_of(next, args.parse().unwrap()).await;
        }
    }
}

fn tool<'a>(contract: &'a Value, name: &Value) -> &'a Value {
    contract["tools"].as_array().unwrap().iter().find(|it| it["name"] == *name).unwrap()
}

/// A token with every scope.
pub(crate) fn every_scope(data: &Path) -> String {
    every_scope_of(data, "cli")
}

fn every_scope_of(data: &Path, subject: &str) -> String {
    let scopes = "read,write,collect,import,propose,explain,apply,admin";
    let mut mint = stoa(data);
    mint.args(["token", "mint", "--scope", scopes, "--ttl", "1h", "--subject", subject]);
    let (code, token, err) = run(&mut mint);
    assert_eq!(code, 0, "{err}");
    token.trim().to_owned()
}

/// The server and the transport of an example.
struct Stage<'a> {
    server: &'a Server,
    service: &'a str,
    token: &'a str,
    /// The token, where the service expects it in the header.
    bearer: Option<&'a str>,
    /// Whether MCP has the token in the arguments; HTTP has it in the header all the same.
    in_arguments: bool,
}

impl Stage<'_> {
    /// An example lists its preconditions in `before`, which run once for each transport; its
    /// arguments refer to values that those steps `keep` as `$name`. `$unique` is a new word each
    /// time.
    async fn check(&self, name: &str, example: &Value, tool: &Value) {
        let failed = example["error"].as_object();
        let expected = failed.or(example["expect"].as_object()).unwrap();
        let mut mcp_answer = None;
        if tool["http_only"] != true {
            let values = self.prepare(name, example).await;
            let (is_error, answer) = self.call_over_mcp(example, &values).await;
            assert_eq!(is_error, failed.is_some(), "{name}: {answer}");
            check(name, expected, &answer);
            mcp_answer = Some(answer);
        }
        if tool["http"].is_null() {
            return;
        }
        let values = match mcp_answer.is_some() && example["before"].is_null() {
            true => Map::new(),
            false => self.prepare(name, example).await,
        };
        let (status, body) = self.over_http(&tool["http"], example, &values).await;
        match (failed, &mcp_answer) {
            // Some contracts wrap their error over HTTP, others send it unchanged.
            (Some(_), Some(mcp_answer)) if mcp_answer["error"].is_null() => {
                check(name, expected, &body["error"]);
                assert_eq!(mcp_answer["http_status"], json!(status), "{name}");
            }
            // The price of an example that is `live` may change between the two calls.
            (None, Some(mcp_answer))
                if self.bearer.is_none() && !self.in_arguments && example["live"] != true =>
            {
                compare(name, status, mcp_answer, &body)
            }
            _ => check(name, expected, &body),
        }
        assert_eq!(status >= 400, failed.is_some(), "{name}: {status}");
    }

    /// An example of an upload has `upload` in the place of a tool and its arguments.
    async fn check_upload(&self, name: &str, example: &Value) {
        let (failed, answer) = self.uploaded(&example["upload"], &Map::new()).await;
        let expected = if failed { &example["error"] } else { &example["expect"] };
        let expected = expected.as_object().unwrap_or_else(|| panic!("{name}: {answer}"));
        check(name, expected, &answer);
    }

    /// Runs the preconditions and returns the kept values.
    async fn prepare(&self, name: &str, example: &Value) -> Map<String, Value> {
        let mut values = Map::new();
        values.insert("$unique".to_owned(), Value::from(unique()));
        for step in example["before"].as_array().into_iter().flatten() {
            let (failed, mcp_answer) = match step["upload"].is_object() {
                true => self.uploaded(&step["upload"], &values).await,
                false => self.call_over_mcp(step, &values).await,
            };
            assert!(!failed, "{name}, before: {mcp_answer}");
            for (word, pointer) in step["keep"].as_object().into_iter().flatten() {
                let value = mcp_answer.pointer(pointer.as_str().unwrap()).unwrap();
                values.insert(format!("${word}"), value.clone());
            }
        }
        values
    }

    /// A file with `name` and `text`, which may be there several `times`; `id` names the upload.
    async fn uploaded(&self, file: &Value, values: &Map<String, Value>) -> (bool, Value) {
        let file = substituted(file, values);
        let edge = "a-boundary-that-no-example-contains";
        let times = file["times"].as_u64().map_or(1, |times| usize::try_from(times).unwrap());
        let body = format!(
            "--{edge}\r\ncontent-disposition: form-data; name=\"file\"; filename=\"{}\"\r\n\r\n\
             {}\r\n--{edge}--\r\n",
            file["name"].as_str().unwrap(),
            file["text"].as_str().unwrap().repeat(times)
        );
        let mut request = http()
            .post(self.server.url("/api/arkiver/upload"))
            .bearer_auth(self.bearer.unwrap())
            .header("content-type", format!("multipart/form-data; boundary={edge}"))
            .body(body);
        if let Some(id) = file["id"].as_str() {
            request = request.header("x-upload-id", id);
        }
        let response = request.send().await.unwrap();
        (!response.status().is_success(), response.json().await.unwrap())
    }

    /// One call over MCP: the structured content of a success, or the error object of a failure. A
    /// step may be of another service than the example.
    async fn call_over_mcp(&self, step: &Value, values: &Map<String, Value>) -> (bool, Value) {
        let service = step["service"].as_str().unwrap_or(self.service);
        let tool = step["tool"].as_str().unwrap();
        let mut args = substituted(&step["arguments"], values);
        // An example without a token gets one with every scope.
        let anonymous = step.get("token").is_some();
        if takes_token(service, tool) && !anonymous {
            args["capability_token"] = Value::from(self.token);
        }
        let mut params = json!({ "name": tool, "arguments": args });
        if let Some(token) = self.bearer.filter(|_| !anonymous) {
            params["_meta"] = json!({ "auth": { "token": token } });
        }
        let url = self.server.url(&format!("/mcp/{service}"));
        let (_, answer) = mcp_post(&url, "tools/call", params).await;
        let result = &answer["result"];
        match result["isError"].as_bool().unwrap_or(false) {
            false => (false, result["structuredContent"].clone()),
            true => (true, result["content"][0]["text"].as_str().unwrap().parse().unwrap()),
        }
    }

    /// The text of a call at `/mcp` that succeeds.
    async fn text_of(&self, tool: &str, args: Value) -> String {
        let token = self.bearer.unwrap_or(self.token);
        let params = json!({ "name": tool.replace('.', "_"), "arguments": args,
            "_meta": { "auth": { "token": token } } });
        let (_, answer) = mcp_post(&self.server.url("/mcp"), "tools/call", params).await;
        let result = &answer["result"];
        assert_eq!(result["isError"], false, "{tool}: {answer}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// The same over HTTP.
    async fn over_http(
        &self,
        binding: &Value,
        example: &Value,
        values: &Map<String, Value>,
    ) -> (u16, Value) {
        let args = substituted(&example["arguments"], values);
        let mut request = request(self.server, binding, args);
        let token = self.bearer.or(self.in_arguments.then_some(self.token));
        if let Some(token) = token.filter(|_| example.get("token").is_none()) {
            request = request.bearer_auth(token);
        }
        let response = request.send().await.unwrap();
        (response.status().as_u16(), response.json().await.unwrap())
    }
}

/// A call of a tool over HTTP: arguments in the path, then in the query or the body.
pub(crate) fn request(server: &Server, binding: &Value, mut args: Value) -> RequestBuilder {
    let mut path = binding["path"].as_str().unwrap().to_owned();
    let rest = args.as_object_mut().unwrap();
    rest.retain(|name, value| {
        let place = format!("{{{name}}}");
        let stays = !path.contains(&place);
        path = path.replace(&place, value.as_str().unwrap_or_default());
        stays
    });
    let (client, url) = (http(), server.url(&path));
    match binding["method"].as_str().unwrap() {
        "POST" => client.post(url).json(&args),
        "PUT" => client.put(url).json(&args),
        "DELETE" => client.delete(url).query(&query(&args)),
        _ => client.get(url).query(&query(&args)),
    }
}

pub(crate) fn query(args: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    };
    args.as_object().unwrap().iter().map(|(name, value)| (name.clone(), text(value))).collect()
}

/// The value with `$name` replaced by the kept values.
fn substituted(value: &Value, values: &Map<String, Value>) -> Value {
    match value {
        Value::String(word) => values.get(word).unwrap_or(value).clone(),
        Value::Array(list) => list.iter().map(|it| substituted(it, values)).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, it)| (name.clone(), substituted(it, values))).collect()
        }
        plain => plain.clone(),
    }
}

/// A unique word.
fn unique() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("unique-{}", NEXT.fetch_add(1, Ordering::Relaxed))
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

/// Moves fields of a tool result that HTTP has in its status and headers, so that both can be
/// compared.
#[track_caller]
fn compare(name: &str, status: u16, mcp_answer: &Value, body: &Value) {
    if let Some(source) = mcp_answer["source_status"].as_u64() {
        assert_eq!(u64::from(status), source, "{name}");
    }
    let volatile = ["request_id", "source_status", "quotes", "meta", "updatedAt"];
    for (field, value) in mcp_answer.as_object().unwrap() {
        if !volatile.contains(&field.as_str()) {
            assert_eq!(untimed(&body[field]), untimed(value), "{name}: {field}");
        }
    }
}

/// Removes the duration of a call, which always differs.
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

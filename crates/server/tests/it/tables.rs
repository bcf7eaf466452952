//! Tests over the whole tool table.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::process::{Folder, Server, http, mcp_headers, mcp_post};

pub(crate) fn contract_file(path: &str) -> Value {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../contracts/");
    serde_json::from_str(&std::fs::read_to_string(format!("{root}{path}")).unwrap()).unwrap()
}

pub(crate) fn services() -> Vec<String> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../contracts");
    let mut names: Vec<String> = std::fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

async fn tools(server: &Server, path: &str) -> Vec<Value> {
    let (status, body) = mcp_post(&server.url(path), "tools/list", json!({})).await;
    assert_eq!(status, 200, "{body}");
    body["result"]["tools"].as_array().unwrap().clone()
}

/// The value at `file.json#/pointer` of a contract, with its references resolved.
fn promised_at(service: &str, reference: &str) -> Value {
    fn fill(service: &str, value: &mut Value) {
        if let Some(reference) = value.get("$ref").and_then(Value::as_str) {
            let mut whole = promised_at(service, reference);
            for (name, beside) in value.as_object().unwrap().iter().filter(|it| it.0 != "$ref") {
                whole[name] = beside.clone();
            }
            *value = whole;
        }
        match value {
            Value::Object(object) => object.values_mut().for_each(|it| fill(service, it)),
            Value::Array(items) => items.iter_mut().for_each(|it| fill(service, it)),
            _ => {}
        }
    }
    let (file, pointer) = reference.split_once('#').unwrap_or((reference, ""));
    let mut found = contract_file(&format!("{service}/{file}")).pointer(pointer).unwrap().clone();
    fill(service, &mut found);
    found
}

#[tokio::test]
async fn every_service_lists_its_contract_exactly() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    for service in services() {
        let contract = contract_file(&format!("{service}/contract.json"));
        let listed = tools(&server, &format!("/mcp/{service}")).await;
        let promised = contract["tools"].as_array().unwrap();
        let promised = promised.iter().filter(|tool| tool["http_only"] != true);
        assert_eq!(listed.len(), promised.clone().count());
        for (tool, promise) in listed.iter().zip(promised) {
            assert_eq!(tool["name"], promise["name"]);
            for (shown, reference) in [("inputSchema", "input"), ("outputSchema", "output")] {
                let reference = promise[reference].as_str().unwrap();
                assert_eq!(tool[shown], promised_at(&service, reference), "{}", tool["name"]);
            }
            assert_eq!(tool["annotations"]["readOnlyHint"], promise["annotations"]["readOnlyHint"]);
        }
    }
}

#[tokio::test]
async fn every_tool_schema_is_accepted_by_every_host() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    let mut names = BTreeSet::new();
    for tool in tools(&server, "/mcp").await {
        let name = tool["name"].as_str().unwrap();
        assert!(names.insert(name.to_owned()), "{name} is listed twice");
        assert!(name.len() <= 40, "{name} is too long for some hosts");
        let safe = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        assert!(name.chars().all(safe), "{name} has characters some hosts refuse");
        for word in ["title", "description"] {
            assert!(tool[word].as_str().is_some_and(|text| !text.is_empty()), "{name}: {word}");
        }
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            assert!(tool["annotations"][hint].is_boolean(), "{name}: {hint}");
        }
        assert_eq!(tool["outputSchema"]["type"], "object", "{name}");
        for combinator in ["oneOf", "anyOf", "allOf"] {
            assert!(tool["inputSchema"].get(combinator).is_none(), "{name}: {combinator}");
        }
        // One converter stops at a boolean here; `contract` tests the rest of the form.
        assert!(tool["inputSchema"].get("additionalProperties").is_none(), "{name}");
    }
}

#[test]
fn every_tool_has_an_example_and_a_failure_example() {
    for service in services() {
        let contract = contract_file(&format!("{service}/contract.json"));
        let folder = format!("{}/../../contracts/{service}/examples", env!("CARGO_MANIFEST_DIR"));
        let examples: Vec<Value> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap())
            .map(|text| serde_json::from_str(&text).unwrap())
            .collect();
        for tool in contract["tools"].as_array().unwrap() {
            let of_tool = || examples.iter().filter(|it| it["tool"] == tool["name"]);
            assert!(of_tool().any(|it| it["expect"].is_object()), "{}: no example", tool["name"]);
            assert!(of_tool().any(|it| it["error"].is_object()), "{}: no failure", tool["name"]);
        }
    }
}

/// A client retries after this status, and a proxy counts it as load and not as a broken server.
#[test]
fn a_database_failure_is_retryable_in_every_contract() {
    for service in services() {
        let errors = contract_file(&format!("{service}/errors.json"));
        for code in ["store_busy", "store_full", "store_unavailable"] {
            let row = errors["codes"].get(code).unwrap_or(&errors["kinds"]["unavailable"]);
            // One contract has its own code for databases, with its own status.
            let status = if row["type"] == "DATABASE_ERROR" { 500 } else { 503 };
            let actual = (&row["http_status"], &row["retryable"]);
            assert_eq!(actual, (&json!(status), &json!(true)), "{service}: {code}");
        }
    }
}

/// An operator must restore a damaged database, so no client should try again.
#[test]
fn a_damaged_database_is_not_retryable_in_any_contract() {
    for service in services() {
        let errors = contract_file(&format!("{service}/errors.json"));
        let row = errors["codes"].get("store_damaged").unwrap_or(&errors["kinds"]["internal"]);
        let expected = match service.as_str() {
            "archive" => ("DATABASE_ERROR", 500),
            "indicators" => ("store_unavailable", 503),
            "collector" | "optimizer" => ("internal_error", 500),
            "moex" => ("UNKNOWN", 500),
            _ => ("INTERNAL_ERROR", 500),
        };
        assert_eq!((&row["type"], &row["http_status"]), (&json!(expected.0), &json!(expected.1)));
        assert_eq!(row["retryable"], false, "{service}");
    }
}

/// The crates that a call of the indicators passes through and that may return `Unavailable`.
const UNDER_INDICATORS: [&str; 11] = [
    "service-indicators",
    "contract",
    "market-bars",
    "market-live",
    "limits",
    "store",
    "http-client",
    "fanout",
    "market-binance",
    "market-moex",
    "market-files",
];

/// Fault codes that no such call can return: those of quotes, imports and blobs.
const NOT_ASKED: [&str; 3] = ["no_price", "unreadable_file", "blobs_unavailable"];

/// The codes of all `Unavailable` faults in a crate.
fn unavailable_codes(name: &str, codes: &mut BTreeSet<String>) {
    let folder = format!("{}/../{name}/src", env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    crate::source_files::rust_files(folder.as_ref(), &mut files);
    files.retain(|file| !file.to_string_lossy().contains("tests"));
    for file in files {
        let text = std::fs::read_to_string(file).unwrap();
        let text = text.split("#[cfg(test)]").next().unwrap();
        for opening in ["Fault::unavailable(", "Kind::Unavailable,"] {
            for rest in text.split(opening).skip(1) {
                let quoted = rest.trim_start().strip_prefix('"').and_then(|it| it.split_once('"'));
                codes.extend(quoted.map(|(code, _)| code.to_owned()));
            }
        }
    }
}

/// A proxy or a client that gets a 502 looks for the fault at the exchange.
#[test]
fn the_indicators_do_not_report_internal_failures_as_upstream_errors() {
    let mut codes = BTreeSet::new();
    for name in UNDER_INDICATORS {
        unavailable_codes(name, &mut codes);
    }
    assert!(codes.contains("too_many_streams") && codes.contains("store_full"), "{codes:?}");
    let errors = contract_file("indicators/errors.json");
    for code in codes.into_iter().filter(|code| !NOT_ASKED.contains(&&**code)) {
        let row = errors["codes"].get(&code).unwrap_or(&errors["kinds"]["unavailable"]);
        let ours = !code.starts_with("upstream_") || code == "upstream_busy";
        let expected = if ours { 503 } else { 502 };
        assert_eq!(row["http_status"], expected, "{code}");
        assert_eq!(row["type"] == "upstream_error", !ours, "{code}");
    }
}

#[tokio::test]
async fn every_tool_refuses_a_missing_and_a_wrong_token() {
    let folder = Folder::new();
    let open = Server::start(folder.path(), &[]);
    let names: Vec<Value> = tools(&open, "/mcp").await;
    let closed = Server::start(folder.path(), &[("MCP_HTTP_TOKEN", "a-token-of-ours")]);
    // Health tools and tools that issue tokens need no token.
    let needs_none = |name: &str| {
        let health = ["ping_health", "health_check", "version_info"];
        name == "arkiver_auth" || health.iter().any(|end| name.ends_with(end))
    };
    for tool in names {
        let name = tool["name"].as_str().unwrap();
        let expected = if needs_none(name) { 200 } else { 401 };
        for token in [None, Some("wrong"), Some("stoa1_AAAA")] {
            let mut request = http().post(closed.url("/mcp"));
            if let Some(token) = token {
                request = request.bearer_auth(token);
            }
            let params = json!({ "name": name, "arguments": {} });
            let response = mcp_headers(request, "tools/call", params).send().await.unwrap();
            assert_eq!(response.status(), expected, "{name}");
            assert_eq!(response.headers().contains_key("www-authenticate"), expected == 401);
        }
    }
}

#[tokio::test]
async fn toolsets_hide_tools_and_headers_only_narrow_them() {
    let folder = Folder::new();
    let server = Server::start_with(folder.path(), &[], &["--tools", "quotes.live,system_health"]);
    let names: Vec<String> = tools(&server, "/mcp")
        .await
        .iter()
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(names, ["quotes_live", "system_health"]);
    let hidden = http().get(server.url("/v1/metadata")).send().await.unwrap();
    assert_eq!(hidden.status(), 404);
    let params = json!({ "name": "system_metadata", "arguments": {} });
    let (_, body) = mcp_post(&server.url("/mcp"), "tools/call", params).await;
    assert_eq!(body["error"]["code"], -32602, "{body}");
}

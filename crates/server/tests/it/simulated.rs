//! Every answer of the simulated market says `simulated`: each tool, route and stream of the market
//! services, found through their contracts.

use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;

use crate::contract_examples::{examples, query, request};
use crate::process::{Folder, Server, http, mcp_call};
use crate::tables::contract_file;

const SERVICES: [&str; 3] = ["quotes", "indicators", "moex"];
/// Longer than any step takes; a test that waits this long has failed.
const READ_TIMEOUT: Duration = Duration::from_secs(60);

/// Whether a value somewhere is `"simulated"`, or a field `simulated` is true.
fn says_simulated(value: &Value) -> bool {
    match value {
        Value::String(text) => text.split(", ").any(|word| word == "simulated"),
        Value::Array(items) => items.iter().any(says_simulated),
        Value::Object(fields) => {
            fields.get("simulated") == Some(&Value::Bool(true))
                || fields.values().any(says_simulated)
        }
        _ => false,
    }
}

/// The results of the quotes contract have no room for a source; `_meta` and headers carry it.
fn is_closed(service: &str) -> bool {
    service == "quotes"
}

/// The first successful example of a tool, and all that fail.
pub(crate) fn calls(service: &str, tool: &str) -> (Value, Vec<Value>) {
    let of_tool = |(_, example): (String, Value)| (example["tool"] == tool).then_some(example);
    let all: Vec<Value> = examples(service).into_iter().filter_map(of_tool).collect();
    let (failing, good): (Vec<Value>, Vec<Value>) =
        all.into_iter().partition(|example| example["error"].is_object());
    let first = good.into_iter().next().unwrap_or_else(|| panic!("{tool} has no example"));
    (first["arguments"].clone(), failing.iter().map(|it| it["arguments"].clone()).collect())
}

pub(crate) fn tools(service: &str) -> Vec<Value> {
    let contract = contract_file(&format!("{service}/contract.json"));
    contract["tools"].as_array().unwrap().clone()
}

#[tokio::test]
async fn every_tool_says_simulated() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    for service in SERVICES {
        for tool in tools(service).iter().filter(|tool| tool["http_only"] != true) {
            let name = tool["name"].as_str().unwrap();
            let (args, failing) = calls(service, name);
            for path in ["/mcp".to_owned(), format!("/mcp/{service}")] {
                let answer = mcp_call(&server, &path, name, &args).await;
                let result = &answer["result"];
                let text = result["content"][0]["text"].as_str().unwrap();
                assert!(text.contains("simulated"), "{path} {name}: {text}");
                assert!(says_simulated(&result["_meta"]), "{path} {name}: {result}");
                let body = &result["structuredContent"];
                assert!(is_closed(service) || says_simulated(body), "{path} {name}: {body}");
            }
            for args in failing.iter().chain([&json!({ "nothing": 1 })]) {
                let answer = mcp_call(&server, &format!("/mcp/{service}"), name, args).await;
                let result = &answer["result"];
                assert_eq!(result["isError"], true, "{name} {args}: {answer}");
                assert!(says_simulated(&result["_meta"]["stoa/source"]), "{name} {args}: {result}");
                let text = result["content"][0]["text"].as_str().unwrap();
                let error: Value = text.parse().unwrap();
                let marked = service != "moex" || error["error"]["simulated"] == true;
                assert!(marked, "{name}: {text}");
            }
        }
    }
}

#[tokio::test]
async fn a_price_beside_an_isin_says_simulated() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    let args = json!({ "ticker": "SBER" });
    let answer = mcp_call(&server, "/mcp/moex", "get_security_snapshot", &args).await;
    let data = &answer["result"]["structuredContent"]["data"];
    assert!(data["isin"].is_string() && data["last_price"].is_number(), "{data}");
    assert_eq!(data["simulated"], true);
}

#[tokio::test]
async fn every_route_says_simulated() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    for service in SERVICES {
        for tool in tools(service).iter().filter(|tool| tool["http"].is_object()) {
            let (name, binding) = (tool["name"].as_str().unwrap(), &tool["http"]);
            let (args, _) = calls(service, name);
            let request = request(&server, binding, args);
            check_route(&format!("{service} {name}"), request, is_closed(service)).await;
        }
    }
    check_route("/health", http().get(server.url("/health")), false).await;
}

#[tokio::test]
async fn every_error_of_a_route_says_simulated() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    for service in SERVICES {
        for tool in tools(service).iter().filter(|tool| tool["http"].is_object()) {
            let (name, binding) = (tool["name"].as_str().unwrap(), &tool["http"]);
            let (args, failing) = calls(service, name);
            for args in failing.into_iter().chain([json!({ "nothing": 1 })]) {
                check_refusal(name, request(&server, binding, args)).await;
            }
            let mut other = binding.clone();
            other["method"] = json!("PUT");
            check_refusal(name, request(&server, &other, args)).await;
        }
    }
    for stream in contract_file("indicators/contract.json")["streams"].as_array().unwrap() {
        let url = server.url(stream["sse"]["path"].as_str().unwrap());
        check_refusal("a stream", http().get(&url).query(&[("symbol", "NOPE")])).await;
        check_refusal("a stream", http().post(&url)).await;
    }
    check_refusal("/ws", http().get(server.url("/ws"))).await;
}

async fn check_refusal(name: &str, request: reqwest::RequestBuilder) {
    let response = request.send().await.unwrap();
    assert!(response.status().is_client_error(), "{name}: {}", response.status());
    let source = response.headers().get("x-stoa-source").map(|it| it.to_str().unwrap().to_owned());
    assert!(says_simulated(&json!(source)), "{name} {}: {source:?}", response.status());
}

async fn check_route(name: &str, request: reqwest::RequestBuilder, closed: bool) {
    let response = request.send().await.unwrap();
    assert!(response.status().is_success(), "{name}: {}", response.status());
    let source = response.headers()["x-stoa-source"].to_str().unwrap().to_owned();
    assert!(says_simulated(&Value::from(source.as_str())), "{name}: {source}");
    let body: Value = response.json().await.unwrap();
    assert!(closed || says_simulated(&body), "{name}: {body}");
}

/// The query of each stream, which reports a status and then candles.
fn subscription(stream: &str) -> Value {
    match stream {
        "klines" => json!({ "symbol": "BTCUSDT", "interval": "1s", "heartbeatMs": 100 }),
        "klines_batch" => json!({ "symbols": ["BTCUSDT", "MOEX:SBER"], "interval": "1m",
            "heartbeatMs": 100, "closedOnly": false }),
        other => panic!("the stream {other} has no row here"),
    }
}

/// Checks each event until a kline, a heartbeat and the status `connected` were among them.
#[derive(Default)]
struct Seen {
    kinds: std::collections::BTreeSet<String>,
}

impl Seen {
    fn is_all(&self) -> bool {
        ["kline", "heartbeat", "connected"].iter().all(|kind| self.kinds.contains(*kind))
    }

    fn check(&mut self, stream: &str, event: &Value) {
        assert_eq!(event["source"], "simulated", "{stream}: {event}");
        let kind = event["status"].as_str().or(event["type"].as_str()).unwrap();
        self.kinds.insert(kind.to_owned());
    }
}

#[tokio::test]
async fn every_event_of_server_sent_events_says_simulated() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    let contract = contract_file("indicators/contract.json");
    for stream in contract["streams"].as_array().unwrap() {
        let name = stream["name"].as_str().unwrap();
        let url = server.url(stream["sse"]["path"].as_str().unwrap());
        let request = http().get(url).query(&query(&subscription(name)));
        let mut response = request.send().await.unwrap();
        assert_eq!(response.status(), 200, "{name}");
        let (mut text, mut seen) = (String::new(), Seen::default());
        while !seen.is_all() {
            let chunk = timeout(READ_TIMEOUT, response.chunk()).await.unwrap().unwrap().unwrap();
            text.push_str(std::str::from_utf8(&chunk).unwrap());
            while let Some((event, rest)) = text.split_once("\n\n") {
                if let Some(data) = event.lines().find_map(|line| line.strip_prefix("data: ")) {
                    seen.check(name, &data.parse().unwrap());
                }
                text = rest.to_owned();
            }
        }
    }
}

#[tokio::test]
async fn every_error_of_a_websocket_says_simulated() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    let url = format!("ws://{}/ws", server.address());
    let (mut socket, _) = tokio_tungstenite::connect_async(url).await.unwrap();
    let mut unknown = subscription("klines");
    unknown["type"] = json!("subscribe");
    unknown["symbol"] = json!("NOPE");
    for message in [unknown, json!({ "type": "subscribe" }), json!({ "type": "nothing" })] {
        socket.send(Message::text(message.to_string())).await.unwrap();
        let answer = timeout(READ_TIMEOUT, socket.next()).await.unwrap().unwrap().unwrap();
        let error: Value = answer.to_text().unwrap().parse().unwrap();
        assert_eq!(error["type"], "error", "{message}: {error}");
        assert!(says_simulated(&error["source"]), "{message}: {error}");
    }
}

#[tokio::test]
async fn every_event_of_a_websocket_says_simulated() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    let url = format!("ws://{}/ws", server.address());
    let (mut socket, _) = tokio_tungstenite::connect_async(url).await.unwrap();
    let mut subscribe = subscription("klines");
    subscribe["type"] = json!("subscribe");
    socket.send(Message::text(subscribe.to_string())).await.unwrap();
    let mut seen = Seen::default();
    while !seen.is_all() {
        let Message::Text(text) =
            timeout(READ_TIMEOUT, socket.next()).await.unwrap().unwrap().unwrap()
        else {
            continue;
        };
        let event: Value = text.parse().unwrap();
        if event["type"] != "subscribed" {
            seen.check("ws", &event);
        }
    }
}

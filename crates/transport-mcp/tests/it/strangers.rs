//! What somebody without access may say where all services are.

use std::sync::Arc;
use std::time::Duration;

use contract::{Catalog, Contract, Cx, Pipeline, Reply, Scope, Tools};
use fault::{Fault, Kind};
use serde_json::{Map, Value, json};
use transport_mcp::is_for_strangers;

use crate::double::{Door, Uncounted, Words};
use crate::tasks::tool;

struct Nothing;

impl Reply for Nothing {
    fn result(&self) -> Value {
        Value::Null
    }

    fn text(&self) -> String {
        String::new()
    }
}

async fn nothing(_: Cx<()>, _: Map<String, Value>) -> Result<Nothing, Fault> {
    Ok(Nothing)
}

fn pipeline() -> Pipeline {
    let mut contract = Contract::load("quotes").unwrap();
    contract.tools = vec![tool("sign.in", None), tool("work", None)];
    contract.access.credential_argument = Some("pass".to_owned());
    let service = Tools::of(Arc::new(()))
        .tool("sign.in", Scope::Open, nothing)
        .tool("work", Scope::Read, nothing)
        .bind(contract, Words)
        .unwrap();
    let catalog = Catalog::new(vec![service]).unwrap();
    Pipeline::new(catalog, Arc::new(Door), Arc::new(Uncounted), Duration::from_secs(1))
}

#[track_caller]
fn check(code: &'static str, message: &str, heard: bool) {
    let fault = Fault::new(Kind::Unauthenticated, code, "no");
    let told = is_for_strangers(&pipeline(), &fault, message.as_bytes());
    assert_eq!(told, heard, "{code} {message}");
}

#[test]
fn strangers_come_as_far_as_what_needs_no_token() {
    for method in ["server/discover", "tools/list", "ping", "notifications/initialized"] {
        check("token_malformed", &json!({ "method": method }).to_string(), true);
    }
    for method in ["resources/list", "resources/read", "subscriptions/listen", "tasks/get", ""] {
        check("token_malformed", &json!({ "method": method }).to_string(), false);
    }
    check("token_expired", r#"{"method":"initialize"}"#, true);
    check("token_malformed", r#"{"method":"initialize"}"#, false);
    check("token_missing", r#"{"method":"initialize"}"#, false);
    for bad in ["", "{", "[]", "null", "\"tools/list\"", r#"[{"method":"tools/list"}]"#] {
        check("token_expired", bad, false);
    }
    let call = |params: Value| json!({ "method": "tools/call", "params": params }).to_string();
    check("token_expired", &call(json!({ "name": "sign.in" })), true);
    check("token_missing", &call(json!({ "name": "sign_in", "arguments": 5 })), true);
    check("token_expired", &call(json!({ "name": "work" })), false);
    check("token_expired", &call(json!({ "name": "lost" })), false);
    check("token_expired", &call(json!({})), false);
    check("token_expired", &call(json!({ "name": "work", "arguments": { "pass": "t" } })), true);
    let shown = json!({ "name": "work", "_meta": { "auth": { "token": "t" } } });
    check("token_expired", &call(shown.clone()), true);
    let task = json!({ "method": "tasks/get", "params": shown }).to_string();
    check("token_expired", &task, true);
}

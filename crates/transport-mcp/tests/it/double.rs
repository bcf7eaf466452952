//! A service double bound to the quotes contract: real handlers that answer from nothing, one that
//! reports progress, and one that waits until it is cancelled.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use contract::{
    CallRecord, Caller, Catalog, Contract, Credential, Cx, Envelope, FailureContext, Gate, Meter,
    Pipeline, Reply, Scope, Tools,
};
use fault::{Fault, Kind};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

/// What handlers tell the test about themselves.
#[derive(Debug, PartialEq)]
pub(crate) enum Heard {
    Waiting,
    Cancelled,
}

struct Double {
    heard: mpsc::UnboundedSender<Heard>,
}

#[derive(Deserialize)]
struct LiveArgs {
    tickers: Vec<String>,
}

#[derive(Deserialize)]
struct NoArgs {}

struct Answer {
    result: Value,
    text: String,
}

impl Reply for Answer {
    fn result(&self) -> Value {
        self.result.clone()
    }

    fn text(&self) -> String {
        self.text.clone()
    }

    fn meta(&self) -> Map<String, Value> {
        Map::from_iter([("stoa/source".to_owned(), json!("double"))])
    }
}

/// Tells the test that the handler's future was dropped, which is how cancelling reaches it.
struct Waiting(mpsc::UnboundedSender<Heard>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.send(Heard::Cancelled).ok();
    }
}

async fn live(cx: Cx<Double>, args: LiveArgs) -> Result<Answer, Fault> {
    if args.tickers.iter().any(|ticker| ticker == "WAIT") {
        let _waiting = Waiting(cx.service.heard.clone());
        cx.service.heard.send(Heard::Waiting).ok();
        std::future::pending::<()>().await;
    }
    if args.tickers.iter().any(|ticker| ticker == "STEPS") {
        for done in 1..=3 {
            cx.progress.report(f64::from(done), Some(3.0), "step");
            tokio::task::yield_now().await;
        }
    }
    let quotes: Vec<Value> = args
        .tickers
        .iter()
        .map(|ticker| {
            json!({ "ticker": ticker, "price": "1.50", "currency": &*cx.caller.subject,
                    "as_of": "2026-01-02T03:04:05Z", "volume": null })
        })
        .collect();
    let result = json!({ "quotes": quotes, "request_id": &*cx.request_id, "source_status": 200 });
    Ok(Answer { result, text: format!("{} quotes", args.tickers.len()) })
}

async fn historical(_: Cx<Double>, _: Map<String, Value>) -> Result<Answer, Fault> {
    Err(Fault::unavailable("upstream_down", "the venue does not answer")
        .retry_after(Duration::from_secs(2)))
}

async fn health(_: Cx<Double>, _: NoArgs) -> Result<Answer, Fault> {
    Ok(Answer { result: json!({ "status": "ok" }), text: "ok".to_owned() })
}

async fn metadata(_: Cx<Double>, _: NoArgs) -> Result<Answer, Fault> {
    let result = json!({
        "mcp_version": "1.0.0", "api_version": "v1", "quotes_contract_version": "1.0.0",
        "supported_intervals": ["1d"], "max_page_size": 200, "max_range_days": 3660,
        "max_tickers_per_request": 50,
    });
    Ok(Answer { result, text: "limits".to_owned() })
}

struct Words;

impl Envelope for Words {
    fn tool_error(&self, fault: &Fault, cx: &FailureContext<'_>) -> Value {
        json!({ "type": cx.row.r#type, "message": fault.message(), "retryable": cx.row.retryable,
                "trace_id": cx.request_id })
    }

    fn http_body(&self, fault: &Fault, cx: &FailureContext<'_>) -> Value {
        json!({ "error": self.tool_error(fault, cx) })
    }
}

/// Knows nobody by default; a token's text is its subject, except `bad`, which holds nothing.
struct Door;

#[async_trait]
impl Gate for Door {
    async fn admit(&self, credential: &Credential, _: &str) -> Result<Caller, Fault> {
        let subject: Arc<str> = match credential {
            Credential::None => Arc::from("nobody"),
            Credential::Bearer(token) if &**token == "bad" => {
                let message = "the token does not hold";
                return Err(Fault::new(Kind::Unauthenticated, "bad_token", message));
            }
            Credential::Bearer(token) => Arc::clone(token),
        };
        Ok(Caller { subject, scopes: Arc::from(["read".to_owned()]) })
    }
}

struct Uncounted;

impl Meter for Uncounted {
    fn record(&self, _: &CallRecord<'_>) {}
}

pub(crate) fn pipeline() -> (Arc<Pipeline>, mpsc::UnboundedReceiver<Heard>) {
    let (heard, hear) = mpsc::unbounded_channel();
    let service = Tools::of(Arc::new(Double { heard }))
        .tool("quotes.live", Scope::Read, live)
        .tool("quotes.historical", Scope::Write, historical)
        .tool("system.health", Scope::Read, health)
        .tool("system.metadata", Scope::Read, metadata)
        .bind(Contract::load("quotes").unwrap(), Words)
        .unwrap();
    let catalog = Catalog::new(vec![service]).unwrap();
    let patience = Duration::from_secs(30);
    let pipeline = Pipeline::new(catalog, Arc::new(Door), Arc::new(Uncounted), patience);
    (Arc::new(pipeline), hear)
}

//! A test service bound to the quotes contract: handlers with constant answers, one that reports
//! progress, and one that waits until it is cancelled. It adds the resource template
//! `ticks://{symbol}/{interval}`, whose stream the test drives.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use async_trait::async_trait;
use contract::{
    Authenticator, CallRecord, Caller, Catalog, Concurrency, Contract, Credential, Cx, Envelope,
    EventFeed, FailureContext, Meter, Pipeline, Reply, ResourceSpec, Schema, Scope, StreamEvent,
    StreamSpec, Subscription, ToolSpec, Tools,
};
use fault::{Fault, Kind};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

/// What happened to a handler.
#[derive(Debug, PartialEq)]
pub(crate) enum HandlerEvent {
    Waiting,
    Cancelled,
}

/// An opened stream: its arguments, and the sender of its events.
pub(crate) struct OpenedStream {
    pub(crate) args: Value,
    events: mpsc::UnboundedSender<Arc<StreamEvent>>,
}

impl OpenedStream {
    /// Sends an event with or without a resume point.
    pub(crate) fn tick(&self, resume: Option<&str>) {
        let resume = resume.map(Arc::from);
        let event = StreamEvent { kind: "tick", resume, json: Arc::from("{}") };
        self.events.send(Arc::new(event)).unwrap();
    }

    /// Waits until the subscription is dropped.
    pub(crate) async fn until_dropped(&self) {
        self.events.closed().await;
    }
}

struct ChannelFeed(mpsc::UnboundedReceiver<Arc<StreamEvent>>);

impl EventFeed for ChannelFeed {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Arc<StreamEvent>>> {
        self.0.poll_recv(context)
    }
}

struct TestService {
    events: mpsc::UnboundedSender<HandlerEvent>,
    opened: mpsc::UnboundedSender<OpenedStream>,
    /// Each permit allows one more progress report, or ends a call for `PERMIT`.
    steps: Arc<tokio::sync::Semaphore>,
    /// Whether a stream was opened before; `ONCE` opens only once.
    again: AtomicBool,
}

/// The test's view of the service.
pub(crate) struct ServiceProbe {
    pub(crate) events: mpsc::UnboundedReceiver<HandlerEvent>,
    pub(crate) opened: mpsc::UnboundedReceiver<OpenedStream>,
    pub(crate) steps: Arc<tokio::sync::Semaphore>,
}

#[derive(Deserialize)]
struct LiveArgs {
    tickers: Vec<String>,
}

#[derive(Deserialize)]
struct NoArgs {}

struct TestReply {
    result: Value,
    text: String,
}

impl Reply for TestReply {
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

/// Reports that the handler's future was dropped, which is how a cancellation reaches it.
struct CancelGuard(mpsc::UnboundedSender<HandlerEvent>);

impl Drop for CancelGuard {
    fn drop(&mut self) {
        self.0.send(HandlerEvent::Cancelled).ok();
    }
}

async fn live(cx: Cx<TestService>, args: LiveArgs) -> Result<TestReply, Fault> {
    if args.tickers.iter().any(|ticker| ticker == "WAIT") {
        let _guard = CancelGuard(cx.service.events.clone());
        cx.service.events.send(HandlerEvent::Waiting).ok();
        std::future::pending::<()>().await;
    }
    if args.tickers.iter().any(|ticker| ticker == "PERMIT") {
        cx.service.events.send(HandlerEvent::Waiting).ok();
        cx.service.steps.acquire().await.unwrap().forget();
    }
    if args.tickers.iter().any(|ticker| ticker == "STEPS") {
        for done in 1..=3 {
            cx.progress.report(f64::from(done), Some(3.0), "step");
            tokio::task::yield_now().await;
        }
    }
    if args.tickers.iter().any(|ticker| ticker == "FOLLOW") {
        let _guard = CancelGuard(cx.service.events.clone());
        for done in 1_u32.. {
            cx.service.steps.acquire().await.unwrap().forget();
            cx.progress.report(f64::from(done), None, "event");
        }
    }
    if args.tickers.iter().any(|ticker| ticker == "FLOOD") {
        for done in 1..=100 {
            cx.progress.report(f64::from(done), Some(100.0), "event");
            if done % 7 == 0 {
                tokio::task::yield_now().await;
            }
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
    Ok(TestReply { result, text: format!("{} quotes", args.tickers.len()) })
}

async fn historical(_: Cx<TestService>, _: Map<String, Value>) -> Result<TestReply, Fault> {
    Err(Fault::unavailable("upstream_down", "the venue does not answer")
        .retry_after(Duration::from_secs(2)))
}

async fn health(_: Cx<TestService>, _: NoArgs) -> Result<TestReply, Fault> {
    Ok(TestReply { result: json!({ "status": "ok" }), text: "ok".to_owned() })
}

async fn metadata(_: Cx<TestService>, _: NoArgs) -> Result<TestReply, Fault> {
    let result = json!({
        "mcp_version": "1.0.0", "api_version": "v1", "quotes_contract_version": "1.0.0",
        "supported_intervals": ["1d"], "max_page_size": 200, "max_range_days": 3660,
        "max_tickers_per_request": 50,
    });
    Ok(TestReply { result, text: "limits".to_owned() })
}

#[derive(Deserialize)]
struct TickArgs {
    symbol: String,
    interval: String,
    after: Option<u64>,
}

impl TickArgs {
    /// `NONE` does not exist, `DOWN` is unavailable, `LOST` cannot resume, and `SHUT` refuses a
    /// resumed stream.
    fn checked(self) -> Result<Self, Fault> {
        match (self.symbol.as_str(), &self.after) {
            ("NONE", _) => Err(Fault::new(Kind::NotFound, "unknown_symbol", "no such symbol")),
            ("DOWN", _) => Err(Fault::unavailable("upstream_down", "the venue does not answer")
                .retry_after(Duration::from_millis(1_500))),
            ("LOST", Some(_)) => Err(Fault::new(Kind::Conflict, "too_old", "that is gone")),
            ("SHUT", Some(_)) => Err(Fault::new(Kind::Unauthenticated, "token_revoked", "no more")),
            _ => Ok(self),
        }
    }
}

async fn read_ticks(_: Cx<TestService>, args: TickArgs) -> Result<TestReply, Fault> {
    let args = args.checked()?;
    let result = json!({ "symbol": args.symbol, "interval": args.interval });
    Ok(TestReply { result, text: "ticks".to_owned() })
}

async fn names(_: Cx<TestService>, _: NoArgs) -> Result<TestReply, Fault> {
    let names: Vec<String> = (0..250).map(|at| format!("COIN{at:03}")).collect();
    Ok(TestReply { result: json!({ "names": names }), text: "names".to_owned() })
}

async fn open_ticks(cx: Cx<TestService>, args: TickArgs) -> Result<Subscription, Fault> {
    let args = args.checked()?;
    let again = cx.service.again.swap(true, Ordering::Relaxed);
    if again && args.symbol == "ONCE" {
        return Err(Fault::new(Kind::NotFound, "unknown_symbol", "it is no longer traded"));
    }
    let (events, feed) = mpsc::unbounded_channel();
    let args = json!({ "symbol": args.symbol, "interval": args.interval, "after": args.after });
    cx.service.opened.send(OpenedStream { args, events }).ok();
    Ok(Subscription::new(ChannelFeed(feed)))
}

/// The quotes contract with the resource template.
fn contract() -> Contract {
    let mut contract = Contract::load("quotes").unwrap();
    // High enough that only the limits of the transport are tested.
    contract.tools[1].host.confirm = Some("Read from {from}?".to_owned());
    contract.tools[0].concurrency = Some(Concurrency { max: 2_000, queue: 0 });
    let object = || Schema::compile(json!({ "type": "object" })).unwrap();
    let input = || {
        let interval = json!({ "type": "string", "enum": ["1s", "1m"] });
        let text = json!({ "type": "string" });
        let after = json!({ "type": "integer" });
        let properties = json!({ "symbol": text, "interval": interval, "after": after });
        let schema = json!({ "type": "object", "required": ["symbol", "interval"],
            "additionalProperties": false, "properties": properties });
        Schema::compile(schema).unwrap()
    };
    for (name, input) in [("ticks.read", input()), ("ticks.names", object())] {
        contract.tools.push(ToolSpec {
            name: name.to_owned(),
            title: "Ticks".to_owned(),
            description: "Ticks.".to_owned(),
            input,
            relaxed: None,
            output: object(),
            annotations: json!({ "readOnlyHint": true }),
            read_only: true,
            http: None,
            http_only: true,
            timeout: None,
            concurrency: None,
            task: None,
            host: contract::HostTool::default(),
        });
    }
    contract.streams.push(StreamSpec {
        name: "ticks".to_owned(),
        title: "Ticks".to_owned(),
        description: "Ticks.".to_owned(),
        input: input(),
        event: object(),
        resume: "after".to_owned(),
        sse: None,
        ws: None,
    });
    contract.resources.push(ResourceSpec {
        template: "ticks://{symbol}/{interval}".to_owned(),
        name: "ticks".to_owned(),
        title: "Ticks".to_owned(),
        description: "The newest ticks.".to_owned(),
        read: "ticks.read".to_owned(),
        watch: Some("ticks".to_owned()),
        complete: BTreeMap::from([("symbol".to_owned(), "ticks.names#/names".to_owned())]),
    });
    contract
}

pub(crate) struct TestEnvelope;

impl Envelope for TestEnvelope {
    fn tool_error(&self, fault: &Fault, cx: &FailureContext<'_>) -> Value {
        json!({ "type": cx.row.r#type, "message": fault.message(), "retryable": cx.row.retryable,
                "trace_id": cx.request_id })
    }

    fn http_body(&self, fault: &Fault, cx: &FailureContext<'_>) -> Value {
        json!({ "error": self.tool_error(fault, cx) })
    }
}

/// A token is its own subject, except `bad`, which is refused; without a token there is a fixed one.
pub(crate) struct TestAuthenticator;

#[async_trait]
impl Authenticator for TestAuthenticator {
    async fn authenticate(&self, credential: &Credential, _: &str) -> Result<Caller, Fault> {
        let subject = credential.token().cloned().unwrap_or_else(|| Arc::from("nobody"));
        if &*subject == "bad" {
            let message = "the token does not hold";
            return Err(Fault::new(Kind::Unauthenticated, "bad_token", message));
        }
        Ok(Caller::new(subject, ["read".to_owned()]))
    }
}

pub(crate) struct NoMeter;

impl Meter for NoMeter {
    fn record(&self, _: &CallRecord<'_>) {}
}

pub(crate) fn pipeline() -> (Arc<Pipeline>, ServiceProbe) {
    let (events, received) = mpsc::unbounded_channel();
    let (opened, open) = mpsc::unbounded_channel();
    let steps = Arc::new(tokio::sync::Semaphore::new(0));
    let again = AtomicBool::new(false);
    let service =
        Tools::of(Arc::new(TestService { events, opened, steps: Arc::clone(&steps), again }))
            .tool("quotes.live", Scope::Read, live)
            .tool("quotes.historical", Scope::Write, historical)
            .tool("system.health", Scope::Read, health)
            .tool("system.metadata", Scope::Read, metadata)
            .tool("ticks.read", Scope::Read, read_ticks)
            .tool("ticks.names", Scope::Read, names)
            .stream("ticks", Scope::Read, open_ticks)
            .bind(contract(), TestEnvelope)
            .unwrap();
    let catalog = Catalog::new(vec![service]).unwrap();
    let timeout = Duration::from_secs(30);
    let pipeline = Pipeline::new(catalog, Arc::new(TestAuthenticator), Arc::new(NoMeter), timeout);
    (Arc::new(pipeline), ServiceProbe { events: received, opened: open, steps })
}

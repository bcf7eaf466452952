//! A contract with three streams, and a server that serves it.

use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use async_trait::async_trait;
use contract::{
    Authenticator, CallRecord, Caller, Catalog, Contract, Credential, Cx, Envelope, EventFeed,
    FailureContext, Meter, Pipeline, Schema, Scope, SseBinding, StreamEvent, StreamSpec,
    Subscription, Tools, VerifiedToken, View,
};
use fault::{Fault, Kind};
use http::HeaderValue;
use limits::{RateLimit, RateLimiter};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::{
    AllowedHosts, ConnectionCount, EdgeConfig, Limits, StreamOptions, router, serve, test_server,
    with_edge,
};

/// The input of `ticks`.
#[derive(Deserialize)]
struct Args {
    name: String,
    /// The resume point: the first tick has the next number.
    #[serde(default)]
    after: u64,
    /// The last number, after which a status event ends the stream; without it ticks never stop.
    last: Option<u64>,
    /// Padding bytes of each event.
    #[serde(default)]
    weight: usize,
}

/// What happened to the subscriptions, for tests to wait on.
#[derive(Default)]
pub(crate) struct CallLog {
    /// Events that were polled.
    pub(crate) taken: AtomicUsize,
    /// Subscriptions that are open.
    pub(crate) open: watch::Sender<usize>,
    /// How often a token was verified.
    pub(crate) verified: AtomicUsize,
    /// Whether the token `good` is revoked.
    pub(crate) revoked: AtomicBool,
    /// Holds back subscriptions named `wait` and events of `quiet` until it opens.
    latch: Mutex<(bool, Vec<Waker>)>,
}

impl CallLog {
    /// Waits until `count` subscriptions are open.
    pub(crate) async fn until_open(&self, count: usize) {
        self.open.subscribe().wait_for(|open| *open == count).await.unwrap();
    }

    pub(crate) fn open_latch(&self) {
        let mut latch = self.latch.lock();
        latch.0 = true;
        latch.1.drain(..).for_each(Waker::wake);
    }

    fn poll_latch(&self, context: &Context<'_>) -> Poll<()> {
        let mut latch = self.latch.lock();
        if latch.0 {
            return Poll::Ready(());
        }
        latch.1.push(context.waker().clone());
        Poll::Pending
    }
}

struct Ticks {
    args: Args,
    at: u64,
    over: bool,
    log: Arc<CallLog>,
}

impl EventFeed for Ticks {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Arc<StreamEvent>>> {
        if self.over {
            return Poll::Ready(None);
        }
        // A subscription named `quiet` has no event until the latch opens.
        if self.args.name == "quiet" {
            std::task::ready!(self.log.poll_latch(context));
        }
        self.at += 1;
        self.log.taken.fetch_add(1, Ordering::Relaxed);
        if self.args.last.is_some_and(|last| self.at > last) {
            self.over = true;
            let json = json!({"type": "status", "status": "ended"}).to_string();
            return Poll::Ready(Some(Arc::new(StreamEvent {
                kind: "status",
                resume: None,
                json: json.into(),
            })));
        }
        let mut json = json!({"type": "tick", "name": self.args.name, "n": self.at});
        if self.args.weight > 0 {
            json["load"] = Value::from("x".repeat(self.args.weight));
        }
        Poll::Ready(Some(Arc::new(StreamEvent {
            kind: "tick",
            resume: Some(self.at.to_string().into()),
            json: json.to_string().into(),
        })))
    }
}

async fn open(cx: Cx<CallLog>, args: Args) -> Result<Subscription, Fault> {
    match args.name.as_str() {
        "nobody" => return Err(Fault::not_found("unknown_symbol", "there is no such name")),
        "wait" => std::future::poll_fn(|context| cx.service.poll_latch(context)).await,
        "never" => std::future::pending().await,
        _ => {}
    }
    Ok(Subscription::new(Ticks { at: args.after, over: false, log: Arc::clone(&cx.service), args }))
}

fn stream(name: &str, sse: Option<&str>) -> StreamSpec {
    let input = || {
        json!({ "type": "object", "required": ["name"], "additionalProperties": false,
            "properties": {
                "name": { "type": "string" },
                "after": { "type": "integer", "minimum": 0 },
                "last": { "type": "integer", "minimum": 0 },
                "weight": { "type": "integer", "minimum": 0 },
            } })
    };
    let event = json!({ "type": "object", "required": ["type"] });
    StreamSpec {
        name: name.to_owned(),
        title: "Ticks".to_owned(),
        description: "Numbers, one after the other.".to_owned(),
        input: Schema::compile(input()).unwrap(),
        event: Schema::compile(event).unwrap(),
        resume: "after".to_owned(),
        sse: sse.map(|path| SseBinding {
            path: path.to_owned(),
            query: Schema::compile(input()).unwrap(),
        }),
        ws: Some(if name == "alone" { "/alone" } else { "/ws" }.to_owned()),
    }
}

pub(crate) struct TestEnvelope;

impl Envelope for TestEnvelope {
    fn tool_error(&self, fault: &Fault, cx: &FailureContext<'_>) -> Value {
        let problem = |it: &fault::Problem| json!({ "field": it.field, "expected": it.expected });
        let details: Value = fault.problems().iter().map(problem).collect();
        json!({
            "error": {
                "code": cx.row.r#type, "message": fault.message(), "retryable": cx.row.retryable,
                "details": details,
            },
            "requestId": cx.request_id,
        })
    }

    fn http_body(&self, fault: &Fault, cx: &FailureContext<'_>) -> Value {
        self.tool_error(fault, cx)
    }
}

/// Accepts the token `good`; accepts no token unless `strict`.
struct TestAuthenticator {
    strict: bool,
    log: Arc<CallLog>,
}

#[async_trait]
impl Authenticator for TestAuthenticator {
    async fn authenticate(&self, credential: &Credential, _service: &str) -> Result<Caller, Fault> {
        match credential {
            Credential::Verified(verified) => return Ok(verified.caller.clone()),
            Credential::Bearer(token) if &**token == "good" => {
                self.log.verified.fetch_add(1, Ordering::SeqCst);
                if self.log.revoked.load(Ordering::SeqCst) {
                    let message = "the token was revoked";
                    return Err(Fault::new(Kind::Unauthenticated, "token_revoked", message));
                }
            }
            Credential::None if !self.strict => {}
            _ => return Err(Fault::new(Kind::Unauthenticated, "who", "who are you")),
        }
        Ok(Caller::new("t", ["read".to_owned()]))
    }

    async fn verify(&self, credential: &Credential) -> Result<Credential, Fault> {
        let caller = self.authenticate(credential, "").await?;
        Ok(match credential {
            Credential::Bearer(token) => {
                Credential::Verified(VerifiedToken { token: Arc::clone(token), caller })
            }
            other => other.clone(),
        })
    }
}

struct Counter(Arc<CallLog>);

impl Meter for Counter {
    fn record(&self, _record: &CallRecord<'_>) {}

    fn stream_opened(
        &self,
        _service: &str,
        _stream: &str,
        _transport: &str,
    ) -> Box<dyn Send + Sync> {
        self.0.open.send_modify(|open| *open += 1);
        Box::new(OpenGuard(Arc::clone(&self.0)))
    }
}

struct OpenGuard(Arc<CallLog>);

impl Drop for OpenGuard {
    fn drop(&mut self) {
        self.0.open.send_modify(|open| *open -= 1);
    }
}

pub(crate) fn pipeline(strict: bool) -> (Arc<Pipeline>, Arc<CallLog>) {
    pipeline_with(strict, Duration::from_millis(50))
}

/// `recheck` is the time between two checks of the token of an open stream or connection.
fn pipeline_with(strict: bool, recheck: Duration) -> (Arc<Pipeline>, Arc<CallLog>) {
    let log = Arc::new(CallLog::default());
    let contract = Contract {
        streams: vec![
            stream("ticks", Some("/stream/ticks")),
            stream("more", None),
            stream("alone", None),
        ],
        tools: Vec::new(),
        resources: Vec::new(),
        ..Contract::load("indicators").unwrap()
    };
    let service = Tools::of(Arc::clone(&log))
        .stream("ticks", Scope::Read, open)
        .stream("more", Scope::Read, open)
        .stream("alone", Scope::Read, open)
        .bind(contract, TestEnvelope)
        .unwrap();
    let catalog = Catalog::new(vec![service]).unwrap();
    let meter = Arc::new(Counter(Arc::clone(&log)));
    let authenticator = Arc::new(TestAuthenticator { strict, log: Arc::clone(&log) });
    let pipeline = Pipeline::new(catalog, authenticator, meter, Duration::from_secs(5));
    (Arc::new(pipeline.with_recheck_interval(recheck)), log)
}

/// A server on its own port; it stops when dropped.
pub(crate) struct TestServer {
    pub(crate) address: std::net::SocketAddr,
    pub(crate) log: Arc<CallLog>,
    pub(crate) stop: CancellationToken,
    pub(crate) served: JoinSet<()>,
    /// How many connections are open.
    pub(crate) connections: watch::Receiver<usize>,
}

pub(crate) struct ServerSettings {
    pub(crate) strict: bool,
    pub(crate) recheck: Duration,
    pub(crate) streams: StreamOptions,
    pub(crate) connections_max: usize,
    pub(crate) rate: RateLimit,
    pub(crate) origins: Vec<HeaderValue>,
}

impl Default for ServerSettings {
    fn default() -> Self {
        Self {
            strict: false,
            recheck: Duration::from_millis(50),
            streams: StreamOptions::default(),
            connections_max: 64,
            rate: RateLimit { burst: 1000, per_second: 1000.0 },
            origins: vec![HeaderValue::from_static("https://app.example")],
        }
    }
}

impl TestServer {
    pub(crate) async fn open() -> Self {
        Self::with(ServerSettings::default()).await
    }

    pub(crate) async fn with(settings: ServerSettings) -> Self {
        let (pipeline, log) = pipeline_with(settings.strict, settings.recheck);
        let routes =
            router(&pipeline, &View::default(), test_server::pages(), &settings.streams, &[]);
        let edge = EdgeConfig {
            limiter: RateLimiter::new(settings.rate, 64),
            hosts: AllowedHosts::Only(vec!["stoa.example".to_owned()]),
            cors_origins: settings.origins,
            ..test_server::edge(&pipeline)
        };
        let limits = Limits { connections_max: settings.connections_max, ..test_server::limits() };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        let (report, connections) = watch::channel(0);
        let mut served = JoinSet::new();
        served.spawn(serve(listener, with_edge(routes, edge), limits, stop.clone(), move |it| {
            if let ConnectionCount::Open(open) = it {
                report.send_replace(open);
            }
        }));
        Self { address, log, stop, served, connections }
    }
}

//! A service with an agent, an authenticator that accepts any name, and requests to it.

use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use axum::Router;
use axum::body::Body;
use contract::{
    AgentSkill, AgentSpec, Authenticator, CallRecord, Caller, Catalog, Contract, Credential, Cx,
    Envelope, FailureContext, Meter, Pipeline, Reply, RequestMeta, Schema, Scope, ToolSpec, Tools,
    View,
};
use fault::{Fault, Kind};
use http::{Request, Response};
use http_body_util::BodyExt as _;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt as _;
use transport_a2a::{A2aOptions, MemoryTaskStore, PushConfig, PushSender, TaskLimits, TaskStore};

/// A tool that repeats its question and can be blocked.
#[derive(Default)]
pub(crate) struct EchoTool {
    pub(crate) started: Notify,
    pub(crate) resume: Notify,
    pub(crate) inputs: Mutex<Vec<Value>>,
}

#[derive(Deserialize)]
struct Args {
    input: Value,
}

struct EchoReply(Value);

impl Reply for EchoReply {
    fn result(&self) -> Value {
        self.0.clone()
    }

    fn text(&self) -> String {
        "another text".to_owned()
    }
}

async fn ask(cx: Cx<EchoTool>, args: Args) -> Result<EchoReply, Fault> {
    cx.service.inputs.lock().push(args.input.clone());
    let messages = args.input["messages"].as_array().cloned().unwrap_or_default();
    let words = messages.last().and_then(|it| it["content"].as_str()).unwrap_or_default();
    match words {
        "fail" => return Err(Fault::unavailable("parrot_ill", "the parrot is ill")),
        "refuse" => return Err(Fault::invalid("rude", "the parrot does not say that")),
        "panic" => panic!("the parrot fell off its perch"),
        "wait" => {
            cx.progress.report(1.0, Some(2.0), "thinking");
            cx.service.started.notify_one();
            cx.service.resume.notified().await;
        }
        _ => {}
    }
    let text = format!("{} said {words:?} ({})", cx.caller.subject, messages.len());
    Ok(EchoReply(json!({ "output": { "text": text, "tables": [] } })))
}

struct Plain;

impl Envelope for Plain {
    fn tool_error(&self, fault: &Fault, cx: &FailureContext<'_>) -> Value {
        json!({ "type": cx.row.r#type, "message": fault.message(), "retryable": false,
            "http_status": cx.row.http_status, "http_code": "Oh", "trace_id": cx.request_id,
            "retry_after_s": null })
    }

    fn http_body(&self, fault: &Fault, cx: &FailureContext<'_>) -> Value {
        json!({ "error": self.tool_error(fault, cx) })
    }
}

/// Accepts any name as a credential, except one reserved name; `guest` may not read.
struct Names;

#[async_trait]
impl Authenticator for Names {
    async fn authenticate(&self, credential: &Credential, _: &str) -> Result<Caller, Fault> {
        let Credential::Bearer(name) = credential else {
            return Err(Fault::new(Kind::Unauthenticated, "token_missing", "who are you?"));
        };
        let scopes: Vec<String> = match &**name {
            "guest" => Vec::new(),
            _ => vec![Scope::Read.as_str().to_owned()],
        };
        Ok(Caller::new(Arc::clone(name), scopes))
    }
}

struct Uncounted;

impl Meter for Uncounted {
    fn record(&self, _: &CallRecord<'_>) {}
}

/// Records the deliveries of each webhook.
#[derive(Default)]
pub(crate) struct RecordedPushes {
    pub(crate) sent: Mutex<Vec<(String, Value)>>,
    pub(crate) arrived: Notify,
    /// How many deliveries fail before one succeeds.
    pub(crate) failing: AtomicI64,
    /// Whether deliveries never end.
    pub(crate) hanging: AtomicBool,
    pub(crate) hangs: Notify,
    /// The number of deliveries that never ended.
    pub(crate) hung: AtomicI64,
}

#[async_trait]
impl PushSender for RecordedPushes {
    fn accepts(&self, url: &str) -> Result<(), Fault> {
        match url.starts_with("https://") {
            true => Ok(()),
            false => Err(Fault::invalid("push_url", "no").problem("url", "https")),
        }
    }

    async fn deliver(&self, push: &PushConfig, json: &str) -> Result<(), Fault> {
        if self.hanging.load(Ordering::SeqCst) {
            self.hung.fetch_add(1, Ordering::SeqCst);
            self.hangs.notify_one();
            std::future::pending::<()>().await;
        }
        if self.failing.fetch_sub(1, Ordering::SeqCst) > 0 {
            return Err(Fault::unavailable("busy", "nobody is at home"));
        }
        let json = serde_json::from_str(json).unwrap();
        self.sent.lock().push((push.id.clone(), json));
        self.arrived.notify_one();
        Ok(())
    }
}

pub(crate) struct TestServer {
    pub(crate) echo_tool: Arc<EchoTool>,
    pub(crate) pushes: Arc<RecordedPushes>,
    pub(crate) stop: CancellationToken,
    pub(crate) tasks: TaskTracker,
    router: Router,
}

fn schema() -> Value {
    let message = json!({ "type": "object", "required": ["role", "content"] });
    json!({ "type": "object", "required": ["input"], "additionalProperties": false,
        "properties": { "input": { "type": "object", "required": ["messages"], "properties": {
            "messages": { "type": "array", "items": message } } } } })
}

fn contract() -> Contract {
    let tool = ToolSpec {
        name: "ask".to_owned(),
        title: String::new(),
        description: String::new(),
        input: Schema::compile(schema()).unwrap(),
        relaxed: None,
        output: Schema::compile(json!({ "type": "object", "required": ["output"] })).unwrap(),
        annotations: Value::Null,
        read_only: true,
        http: None,
        http_only: false,
        timeout: None,
        concurrency: None,
        task: None,
        host: contract::HostTool::default(),
    };
    let skill = AgentSkill {
        id: "repeat".to_owned(),
        name: "Repeat".to_owned(),
        description: "Says it again.".to_owned(),
        tags: vec!["birds".to_owned()],
        examples: vec!["hello".to_owned()],
    };
    let agent = AgentSpec {
        tool: "ask".to_owned(),
        name: "Parrot".to_owned(),
        description: "A bird.".to_owned(),
        skills: vec![skill],
        path: "/a2a".to_owned(),
    };
    // The errors of a real contract, since a table of them can only be read from files.
    let real = Contract::load("quotes").unwrap();
    Contract {
        service: "birds".to_owned(),
        version: "1.2.3".to_owned(),
        tools: vec![tool],
        streams: Vec::new(),
        resources: Vec::new(),
        documents: Vec::new(),
        access: contract::AccessRules::default(),
        body_bytes: None,
        body_scope: None,
        agent: Some(agent),
        ..real
    }
}

impl TestServer {
    pub(crate) fn new() -> Self {
        Self::over(Arc::new(MemoryTaskStore::default()), TaskLimits::default())
    }

    /// The agent of the conformance suite in place of the echo agent.
    pub(crate) fn fixture() -> Self {
        Self::built(Arc::new(MemoryTaskStore::default()), TaskLimits::default(), |_, options| {
            transport_a2a::conformance_agent(options).map(Option::unwrap_or_default)
        })
    }

    pub(crate) fn over(store: Arc<dyn TaskStore>, limits: TaskLimits) -> Self {
        Self::built(store, limits, |pipeline, options| {
            transport_a2a::router(pipeline, &View::default(), options)
        })
    }

    fn built(
        store: Arc<dyn TaskStore>,
        limits: TaskLimits,
        router: impl FnOnce(&Arc<Pipeline>, A2aOptions) -> Result<Router, Fault>,
    ) -> Self {
        let echo_tool = Arc::new(EchoTool::default());
        let service = Tools::of(Arc::clone(&echo_tool))
            .tool("ask", Scope::Read, ask)
            .bind(contract(), Plain)
            .unwrap();
        let catalog = Catalog::new(vec![service]).unwrap();
        let authenticator: Arc<dyn Authenticator> = Arc::new(Names);
        let pipeline = Pipeline::new(
            catalog,
            Arc::clone(&authenticator),
            Arc::new(Uncounted),
            Duration::from_secs(600),
        );
        let pushes = Arc::new(RecordedPushes::default());
        let clock = AtomicI64::new(1_761_647_400_000);
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        let started = tokio::time::Instant::now();
        let options = A2aOptions {
            prefix: String::new(),
            public_url: None,
            open: false,
            authenticator,
            store,
            push_sender: Arc::clone(&pushes) as _,
            // Every reading of the clock is a millisecond later, so that no two events have the
            // same time.
            now: Arc::new(move || {
                let passed = i64::try_from(started.elapsed().as_millis()).unwrap();
                clock.fetch_add(1, Ordering::SeqCst) + passed
            }),
            limits,
            tasks: tasks.clone(),
            stop: stop.clone(),
        };
        let pipeline = Arc::new(pipeline);
        let router = router(&pipeline, options).unwrap();
        Self { echo_tool, pushes, stop, tasks, router }
    }

    /// Any request, as the edge would pass it on.
    pub(crate) async fn request(&self, who: &str, mut request: Request<Body>) -> Response<Body> {
        let credential = match who {
            "nobody" => Credential::None,
            name => Credential::Bearer(Arc::from(name)),
        };
        let arrival = RequestMeta::new(Arc::from("r1"), credential);
        request.extensions_mut().insert(arrival);
        self.router.clone().oneshot(request).await.unwrap()
    }

    pub(crate) async fn rest(&self, who: &str, method: &str, path: &str, body: Value) -> Answer {
        let request = Request::builder()
            .method(method)
            .uri(format!("/a2a/rest{path}"))
            .header("a2a-version", "1.0")
            .header("content-type", "application/json")
            .body(if body.is_null() { Body::empty() } else { Body::from(body.to_string()) });
        Answer::of(self.request(who, request.unwrap()).await).await
    }

    pub(crate) async fn rpc_response(
        &self,
        who: &str,
        method: &str,
        params: Value,
    ) -> Response<Body> {
        let call = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
        let request = Request::post("/a2a")
            .header("a2a-version", "1.0")
            .header("content-type", "application/json")
            .body(Body::from(call.to_string()));
        self.request(who, request.unwrap()).await
    }

    /// A call whose result is of interest.
    #[track_caller]
    pub(crate) fn rpc(
        &self,
        who: &str,
        method: &str,
        params: Value,
    ) -> impl Future<Output = Value> {
        let answered = self.rpc_response(who, method, params);
        async move {
            let answer = Answer::of(answered.await).await;
            assert_eq!(answer.body["id"], 7, "{}", answer.body);
            assert!(answer.body.get("result").is_some(), "{}", answer.body);
            answer.body["result"].clone()
        }
    }

    /// A call that is refused: the code and the reason.
    pub(crate) async fn refused(&self, who: &str, method: &str, params: Value) -> (i64, String) {
        let answer = Answer::of(self.rpc_response(who, method, params).await).await;
        let error = &answer.body["error"];
        let code = error["code"].as_i64().unwrap_or_else(|| panic!("{}", answer.body));
        (code, error["data"][0]["reason"].as_str().unwrap_or_default().to_owned())
    }

    pub(crate) async fn send(&self, who: &str, words: &str) -> Value {
        self.rpc(who, "SendMessage", message(words)).await["task"].clone()
    }
}

pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: http::HeaderMap,
    pub(crate) body: Value,
}

impl Answer {
    pub(crate) async fn of(response: Response<Body>) -> Self {
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
        Self { status: parts.status.as_u16(), headers: parts.headers, body }
    }
}

pub(crate) fn message(words: &str) -> Value {
    json!({ "message": { "messageId": "m1", "role": "ROLE_USER", "parts": [{ "text": words }] } })
}

/// The events of a stream, one after another.
pub(crate) struct Events(Body, String);

impl Events {
    pub(crate) fn of(response: Response<Body>) -> Self {
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self(response.into_body(), String::new())
    }

    /// The next event; `None` when the stream is over.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some((event, rest)) = self.1.split_once("\n\n") {
                let json = event.strip_prefix("data: ").map(str::to_owned);
                self.1 = rest.to_owned();
                match json {
                    Some(json) => return Some(serde_json::from_str(&json).unwrap()),
                    None => continue,
                }
            }
            let frame = self.0.frame().await?.unwrap();
            self.1.push_str(std::str::from_utf8(&frame.into_data().unwrap()).unwrap());
        }
    }

    /// All that is left.
    pub(crate) async fn rest(mut self) -> Vec<Value> {
        let mut all = Vec::new();
        while let Some(event) = self.next().await {
            all.push(event);
        }
        all
    }
}

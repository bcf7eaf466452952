//! Calls that become tasks: which clients get one, what it reports, and who may see it.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use contract::{
    Catalog, Contract, Cx, JobPhase, JobQuery, JobReport, Pipeline, Reply, Schema, Scope, TaskSpec,
    ToolSpec, Tools, View,
};
use fault::{Fault, Kind};
use serde::Deserialize;
use serde_json::{Value, json};
use transport_mcp::{HttpOptions, ServerOptions, router};

use crate::client::{HttpClient, LEGACY};
use crate::fixture::{NoMeter, TestAuthenticator, TestEnvelope};
use crate::http::serve;

const RULES: TaskSpec = TaskSpec { poll_ms: 250, ttl_s: 60 };

/// The owner and state of each job, by name.
#[derive(Default)]
struct JobService(Mutex<HashMap<String, (String, &'static str)>>);

struct JobReply(Value, Option<String>);

impl Reply for JobReply {
    fn result(&self) -> Value {
        self.0.clone()
    }

    fn text(&self) -> String {
        "begun".to_owned()
    }

    fn job(&self) -> Option<&str> {
        self.1.as_deref()
    }
}

#[derive(Deserialize)]
struct Args {
    job: String,
}

/// A job whose name is `now` is done at once.
async fn begin(cx: Cx<JobService>, Args { job }: Args) -> Result<JobReply, Fault> {
    let json = json!({ "job": job, "state": "queued" });
    if job == "now" {
        return Ok(JobReply(json, None));
    }
    let mut jobs = cx.service.0.lock();
    jobs.entry(job.clone()).or_insert_with(|| (cx.caller.subject.to_string(), "working"));
    Ok(JobReply(json, Some(job)))
}

async fn follow(cx: Cx<JobService>, ask: JobQuery) -> Result<JobReport, Fault> {
    let mut jobs = cx.service.0.lock();
    let own = |it: &&mut (String, &'static str)| *it.0 == *cx.caller.subject;
    let found = jobs.get_mut(&ask.job).filter(own);
    let (_, state) = found.ok_or_else(|| Fault::not_found("job_not_found", "no such job"))?;
    if ask.cancel && *state == "working" {
        *state = "cancelled";
    }
    let phase = match *state {
        "done" => {
            let json = json!({ "job": ask.job, "state": "done" });
            JobPhase::Ended(Ok(Box::new(JobReply(json, None))))
        }
        "failed" => JobPhase::Ended(Err(Fault::new(Kind::Conflict, "torn", "the page is torn"))),
        "cancelled" => JobPhase::Cancelled,
        _ => JobPhase::Working,
    };
    let age = Duration::from_secs(if *state == "old" { 61 } else { 1 });
    let (created_at, changed_at) = ("2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z");
    Ok(JobReport {
        created_at: created_at.to_owned(),
        changed_at: changed_at.to_owned(),
        age,
        note: "page 3 of 10".to_owned(),
        phase,
    })
}

pub(crate) fn tool(name: &str, task: Option<TaskSpec>) -> ToolSpec {
    let text = json!({ "type": "string" });
    let input = json!({ "type": "object", "properties": { "job": text, "pass": text } });
    let output = json!({ "type": "object", "required": ["job", "state"] });
    ToolSpec {
        name: name.to_owned(),
        title: "Begin".to_owned(),
        description: "Begins.".to_owned(),
        input: Schema::compile(input).unwrap(),
        relaxed: None,
        output: Schema::compile(output).unwrap(),
        annotations: json!({}),
        read_only: false,
        http: None,
        http_only: false,
        timeout: None,
        concurrency: None,
        task,
        host: contract::HostTool::default(),
    }
}

struct TestServer {
    address: SocketAddr,
    jobs: Arc<JobService>,
    _serving: tokio::task::JoinSet<()>,
}

impl TestServer {
    /// `argument` carries a credential, where there is one.
    async fn open(argument: Option<&str>) -> Self {
        let mut contract = Contract::load("quotes").unwrap();
        contract.tools = vec![tool("work.begin", Some(RULES)), tool("work.plain", None)];
        contract.access.credential_argument = argument.map(str::to_owned);
        let jobs = Arc::new(JobService::default());
        let service = Tools::of(Arc::clone(&jobs))
            .tool("work.begin", Scope::Read, begin)
            .tool("work.plain", Scope::Read, begin)
            .follow("work.begin", follow)
            .bind(contract, TestEnvelope)
            .unwrap();
        let catalog = Catalog::new(vec![service]).unwrap();
        let timeout = Duration::from_secs(30);
        let pipeline =
            Pipeline::new(catalog, Arc::new(TestAuthenticator), Arc::new(NoMeter), timeout);
        let (view, server) = (View::default(), ServerOptions::http("9.9.9"));
        let routes = router(&Arc::new(pipeline), &view, &server, &HttpOptions::default());
        let (address, serving) = serve(routes).await;
        Self { address, jobs, _serving: serving }
    }

    fn at(&self, path: &str, who: &str) -> HttpClient {
        HttpClient::new(self.address, path).with("authorization", &format!("Bearer {who}"))
    }

    fn becomes(&self, job: &str, state: &'static str) {
        self.jobs.0.lock().get_mut(job).unwrap().1 = state;
    }
}

/// The request of a client that has the extension.
async fn request_with_tasks(client: &HttpClient, method: &str, mut params: Value) -> Value {
    let declared = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = declared;
    client.modern(method, params).await.message()
}

async fn begun(client: &HttpClient, job: &str) -> Value {
    let params = json!({ "name": "work_begin", "arguments": { "job": job } });
    request_with_tasks(client, "tools/call", params).await["result"].clone()
}

async fn get(client: &HttpClient, id: &str) -> Value {
    request_with_tasks(client, "tasks/get", json!({ "taskId": id })).await
}

const ONE: &str = "quotes.work.begin.one";

#[tokio::test]
async fn a_call_becomes_a_task_that_ends_with_its_answer() {
    let server = TestServer::open(None).await;
    let ada = server.at("/mcp", "ada");
    let task = begun(&ada, "one").await;
    let expected = json!({ "resultType": "task", "taskId": ONE, "status": "working",
        "statusMessage": "page 3 of 10", "createdAt": "2026-01-01T00:00:00Z",
        "lastUpdatedAt": "2026-01-01T00:00:01Z", "ttlMs": 60_000, "pollIntervalMs": 250 });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&task[name], value, "{name}: {task}");
    }
    let answer = get(&ada, ONE).await;
    assert_eq!(answer["result"]["status"], "working", "{answer}");
    assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
    server.becomes("one", "done");
    // The endpoint of the service has the same task.
    for path in ["/mcp", "/mcp/quotes"] {
        let answer = get(&server.at(path, "ada"), ONE).await;
        let (task, result) = (&answer["result"], &answer["result"]["result"]);
        assert_eq!(task["status"], "completed", "{answer}");
        assert_eq!(
            result["structuredContent"],
            json!({ "job": "one", "state": "done" }),
            "{answer}"
        );
        assert_eq!(result["content"][0]["text"], "begun", "{answer}");
        assert_ne!(result["isError"], true, "{answer}");
    }
    server.becomes("one", "failed");
    let answer = get(&ada, ONE).await;
    let (task, result) = (&answer["result"], &answer["result"]["result"]);
    assert_eq!((&task["status"], &result["isError"]), (&json!("completed"), &json!(true)));
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("the page is torn"), "{answer}");
}

#[tokio::test]
async fn a_client_without_tasks_gets_the_plain_answer() {
    let server = TestServer::open(None).await;
    let ada = server.at("/mcp", "ada");
    let queued = |job: &str| json!({ "job": job, "state": "queued" });
    let params = json!({ "name": "work_begin", "arguments": { "job": "one" } });
    let plain = ada.modern("tools/call", params.clone()).await.message();
    assert_eq!(plain["result"]["structuredContent"], queued("one"), "{plain}");
    let answer = ada.modern("tasks/get", json!({ "taskId": ONE })).await.message();
    assert_eq!(answer["error"]["code"], -32021, "{answer}");
    // A job that is done at once has no task, nor has a tool without tasks.
    assert_eq!(begun(&ada, "now").await["structuredContent"], queued("now"));
    let other = json!({ "name": "work_plain", "arguments": { "job": "two" } });
    let other = request_with_tasks(&ada, "tools/call", other).await;
    assert_eq!(other["result"]["structuredContent"], queued("two"), "{other}");
    // Nor has a caller who names a job of another owner.
    let bob = server.at("/mcp", "bob");
    assert_eq!(begun(&bob, "one").await["structuredContent"], queued("one"));
    // A job that has already ended is the answer itself.
    server.becomes("one", "done");
    let ended = begun(&ada, "one").await;
    assert_eq!(ended["structuredContent"]["state"], "done", "{ended}");
}

#[tokio::test]
async fn the_older_protocol_has_no_tasks() {
    let server = TestServer::open(None).await;
    let ada = server.at("/mcp", "ada");
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": LEGACY, "clientInfo": { "name": "test", "version": "0" },
        "capabilities": { "extensions": { "io.modelcontextprotocol/tasks": {} } } } });
    let answer = ada.send("POST", hello.to_string().as_bytes()).await;
    let capabilities = &answer.message()["result"]["capabilities"];
    assert!(capabilities["tools"].is_object(), "{capabilities}");
    assert!(capabilities.get("extensions").is_none(), "{capabilities}");
    let session = answer.header("mcp-session-id").unwrap();
    let session = ada.with("mcp-session-id", session).with("mcp-protocol-version", LEGACY);
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    session.send("POST", ready.to_string().as_bytes()).await;
    let params = json!({ "name": "work_begin", "arguments": { "job": "one" } });
    let plain = session.in_session("tools/call", params).await.message();
    assert_eq!(plain["result"]["structuredContent"]["state"], "queued", "{plain}");
    let answer = session.in_session("tasks/get", json!({ "taskId": ONE })).await.message();
    assert_eq!(answer["error"]["code"], -32601, "{answer}");
    let found = request_with_tasks(&ada, "server/discover", json!({})).await;
    let ours = &found["result"]["capabilities"]["extensions"];
    assert_eq!(ours["io.modelcontextprotocol/tasks"], json!({}), "{found}");
}

#[tokio::test]
async fn only_the_owner_sees_a_task() {
    let server = TestServer::open(None).await;
    let ada = server.at("/mcp", "ada");
    begun(&ada, "one").await;
    begun(&ada, "past").await;
    server.becomes("past", "old");
    let narrowed = ada.with("x-stoa-tools", "work_plain");
    let past = "quotes.work.begin.past";
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        for (client, id, code, word) in [
            (&server.at("/mcp", "bob"), ONE, -32602, "no task"),
            (&server.at("/mcp", "bad"), ONE, 401, "bad_token"),
            (&narrowed, ONE, -32602, "no task"),
            (&ada, past, -32602, "expired"),
            (&ada, "quotes.work.begin.two", -32602, "no task"),
            (&ada, "quotes.work.plain.one", -32602, "no task"),
            (&ada, "elsewhere.work.begin.one", -32602, "no task"),
            (&ada, "one", -32602, "no task"),
        ] {
            let params = json!({ "taskId": id, "inputResponses": {} });
            let error = request_with_tasks(client, method, params).await["error"].clone();
            assert_eq!(error["code"], code, "{method} {id}: {error}");
            assert!(error["message"].as_str().unwrap().contains(word), "{method} {id}: {error}");
        }
    }
    assert_eq!(get(&ada, ONE).await["result"]["status"], "working");
    // The call itself may carry the credential.
    let mut params = json!({ "taskId": ONE });
    params["_meta"]["auth"]["token"] = json!("ada");
    let answer = request_with_tasks(&server.at("/mcp", "bob"), "tasks/get", params).await;
    assert_eq!(answer["result"]["status"], "working", "{answer}");
}

#[tokio::test]
async fn every_cancel_is_acknowledged() {
    let server = TestServer::open(None).await;
    let ada = server.at("/mcp", "ada");
    begun(&ada, "one").await;
    let update = json!({ "taskId": ONE, "inputResponses": { "nobody": { "asked": 1 } } });
    let answer = request_with_tasks(&ada, "tasks/update", update).await;
    assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
    assert_eq!(get(&ada, ONE).await["result"]["status"], "working");
    for _ in 0..2 {
        let answer = request_with_tasks(&ada, "tasks/cancel", json!({ "taskId": ONE })).await;
        assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
        assert!(answer["result"].get("taskId").is_none(), "{answer}");
        assert_eq!(get(&ada, ONE).await["result"]["status"], "cancelled");
    }
}

#[tokio::test]
async fn a_credential_in_the_arguments_is_not_kept_in_a_task() {
    let server = TestServer::open(Some("pass")).await;
    let client = HttpClient::new(server.address, "/mcp");
    let arguments = json!({ "job": "one", "pass": "ada" });
    let params = json!({ "name": "work_begin", "arguments": arguments });
    let plain = request_with_tasks(&client, "tools/call", params).await;
    assert_eq!(plain["result"]["structuredContent"]["state"], "queued", "{plain}");
    assert_eq!(begun(&server.at("/mcp", "ada"), "one").await["taskId"], ONE);
}

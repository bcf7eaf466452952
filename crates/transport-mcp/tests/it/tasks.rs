//! Calls as tasks over a real socket: who gets a handle, what it tells, and to whom.

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

use crate::double::{Door, Uncounted, Words};
use crate::http::serve;
use crate::wire::{Client, LEGACY};

const RULES: TaskSpec = TaskSpec { poll_ms: 250, ttl_s: 60 };

/// Jobs by name: whose they are, and how they are.
#[derive(Default)]
struct Shop(Mutex<HashMap<String, (String, &'static str)>>);

struct Said(Value, Option<String>);

impl Reply for Said {
    fn result(&self) -> Value {
        self.0.clone()
    }

    fn text(&self) -> String {
        "said".to_owned()
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
async fn begin(cx: Cx<Shop>, Args { job }: Args) -> Result<Said, Fault> {
    let json = json!({ "job": job, "state": "queued" });
    if job == "now" {
        return Ok(Said(json, None));
    }
    let mut jobs = cx.service.0.lock();
    jobs.entry(job.clone()).or_insert_with(|| (cx.caller.subject.to_string(), "working"));
    Ok(Said(json, Some(job)))
}

async fn follow(cx: Cx<Shop>, ask: JobQuery) -> Result<JobReport, Fault> {
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
            JobPhase::Ended(Ok(Box::new(Said(json, None))))
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
    }
}

struct House {
    address: SocketAddr,
    shop: Arc<Shop>,
    _serving: tokio::task::JoinSet<()>,
}

impl House {
    /// `argument` carries a credential, where there is one.
    async fn open(argument: Option<&str>) -> Self {
        let mut contract = Contract::load("quotes").unwrap();
        contract.tools = vec![tool("work.begin", Some(RULES)), tool("work.plain", None)];
        contract.access.credential_argument = argument.map(str::to_owned);
        let shop = Arc::new(Shop::default());
        let service = Tools::of(Arc::clone(&shop))
            .tool("work.begin", Scope::Read, begin)
            .tool("work.plain", Scope::Read, begin)
            .follow("work.begin", follow)
            .bind(contract, Words)
            .unwrap();
        let catalog = Catalog::new(vec![service]).unwrap();
        let patience = Duration::from_secs(30);
        let pipeline = Pipeline::new(catalog, Arc::new(Door), Arc::new(Uncounted), patience);
        let (view, server) = (View::default(), ServerOptions::http("9.9.9"));
        let routes = router(&Arc::new(pipeline), &view, &server, &HttpOptions::default());
        let (address, serving) = serve(routes).await;
        Self { address, shop, _serving: serving }
    }

    fn at(&self, path: &str, who: &str) -> Client {
        Client::new(self.address, path).with("authorization", &format!("Bearer {who}"))
    }

    fn becomes(&self, job: &str, state: &'static str) {
        self.shop.0.lock().get_mut(job).unwrap().1 = state;
    }
}

/// The request of a client that has the extension.
async fn able(client: &Client, method: &str, mut params: Value) -> Value {
    let declared = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = declared;
    client.modern(method, params).await.message()
}

async fn begun(client: &Client, job: &str) -> Value {
    let params = json!({ "name": "work_begin", "arguments": { "job": job } });
    able(client, "tools/call", params).await["result"].clone()
}

async fn get(client: &Client, id: &str) -> Value {
    able(client, "tasks/get", json!({ "taskId": id })).await
}

const ONE: &str = "quotes.work.begin.one";

#[tokio::test]
async fn a_call_becomes_a_task_and_the_task_its_answer() {
    let house = House::open(None).await;
    let ada = house.at("/mcp", "ada");
    let task = begun(&ada, "one").await;
    let expected = json!({ "resultType": "task", "taskId": ONE, "status": "working",
        "statusMessage": "page 3 of 10", "createdAt": "2026-01-01T00:00:00Z",
        "lastUpdatedAt": "2026-01-01T00:00:01Z", "ttlMs": 60_000, "pollIntervalMs": 250 });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&task[name], value, "{name}: {task}");
    }
    let told = get(&ada, ONE).await;
    assert_eq!(told["result"]["status"], "working", "{told}");
    assert_eq!(told["result"]["resultType"], "complete", "{told}");
    house.becomes("one", "done");
    // Where the service stands alone, the same task is there.
    for path in ["/mcp", "/mcp/quotes"] {
        let told = get(&house.at(path, "ada"), ONE).await;
        let (task, result) = (&told["result"], &told["result"]["result"]);
        assert_eq!(task["status"], "completed", "{told}");
        assert_eq!(result["structuredContent"], json!({ "job": "one", "state": "done" }), "{told}");
        assert_eq!(result["content"][0]["text"], "said", "{told}");
        assert_ne!(result["isError"], true, "{told}");
    }
    house.becomes("one", "failed");
    let told = get(&ada, ONE).await;
    let (task, result) = (&told["result"], &told["result"]["result"]);
    assert_eq!((&task["status"], &result["isError"]), (&json!("completed"), &json!(true)));
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("the page is torn"), "{told}");
}

#[tokio::test]
async fn who_cannot_follow_a_task_is_answered_as_ever() {
    let house = House::open(None).await;
    let ada = house.at("/mcp", "ada");
    let queued = |job: &str| json!({ "job": job, "state": "queued" });
    let params = json!({ "name": "work_begin", "arguments": { "job": "one" } });
    let plain = ada.modern("tools/call", params.clone()).await.message();
    assert_eq!(plain["result"]["structuredContent"], queued("one"), "{plain}");
    let told = ada.modern("tasks/get", json!({ "taskId": ONE })).await.message();
    assert_eq!(told["error"]["code"], -32021, "{told}");
    // What is done at once has nothing to follow, and nor has a tool without tasks.
    assert_eq!(begun(&ada, "now").await["structuredContent"], queued("now"));
    let other = json!({ "name": "work_plain", "arguments": { "job": "two" } });
    let other = able(&ada, "tools/call", other).await;
    assert_eq!(other["result"]["structuredContent"], queued("two"), "{other}");
    // A caller who begins another caller's job gets the plain reply, too.
    let bob = house.at("/mcp", "bob");
    assert_eq!(begun(&bob, "one").await["structuredContent"], queued("one"));
    // A job that has ended by then is the answer itself.
    house.becomes("one", "done");
    let ended = begun(&ada, "one").await;
    assert_eq!(ended["structuredContent"]["state"], "done", "{ended}");
}

#[tokio::test]
async fn the_older_protocol_knows_nothing_of_it() {
    let house = House::open(None).await;
    let ada = house.at("/mcp", "ada");
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
    let told = session.in_session("tasks/get", json!({ "taskId": ONE })).await.message();
    assert_eq!(told["error"]["code"], -32601, "{told}");
    let found = able(&ada, "server/discover", json!({})).await;
    let ours = &found["result"]["capabilities"]["extensions"];
    assert_eq!(ours["io.modelcontextprotocol/tasks"], json!({}), "{found}");
}

#[tokio::test]
async fn a_task_is_there_for_its_owner_alone() {
    let house = House::open(None).await;
    let ada = house.at("/mcp", "ada");
    begun(&ada, "one").await;
    begun(&ada, "past").await;
    house.becomes("past", "old");
    let narrowed = ada.with("x-stoa-tools", "work_plain");
    let past = "quotes.work.begin.past";
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        for (client, id, code, word) in [
            (&house.at("/mcp", "bob"), ONE, -32602, "no task"),
            (&house.at("/mcp", "bad"), ONE, 401, "bad_token"),
            (&narrowed, ONE, -32602, "no task"),
            (&ada, past, -32602, "expired"),
            (&ada, "quotes.work.begin.two", -32602, "no task"),
            (&ada, "quotes.work.plain.one", -32602, "no task"),
            (&ada, "elsewhere.work.begin.one", -32602, "no task"),
            (&ada, "one", -32602, "no task"),
        ] {
            let params = json!({ "taskId": id, "inputResponses": {} });
            let error = able(client, method, params).await["error"].clone();
            assert_eq!(error["code"], code, "{method} {id}: {error}");
            assert!(error["message"].as_str().unwrap().contains(word), "{method} {id}: {error}");
        }
    }
    assert_eq!(get(&ada, ONE).await["result"]["status"], "working");
    // The call itself may say who asks.
    let mut params = json!({ "taskId": ONE });
    params["_meta"]["auth"]["token"] = json!("ada");
    let told = able(&house.at("/mcp", "bob"), "tasks/get", params).await;
    assert_eq!(told["result"]["status"], "working", "{told}");
}

#[tokio::test]
async fn cancelling_is_acknowledged_however_often() {
    let house = House::open(None).await;
    let ada = house.at("/mcp", "ada");
    begun(&ada, "one").await;
    let update = json!({ "taskId": ONE, "inputResponses": { "nobody": { "asked": 1 } } });
    let told = able(&ada, "tasks/update", update).await;
    assert_eq!(told["result"]["resultType"], "complete", "{told}");
    assert_eq!(get(&ada, ONE).await["result"]["status"], "working");
    for _ in 0..2 {
        let told = able(&ada, "tasks/cancel", json!({ "taskId": ONE })).await;
        assert_eq!(told["result"]["resultType"], "complete", "{told}");
        assert!(told["result"].get("taskId").is_none(), "{told}");
        assert_eq!(get(&ada, ONE).await["result"]["status"], "cancelled");
    }
}

#[tokio::test]
async fn a_credential_among_the_arguments_has_no_place_in_a_task() {
    let house = House::open(Some("pass")).await;
    let client = Client::new(house.address, "/mcp");
    let arguments = json!({ "job": "one", "pass": "ada" });
    let params = json!({ "name": "work_begin", "arguments": arguments });
    let plain = able(&client, "tools/call", params).await;
    assert_eq!(plain["result"]["structuredContent"]["state"], "queued", "{plain}");
    assert_eq!(begun(&house.at("/mcp", "ada"), "one").await["taskId"], ONE);
}

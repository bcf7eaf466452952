//! The tasks extension against the whole server: a caller follows its call to the end across a
//! kill, and no other caller can read it.

use std::time::Duration;

use serde_json::{Value, json};
use store::{Db, StoreConfig, sql};

use crate::archive::{COMPLAINT, Person};
use crate::pricing_path::mint;
use crate::process::{Folder, Server, http, mcp_headers};
use crate::tables::contract_file;

/// A client with the extension.
struct Follower {
    url: String,
    token: Option<String>,
}

impl Follower {
    fn new(server: &Server, path: &str, token: &str) -> Self {
        Self { url: server.url(path), token: Some(token.to_owned()) }
    }

    async fn send(&self, method: &str, mut params: Value) -> Value {
        let able = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = able;
        let mut request = mcp_headers(http().post(&self.url), method, params);
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        request.send().await.unwrap().json().await.unwrap()
    }

    async fn process(&self, file: &str) -> Value {
        let settings = json!({ "extractionMode": "standard" });
        let arguments = json!({ "fileId": file, "processingSettings": settings });
        let params = json!({ "name": "arkiver_process_file", "arguments": arguments });
        self.send("tools/call", params).await["result"].clone()
    }

    async fn get(&self, id: &str) -> Value {
        self.send("tasks/get", json!({ "taskId": id })).await
    }

    /// Waits until a worker has the job.
    async fn at_work(&self, id: &str) {
        loop {
            let reply = self.get(id).await;
            assert_eq!(reply["result"]["status"], "working", "{reply}");
            if !reply["result"]["statusMessage"].as_str().unwrap().contains("waiting") {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// The finished task, polled at the interval that the server asks for.
    async fn ended(&self, id: &str) -> Value {
        loop {
            let reply = self.get(id).await;
            let task = &reply["result"];
            if task["status"] != "working" {
                return task.clone();
            }
            assert!(task["statusMessage"].as_str().unwrap().contains('%'), "{reply}");
            let wait = task["pollIntervalMs"].as_u64().unwrap();
            tokio::time::sleep(Duration::from_millis(wait)).await;
        }
    }
}

fn id_of(task: &Value) -> String {
    assert_eq!((&task["resultType"], &task["status"]), (&json!("task"), &json!("working")));
    assert_eq!((&task["ttlMs"], &task["pollIntervalMs"]), (&json!(604_800_000), &json!(1000)));
    task["taskId"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_task_survives_a_restart_and_is_private_to_its_owner() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    let ada = Person::register(&server, "ada").await;
    let bob = Person::register(&server, "bob").await;
    let file = ada.file("long.txt", None, &COMPLAINT.repeat(1000)).await;
    let follower = Follower::new(&server, "/mcp", &ada.token);
    let id = id_of(&follower.process(&file).await);
    follower.at_work(&id).await;
    let (ada, bob) = (ada.token.clone(), bob.token.clone());
    server.kill();
    let server = Server::start(folder.path(), &[]);
    let task = Follower::new(&server, "/mcp/archive", &ada).ended(&id).await;
    assert_eq!(task["status"], "completed", "{task}");
    let result = &task["result"];
    assert_ne!(result["isError"], true, "{task}");
    let answer = &result["structuredContent"];
    let schemas = contract_file("archive/schemas.json");
    let output = contract::Schema::compile(schemas["process_file"]["output"].clone()).unwrap();
    output.check(answer).unwrap();
    assert_eq!((&answer["status"], &answer["fileId"]), (&json!("completed"), &json!(file)));
    assert!(answer["result"]["insights"].as_array().unwrap().len() > 5, "{answer}");
    assert!(id.ends_with(answer["jobId"].as_str().unwrap()), "{id}");
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let ask = json!({ "taskId": id, "inputResponses": {} });
        let foreign = Follower::new(&server, "/mcp", &bob).send(method, ask.clone()).await;
        assert_eq!(foreign["error"]["code"], -32602, "{foreign}");
        let nobody = Follower { url: server.url("/mcp"), token: None };
        let nobody = nobody.send(method, ask).await;
        assert_eq!(nobody["error"]["code"], 401, "{nobody}");
        let words = &nobody["error"]["data"]["error"]["error"]["code"];
        assert_eq!(words, "AUTHENTICATION_FAILED", "{nobody}");
    }
    // Moves the job eight days into the past.
    server.kill();
    let db = Db::open(&StoreConfig::sqlite(folder.path())).await.unwrap();
    let week = "UPDATE job SET created_at = created_at - 691200000";
    assert_eq!(db.execute(sql(week)).await.unwrap(), 1);
    db.close().await;
    let server = Server::start(folder.path(), &[]);
    let reply = Follower::new(&server, "/mcp", &ada).get(&id).await;
    assert_eq!(reply["error"]["code"], -32602, "{reply}");
    assert!(reply["error"]["message"].as_str().unwrap().contains("expired"), "{reply}");
}

#[tokio::test]
async fn a_task_is_cancelled_and_a_failed_job_is_reported() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    let ada = Person::register(&server, "ada").await;
    let follower = Follower::new(&server, "/mcp", &ada.token);
    let broken = ada.file("broken.pdf", None, "%PDF-1.7\nthis is not what it says").await;
    let begun = follower.process(&broken).await;
    // A job that fails quickly may have failed before the answer.
    let result = match begun["resultType"] == "task" {
        true => follower.ended(&id_of(&begun)).await["result"].clone(),
        false => begun,
    };
    assert_eq!(result["isError"], true, "{result}");
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("PROCESSING_FAILED"), "{text}");
    // The third job waits for one of the first two, which are long.
    let mut tasks = Vec::new();
    for at in 0..3 {
        let text = format!("File {at}. {}", COMPLAINT.repeat(2000));
        let file = ada.file(&format!("{at}.txt"), None, &text).await;
        tasks.push(id_of(&follower.process(&file).await));
    }
    for id in tasks.iter().rev() {
        let reply = follower.send("tasks/cancel", json!({ "taskId": id })).await;
        assert_eq!(reply["result"]["resultType"], "complete", "{reply}");
    }
    assert_eq!(follower.ended(&tasks[2]).await["status"], "cancelled");
    for id in &tasks[..2] {
        let status = follower.ended(id).await["status"].clone();
        assert!(status == "cancelled" || status == "completed", "{status}");
    }
    let again = follower.send("tasks/cancel", json!({ "taskId": tasks[2] })).await;
    assert_eq!(again["result"]["resultType"], "complete", "{again}");
}

#[tokio::test]
async fn a_collection_is_a_task_for_a_bearer_token() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    let token = mint(folder.path(), &["--scope", "collect", "--subject", "shop"]);
    let follower = Follower::new(&server, "/mcp", &token);
    let call = |arguments: Value| json!({ "name": "start_collection", "arguments": arguments });
    let begun = follower.send("tools/call", call(json!({ "sku": "A" }))).await["result"].clone();
    let result = match begun["resultType"] == "task" {
        true => follower.ended(begun["taskId"].as_str().unwrap()).await["result"].clone(),
        false => begun,
    };
    let answer = &result["structuredContent"];
    assert_eq!((&answer["ok"], &answer["job"]["status"]), (&json!(true), &json!("DONE")));
    let other = mint(folder.path(), &["--scope", "collect", "--subject", "rival"]);
    let id = format!("collector.start_collection.{}", answer["job_id"].as_str().unwrap());
    let reply = Follower::new(&server, "/mcp", &other).get(&id).await;
    assert_eq!(reply["error"]["code"], -32602, "{reply}");
    assert_eq!(follower.get(&id).await["result"]["status"], "completed");
    // A token in the arguments could not be sent again, so the answer is the plain one.
    let args = json!({ "sku": "A", "capability_token": token });
    let anonymous = Follower { url: server.url("/mcp"), token: None };
    let plain = anonymous.send("tools/call", call(args)).await;
    assert!(plain["result"]["structuredContent"]["job_id"].is_string(), "{plain}");
    assert!(plain["result"]["structuredContent"].get("job").is_none(), "{plain}");
}

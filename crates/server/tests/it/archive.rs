//! The archive as users see it: a file is uploaded, processed, found, shared and deleted;
//! acknowledged data survives a kill.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::process::{Folder, Server, http, mcp_post, run, stoa};

pub(crate) const COMPLAINT: &str = "UNITED STATES DISTRICT COURT\nEASTERN DISTRICT OF MICHIGAN\n\n\
    JANE ROE,\n    Plaintiff,\nv.                     Case No. 2:24-cv-01234\n\
    ACME LOGISTICS, INC.,\n    Defendant.\n\nCOMPLAINT\n\n\
    On March 5, 2024, Plaintiff Jane Roe signed the zanzibar agreement. The claim rests on Ashcroft v. \
    Iqbal, 556 U.S. 662, 678 (2009). Defendant was served on May 1, 2024, and must answer within 21 \
    days after service.\n";

/// A client with a token, and its server.
pub(crate) struct Person<'a> {
    server: &'a Server,
    pub(crate) token: String,
}

impl<'a> Person<'a> {
    pub(crate) async fn register(server: &'a Server, name: &str) -> Self {
        let body = json!({ "action": "register", "username": name, "password": "a long secret" });
        let url = server.url("/api/arkiver/auth");
        let reply: Value = http().post(url).json(&body).send().await.unwrap().json().await.unwrap();
        let token = reply["token"].as_str().unwrap_or_else(|| panic!("{reply}")).to_owned();
        Self { server, token }
    }

    pub(crate) async fn send(&self, request: reqwest::RequestBuilder) -> (u16, Value) {
        let response = request.bearer_auth(&self.token).send().await.unwrap();
        (response.status().as_u16(), response.json().await.unwrap_or(Value::Null))
    }

    pub(crate) async fn get(&self, path: &str) -> (u16, Value) {
        self.send(http().get(self.server.url(path))).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> (u16, Value) {
        self.send(http().post(self.server.url(path)).json(&body)).await
    }

    pub(crate) async fn upload(
        &self,
        name: &str,
        metadata: Option<Value>,
        bytes: &[u8],
    ) -> (u16, Value) {
        let (kind, body) = form(name, metadata, bytes);
        let url = self.server.url("/api/arkiver/upload");
        self.send(http().post(url).header("content-type", kind).body(body)).await
    }

    /// The id of an uploaded file.
    pub(crate) async fn file(&self, name: &str, metadata: Option<Value>, text: &str) -> String {
        let (status, reply) = self.upload(name, metadata, text.as_bytes()).await;
        assert_eq!(status, 200, "{reply}");
        reply["fileId"].as_str().unwrap().to_owned()
    }

    async fn process(&self, file: &str, mode: &str) -> String {
        let settings = json!({ "fileId": file, "processingSettings": { "extractionMode": mode } });
        let (status, reply) = self.post("/api/arkiver/process", settings).await;
        assert_eq!(status, 200, "{reply}");
        reply["jobId"].as_str().unwrap().to_owned()
    }

    async fn finished(&self, job: &str) -> Value {
        let (status, reply) = self.get(&format!("/api/v1/arkiver/jobs/{job}?waitSeconds=60")).await;
        assert_eq!(status, 200, "{reply}");
        reply
    }

    /// A job's last report, however long it takes.
    pub(crate) async fn processed(&self, file: &str, settings: Value) -> Value {
        let body = json!({ "fileId": file, "processingSettings": settings });
        let (status, told) = self.post("/api/arkiver/process", body).await;
        assert_eq!(status, 200, "{told}");
        let job = told["jobId"].as_str().unwrap();
        loop {
            let told = self.finished(job).await;
            if told["status"] != "queued" && told["status"] != "processing" {
                return told;
            }
        }
    }

    async fn found(&self, filters: Value) -> u64 {
        let body = json!({ "filters": filters });
        let (status, reply) = self.post("/api/arkiver/insights/query", body).await;
        assert_eq!(status, 200, "{reply}");
        reply["total"].as_u64().unwrap()
    }
}

fn form(name: &str, metadata: Option<Value>, bytes: &[u8]) -> (String, Vec<u8>) {
    let edge = "------------------------stoa";
    let mut body = Vec::new();
    if let Some(metadata) = metadata {
        let part = format!(
            "--{edge}\r\ncontent-disposition: form-data; name=\"metadata\"\r\n\r\n{metadata}\r\n"
        );
        body.extend_from_slice(part.as_bytes());
    }
    let head = format!(
        "--{edge}\r\ncontent-disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n"
    );
    body.extend_from_slice(head.as_bytes());
    body.extend_from_slice(bytes);
    body.extend_from_slice(format!("\r\n--{edge}--\r\n").as_bytes());
    (format!("multipart/form-data; boundary={edge}"), body)
}

/// The blobs on the disk.
fn blobs(data: &Path) -> usize {
    fn files(folder: &Path) -> usize {
        let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
        let count = |path: std::path::PathBuf| if path.is_dir() { files(&path) } else { 1 };
        entries.map(|it| count(it.unwrap().path())).sum()
    }
    files(&data.join("files"))
}

#[tokio::test]
async fn a_file_is_processed_found_and_deleted() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    let ada = Person::register(&server, "ada").await;
    let file = ada.file("complaint.txt", Some(json!({ "tags": ["intake"] })), COMPLAINT).await;
    let job = ada.process(&file, "standard").await;
    let reply = ada.finished(&job).await;
    assert_eq!(
        (&reply["status"], &reply["progress"]),
        (&json!("completed"), &json!(100)),
        "{reply}"
    );
    let (_, export) = ada.get(&format!("/api/arkiver/files/{file}/export")).await;
    let page: Vec<char> = export["pages"][0]["text"].as_str().unwrap().chars().collect();
    let insights = reply["result"]["insights"].as_array().unwrap();
    assert!(insights.len() > 5, "{reply}");
    for source in insights.iter().flat_map(|it| it["sources"].as_array().unwrap()) {
        let place = |end: &str| usize::try_from(source[end].as_u64().unwrap()).unwrap();
        let words: String = page[place("start")..place("end")].iter().collect();
        assert_eq!(source["quote"], words, "{source}");
    }
    assert!(ada.found(json!({ "keywords": "zanzibar" })).await > 0);
    let (status, again) = ada.upload("copy.txt", None, COMPLAINT.as_bytes()).await;
    assert_eq!((status, &again["storedBefore"]), (200, &json!(true)), "{again}");
    assert_eq!(blobs(folder.path()), 1, "the same content is stored more than once");
    for file in [file.as_str(), again["fileId"].as_str().unwrap()] {
        let url = server.url(&format!("/api/arkiver/files/{file}"));
        assert_eq!(ada.send(http().delete(url)).await.0, 200);
        let (status, reply) = ada.get(&format!("/api/arkiver/files/{file}")).await;
        assert_eq!((status, &reply["error"]["code"]), (404, &json!("FILE_NOT_FOUND")));
    }
    assert_eq!(ada.found(json!({ "keywords": "zanzibar" })).await, 0);
    assert_eq!(blobs(folder.path()), 0);
    let (status, reply) = ada.get(&format!("/api/arkiver/jobs/{job}")).await;
    assert!(status == 404 || reply["result"]["insights"] == json!([]), "{reply}");
}

#[tokio::test]
async fn users_see_their_own_and_shared_cases() {
    let folder = Folder::new();
    // A relative data folder works for the reader processes too.
    let server = Server::start_with(folder.path(), &[], &["--data", "here"]);
    let (ada, bob) =
        (Person::register(&server, "ada").await, Person::register(&server, "bob").await);
    let file = ada.file("a.txt", Some(json!({ "caseId": "roe-v-acme" })), COMPLAINT).await;
    let job = ada.process(&file, "fast").await;
    ada.finished(&job).await;
    let denied = |(status, reply): (u16, Value)| {
        assert_eq!((status, &reply["error"]["code"]), (403, &json!("AUTHORIZATION_FAILED")));
    };
    let record = format!("/api/arkiver/files/{file}");
    denied(bob.get(&record).await);
    denied(bob.get(&format!("{record}/content")).await);
    denied(bob.get(&format!("/api/arkiver/jobs/{job}")).await);
    denied(bob.send(http().delete(server.url(&record))).await);
    let note = json!({ "title": "t", "content": "c", "sourceLLM": "m" });
    let store = json!({ "fileId": file, "insight": note });
    denied(bob.post("/api/arkiver/insights", store.clone()).await);
    assert_eq!(bob.found(json!({ "keywords": "roe" })).await, 0);
    let share = |access: &str| json!({ "username": "bob", "access": access });
    let cases = "/api/arkiver/cases/roe-v-acme/share";
    assert_eq!(ada.post(cases, share("read")).await.0, 200);
    assert_eq!(bob.get(&record).await.0, 200);
    assert!(bob.found(json!({ "keywords": "roe", "caseId": "roe-v-acme" })).await > 0);
    denied(bob.post("/api/arkiver/insights", store.clone()).await);
    denied(bob.send(http().delete(server.url(&record))).await);
    assert_eq!(ada.post(cases, share("write")).await.0, 200);
    assert_eq!(bob.post("/api/arkiver/insights", store).await.0, 200);
    assert_eq!(ada.post(cases, share("none")).await.0, 200);
    denied(bob.get(&record).await);
    // A token of the archive is refused by all other services.
    let params = json!({ "name": "ingest_tick", "_meta": { "auth": { "token": ada.token } },
        "arguments": { "d": { "sku": "A", "our_price": 1 } } });
    let (_, reply) = mcp_post(&server.url("/mcp"), "tools/call", params).await;
    assert_eq!(reply["result"]["isError"], true, "{reply}");
}

#[tokio::test]
async fn unsupported_files_are_refused_with_the_contracts_error() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    let refused = |(status, reply): (u16, Value), code: u16, word: &str| {
        assert_eq!((status, &reply["error"]["code"]), (code, &json!(word)), "{reply}");
        assert_eq!(reply["success"], false);
    };
    let nobody = Person { server: &server, token: String::new() };
    refused(nobody.upload("a.txt", None, b"text").await, 401, "AUTHENTICATION_FAILED");
    let ada = Person::register(&server, "ada").await;
    refused(ada.upload("a.pdf", None, b"MZ\x90\0 no pdf").await, 400, "UNSUPPORTED_FILE_TYPE");
    refused(ada.upload("a.txt", None, b"").await, 400, "INVALID_INPUT");
    refused(ada.upload("a.txt", Some(json!({ "tags": "x" })), b"text").await, 400, "INVALID_INPUT");
    let url = server.url("/api/arkiver/upload");
    refused(ada.send(http().post(url).json(&json!({}))).await, 400, "INVALID_INPUT");
    for _ in 0..10 {
        ada.upload("a.txt", None, b"text").await;
    }
    refused(ada.upload("a.txt", None, b"text").await, 429, "RATE_LIMIT_EXCEEDED");
    assert_eq!(blobs(folder.path()), 1, "what was refused leaves nothing behind");
}

#[tokio::test]
async fn a_too_large_file_is_refused_without_using_memory() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    let ada = Person::register(&server, "ada").await;
    let before = server.memory_mb();
    let (kind, body) = form("a.txt", None, &vec![b'a'; 101 << 20]);
    let url = server.url("/api/arkiver/upload");
    let request = http().post(url).header("content-type", kind).bearer_auth(&ada.token);
    // The server may answer and close the connection before it has read everything.
    if let Ok(response) = request.body(body).send().await {
        assert_eq!(response.status().as_u16(), 413);
    }
    assert!(server.memory_mb() < before + 64, "{} MB", server.memory_mb());
    assert_eq!(blobs(folder.path()), 0);
}

#[tokio::test]
async fn a_hostile_file_fails_only_its_own_job() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    let ada = Person::register(&server, "ada").await;
    let file = ada.file("broken.pdf", None, "%PDF-1.7\n1 0 obj <</Encrypt 2 0 R>> trailer").await;
    let job = ada.process(&file, "deep").await;
    let reply = ada.finished(&job).await;
    assert_eq!((&reply["status"], &reply["success"]), (&json!("failed"), &json!(true)), "{reply}");
    assert_eq!(reply["error"]["code"], "PROCESSING_FAILED");
    assert!(reply["error"]["message"].as_str().unwrap().len() > 10, "{reply}");
    let (_, reply) = ada.get(&format!("/api/arkiver/files/{file}")).await;
    assert_eq!(reply["file"]["status"], "failed", "{reply}");
    let url = server.url(&format!("/api/arkiver/jobs/{job}"));
    let (status, reply) = ada.send(http().delete(url)).await;
    assert_eq!((status, &reply["error"]["code"]), (400, &json!("JOB_ALREADY_COMPLETED")));
}

#[tokio::test]
async fn acknowledged_uploads_survive_a_kill_and_are_processed_once() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    let ada = Person::register(&server, "ada").await;
    let token = ada.token.clone();
    let file = ada.file("long.txt", None, &COMPLAINT.repeat(200)).await;
    let job = ada.process(&file, "standard").await;
    server.kill();
    let server = Server::start(folder.path(), &[]);
    let ada = Person { server: &server, token };
    let mut reply = ada.finished(&job).await;
    // The lease of the killed worker must expire first.
    while reply["status"] != "completed" {
        assert!(reply["status"] != "failed", "{reply}");
        tokio::time::sleep(Duration::from_millis(100)).await;
        reply = ada.finished(&job).await;
    }
    let total = reply["result"]["insightsTotal"].as_u64().unwrap();
    assert_eq!(ada.found(json!({ "fileId": file })).await, total);
    let again = ada.process(&file, "standard").await;
    ada.finished(&again).await;
    assert_eq!(ada.found(json!({ "fileId": file })).await, total, "read again, not doubled");
}

#[tokio::test]
async fn an_operator_adds_and_removes_users() {
    let folder = Folder::new();
    let add = || {
        let mut command = stoa(folder.path());
        command.args(["user", "add", "grace"]);
        with_input(&mut command, "a long secret\n")
    };
    assert_eq!(add().0, 0);
    assert_ne!(add().0, 0, "twice");
    let server = Server::start(folder.path(), &[("STOA_ARCHIVE_REGISTRATION", "false")]);
    let auth = |action: &str, name: &str| {
        let body = json!({ "action": action, "username": name, "password": "a long secret" });
        let request = http().post(server.url("/api/arkiver/auth")).json(&body);
        async move { request.send().await.unwrap().status().as_u16() }
    };
    assert_eq!(auth("login", "grace").await, 200);
    assert_eq!(auth("register", "mallory").await, 403);
    assert_eq!(run(stoa(folder.path()).args(["user", "remove", "grace"])).0, 0);
    assert_eq!(auth("login", "grace").await, 401);
}

fn with_input(command: &mut std::process::Command, input: &str) -> (i32, String) {
    use std::io::Write as _;
    use std::process::Stdio;
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    (output.status.code().unwrap_or(-1), String::from_utf8(output.stdout).unwrap())
}

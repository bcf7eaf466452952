//! A contract with tools that share a path, an upload and downloads, and a server that serves it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use contract::{
    Authenticator, CallRecord, Caller, Catalog, Contract, Credential, Cx, Download, DownloadSpec,
    HttpBinding, Meter, Pipeline, Reply, Schema, Scope, ToolSpec, Tools, Upload, UploadPart,
    UploadSpec, View,
};
use fault::{Fault, Kind};
use futures_util::stream;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::stream::tests::fixture::TestEnvelope;
use crate::{StreamOptions, router, serve, test_server, with_edge};

pub(crate) const FILE_BYTES: u64 = 128 * 1024 * 1024;
pub(crate) const BATCH_BYTES: u64 = 130 * 1024 * 1024;
/// Files named `small` above this size are refused.
pub(crate) const SMALL_BYTES: u64 = 1024 * 1024;

/// What happened to the uploads.
pub(crate) struct CallLog {
    /// Bytes that the handler read.
    pub(crate) received: watch::Sender<u64>,
    /// The largest chunk that the handler read.
    pub(crate) piece_max: AtomicUsize,
    /// Running uploads.
    pub(crate) open: watch::Sender<usize>,
    pub(crate) calls: AtomicUsize,
}

struct OpenGuard(Arc<CallLog>);

impl Drop for OpenGuard {
    fn drop(&mut self) {
        self.0.open.send_modify(|open| *open -= 1);
    }
}

pub(crate) struct Echo(Value);

impl Reply for Echo {
    fn result(&self) -> Value {
        self.0.clone()
    }

    fn text(&self) -> String {
        self.0.to_string()
    }
}

async fn receive(cx: Cx<CallLog>, mut upload: Upload) -> Result<Echo, Fault> {
    let log = cx.service;
    log.calls.fetch_add(1, Ordering::SeqCst);
    log.open.send_modify(|open| *open += 1);
    let _leaving = OpenGuard(Arc::clone(&log));
    let mut files = Vec::new();
    while let Some(part) = upload.next().await? {
        let UploadPart::File(mut file) = part else { continue };
        if file.file_name == "no" {
            return Err(Fault::invalid("no", "not this one"));
        }
        while let Some(more) = file.chunk().await? {
            log.piece_max.fetch_max(more.len(), Ordering::SeqCst);
            log.received.send_modify(|received| *received += more.len() as u64);
            if file.file_name == "small" && file.received_bytes() > SMALL_BYTES {
                return Err(Fault::invalid("file_too_large", "too large"));
            }
        }
        files.push(json!([file.file_name, file.content_type, file.received_bytes()]));
    }
    let form: Value = upload.form()?;
    let (id, announced) = (upload.id(), upload.announced_bytes().is_some());
    Ok(Echo(json!({ "files": files, "form": form, "id": id, "announced": announced })))
}

#[derive(Deserialize)]
struct FileArgs {
    #[serde(rename = "fileId")]
    file: String,
}

async fn content(_cx: Cx<CallLog>, args: FileArgs) -> Result<Download, Fault> {
    let text = || Bytes::from("text ".repeat(1_000));
    let broken = || Err(io::Error::other("the disk is gone"));
    match args.file.as_str() {
        "none" => Err(Fault::not_found("file_not_found", "there is no such file")),
        "unreadable" => Ok(Download::new("text/plain", stream::iter([broken()]))),
        "breaks" => Ok(Download::new("text/plain", stream::iter([Ok(text()), broken()]))),
        "parts" => Ok(Download::new("application/json", stream::iter([Ok(text()), Ok(text())]))),
        "empty" => Ok(Download::whole("text/plain", "")),
        name => Ok(Download::whole("text/html", text()).named(name)),
    }
}

/// A tool that returns its name and arguments.
fn echo(
    name: &'static str,
) -> impl Fn(Cx<CallLog>, Value) -> std::future::Ready<Result<Echo, Fault>> + Clone {
    move |_, args| std::future::ready(Ok(Echo(json!({ "tool": name, "args": args }))))
}

fn object() -> Schema {
    Schema::compile(json!({ "type": "object" })).unwrap()
}

fn file_input() -> Value {
    json!({ "type": "object", "required": ["fileId"], "additionalProperties": false,
        "properties": {
            "fileId": { "type": "string", "maxLength": 32, "description": "Which." },
            "pages": { "type": "integer" },
        } })
}

fn tool(name: &str, method: &str, path: &str) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        title: "A tool".to_owned(),
        description: "Does it.".to_owned(),
        input: Schema::compile(file_input()).unwrap(),
        relaxed: None,
        output: object(),
        annotations: Value::Null,
        read_only: false,
        http: Some(HttpBinding {
            method: method.to_owned(),
            path: format!("/api/{path}"),
            also: vec![format!("/api/v1/{path}")],
            body: object(),
            partial: false,
        }),
        http_only: true,
        timeout: None,
        concurrency: None,
        task: None,
        host: contract::HostTool::default(),
    }
}

fn upload() -> UploadSpec {
    let form = json!({ "type": "object", "additionalProperties": false, "properties": {
        "caseId": { "type": "string" }, "tags": { "type": "array" } } });
    UploadSpec {
        name: "send".to_owned(),
        title: "Send".to_owned(),
        description: "Sends files.".to_owned(),
        path: "/api/upload".to_owned(),
        also: vec!["/api/v1/upload".to_owned()],
        file_bytes: FILE_BYTES,
        batch_bytes: BATCH_BYTES,
        raw: false,
        form: Schema::compile(form).unwrap(),
        output: object(),
        concurrency: None,
    }
}

fn download(name: &str, media: Option<&str>) -> DownloadSpec {
    DownloadSpec {
        name: name.to_owned(),
        title: "Content".to_owned(),
        description: "The bytes.".to_owned(),
        path: format!("/api/files/{{fileId}}/{name}"),
        also: Vec::new(),
        input: Schema::compile(file_input()).unwrap(),
        media: media.map(str::to_owned),
    }
}

struct TestAuthenticator;

#[async_trait]
impl Authenticator for TestAuthenticator {
    async fn authenticate(&self, credential: &Credential, _service: &str) -> Result<Caller, Fault> {
        match credential {
            Credential::Bearer(token) if &**token == "good" => {
                Ok(Caller::new("t", ["read".to_owned(), "write".to_owned()]))
            }
            _ => Err(Fault::new(Kind::Unauthenticated, "who", "who are you")),
        }
    }
}

struct NoMeter;

impl Meter for NoMeter {
    fn record(&self, _record: &CallRecord<'_>) {}
}

fn pipeline() -> (Arc<Pipeline>, Arc<CallLog>) {
    let log = Arc::new(CallLog {
        received: watch::channel(0).0,
        piece_max: AtomicUsize::new(0),
        open: watch::channel(0).0,
        calls: AtomicUsize::new(0),
    });
    let contract = Contract {
        tools: vec![
            tool("status", "GET", "files/{fileId}"),
            tool("remove", "DELETE", "files/{fileId}"),
            tool("change", "PUT", "files/{fileId}"),
            tool("share", "POST", "files/{fileId}/share"),
            ToolSpec { input: object(), ..tool("search", "POST", "search") },
            tool("collect", "POST", "collect"),
        ],
        streams: Vec::new(),
        resources: Vec::new(),
        uploads: vec![upload()],
        downloads: vec![
            download("content", None),
            download("export", Some("application/json")),
            download("prices", Some("text/csv")),
        ],
        ..Contract::load("indicators").unwrap()
    };
    let service = Tools::of(Arc::clone(&log))
        .tool("status", Scope::Read, echo("status"))
        .tool("remove", Scope::Write, echo("remove"))
        .tool("change", Scope::Write, echo("change"))
        .tool("share", Scope::Write, echo("share"))
        .tool("search", Scope::Read, echo("search"))
        .tool("collect", Scope::Write, echo("collect"))
        .upload("send", Scope::Write, receive)
        .download("content", Scope::Read, content)
        .download("export", Scope::Read, content)
        .download("prices", Scope::Read, content)
        .bind(contract, TestEnvelope)
        .unwrap();
    let catalog = Catalog::new(vec![service]).unwrap();
    let pipeline = Pipeline::new(
        catalog,
        Arc::new(TestAuthenticator),
        Arc::new(NoMeter),
        Duration::from_secs(5),
    );
    (Arc::new(pipeline), log)
}

/// A server on its own port; it stops when dropped.
pub(crate) struct TestServer {
    pub(crate) address: std::net::SocketAddr,
    pub(crate) log: Arc<CallLog>,
    _served: JoinSet<()>,
}

impl TestServer {
    pub(crate) async fn open() -> Self {
        let (pipeline, log) = pipeline();
        let view = View::default();
        let pages = test_server::pages();
        let routes = router(&pipeline, &view, pages, &StreamOptions::default(), &[]);
        let edge = test_server::edge(&pipeline);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut served = JoinSet::new();
        let stop = CancellationToken::new();
        served.spawn(serve(listener, with_edge(routes, edge), test_server::limits(), stop, |_| {}));
        Self { address, log, _served: served }
    }

    pub(crate) async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Sends one request with a good token and reads the whole answer.
    pub(crate) async fn ask(&self, line: &str, headers: &str, body: &[u8]) -> TestResponse {
        self.ask_as("good", line, headers, body).await
    }

    pub(crate) async fn ask_as(
        &self,
        token: &str,
        line: &str,
        headers: &str,
        body: &[u8],
    ) -> TestResponse {
        let mut stream = self.connect().await;
        let length = body.len();
        let head = format!(
            "{line} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\
             Connection: close\r\nContent-Length: {length}\r\n{headers}\r\n"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(body).await.unwrap();
        TestResponse::read(stream).await
    }
}

#[derive(Debug)]
pub(crate) struct TestResponse {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl TestResponse {
    pub(crate) async fn read(mut stream: TcpStream) -> Self {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).await.unwrap();
        let end = memchr::memmem::find(&bytes, b"\r\n\r\n").unwrap();
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap().to_lowercase();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Self { status, head, body: bytes[end + 4..].to_vec() }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    #[track_caller]
    pub(crate) fn has(&self, line: &str) {
        assert!(self.head.lines().any(|it| it == line), "{line} in {}", self.head);
    }
}

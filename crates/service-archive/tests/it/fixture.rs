//! An archive with everything around it, and accounts who use it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use archive_accounts::{Accounts, RegistrationPolicy, Secret};
use archive_documents::Documents;
use archive_insights::Insights;
use archive_search::Search;
use async_trait::async_trait;
use clock::{Clock as _, Millis};
use contract::{
    Authenticator, Call, CallFailure, CallOutcome, Caller, Catalog, Credential, Download,
    HttpReply, MemoryParts, Pipeline, Progress, ToolRef, Upload, View,
};
use fault::{Fault, Kind};
use futures_util::StreamExt as _;
use jobs::{Jobs, QueueLimits};
use llm::Model;
use serde_json::{Map, Value, json};
use service_archive::{ArchiveParts, ExtractorCommand, IssuedToken, TokenIssuer};
use store::{Db, StoreConfig};
use testkit::{FakeClock, TempFolder};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub(crate) const NOW: Millis = Millis(1_800_000_000_000);
pub(crate) const PASSWORD: &str = "correct horse battery";

/// A complaint with a caption, a citation, a sum and a date.
pub(crate) const COMPLAINT: &str = "\
UNITED STATES DISTRICT COURT
EASTERN DISTRICT OF MICHIGAN

JOHN SMITH,
     Plaintiff,
v.                                   Case No. 2:24-cv-10123
ACME CORPORATION,
     Defendant.

COMPLAINT

On March 1, 2024, the parties signed the supply contract.
Defendant failed to pay $50,000 to Plaintiff.
See Brown v. Jones, 123 F.3d 456 (6th Cir. 1997); 28 U.S.C. § 1332.
";

/// Issues tokens whose text contains the subject.
struct TestTokenIssuer(Arc<FakeClock>);

#[async_trait]
impl TokenIssuer for TestTokenIssuer {
    async fn issue(&self, subject: &str, ttl: Duration) -> Result<IssuedToken, Fault> {
        let life = i64::try_from(ttl.as_millis()).unwrap();
        let expires_at = Millis(self.0.now().0 + life);
        Ok(IssuedToken { token: Secret::new(format!("token-of {subject}")), expires_at })
    }

    async fn issue_upload(
        &self,
        subject: &str,
        upload_id: &str,
        ttl: Duration,
    ) -> Result<IssuedToken, Fault> {
        self.issue(&format!("{subject} for {upload_id}"), ttl).await
    }

    async fn verify_upload(&self, token: &str, upload_id: &str) -> Result<String, Fault> {
        let subject = token.strip_prefix("token-of ");
        let subject = subject.and_then(|it| it.strip_suffix(&format!(" for {upload_id}")));
        subject.map(str::to_owned).ok_or_else(|| {
            Fault::new(Kind::Unauthenticated, "upload_link_invalid", "the link is not valid")
        })
    }
}

struct TestAuthenticator;

#[async_trait]
impl Authenticator for TestAuthenticator {
    async fn authenticate(&self, credential: &Credential, _: &str) -> Result<Caller, Fault> {
        let refused = || Fault::new(Kind::Unauthenticated, "no_credential", "no credential");
        let Credential::Bearer(token) = credential else { return Err(refused()) };
        let subject = token.strip_prefix("token-of ").ok_or_else(refused)?;
        Ok(Caller::new(subject, ["read", "write"].map(str::to_owned)))
    }
}

struct NoMeter;

impl contract::Meter for NoMeter {
    fn record(&self, _: &contract::CallRecord<'_>) {}
}

pub(crate) struct Fixture {
    pub(crate) pipeline: Pipeline,
    pub(crate) jobs: Jobs,
    pub(crate) clock: Arc<FakeClock>,
    pub(crate) folder: TempFolder,
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl Fixture {
    /// Sends a form to an upload of the archive's contract.
    pub(crate) async fn upload(&self, name: &str, call: Call, form: Upload) -> CallOutcome {
        let view = View::default();
        let mut uploads = self.pipeline.catalog().uploads(&view);
        let upload = uploads.find(|it| it.row().spec.name == name).unwrap();
        self.pipeline.upload(upload, call, form).await
    }

    /// Opens a download of the archive's contract.
    pub(crate) async fn download(&self, name: &str, call: Call) -> Result<Download, CallFailure> {
        let view = View::default();
        let mut downloads = self.pipeline.catalog().downloads(&view);
        let download = downloads.find(|it| it.row().spec.name == name).unwrap();
        self.pipeline.download(download, call).await
    }

    pub(crate) async fn new(db: &Db) -> Self {
        Self::with(db, "worker", Vec::new()).await
    }

    /// `reader` is the argument that makes this program the extracting child: `worker` or `hang`.
    pub(crate) async fn with(db: &Db, reader: &str, models: Vec<Arc<dyn Model>>) -> Self {
        let owners =
            [jobs::MIGRATIONS, archive_accounts::MIGRATIONS, archive_documents::MIGRATIONS];
        db.migrate(&owners).await.unwrap();
        db.migrate(&[archive_insights::MIGRATIONS, archive_search::MIGRATIONS]).await.unwrap();
        let clock = Arc::new(FakeClock::new(NOW));
        let jobs = Jobs::new(db.clone(), Arc::clone(&clock) as _, QueueLimits::default());
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        let folder = TempFolder::new();
        let accounts = Accounts::new(
            db.clone(),
            Arc::clone(&clock) as _,
            RegistrationPolicy { registration_open: true },
        );
        let documents = Documents::new(
            db.clone(),
            folder.path(),
            Arc::clone(&clock) as _,
            archive_documents::UploadLimits::default(),
        );
        let service = service_archive::service(ArchiveParts {
            db: db.clone(),
            jobs: jobs.clone(),
            clock: Arc::clone(&clock) as _,
            accounts,
            documents,
            insights: Insights::new(db.clone(), Arc::clone(&clock) as _),
            search: Search::new(db.clone()),
            tokens: Arc::new(TestTokenIssuer(Arc::clone(&clock))),
            base_url: Some("http://archive.test".to_owned()),
            models,
            extractor: ExtractorCommand {
                program: std::env::current_exe().unwrap(),
                arguments: vec![reader.to_owned()],
                analysis_arguments: vec!["analyse".to_owned()],
                scratch: folder.path().join("scratch"),
                languages: vec!["eng".to_owned()],
            },
            meter: None,
            tasks: tasks.clone(),
            stop: stop.clone(),
        });
        let catalog = Catalog::new(vec![service.unwrap()]).unwrap();
        let patience = Duration::from_secs(120);
        let pipeline =
            Pipeline::new(catalog, Arc::new(TestAuthenticator), Arc::new(NoMeter), patience);
        Self { pipeline, jobs, clock, folder, tasks, stop }
    }

    /// Registers a new user.
    pub(crate) async fn user(&self, name: &str) -> User<'_> {
        let args = json!({ "action": "register", "username": name, "password": PASSWORD });
        let reply = self.anonymous().ok("auth", args).await;
        User { fixture: self, token: Some(reply["token"].as_str().unwrap().to_owned()) }
    }

    pub(crate) fn anonymous(&self) -> User<'_> {
        User { fixture: self, token: None }
    }

    /// Whether no job has left a scratch folder.
    pub(crate) fn scratch_is_empty(&self) -> bool {
        let scratch = self.folder.path().join("scratch");
        std::fs::read_dir(scratch).is_ok_and(|mut it| it.next().is_none())
    }

    pub(crate) async fn close(self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}

pub(crate) struct User<'w> {
    pub(crate) fixture: &'w Fixture,
    pub(crate) token: Option<String>,
}

impl User<'_> {
    pub(crate) fn call_of(&self, args: Value) -> Call {
        let Value::Object(args) = args else { panic!("arguments are an object") };
        let mut call = Call::new(args);
        if let Some(token) = &self.token {
            call.meta.credential = Credential::Bearer(Arc::from(token.as_str()));
        }
        call
    }

    pub(crate) fn tool(&self, name: &str) -> &ToolRef {
        self.fixture.pipeline.catalog().find(Some("archive"), name).unwrap()
    }

    /// The answer and its text, or the status and the error object.
    pub(crate) async fn call(
        &self,
        tool: &str,
        args: Value,
    ) -> Result<(Value, String), (u16, Value)> {
        let outcome = self.fixture.pipeline.call(self.tool(tool), self.call_of(args)).await;
        result_of(outcome)
    }

    #[track_caller]
    pub(crate) fn ok(&self, tool: &str, args: Value) -> impl Future<Output = Value> {
        let call = self.call(tool, args.clone());
        async move { call.await.unwrap_or_else(|error| panic!("{tool} {args}: {error:?}")).0 }
    }

    /// The code and the message of a refusal; also checks that the status belongs to the code.
    pub(crate) async fn refused(&self, tool: &str, args: Value) -> (String, String) {
        let (status, error) = match self.call(tool, args.clone()).await {
            Ok((reply, _)) => panic!("{tool} {args} was not refused: {reply}"),
            Err(refused) => refused,
        };
        let code = error["error"]["code"].as_str().unwrap().to_owned();
        let statuses: &[u16] = match code.as_str() {
            "FILE_NOT_FOUND" | "JOB_NOT_FOUND" => &[404],
            "FILE_TOO_LARGE" => &[413],
            "INVALID_INPUT" => &[400, 404, 409],
            "UNSUPPORTED_FILE_TYPE" | "JOB_ALREADY_COMPLETED" => &[400],
            "AUTHENTICATION_FAILED" => &[401],
            "AUTHORIZATION_FAILED" => &[403],
            "RATE_LIMIT_EXCEEDED" => &[429],
            _ => &[500],
        };
        assert!(statuses.contains(&status), "{status} {error}");
        (code, error["error"].to_string())
    }

    pub(crate) async fn upload(&self, parts: MemoryParts) -> Result<Value, (u16, Value)> {
        self.upload_as(Upload::new(parts)).await
    }

    pub(crate) async fn upload_as(&self, upload: Upload) -> Result<Value, (u16, Value)> {
        let call = self.call_of(json!({}));
        result_of(self.fixture.upload("arkiver_upload", call, upload).await).map(|it| it.0)
    }

    /// Uploads one file and returns its id.
    pub(crate) async fn file(&self, name: &str, bytes: &[u8], metadata: Value) -> String {
        // Seven seconds pass, so that the limit of ten uploads a minute is not reached.
        self.fixture.clock.advance(Duration::from_secs(7));
        let parts = MemoryParts::new().field("metadata", &metadata.to_string());
        let reply = self.upload(parts.file("file", name, None, [bytes])).await.unwrap();
        assert_eq!(reply["status"], "uploaded");
        reply["fileId"].as_str().unwrap().to_owned()
    }

    /// Processes a file and waits for the end.
    pub(crate) async fn processed(&self, file: &str, settings: Value) -> Value {
        let args = json!({ "fileId": file, "processingSettings": settings });
        let started = self.ok("arkiver_process_file", args).await;
        assert_eq!(
            (&started["status"], &started["message"], &started["fileId"]),
            (&json!("queued"), &json!("Processing started"), &json!(file))
        );
        self.waited(started["jobId"].as_str().unwrap()).await
    }

    pub(crate) async fn waited(&self, job: &str) -> Value {
        let args = json!({ "jobId": job, "waitSeconds": 60 });
        let reply = self.ok("arkiver_job_status", args).await;
        assert!(matches!(reply["status"].as_str().unwrap(), "completed" | "failed"), "{reply}");
        reply
    }

    /// The progress a waiting caller receives.
    pub(crate) async fn progress_reports(&self, job: &str) -> Vec<(f64, String)> {
        let reports = Arc::new(parking_lot::Mutex::new(Vec::new()));
        let sink = Arc::clone(&reports);
        let mut call = self.call_of(json!({ "jobId": job, "waitSeconds": 60 }));
        call.progress = Progress::to(move |done, total, note| {
            assert_eq!(total, Some(100.0));
            sink.lock().push((done, note.to_owned()));
        });
        let tool = self.tool("arkiver_job_status");
        result_of(self.fixture.pipeline.call(tool, call).await).unwrap();
        std::mem::take(&mut *reports.lock())
    }

    /// The bytes, the content type and the length of a download.
    pub(crate) async fn download(
        &self,
        name: &str,
        file: &str,
    ) -> Result<(Vec<u8>, String, Option<u64>), (u16, Value)> {
        let call = self.call_of(json!({ "fileId": file }));
        let opened = self.fixture.download(name, call).await;
        let mut opened = opened.map_err(|it| (it.http_status, it.http_body))?;
        let mut bytes = Vec::new();
        while let Some(chunk) = opened.body.next().await {
            bytes.extend_from_slice(&chunk.unwrap());
        }
        Ok((bytes, opened.content_type, opened.length))
    }

    /// The export of a file.
    pub(crate) async fn export(&self, file: &str) -> Value {
        let (bytes, kind, _) = self.download("arkiver_export_file", file).await.unwrap();
        assert_eq!(kind, "application/json");
        serde_json::from_slice(&bytes).unwrap()
    }
}

pub(crate) fn result_of(outcome: CallOutcome) -> Result<(Value, String), (u16, Value)> {
    match outcome {
        Ok(reply) => {
            let HttpReply { status, .. } = reply.http();
            assert_eq!(status, 200);
            let text = reply.text();
            assert!(!text.is_empty() && text.len() < 32_000, "{text}");
            let parsed: Value = serde_json::from_str(&reply.tool_text()).unwrap();
            assert_eq!(parsed, reply.result(), "clients of this contract parse the text");
            Ok((reply.result(), text))
        }
        Err(failure) => {
            assert_eq!(failure.tool_error, failure.http_body);
            Err((failure.http_status, failure.tool_error))
        }
    }
}

/// Checks that every source of every insight is exactly in its page.
#[track_caller]
pub(crate) fn sources_stand(export: &Value) {
    let pages: Map<String, Value> = export["pages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["page"].to_string(), it["text"].clone()))
        .collect();
    let mut checked = 0;
    for insight in export["insights"].as_array().unwrap() {
        for source in insight["sources"].as_array().into_iter().flatten() {
            let text = pages[&source["page"].to_string()].as_str().unwrap();
            let (start, end) = (source["start"].as_u64().unwrap(), source["end"].as_u64().unwrap());
            let there: String =
                text.chars().skip(start as usize).take((end - start) as usize).collect();
            assert_eq!(json!(there), source["quote"], "{insight}");
            assert_eq!(source["fileHash"], export["file"]["sha256"]);
            checked += 1;
        }
    }
    assert!(checked > 0, "no source at all");
}

/// Runs a test on a database in a folder.
pub(crate) fn on_sqlite(test: impl AsyncFn(&Db)) {
    block_on(async {
        let folder = TempFolder::new();
        let db = open(folder.path()).await;
        test(&db).await;
        db.close().await;
    });
}

pub(crate) async fn open(folder: &Path) -> Db {
    Db::open(&StoreConfig::sqlite(folder)).await.unwrap()
}

pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
        .block_on(work)
}

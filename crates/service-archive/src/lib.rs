//! The archive's contract: files that are uploaded, read and told as insights, what is asked of
//! them, and the tests that hold insights against their sources.
//!
//! Who accounts are is in `accounts`, the bytes and pages in `documents`, what is kept of them in
//! `insights`, how a document is understood in `digest`; here they meet the contract.

mod access;
mod auth_tool;
mod check;
mod download;
mod envelope;
mod file_tools;
mod follow;
mod job_tools;
mod number;
mod owner_limiter;
mod process;
mod query_tool;
mod quote;
mod said;
mod share;
mod store_tool;
mod upload;
mod wire;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use archive_accounts::Accounts;
use archive_documents::Documents;
use archive_insights::Insights;
use clock::Clock;
use contract::{Contract, ContractError, Scope, Service, Tools};
use jobs::{JobHandler, JobMeter, Jobs, Worker, WorkerConfig};
use llm::Model;
use store::Db;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use auth_tool::{IssuedToken, TokenIssuer};

use owner_limiter::OwnerLimiter;

/// The kinds of the archive's jobs in the queue.
pub(crate) const PROCESS: &str = "archive.process";
pub(crate) const INTEGRITY: &str = "archive.integrity";
/// Files that are read at once, and tests that run at once, in one process.
const PROCESSED_AT_ONCE: usize = 2;
const TESTED_AT_ONCE: usize = 2;
/// Uploads of one caller at once, and calls that wait for a job: a part of what the tools bear.
const SENT_AT_ONCE: usize = 16;
const WATCHED_AT_ONCE: usize = 32;
/// How long a job may go on once it should stop: a child process is ended in a fraction of it.
const GRACE: Duration = Duration::from_secs(3);
/// How often the progress of a job is written, which is what those who wait are woken by.
const PROGRESS_EVERY: Duration = Duration::from_millis(250);

/// What the archive is built from. The database has the migrations of `accounts`, `documents`,
/// `insights` and `jobs`.
pub struct ArchiveParts {
    pub db: Db,
    pub jobs: Jobs,
    pub clock: Arc<dyn Clock>,
    pub accounts: Accounts,
    pub documents: Documents,
    pub insights: Insights,
    /// Who makes the tokens that `auth` gives out.
    pub tokens: Arc<dyn TokenIssuer>,
    /// Models for integrity tests, by name; the first of them summarises in deep processing.
    pub models: Vec<Arc<dyn Model>>,
    pub extractor: ExtractorCommand,
    pub meter: Option<Arc<dyn JobMeter>>,
    pub tasks: TaskTracker,
    pub stop: CancellationToken,
}

/// How the child process is started that reads a file.
#[derive(Debug, Clone)]
pub struct ExtractorCommand {
    /// This program, usually.
    pub program: PathBuf,
    /// What makes it call `archive_extract::worker_main` and nothing else.
    pub arguments: Vec<String>,
    /// A folder in which each job has one of its own while it runs.
    pub scratch: PathBuf,
    /// Languages for OCR, tried in order.
    pub languages: Vec<String>,
}

pub(crate) struct Archive {
    db: Db,
    jobs: Jobs,
    clock: Arc<dyn Clock>,
    accounts: Accounts,
    documents: Documents,
    insights: Insights,
    tokens: Arc<dyn TokenIssuer>,
    models: Vec<Arc<dyn Model>>,
    /// Uploads under way, for those who ask how far they are.
    uploads: upload::Uploads,
    /// Uploads of one caller at once.
    sending: OwnerLimiter,
    /// Calls of one caller that wait for a job.
    watching: OwnerLimiter,
    /// Turns at testing, for calls and jobs together: what was begun cannot be stopped.
    test_permits: Arc<Semaphore>,
}

/// The service with its tool table, and workers for its jobs on the given tracker.
pub fn service(parts: ArchiveParts) -> Result<Service, ContractError> {
    let contract = Contract::load("archive")?;
    Tools::of(Arc::new(assemble(parts)))
        .tool("arkiver_process_file", Scope::Write, process::call)
        .tool("arkiver_job_status", Scope::Read, job_tools::status)
        .tool("arkiver_store_insight", Scope::Write, store_tool::call)
        .tool("arkiver_query_insights", Scope::Read, query_tool::call)
        .tool("arkiver_integrity_test", Scope::Read, check::call)
        .tool("auth", Scope::Open, auth_tool::call)
        .tool("arkiver_file_status", Scope::Read, file_tools::status)
        .tool("arkiver_list_files", Scope::Read, file_tools::list)
        .tool("arkiver_delete_file", Scope::Write, file_tools::delete)
        .tool("arkiver_cancel_job", Scope::Write, job_tools::cancel)
        .tool("arkiver_share_case", Scope::Write, share::call)
        .tool("arkiver_upload_progress", Scope::Read, upload::progress)
        .follow("arkiver_process_file", follow::processing)
        .follow("arkiver_integrity_test", follow::testing)
        .upload("arkiver_upload", Scope::Write, upload::call)
        .download("arkiver_file_content", Scope::Read, download::content)
        .download("arkiver_export_file", Scope::Read, download::export)
        .bind(contract, envelope::ArkiverEnvelope)
}

fn assemble(parts: ArchiveParts) -> Archive {
    let ArchiveParts { db, jobs, clock, accounts, documents, insights, tokens, models, .. } = parts;
    let left = process::scratch::sweep(parts.extractor.scratch.clone(), jobs.clone());
    parts.tasks.spawn(left);
    let processing = process::work::Processing {
        db: db.clone(),
        clock: Arc::clone(&clock),
        accounts: accounts.clone(),
        documents: documents.clone(),
        insights: insights.clone(),
        reader: parts.extractor,
        model: models.first().cloned(),
        turns: Arc::new(Semaphore::new(PROCESSED_AT_ONCE)),
    };
    let test_permits = Arc::new(Semaphore::new(TESTED_AT_ONCE));
    let testing = check::work::Testing {
        accounts: accounts.clone(),
        documents: documents.clone(),
        insights: insights.clone(),
        models: models.clone(),
        turns: Arc::clone(&test_permits),
    };
    let hands: [(&'static str, usize, Arc<dyn JobHandler>); 2] = [
        (PROCESS, PROCESSED_AT_ONCE, Arc::new(processing)),
        (INTEGRITY, TESTED_AT_ONCE, Arc::new(testing)),
    ];
    for (kind, at_once, handler) in hands {
        let config = WorkerConfig {
            stop_grace: GRACE,
            shutdown_grace: GRACE,
            progress_interval: PROGRESS_EVERY,
            ..WorkerConfig::default()
        };
        let worker = Worker::new(jobs.clone(), config);
        let worker = parts.meter.iter().cloned().fold(worker, Worker::meter);
        let stop = parts.stop.clone();
        parts.tasks.spawn(async move { worker.run(&[kind], at_once, handler, stop).await });
    }
    let uploads = upload::Uploads::default();
    Archive {
        db,
        jobs,
        clock,
        accounts,
        documents,
        insights,
        tokens,
        models,
        uploads,
        sending: OwnerLimiter::new(SENT_AT_ONCE),
        watching: OwnerLimiter::new(WATCHED_AT_ONCE),
        test_permits,
    }
}

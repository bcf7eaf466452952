//! The archive's contract: uploading and processing files, searching their insights, and testing
//! insights against their sources.
//!
//! Accounts and cases are in `archive-accounts`, bytes and pages in `archive-documents`, insights
//! in `archive-insights`, the index of the pages in `archive-search`, the rules that read a
//! document in `archive-drafts`.

mod access;
mod clip;
mod envelope;
mod file_facts;
mod file_state;
mod integrity;
mod job_report;
mod local_file;
mod number;
mod open_arguments;
mod page_drawing;
mod page_index;
mod page_reader;
mod processing;
mod quote;
mod task_follower;
mod tools;
mod upload_tracker;
mod uploading;
mod wire;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use archive_accounts::Accounts;
use archive_documents::Documents;
use archive_insights::Insights;
use archive_search::Search;
use clock::Clock;
use contract::{Contract, ContractError, Scope, Service, Tools};
use jobs::{JobHandler, JobMeter, Jobs, Worker, WorkerConfig};
use limits::OwnerLimiter;
use llm::Model;
use store::Db;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use processing::analysis::analysis_main;
pub use tools::auth::{IssuedToken, TokenIssuer};

use open_arguments::InputSchemas;
use page_drawing::PageDrawer;
use processing::job_passwords::JobPasswords;
use tools::{
    add_file, auth, cancel_job, delete_file, delete_insight, export, export_file, file_content,
    file_status, integrity_test, job_status, list_cases, list_files, page_picture, page_words,
    process_file, query_insights, read_page, search_documents, search_pages, share_case,
    store_insight, update_insight, upload, upload_by_link, upload_progress,
};
use upload_tracker::UploadTracker;

/// The kinds of the archive's jobs in the queue.
pub(crate) const PROCESS: &str = "archive.process";
pub(crate) const INTEGRITY: &str = "archive.integrity";
/// Processing jobs and integrity tests that run at once in one process. One owner has at most two
/// of three (`jobs::Worker`), so that the files of another owner do not wait for them.
const PROCESSING_CONCURRENCY: usize = 3;
const TEST_CONCURRENCY: usize = 3;
/// Uploads, and calls that wait for a job, of one owner at once: a part of the limits of the tools,
/// so that one owner cannot hold a tool for all others.
const UPLOADS_PER_OWNER: usize = 16;
const WAITS_PER_OWNER: usize = 32;
/// How long a job may run after it was asked to stop. Killing a child process takes less than 1 s.
const GRACE: Duration = Duration::from_secs(3);
/// How often the progress of a job is stored, which wakes the calls that wait for it.
const PROGRESS_EVERY: Duration = Duration::from_millis(250);

/// What the archive is built from. The database needs the migrations of `archive-accounts`,
/// `archive-documents`, `archive-insights`, `archive-search` and `jobs`.
pub struct ArchiveParts {
    pub db: Db,
    pub jobs: Jobs,
    pub clock: Arc<dyn Clock>,
    pub accounts: Accounts,
    pub documents: Documents,
    pub insights: Insights,
    pub search: Search,
    /// Issues the tokens of `auth` and of upload links.
    pub tokens: Arc<dyn TokenIssuer>,
    /// The address at which clients reach this server over HTTP, for upload links. Without it a
    /// link is a path.
    pub base_url: Option<String>,
    /// Models for integrity tests; the first one also writes summaries in deep processing.
    pub models: Vec<Arc<dyn Model>>,
    pub extractor: ExtractorCommand,
    pub meter: Option<Arc<dyn JobMeter>>,
    pub tasks: TaskTracker,
    pub stop: CancellationToken,
}

/// How to start the child processes that extract a file and analyse its text.
#[derive(Debug, Clone)]
pub struct ExtractorCommand {
    /// This program, usually.
    pub program: PathBuf,
    /// The arguments that make it call `archive_extract::worker_main`.
    pub arguments: Vec<String>,
    /// The arguments that make it call [`analysis_main`].
    pub analysis_arguments: Vec<String>,
    /// The parent of the scratch folders, one per running job.
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
    search: Search,
    /// Whether files of an earlier version are still being added to the page index.
    is_indexing: Arc<AtomicBool>,
    /// Whether insights of an earlier version are still being indexed again.
    is_reindexing: Arc<AtomicBool>,
    tokens: Arc<dyn TokenIssuer>,
    base_url: Option<String>,
    models: Vec<Arc<dyn Model>>,
    upload_tracker: UploadTracker,
    upload_slots: OwnerLimiter<String>,
    /// For calls that wait for a job.
    wait_slots: OwnerLimiter<String>,
    /// Shared by tests inside calls and tests as jobs. The threads that test cannot be cancelled,
    /// so each holds its permit until it ends.
    test_permits: Arc<Semaphore>,
    /// Shared with the job that reads the files.
    passwords: Arc<JobPasswords>,
    page_drawing: PageDrawer,
    inputs: InputSchemas,
}

/// The service with its tool table. Also spawns the workers of its jobs.
pub fn service(parts: ArchiveParts) -> Result<Service, ContractError> {
    let mut contract = Contract::load("archive")?;
    let limits = parts.documents.upload_limits();
    for upload in &mut contract.uploads {
        (upload.file_bytes, upload.batch_bytes) = (limits.file_bytes, limits.batch_bytes);
    }
    let inputs = InputSchemas::of(&contract);
    Tools::of(Arc::new(assemble(parts, inputs)))
        .tool("arkiver_process_file", Scope::Write, process_file::call)
        .tool("arkiver_job_status", Scope::Read, job_status::call)
        .tool("arkiver_store_insight", Scope::Write, store_insight::call)
        .tool("arkiver_query_insights", Scope::Read, query_insights::call)
        .tool("arkiver_search_documents", Scope::Read, search_documents::call)
        .tool("arkiver_search_pages", Scope::Read, search_pages::call)
        .tool("arkiver_integrity_test", Scope::Read, integrity_test::call)
        .tool("auth", Scope::Open, auth::call)
        .tool("arkiver_add_file", Scope::Write, add_file::call)
        .tool("arkiver_read_page", Scope::Read, read_page::call)
        .tool("arkiver_update_insight", Scope::Write, update_insight::call)
        .tool("arkiver_delete_insight", Scope::Write, delete_insight::call)
        .tool("arkiver_export", Scope::Read, export::call)
        .tool("arkiver_file_status", Scope::Read, file_status::call)
        .tool("arkiver_list_files", Scope::Read, list_files::call)
        .tool("arkiver_delete_file", Scope::Write, delete_file::call)
        .tool("arkiver_cancel_job", Scope::Write, cancel_job::call)
        .tool("arkiver_share_case", Scope::Write, share_case::call)
        .tool("arkiver_upload_progress", Scope::Read, upload_progress::call)
        .tool("arkiver_list_cases", Scope::Read, list_cases::call)
        .follow("arkiver_process_file", task_follower::follow_processing)
        .follow("arkiver_integrity_test", task_follower::follow_integrity_test)
        .upload("arkiver_upload", Scope::Write, upload::call)
        .upload("arkiver_upload_by_link", Scope::Open, upload_by_link::call)
        .download("arkiver_file_content", Scope::Read, file_content::call)
        .download("arkiver_page_picture", Scope::Read, page_picture::call)
        .download("arkiver_page_words", Scope::Read, page_words::call)
        .download("arkiver_export_file", Scope::Read, export_file::call)
        .bind(contract, envelope::ArkiverEnvelope)
}

/// Starts one worker for each kind of job.
fn spawn_workers(
    handlers: [(&'static str, usize, Arc<dyn JobHandler>); 2],
    jobs: &Jobs,
    meter: Option<&Arc<dyn JobMeter>>,
    tasks: &TaskTracker,
    stop: &CancellationToken,
) {
    for (kind, concurrency, handler) in handlers {
        let config = WorkerConfig {
            stop_grace: GRACE,
            shutdown_grace: GRACE,
            progress_interval: PROGRESS_EVERY,
            ..WorkerConfig::default()
        };
        let worker = Worker::new(jobs.clone(), config);
        let worker = meter.cloned().into_iter().fold(worker, Worker::meter);
        let stop = stop.clone();
        tasks.spawn(async move { worker.run(&[kind], concurrency, handler, stop).await });
    }
}

fn assemble(parts: ArchiveParts, inputs: InputSchemas) -> Archive {
    let ArchiveParts { db, jobs, clock, accounts, documents, insights, search, .. } = parts;
    let ArchiveParts { tokens, base_url, models, .. } = parts;
    parts.tasks.spawn(processing::scratch::remove_leftover_folders(
        parts.extractor.scratch.clone(),
        jobs.clone(),
    ));
    let (is_indexing, is_reindexing) = (Arc::new(AtomicBool::new(true)), Arc::default());
    let backfill = page_index::Backfill {
        db: db.clone(),
        documents: documents.clone(),
        insights: insights.clone(),
        search: search.clone(),
        is_indexing: Arc::clone(&is_indexing),
        is_reindexing: Arc::clone(&is_reindexing),
    };
    let page_drawing = PageDrawer::new(parts.extractor.clone());
    let stop = parts.stop.clone();
    parts.tasks.spawn(async move { stop.run_until_cancelled(backfill.run()).await });
    let passwords = Arc::new(JobPasswords::default());
    let processing = processing::job::ProcessingJob {
        db: db.clone(),
        clock: Arc::clone(&clock),
        accounts: accounts.clone(),
        documents: documents.clone(),
        insights: insights.clone(),
        search: search.clone(),
        extractor: parts.extractor,
        model: models.first().cloned(),
        permits: Arc::new(Semaphore::new(PROCESSING_CONCURRENCY)),
        passwords: Arc::clone(&passwords),
    };
    let test_permits = Arc::new(Semaphore::new(TEST_CONCURRENCY));
    let testing = integrity::job::IntegrityJob {
        accounts: accounts.clone(),
        documents: documents.clone(),
        insights: insights.clone(),
        models: models.clone(),
        permits: Arc::clone(&test_permits),
    };
    let handlers: [(&'static str, usize, Arc<dyn JobHandler>); 2] = [
        (PROCESS, PROCESSING_CONCURRENCY, Arc::new(processing)),
        (INTEGRITY, TEST_CONCURRENCY, Arc::new(testing)),
    ];
    spawn_workers(handlers, &jobs, parts.meter.as_ref(), &parts.tasks, &parts.stop);
    Archive {
        db,
        jobs,
        clock,
        accounts,
        documents,
        insights,
        search,
        is_indexing,
        is_reindexing,
        tokens,
        base_url,
        models,
        upload_tracker: UploadTracker::default(),
        upload_slots: OwnerLimiter::per_owner(UPLOADS_PER_OWNER),
        wait_slots: OwnerLimiter::per_owner(WAITS_PER_OWNER),
        test_permits,
        passwords,
        page_drawing,
        inputs,
    }
}

//! A worker process that is killed with SIGKILL: another worker runs its job, and no completed job
//! runs again.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a test fails by panicking, and its child writes to stdout"
)]

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use clock::SystemClock;
use fault::Fault;
use jobs::{
    JobContext, JobHandler, JobOutcome, JobState, Jobs, MIGRATIONS, NewJob, QueueLimits, Worker,
    WorkerConfig,
};
use store::{Db, Migrations, StoreConfig, sql};
use testkit::{TempFolder, postgres};
use tokio_util::sync::CancellationToken;

const TIMEOUT: Duration = Duration::from_secs(120);
const DATA: &str = "STOA_TEST_JOBS_DATA";
const URL: &str = "STOA_TEST_JOBS_URL";
const PUSHES: &str = "STOA_TEST_JOBS_PUSHES";

async fn open(config: &StoreConfig) -> (Db, Jobs) {
    let db = Db::open(config).await.unwrap();
    db.migrate(&[MIGRATIONS, EFFECTS]).await.unwrap();
    (db.clone(), Jobs::new(db, Arc::new(SystemClock), QueueLimits::default()))
}

fn config() -> WorkerConfig {
    WorkerConfig { lease: Duration::from_secs(1), ..WorkerConfig::default() }
}

/// The child process: the tests below start it with the location of the database and kill it.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "the child process of the other tests"]
async fn child() {
    let data = std::env::var(DATA).unwrap();
    let store = StoreConfig { data_dir: data.into(), url: std::env::var(URL).ok() };
    let (db, jobs) = open(&store).await;
    let worker = Worker::new(jobs.clone(), config());
    let handler = Arc::new(move |context: JobContext| handle(db.clone(), context));
    let work = worker.run(&KINDS, 4, handler, CancellationToken::new());
    if std::env::var(PUSHES).is_err() {
        return work.await;
    }
    let push = async {
        loop {
            let job = NewJob::new("effect", &()).unwrap().max_attempts(99);
            println!("\n{PUSHED}{}", jobs.push(job).await.unwrap().job.id);
        }
    };
    tokio::select! { () = work => {}, () = push => {} }
}

const KINDS: [&str; 3] = ["quick", "slow", "effect"];
const PUSHED: &str = "kept ";
const EFFECT: [&str; 1] = ["CREATE TABLE t_effect (job TEXT PRIMARY KEY)"];
const EFFECTS: Migrations = Migrations { owner: "t", sqlite: &EFFECT, postgres: &EFFECT };

async fn handle(db: Db, context: JobContext) -> JobOutcome {
    match context.kind() {
        "quick" => JobOutcome::done(&"child"),
        "slow" => {
            println!("\nholding");
            std::future::pending().await
        }
        _ => insert_effect(&db, &context)
            .await
            .map_or_else(JobOutcome::from, |()| JobOutcome::Committed),
    }
}

struct SecondWorker;

#[async_trait]
impl JobHandler for SecondWorker {
    async fn run(&self, _context: JobContext) -> JobOutcome {
        JobOutcome::done(&"second")
    }
}

/// The table refuses a second effect of one job, and the job fails.
async fn insert_effect(db: &Db, context: &JobContext) -> Result<(), Fault> {
    let mut tx = db.begin().await?;
    tx.execute(sql("INSERT INTO t_effect (job) VALUES ($1)").bind(context.id())).await?;
    context.fence().complete_in(&mut tx, &()).await?;
    tx.commit().await
}

/// A child process that is killed when this is dropped.
struct ChildProcess(Child);

impl Drop for ChildProcess {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

fn start_child(store: &StoreConfig, is_pushing: bool) -> ChildProcess {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["child", "--exact", "--nocapture", "--ignored"]).env(DATA, &store.data_dir);
    if let Some(url) = &store.url {
        command.env(URL, url);
    }
    if is_pushing {
        command.env(PUSHES, "1");
    }
    ChildProcess(command.stdout(Stdio::piped()).spawn().unwrap())
}

async fn killed_and_taken_over(store: StoreConfig) {
    let (_, jobs) = open(&store).await;
    let push = async |kind: &str| {
        jobs.push(NewJob::new(kind, &()).unwrap().max_attempts(9)).await.unwrap().job.id
    };
    let quick = push("quick").await;
    let mut child = start_child(&store, false);
    assert_eq!(jobs.wait(&quick, TIMEOUT).await.unwrap().state, JobState::Completed);
    let slow = push("slow").await;
    let mut lines = BufReader::new(child.0.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap() == "holding"));
    drop(child);
    let held = jobs.get(&slow).await.unwrap();
    assert_eq!((held.state, held.attempt), (JobState::Running, 1));

    let done = working(&jobs, Arc::new(SecondWorker), jobs.wait(&slow, TIMEOUT)).await.unwrap();
    assert_eq!((done.state, done.attempt), (JobState::Completed, 2));
    assert_eq!(done.result.as_deref(), Some("\"second\""));
    let first = jobs.get(&quick).await.unwrap();
    assert_eq!((first.attempt, first.result.as_deref()), (1, Some("\"child\"")));
}

/// Runs a worker of this process until something has happened.
async fn working<T>(
    jobs: &Jobs,
    handler: Arc<dyn JobHandler>,
    until: impl Future<Output = T>,
) -> T {
    let (worker, shutdown) = (Worker::new(jobs.clone(), config()), CancellationToken::new());
    let work = worker.run(&KINDS, 4, handler, shutdown.clone());
    let watch = async {
        let happened = until.await;
        shutdown.cancel();
        happened
    };
    tokio::join!(work, watch).1
}

/// Kills a process that pushes and works, again and again, each time after a few more pushes.
async fn killed_in_the_middle(store: StoreConfig) {
    let (db, jobs) = open(&store).await;
    let mut ids_pushed = Vec::new();
    for round in 0..5 {
        let mut child = start_child(&store, true);
        let lines = BufReader::new(child.0.stdout.take().unwrap()).lines();
        let text_lines = lines.map(Result::unwrap);
        let ids = text_lines.filter_map(|line| line.strip_prefix(PUSHED).map(str::to_owned));
        ids_pushed.extend(ids.take(3 + round * 7));
    }
    let own = db.clone();
    let handler = Arc::new(move |context: JobContext| handle(own.clone(), context));
    let ends = working(&jobs, handler, async {
        let mut ends = Vec::new();
        for id in &ids_pushed {
            ends.push(jobs.wait(id, TIMEOUT).await.unwrap());
        }
        ends
    });
    let ends = ends.await;
    assert_eq!(ends.len(), 85);
    let bad: Vec<_> = ends.iter().filter(|job| job.state != JobState::Completed).collect();
    assert!(bad.is_empty(), "{bad:?}");
    // Effects and completions are the same set, whether their push was answered or not.
    let odd = "SELECT COUNT(*) FROM t_effect e FULL JOIN \
         (SELECT id FROM job WHERE state = 'completed') j ON e.job = j.id \
         WHERE e.job IS NULL OR j.id IS NULL";
    let odd = db.fetch_optional(sql(odd)).await.unwrap().unwrap();
    assert_eq!(odd.count(0).unwrap(), 0);
}

async fn on_every_engine(test: impl AsyncFn(StoreConfig)) {
    let folder = TempFolder::new();
    test(StoreConfig::sqlite(folder.path())).await;
    if let Some(url) = postgres::database() {
        let data_dir = folder.path().to_owned();
        test(StoreConfig { data_dir, url: Some(url) }).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_workers_job_is_run_by_another() {
    on_every_engine(killed_and_taken_over).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn accepted_jobs_complete_once_although_the_process_is_killed() {
    on_every_engine(killed_in_the_middle).await;
}

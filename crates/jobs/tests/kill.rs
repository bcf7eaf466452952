//! A worker that is killed outright: its job is done by another, and nothing it had completed is
//! done again.

#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test fails by panicking")]

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use jobs::{JobContext, Jobs, Limits, MIGRATIONS, NewJob, Outcome, State, Worker, WorkerConfig};
use market::SystemClock;
use store::{Db, StoreConfig};
use testkit::{TempFolder, postgres};
use tokio_util::sync::CancellationToken;

const PATIENCE: Duration = Duration::from_secs(120);
const DATA: &str = "STOA_TEST_JOBS_DATA";
const URL: &str = "STOA_TEST_JOBS_URL";

async fn open(config: &StoreConfig) -> Jobs {
    let db = Db::open(config).await.unwrap();
    db.migrate(&[MIGRATIONS]).await.unwrap();
    Jobs::new(db, Arc::new(SystemClock), Limits::default())
}

fn config() -> WorkerConfig {
    WorkerConfig { lease: Duration::from_secs(1), ..WorkerConfig::default() }
}

/// The process that is killed: it completes the quick job, and tells on stdout when it holds the
/// slow one. Run by the test below, which says where the database is.
#[tokio::test(flavor = "multi_thread")]
async fn child() {
    let Ok(data) = std::env::var(DATA) else { return };
    let config = StoreConfig { data_dir: data.into(), url: std::env::var(URL).ok() };
    let worker = Worker::new(open(&config).await, self::config());
    let handler = async |context: JobContext| match context.kind() {
        "quick" => Outcome::done(&"child"),
        _ => {
            println!("\nholding");
            std::future::pending().await
        }
    };
    worker.run(&["quick", "slow"], 2, Arc::new(handler), CancellationToken::new()).await;
}

/// Killed with the test, whatever becomes of that.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

fn start_child(store: &StoreConfig) -> Killed {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["child", "--exact", "--nocapture"]).env(DATA, &store.data_dir);
    if let Some(url) = &store.url {
        command.env(URL, url);
    }
    Killed(command.stdout(Stdio::piped()).spawn().unwrap())
}

async fn killed_and_taken_over(store: StoreConfig) {
    let jobs = open(&store).await;
    let push = async |kind: &str| {
        jobs.push(NewJob::new(kind, &()).unwrap().max_attempts(9)).await.unwrap().job.id
    };
    let quick = push("quick").await;
    let mut child = start_child(&store);
    assert_eq!(jobs.wait(&quick, PATIENCE).await.unwrap().state, State::Completed);
    let slow = push("slow").await;
    let mut lines = BufReader::new(child.0.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap() == "holding"));
    drop(child);
    let held = jobs.get(&slow).await.unwrap();
    assert_eq!((held.state, held.attempt), (State::Running, 1));

    let worker = Worker::new(jobs.clone(), config());
    let shutdown = CancellationToken::new();
    let handler = Arc::new(async |_: JobContext| Outcome::done(&"heir"));
    let work = worker.run(&["quick", "slow"], 2, handler, shutdown.clone());
    let watch = async {
        let done = jobs.wait(&slow, PATIENCE).await.unwrap();
        shutdown.cancel();
        done
    };
    let ((), done) = tokio::join!(work, watch);
    assert_eq!((done.state, done.attempt), (State::Completed, 2));
    assert_eq!(done.result.as_deref(), Some("\"heir\""));
    let first = jobs.get(&quick).await.unwrap();
    assert_eq!((first.attempt, first.result.as_deref()), (1, Some("\"child\"")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_workers_job_is_done_by_another() {
    let folder = TempFolder::new();
    killed_and_taken_over(StoreConfig::sqlite(folder.path())).await;
    if let Some(url) = postgres::database() {
        let data_dir = folder.path().to_owned();
        killed_and_taken_over(StoreConfig { data_dir, url: Some(url) }).await;
    }
}

//! Workers that race, fail, panic, vanish and lose their jobs to others.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use clock::{Clock as _, Millis};
use fault::Fault;
use serde_json::json;
use testkit::on_every_engine;
use tokio::sync::Notify;

use super::{Fixture, LEASE, RunningWorker, TIMEOUT, config, job};
use crate::{
    Backoff, Job, JobContext, JobHandler, JobMeter, JobOutcome, JobState, Worker, WorkerConfig,
};

/// Signals that it has begun, and never ends.
fn stuck(begun: &Arc<Notify>) -> impl JobHandler + use<> {
    let begun = Arc::clone(begun);
    move |_: JobContext| {
        begun.notify_one();
        std::future::pending()
    }
}

async fn done(_: JobContext) -> JobOutcome {
    JobOutcome::done(&"done")
}

#[track_caller]
fn check(job: &Job, state: JobState, attempt: u32, error: Option<&str>) {
    let code = job.error.as_ref().map(|error| error.code.as_str());
    assert_eq!((job.state, job.attempt, code), (state, attempt, error), "{job:?}");
    assert_eq!(job.finished_at.is_some(), state.is_finished());
}

#[tokio::test(flavor = "multi_thread")]
async fn two_workers_run_five_hundred_jobs_once_each() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let runs: Arc<Mutex<HashMap<String, u32>>> = Arc::default();
        let handler = || {
            let runs = Arc::clone(&runs);
            Arc::new(move |context: JobContext| {
                *runs.lock().entry(context.id().to_owned()).or_default() += 1;
                async move { JobOutcome::done(&context.payload::<serde_json::Value>().unwrap()) }
            })
        };
        let crews = [fixture.elsewhere(), fixture.elsewhere()]
            .map(|jobs| RunningWorker::new(jobs, config(), 8, handler()));
        let mut pushed = Vec::new();
        for part in 0..5 {
            let kind = if part % 2 == 0 { "one" } else { "two" };
            pushed.extend(fixture.jobs.push_many(vec![job(kind); 100]).await.unwrap());
        }
        for pushed in &pushed {
            let done = fixture.jobs.wait(&pushed.job.id, TIMEOUT).await.unwrap();
            check(&done, JobState::Completed, 1, None);
            assert_eq!(done.result_as::<serde_json::Value>().unwrap().unwrap()["of"], done.kind);
        }
        for active in crews {
            active.dismiss().await;
        }
        let runs = runs.lock();
        assert_eq!(runs.len(), 500);
        assert!(runs.values().all(|times| *times == 1));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_vanished_workers_job_is_taken_over_when_its_lease_ends() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let begun = Arc::new(Notify::new());
        let lost = fixture.start_worker(config(), stuck(&begun));
        let id = fixture.push("one").await.id;
        begun.notified().await;
        lost.vanish().await;
        check(&fixture.jobs.get(&id).await.unwrap(), JobState::Running, 1, None);

        let heir = fixture.start_worker(config(), done);
        // Other jobs run meanwhile; the held job is not taken before its lease expires.
        let other = fixture.push("one").await.id;
        fixture.jobs.wait(&other, TIMEOUT).await.unwrap();
        check(&fixture.jobs.get(&id).await.unwrap(), JobState::Running, 1, None);
        fixture.clock.advance(LEASE);
        check(&fixture.jobs.wait(&id, TIMEOUT).await.unwrap(), JobState::Completed, 2, None);
        heir.dismiss().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_kills_its_workers_ends_in_the_dead_letter() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let id = fixture.jobs.push(job("one").max_attempts(2)).await.unwrap().job.id;
        for attempt in 1..=2 {
            let begun = Arc::new(Notify::new());
            let lost = fixture.start_worker(config(), stuck(&begun));
            begun.notified().await;
            lost.vanish().await;
            check(
                &fixture.jobs.get(&id).await.unwrap(),
                JobState::Running,
                attempt,
                match attempt {
                    1 => None,
                    _ => Some("worker_lost"),
                },
            );
            fixture.clock.advance(LEASE);
        }
        let heir = fixture.start_worker(config(), done);
        let dead = fixture.jobs.wait(&id, TIMEOUT).await.unwrap();
        check(&dead, JobState::Failed, 2, Some("worker_lost"));
        heir.dismiss().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_job_is_retried_with_all_attempts() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let runs = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&runs);
        // Fails, panics, fails; after that it works.
        let worker = fixture.start_worker(config(), move |context: JobContext| {
            let run = count.fetch_add(1, Ordering::SeqCst);
            assert_ne!(run, 1, "on purpose");
            async move {
                context.progress(u64::from(run), Some(9), Some("так"));
                let down = Fault::unavailable("down", "it is down").caused_by("secret");
                if run < 3 { JobOutcome::from(down) } else { JobOutcome::Done(None) }
            }
        });
        let id = fixture.jobs.push(job("one").max_attempts(3)).await.unwrap().job.id;
        let dead = fixture.jobs.wait(&id, TIMEOUT).await.unwrap();
        check(&dead, JobState::Failed, 3, Some("down"));
        assert_eq!(dead.error.as_ref().unwrap().message, "it is down");
        assert_eq!((dead.progress.done, dead.progress.total), (2, Some(9)));
        assert_eq!(dead.progress.note.as_deref(), Some("так"));
        assert_eq!(fixture.jobs.cancel(&id).await.unwrap_err().code(), "job_finished");
        fixture.jobs.retry(&id).await.unwrap();
        check(&fixture.jobs.wait(&id, TIMEOUT).await.unwrap(), JobState::Completed, 1, None);
        assert_eq!(fixture.jobs.retry(&id).await.unwrap_err().code(), "job_not_failed");
        worker.dismiss().await;
        assert_eq!(runs.load(Ordering::SeqCst), 4);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_permanent_failure_is_not_retried() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let worker = fixture
            .start_worker(config(), async |_| JobOutcome::from(Fault::invalid("bad", "bad")));
        let id = fixture.push("one").await.id;
        check(&fixture.jobs.wait(&id, TIMEOUT).await.unwrap(), JobState::Failed, 1, Some("bad"));
        worker.dismiss().await;
        let config = WorkerConfig { run_timeout: Duration::from_millis(1), ..config() };
        let worker = fixture.start_worker(config, stuck(&Arc::default()));
        let id = fixture.jobs.push(job("one").max_attempts(2)).await.unwrap().job.id;
        let slow = fixture.jobs.wait(&id, TIMEOUT).await.unwrap();
        check(&slow, JobState::Failed, 2, Some("job_timeout"));
        worker.dismiss().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_retry_waits_for_its_time() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let backoff = Backoff { first: Duration::from_secs(60), most: Duration::from_secs(60) };
        let worker =
            fixture.start_worker(WorkerConfig { backoff, ..config() }, async |it: JobContext| {
                let down = Fault::unavailable("down", "it is down");
                if it.job().attempt == 1 {
                    JobOutcome::from(down)
                } else {
                    JobOutcome::done(&json!(1))
                }
            });
        let first = fixture.push("one").await;
        let mut job = first.clone();
        while job.error.is_none() {
            job = fixture.jobs.wait_change(&first.id, job.revision, TIMEOUT).await.unwrap();
        }
        check(&job, JobState::Queued, 1, Some("down"));
        let wait = job.run_at.0 - fixture.clock.now().0;
        assert!((30_000..=60_000).contains(&wait), "{wait}");
        assert!(fixture.claim("one", 1).await.is_empty());
        fixture.clock.set(Millis(job.run_at.0));
        check(&fixture.jobs.wait(&first.id, TIMEOUT).await.unwrap(), JobState::Completed, 2, None);
        worker.dismiss().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reported_commit_is_verified() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let own = db.clone();
        let worker = fixture.start_worker(config(), move |context: JobContext| {
            let db = own.clone();
            async move {
                if context.job().attempt == 1 {
                    return JobOutcome::Committed;
                }
                let mut tx = db.begin().await.unwrap();
                context.progress(3, Some(3), None);
                context.fence().complete_in(&mut tx, &json!({"kept": true})).await.unwrap();
                tx.commit().await.unwrap();
                JobOutcome::Committed
            }
        });
        let id = fixture.push("one").await.id;
        let done = fixture.jobs.wait(&id, TIMEOUT).await.unwrap();
        check(&done, JobState::Completed, 2, None);
        assert_eq!(done.result.as_deref(), Some(r#"{"kept":true}"#));
        assert_eq!(done.progress.done, 3);
        worker.dismiss().await;
    })
    .await;
}

#[derive(Default)]
struct Counted(Mutex<Vec<String>>);

impl JobMeter for Counted {
    fn started(&self, kind: &str, waited: Duration) {
        self.0.lock().push(format!("{kind} {}", waited.as_secs()));
    }

    fn ended(&self, kind: &str, state: Option<JobState>, _ran: Duration) {
        self.0.lock().push(format!("{kind} {}", state.map_or("lost", JobState::as_str)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restarted_queue_keeps_its_jobs_and_counts() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let id = fixture.push("two").await.id;
        fixture.clock.advance(Duration::from_secs(7));
        // Another process, which no push wakes.
        let (jobs, meter) = (fixture.elsewhere(), Arc::new(Counted::default()));
        let shutdown = tokio_util::sync::CancellationToken::new();
        let worker = Worker::new(jobs.clone(), config()).meter(meter.clone());
        let work = worker.run(&["one", "two"], 1, Arc::new(done), shutdown.clone());
        let watch = async {
            let found = jobs.wait(&id, TIMEOUT).await.unwrap();
            shutdown.cancel();
            found
        };
        let ((), found) = tokio::join!(work, watch);
        check(&found, JobState::Completed, 1, None);
        assert_eq!(*meter.0.lock(), ["two 7", "two completed"]);
    })
    .await;
}

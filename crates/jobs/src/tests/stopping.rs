//! Cancelling, losing a lease while the worker lives, shutting down, and waiting for changes.

use std::sync::Arc;
use std::time::Duration;

use testkit::on_every_engine;
use tokio::sync::{Notify, mpsc};

use super::{Fixture, LEASE, TIMEOUT, config};
use crate::{JobContext, JobOutcome, JobState, StopReason, WorkerConfig};

/// Waits for the stop signal and returns its reason.
fn obedient(
    begun: &Arc<Notify>,
) -> (impl crate::JobHandler + use<>, mpsc::UnboundedReceiver<Option<StopReason>>) {
    let (job_error, reasons) = mpsc::unbounded_channel();
    let begun = Arc::clone(begun);
    let handler = move |context: JobContext| {
        let (job_error, begun) = (job_error.clone(), Arc::clone(&begun));
        async move {
            begun.notify_one();
            context.cancel_token().cancelled().await;
            let why = context.cancelled().await;
            assert!(context.is_cancelled() && context.stop_reason() == Some(why));
            job_error.send(Some(why)).unwrap();
            JobOutcome::Cancelled
        }
    };
    (handler, reasons)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queued_job_is_cancelled_at_once_and_never_runs() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let id = fixture.push("one").await.id;
        let cancelled = fixture.jobs.cancel(&id).await.unwrap();
        assert_eq!(cancelled.state, JobState::Cancelled);
        assert!(cancelled.finished_at.is_some());
        assert!(fixture.claim("one", 9).await.is_empty());
        assert_eq!(fixture.jobs.cancel(&id).await.unwrap(), cancelled);
        assert_eq!(fixture.jobs.retry(&id).await.unwrap_err().code(), "job_not_failed");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_job_is_cancelled_from_this_or_another_process() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        for elsewhere in [false, true] {
            let begun = Arc::new(Notify::new());
            let (handler, mut reasons) = obedient(&begun);
            let worker = fixture.start_worker(config(), handler);
            let id = fixture.push("one").await.id;
            begun.notified().await;
            let jobs = if elsewhere { fixture.elsewhere() } else { fixture.jobs.clone() };
            let cancelled = jobs.cancel(&id).await.unwrap();
            assert!(cancelled.cancel_requested && cancelled.state == JobState::Running);
            if elsewhere {
                // A cancellation by another process is seen when the lease is renewed.
                fixture.clock.advance(LEASE / 2);
            }
            let cancelled = fixture.jobs.wait(&id, TIMEOUT).await.unwrap();
            assert_eq!((cancelled.state, cancelled.attempt), (JobState::Cancelled, 1));
            assert_eq!(reasons.recv().await, Some(Some(StopReason::Cancelled)));
            worker.dismiss().await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_handler_that_ignores_cancellation_is_dropped() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let begun = Arc::new(Notify::new());
        let notify = Arc::clone(&begun);
        let config = WorkerConfig { stop_grace: Duration::ZERO, ..config() };
        let worker = fixture.start_worker(config, move |_| {
            notify.notify_one();
            std::future::pending()
        });
        let id = fixture.push("one").await.id;
        begun.notified().await;
        fixture.jobs.cancel(&id).await.unwrap();
        let cancelled = fixture.jobs.wait(&id, TIMEOUT).await.unwrap();
        assert_eq!(cancelled.state, JobState::Cancelled);
        worker.dismiss().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_finishes_before_its_cancellation_is_completed() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let worker = fixture.start_worker(config(), async |context: JobContext| {
            context.cancelled().await;
            JobOutcome::done(&"too late")
        });
        let id = fixture.push("one").await.id;
        let mut job = fixture.jobs.get(&id).await.unwrap();
        while job.state != JobState::Running {
            job = fixture.jobs.wait_change(&id, job.revision, TIMEOUT).await.unwrap();
        }
        // The worker may not have registered the job yet; then it sees the cancellation at the
        // renewal.
        fixture.jobs.cancel(&id).await.unwrap();
        fixture.clock.advance(LEASE / 2);
        assert_eq!(fixture.jobs.wait(&id, TIMEOUT).await.unwrap().state, JobState::Completed);
        worker.dismiss().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_lost_its_lease_is_stopped_and_writes_nothing() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let begun = Arc::new(Notify::new());
        let (handler, mut reasons) = obedient(&begun);
        let worker = fixture.start_worker(config(), handler);
        let id = fixture.push("one").await.id;
        begun.notified().await;
        // Taken over between two polls: in one step, because the worker polls often.
        let mut tx = db.begin().await.unwrap();
        let steal = "UPDATE job SET fence = fence + 1, attempt = attempt + 1 WHERE id = $1";
        tx.execute(store::sql(steal).bind(&id)).await.unwrap();
        tx.commit().await.unwrap();
        fixture.clock.advance(LEASE / 2);
        assert_eq!(reasons.recv().await, Some(Some(StopReason::LeaseLost)));
        worker.dismiss().await;
        let job = fixture.jobs.get(&id).await.unwrap();
        assert_eq!((job.state, job.attempt), (JobState::Running, 2));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shutdown_requeues_unfinished_jobs() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        for grace in [Duration::ZERO, TIMEOUT] {
            let begun = Arc::new(Notify::new());
            let notify = Arc::clone(&begun);
            let config = WorkerConfig { shutdown_grace: grace, ..config() };
            // Without a grace period the handler is dropped; with one it stops by itself.
            let worker = fixture.start_worker(config, move |context: JobContext| {
                let notify = Arc::clone(&notify);
                async move {
                    notify.notify_one();
                    if grace.is_zero() {
                        std::future::pending::<()>().await;
                    }
                    context.stopping().cancelled().await;
                    JobOutcome::Release
                }
            });
            let id = fixture.push("one").await.id;
            begun.notified().await;
            worker.dismiss().await;
            let job = fixture.jobs.get(&id).await.unwrap();
            assert_eq!((job.state, job.attempt, job.error), (JobState::Queued, 0, None));
            let (again, fence) = fixture.claim("one", 1).await.remove(0);
            assert_eq!((again.id, again.attempt, fence), (id, 1, 2));
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_ends_within_the_grace_is_completed() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let begun = Arc::new(Notify::new());
        let notify = Arc::clone(&begun);
        let worker = fixture.start_worker(config(), move |context: JobContext| {
            let notify = Arc::clone(&notify);
            async move {
                notify.notify_one();
                context.stopping().cancelled().await;
                JobOutcome::done(&1)
            }
        });
        let (first, second) = (fixture.push("one").await.id, fixture.push("two").await.id);
        begun.notified().await;
        worker.dismiss().await;
        let states =
            [fixture.jobs.get(&first).await.unwrap(), fixture.jobs.get(&second).await.unwrap()]
                .map(|job| job.state);
        assert!(states.contains(&JobState::Completed), "{states:?}");
        assert!(!states.contains(&JobState::Running), "{states:?}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_is_visible_while_a_job_runs() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let seen = Arc::new(Notify::new());
        let go_on = Arc::clone(&seen);
        let worker = fixture.start_worker(config(), move |context: JobContext| {
            let go_on = Arc::clone(&go_on);
            async move {
                for page in 1..=3 {
                    context.progress(page, Some(3), Some(&"п".repeat(600)));
                    go_on.notified().await;
                }
                JobOutcome::Done(None)
            }
        });
        let id = fixture.push("one").await.id;
        let mut job = fixture.jobs.get(&id).await.unwrap();
        let mut pages = Vec::new();
        while !job.state.is_finished() {
            job = fixture.jobs.wait_change(&id, job.revision, TIMEOUT).await.unwrap();
            if job.state == JobState::Running && job.progress.done > pages.len() as u64 {
                pages.push(job.progress.done);
                assert_eq!(job.progress.note.as_ref().unwrap().len(), 512);
                seen.notify_one();
            }
        }
        assert_eq!(pages, [1, 2, 3]);
        worker.dismiss().await;
        // A wait of zero returns the job as it is.
        let waiting = fixture.push("one").await;
        assert_eq!(fixture.jobs.wait(&waiting.id, Duration::ZERO).await.unwrap(), waiting);
    })
    .await;
}

//! The state of a job after each ending of its run.

use super::*;
use crate::job::JobProgress;

const NOW: Millis = Millis(1_000_000);

fn job(attempt: u32) -> Job {
    Job {
        id: "j".to_owned(),
        kind: "k".to_owned(),
        payload: "null".to_owned(),
        key: None,
        owner: None,
        priority: 0,
        state: JobState::Running,
        attempt,
        max_attempts: 3,
        revision: 2,
        run_at: Millis(0),
        lease_until: None,
        worker: None,
        cancel_requested: false,
        progress: JobProgress::default(),
        result: None,
        error: None,
        created_at: Millis(0),
        started_at: None,
        finished_at: None,
    }
}

/// State, seconds to wait, error code; `None` for a verdict that ends nothing.
#[track_caller]
fn check(attempt: u32, ended: RunEnd, expected: Option<(JobState, Option<i64>, Option<&str>)>) {
    let judge = RetryPolicy { backoff: Backoff::default(), now: NOW, random_unit: 0.0 };
    let found = match judge.verdict(&job(attempt), &ended) {
        RunVerdict::End(ending) => Some(ending),
        RunVerdict::WasCommitted | RunVerdict::Nothing => None,
    };
    let found = found.as_ref().map(|it| {
        let wait = it.run_at.map(|at| (at.0 - NOW.0) / 1000);
        (it.state, wait, it.error.as_ref().map(|error| error.code.as_str()))
    });
    assert_eq!(found, expected, "{ended:?} at attempt {attempt}");
}

fn down() -> Fault {
    Fault::unavailable("down", "it is down")
}

#[test]
fn every_run_end_gives_its_state() {
    use JobState::{Cancelled, Completed, Failed, Queued};
    let reported = RunEnd::Returned;
    let retry = |after| reported(JobOutcome::Retry { fault: down(), after });
    check(1, reported(JobOutcome::Done(None)), Some((Completed, None, None)));
    let large = JobOutcome::Done(Some("1".repeat(JSON_MAX + 1)));
    check(1, reported(large), Some((Failed, None, Some("job_too_large"))));
    check(1, reported(JobOutcome::Committed), None);
    check(1, retry(None), Some((Queued, Some(1), Some("down"))));
    check(2, retry(None), Some((Queued, Some(2), Some("down"))));
    check(3, retry(None), Some((Failed, None, Some("down"))));
    check(2, retry(Some(Duration::from_secs(9))), Some((Queued, Some(9), Some("down"))));
    let late = JobOutcome::from(down().retry_after(Duration::from_secs(40)));
    check(1, reported(late), Some((Queued, Some(40), Some("down"))));
    check(1, reported(JobOutcome::Fail(down())), Some((Failed, None, Some("down"))));
    check(1, reported(JobOutcome::Cancelled), Some((Cancelled, None, None)));
    check(3, reported(JobOutcome::Release), Some((Queued, Some(1), None)));
    check(1, RunEnd::Panicked, Some((Queued, Some(1), Some("panicked"))));
    check(3, RunEnd::Panicked, Some((Failed, None, Some("panicked"))));
    check(1, RunEnd::TimedOut, Some((Queued, Some(1), Some("job_timeout"))));
    check(1, RunEnd::IgnoredStop(StopReason::Cancelled), Some((Cancelled, None, None)));
    check(1, RunEnd::IgnoredStop(StopReason::LeaseLost), None);
    check(3, RunEnd::Abandoned, Some((Queued, Some(0), None)));
}

#[test]
fn the_kind_of_a_fault_decides_about_a_retry() {
    for kind in Kind::ALL {
        let word = match JobOutcome::from(Fault::new(kind, "code", "message")) {
            JobOutcome::Retry { .. } => "retry",
            JobOutcome::Fail(_) => "fail",
            JobOutcome::Cancelled => "cancelled",
            other => panic!("{kind:?} became {other:?}"),
        };
        let expected = match kind {
            Kind::Cancelled => "cancelled",
            Kind::RateLimited | Kind::Unavailable | Kind::Timeout | Kind::Internal => "retry",
            _ => "fail",
        };
        assert_eq!(word, expected, "{kind:?}");
    }
    assert!(matches!(JobOutcome::from_result(Ok(7)), JobOutcome::Done(Some(json)) if json == "7"));
    assert!(matches!(JobOutcome::done(&"x".repeat(JSON_MAX)), JobOutcome::Fail(_)));
}

#[test]
fn waits_double_up_to_a_limit_with_jitter() {
    let backoff = Backoff { first: Duration::from_secs(2), most: Duration::from_secs(60) };
    let seconds: Vec<u64> =
        [1, 2, 3, 5, 6, 40, u32::MAX].map(|it| backoff.wait(it, 0.0).as_secs()).to_vec();
    assert_eq!(seconds, [2, 4, 8, 32, 60, 60, 60]);
    assert_eq!(backoff.wait(3, 1.0), Duration::from_secs(4));
    assert_eq!(backoff.wait(0, 0.5), Duration::from_millis(1500));
}

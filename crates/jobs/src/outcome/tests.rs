//! What becomes of a job, by how its run ended.

use super::*;
use crate::job::Progress;

const NOW: Millis = Millis(1_000_000);

fn job(attempt: u32) -> Job {
    Job {
        id: "j".to_owned(),
        kind: "k".to_owned(),
        payload: "null".to_owned(),
        key: None,
        owner: None,
        priority: 0,
        state: State::Running,
        attempt,
        max_attempts: 3,
        revision: 2,
        run_at: Millis(0),
        lease_until: None,
        worker: None,
        cancel_asked: false,
        progress: Progress::default(),
        result: None,
        error: None,
        created_at: Millis(0),
        started_at: None,
        finished_at: None,
    }
}

/// State, seconds to wait, error code; `None` for a verdict that ends nothing.
#[track_caller]
fn check(attempt: u32, ended: Ended, expected: Option<(State, Option<i64>, Option<&str>)>) {
    let judge = Judge { backoff: Backoff::default(), now: NOW, chance: 0.0 };
    let found = match judge.verdict(&job(attempt), &ended) {
        Verdict::End(ending) => Some(ending),
        Verdict::WasCommitted | Verdict::Nothing => None,
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
fn every_end_has_its_state() {
    use State::{Cancelled, Completed, Failed, Queued};
    let said = Ended::Returned;
    let retry = |after| said(Outcome::Retry { fault: down(), after });
    check(1, said(Outcome::Done(None)), Some((Completed, None, None)));
    let large = Outcome::Done(Some("1".repeat(JSON_MAX + 1)));
    check(1, said(large), Some((Failed, None, Some("job_too_large"))));
    check(1, said(Outcome::Committed), None);
    check(1, retry(None), Some((Queued, Some(1), Some("down"))));
    check(2, retry(None), Some((Queued, Some(2), Some("down"))));
    check(3, retry(None), Some((Failed, None, Some("down"))));
    check(2, retry(Some(Duration::from_secs(9))), Some((Queued, Some(9), Some("down"))));
    let late = Outcome::from(down().retry_after(Duration::from_secs(40)));
    check(1, said(late), Some((Queued, Some(40), Some("down"))));
    check(1, said(Outcome::Fail(down())), Some((Failed, None, Some("down"))));
    check(1, said(Outcome::Cancelled), Some((Cancelled, None, None)));
    check(3, said(Outcome::Release), Some((Queued, Some(1), None)));
    check(1, Ended::Panicked, Some((Queued, Some(1), Some("panicked"))));
    check(3, Ended::Panicked, Some((Failed, None, Some("panicked"))));
    check(1, Ended::TimedOut, Some((Queued, Some(1), Some("job_timeout"))));
    check(1, Ended::Ignored(Stop::Cancelled), Some((Cancelled, None, None)));
    check(1, Ended::Ignored(Stop::LeaseLost), None);
    check(3, Ended::Abandoned, Some((Queued, Some(0), None)));
}

#[test]
fn a_fault_says_by_its_kind_whether_to_try_again() {
    for kind in Kind::ALL {
        let word = match Outcome::from(Fault::new(kind, "code", "message")) {
            Outcome::Retry { .. } => "retry",
            Outcome::Fail(_) => "fail",
            Outcome::Cancelled => "cancelled",
            other => panic!("{kind:?} became {other:?}"),
        };
        let expected = match kind {
            Kind::Cancelled => "cancelled",
            Kind::RateLimited | Kind::Unavailable | Kind::Timeout | Kind::Internal => "retry",
            _ => "fail",
        };
        assert_eq!(word, expected, "{kind:?}");
    }
    assert!(matches!(Outcome::from_result(Ok(7)), Outcome::Done(Some(json)) if json == "7"));
    assert!(matches!(Outcome::done(&"x".repeat(JSON_MAX)), Outcome::Fail(_)));
}

#[test]
fn waits_double_up_to_a_bound_and_differ_by_half() {
    let backoff = Backoff { first: Duration::from_secs(2), most: Duration::from_secs(60) };
    let seconds: Vec<u64> =
        [1, 2, 3, 5, 6, 40, u32::MAX].map(|it| backoff.wait(it, 0.0).as_secs()).to_vec();
    assert_eq!(seconds, [2, 4, 8, 32, 60, 60, 60]);
    assert_eq!(backoff.wait(3, 1.0), Duration::from_secs(4));
    assert_eq!(backoff.wait(0, 0.5), Duration::from_millis(1500));
}

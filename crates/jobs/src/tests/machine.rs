//! The state machine against a model: for any operations in any order, by current and former
//! holders, one attempt completes at most once and states change only as the table allows.

use std::time::Duration;

use clock::{Clock as _, Millis};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use testkit::on_every_engine;

use super::{Fixture, LEASE, job};
use crate::outcome::ended_as;
use crate::sql::{JobEnding, JobHold, RenewResult, millis, renew};
use crate::{Job, JobProgress, JobState};

/// Few jobs, so that each has a long life.
const JOBS: usize = 2;

#[derive(Debug, Clone)]
enum Op {
    Push { attempts: u32 },
    Claim { limit: usize },
    Renew { hold: usize },
    End { hold: usize, state: JobState, is_counted: bool },
    Cancel { job: usize },
    Retry { job: usize },
    Reap,
    Advance { seconds: u64 },
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    // Jobs that go back to the queue are those that have had several holders.
    let state = prop_oneof![
        6 => Just(JobState::Queued),
        1 => Just(JobState::Completed),
        1 => Just(JobState::Failed),
        1 => Just(JobState::Cancelled),
    ];
    let end = (0..4_usize, state, any::<bool>());
    let op = prop_oneof![
        2 => (1..5_u32).prop_map(|attempts| Op::Push { attempts }),
        4 => (1..3_usize).prop_map(|limit| Op::Claim { limit }),
        2 => (0..4_usize).prop_map(|hold| Op::Renew { hold }),
        5 => end.prop_map(|(hold, state, is_counted)| Op::End { hold, state, is_counted }),
        1 => (0..JOBS).prop_map(|job| Op::Cancel { job }),
        1 => (0..JOBS).prop_map(|job| Op::Retry { job }),
        2 => Just(Op::Reap),
        2 => (1..12_u64).prop_map(|seconds| Op::Advance { seconds }),
    ];
    prop::collection::vec(op, 1..60)
}

/// A job as the model has it.
#[derive(Debug, Clone, PartialEq)]
struct Known {
    id: String,
    state: JobState,
    attempt: u32,
    max_attempts: u32,
    fence: i64,
    lease_until: Option<Millis>,
    is_asked: bool,
    completions: u32,
}

struct Machine<'a> {
    fixture: &'a Fixture,
    kind: String,
    jobs: Vec<Known>,
    /// Every hold so far, so that lost holds are tested too.
    holds: Vec<(usize, i64)>,
}

impl Machine<'_> {
    async fn apply(&mut self, op: &Op) {
        match *op {
            Op::Push { attempts } => self.push(attempts).await,
            Op::Claim { limit } => self.claim(limit).await,
            Op::Renew { hold } => self.renew(hold).await,
            Op::End { hold, state, is_counted } => self.end(hold, state, is_counted).await,
            Op::Cancel { job } => self.cancel(job).await,
            Op::Retry { job } => self.retry(job).await,
            Op::Reap => self.reap().await,
            Op::Advance { seconds } => self.fixture.clock.advance(Duration::from_secs(seconds)),
        }
    }

    async fn push(&mut self, attempts: u32) {
        if self.jobs.len() >= JOBS {
            return;
        }
        let new = job(&self.kind).max_attempts(attempts);
        let id = self.fixture.jobs.push(new).await.unwrap().job.id;
        self.jobs.push(Known {
            id,
            state: JobState::Queued,
            attempt: 0,
            max_attempts: attempts,
            fence: 0,
            lease_until: None,
            is_asked: false,
            completions: 0,
        });
    }

    async fn claim(&mut self, limit: usize) {
        let queued = self.jobs.iter().filter(|job| job.state == JobState::Queued).count();
        let claimed = self.fixture.claim(&self.kind, limit).await;
        assert_eq!(claimed.len(), queued.min(limit));
        for (job, fence) in claimed {
            let at = self.jobs.iter().position(|known| known.id == job.id).unwrap();
            let known = &mut self.jobs[at];
            assert_eq!((known.state, known.fence + 1), (JobState::Queued, fence));
            known.state = JobState::Running;
            known.attempt += 1;
            known.fence = fence;
            known.lease_until = Some(Millis(self.fixture.clock.now().0 + millis(LEASE)));
            self.holds.push((at, fence));
        }
    }

    /// The hold, its job, and whether it is the latest.
    fn hold(&self, hold: usize) -> Option<(usize, i64, bool)> {
        let (at, fence) = *self.holds.get(self.holds.len().checked_sub(hold + 1)?)?;
        let known = &self.jobs[at];
        Some((at, fence, known.state == JobState::Running && known.fence == fence))
    }

    async fn renew(&mut self, hold: usize) {
        let Some((at, fence, stands)) = self.hold(hold) else { return };
        let until = Millis(self.fixture.clock.now().0 + millis(LEASE));
        let (db, known) = (&self.fixture.db, &mut self.jobs[at]);
        let mut tx = db.begin().await.unwrap();
        let held = JobHold { id: &known.id, fence };
        let renewed = renew(db, &mut tx, held, until, &JobProgress::default()).await.unwrap();
        tx.commit().await.unwrap();
        if stands {
            assert_eq!(renewed, RenewResult::Held { cancel_requested: known.is_asked });
            known.lease_until = Some(until);
        } else {
            assert_eq!(renewed, RenewResult::Lost);
        }
    }

    async fn end(&mut self, hold: usize, state: JobState, is_counted: bool) {
        let Some((at, fence, stands)) = self.hold(hold) else { return };
        let known = &mut self.jobs[at];
        // A worker queues a job again only while it has attempts left.
        let is_last = is_counted && known.attempt >= known.max_attempts;
        let state = if state == JobState::Queued && is_last { JobState::Failed } else { state };
        let ending = JobEnding { is_counted, ..ended_as(state) };
        let became = self.fixture.end(JobHold { id: &known.id, fence }, &ending).await;
        let is_cancelled = known.is_asked && state != JobState::Completed;
        let expected = if is_cancelled { JobState::Cancelled } else { state };
        assert_eq!(became, stands.then_some(expected));
        if stands {
            known.state = expected;
            known.lease_until = None;
            known.attempt -= u32::from(!is_counted);
            known.completions += u32::from(expected == JobState::Completed);
        }
    }

    async fn cancel(&mut self, job: usize) {
        let Some(known) = self.jobs.get_mut(job) else { return };
        let cancelled = self.fixture.jobs.cancel(&known.id).await;
        match known.state {
            JobState::Queued => (known.state, known.is_asked) = (JobState::Cancelled, true),
            JobState::Running => known.is_asked = true,
            JobState::Cancelled => {}
            JobState::Completed | JobState::Failed => {
                assert_eq!(cancelled.unwrap_err().code(), "job_finished");
                return;
            }
        }
        assert_eq!(cancelled.unwrap().state, known.state);
    }

    async fn retry(&mut self, job: usize) {
        let Some(known) = self.jobs.get_mut(job) else { return };
        let retried = self.fixture.jobs.retry(&known.id).await;
        if known.state == JobState::Failed {
            (known.state, known.attempt, known.is_asked) = (JobState::Queued, 0, false);
            assert_eq!(retried.unwrap().state, JobState::Queued);
        } else {
            assert_eq!(retried.unwrap_err().code(), "job_not_failed");
        }
    }

    async fn reap(&mut self) {
        let now = self.fixture.clock.now();
        let reaped = self.fixture.reap().await;
        for known in &mut self.jobs {
            let is_due = known.lease_until.is_some_and(|until| until <= now);
            let found = reaped.iter().find(|job| job.id == known.id);
            assert_eq!(found.is_some(), is_due, "{known:?}");
            let Some(found) = found else { continue };
            known.state = match (known.is_asked, known.attempt >= known.max_attempts) {
                (true, _) => JobState::Cancelled,
                (false, true) => JobState::Failed,
                (false, false) => JobState::Queued,
            };
            known.lease_until = None;
            assert_eq!(found.state, known.state);
        }
    }

    /// The table has the model's state and reached it by an allowed change.
    async fn compare(&self, before: &[Known]) {
        for (at, known) in self.jobs.iter().enumerate() {
            let job: Job = self.fixture.jobs.get(&known.id).await.unwrap();
            assert_eq!((job.state, job.attempt), (known.state, known.attempt), "{known:?}");
            assert_eq!(
                (job.lease_until, job.cancel_requested),
                (known.lease_until, known.is_asked)
            );
            assert_eq!(job.finished_at.is_some(), job.state.is_finished());
            assert!(job.attempt <= job.max_attempts && known.completions <= 1);
            if let Some(before) = before.get(at) {
                let is_same = before.state == known.state;
                assert!(is_same || before.state.may_become(known.state), "{before:?} {known:?}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_order_of_events_completes_an_attempt_twice() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let config = Config { cases: 48, failure_persistence: None, ..Config::default() };
        let kinds = std::sync::atomic::AtomicU32::new(0);
        let case = |ops: Vec<Op>| {
            let kind = format!("k{}", kinds.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
            let mut machine =
                Machine { fixture: &fixture, kind, jobs: Vec::new(), holds: Vec::new() };
            let run = async {
                for op in &ops {
                    let before = machine.jobs.clone();
                    machine.apply(op).await;
                    machine.compare(&before).await;
                }
            };
            tokio::runtime::Handle::current().block_on(run);
            Ok(())
        };
        tokio::task::block_in_place(|| TestRunner::new(config).run(&ops(), case).unwrap());
    })
    .await;
}

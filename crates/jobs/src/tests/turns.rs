//! Owners take turns: no owner holds every slot of a worker, none waits for ever, and no slot stays
//! empty while a job may take it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use clock::{Clock as _, Millis};
use parking_lot::Mutex;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use store::Engine;
use testkit::on_every_engine;
use tokio::sync::Notify;

use super::{Fixture, LEASE, RunningWorker, TIMEOUT, config, job};
use crate::outcome::ended_as;
use crate::sql::{self, JobHold};
use crate::worker::turns::{ClaimRequest, OwnerTurns, RunningByOwner};
use crate::{Job, JobContext, JobOutcome, JobState, NewJob};

fn owned(kind: &str, owner: &str) -> NewJob {
    if owner.is_empty() { job(kind) } else { job(kind).owner(owner) }
}

async fn take(
    fixture: &Fixture,
    turns: &mut OwnerTurns,
    kind: &str,
    room: usize,
    running: &mut RunningByOwner,
) -> Vec<(Job, i64)> {
    let mut tx = fixture.db.begin().await.unwrap();
    let now = fixture.clock.now();
    let times = (now, Millis(now.0 + sql::millis(LEASE)));
    let request = ClaimRequest { db: &fixture.db, kind, room, worker: "test", times };
    let claimed = turns.claim(&mut tx, &request, running).await.unwrap();
    tx.commit().await.unwrap();
    claimed
}

fn owner(job: &Job) -> String {
    job.owner.clone().unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_of_one_slot_serves_owners_in_turns() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        for who in ["ann", "ann", "ann", "ann", "", "bob", "bob", "eve"] {
            fixture.jobs.push(owned("one", who)).await.unwrap();
        }
        let mut turns = OwnerTurns::new(1);
        let mut served = Vec::new();
        loop {
            let taken = take(&fixture, &mut turns, "one", 1, &mut RunningByOwner::new()).await;
            let Some((job, _)) = taken.first() else { break };
            served.push(owner(job));
            // A crowd that comes later does not push the others back.
            if served.len() == 1 {
                fixture.jobs.push_many(vec![owned("one", "ann"); 3]).await.unwrap();
            }
        }
        let turns = ["", "ann", "bob", "eve", "ann", "bob", "ann", "ann", "ann", "ann", "ann"];
        assert_eq!(served, turns);
    })
    .await;
}

/// The attack: one owner's jobs never end, and another owner's job must run all the same.
#[tokio::test(flavor = "multi_thread")]
async fn endless_jobs_of_one_owner_leave_a_slot_for_the_others() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        fixture.jobs.push_many(vec![owned("one", "mallory"); 9]).await.unwrap();
        let begun: Arc<Mutex<Vec<String>>> = Arc::default();
        let notify = Arc::new(Notify::new());
        let (seen, told) = (Arc::clone(&begun), Arc::clone(&notify));
        let handler = move |context: JobContext| {
            let who = owner(context.job());
            seen.lock().push(who.clone());
            told.notify_one();
            async move {
                if who == "mallory" {
                    std::future::pending::<()>().await;
                }
                JobOutcome::done(&())
            }
        };
        let worker = RunningWorker::new(fixture.jobs.clone(), config(), 3, Arc::new(handler));
        let count = |who: &str| begun.lock().iter().filter(|it| *it == who).count();
        let until = async |who: &str, times: usize| {
            while count(who) < times {
                tokio::time::timeout(TIMEOUT, notify.notified()).await.unwrap();
            }
        };
        until("mallory", 2).await;
        for turn in 1..=3 {
            fixture.jobs.push(owned("one", "victim")).await.unwrap();
            until("victim", turn).await;
        }
        assert_eq!(count("mallory"), 2, "one owner took the last slot");
        worker.vanish().await;
    })
    .await;
}

#[derive(Debug, Clone)]
enum Op {
    Push { owner: usize, priority: i32, delay: u64, count: usize },
    Claim { room: usize },
    End { at: usize },
    Advance { seconds: u64 },
}

const OWNERS: [&str; 4] = ["", "ann", "bob", "eve"];
const SLOTS: usize = 4;

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let push = (0..OWNERS.len(), -1..2_i32, 0..3_u64, 1..4_usize);
    let op = prop_oneof![
        4 => push.prop_map(|(owner, priority, delay, count)| Op::Push { owner, priority, delay, count }),
        4 => (1..=SLOTS).prop_map(|room| Op::Claim { room }),
        4 => (0..SLOTS).prop_map(|at| Op::End { at }),
        1 => (1..3_u64).prop_map(|seconds| Op::Advance { seconds }),
    ];
    prop::collection::vec(op, 1..50)
}

/// Waiting jobs by owner, each as what decides its place: priority, time and id.
type Waiting = BTreeMap<String, Vec<(std::cmp::Reverse<i32>, i64, String)>>;

struct Model<'a> {
    fixture: &'a Fixture,
    kind: String,
    turns: OwnerTurns,
    waiting: Waiting,
    running: Vec<(Job, i64)>,
    /// For each owner that could have been served, how many others were served since.
    passed_over: BTreeMap<String, usize>,
}

impl Model<'_> {
    async fn apply(&mut self, op: &Op) {
        match *op {
            Op::Push { owner, priority, delay, count } => {
                let delay = Duration::from_secs(delay);
                let new = owned(&self.kind, OWNERS[owner]).priority(priority).delay(delay);
                for pushed in self.fixture.jobs.push_many(vec![new; count]).await.unwrap() {
                    let it = pushed.job;
                    let key = (std::cmp::Reverse(it.priority), it.run_at.0, it.id);
                    self.waiting.entry(OWNERS[owner].to_owned()).or_default().push(key);
                }
            }
            Op::Claim { room } => self.claim(room.min(SLOTS - self.running.len())).await,
            Op::End { at } if at < self.running.len() => {
                let (job, fence) = self.running.remove(at);
                let hold = JobHold { id: &job.id, fence };
                let ending = ended_as(JobState::Completed);
                assert_eq!(self.fixture.end(hold, &ending).await, Some(JobState::Completed));
            }
            Op::End { .. } => {}
            Op::Advance { seconds } => self.fixture.clock.advance(Duration::from_secs(seconds)),
        }
    }

    fn held(&self, who: &str) -> usize {
        self.running.iter().filter(|(job, _)| owner(job) == who).count()
    }

    /// How many jobs of an owner may be taken now.
    fn takeable(&self, who: &str) -> usize {
        let now = self.fixture.clock.now().0;
        let due = self.waiting.get(who).map_or(0, |it| it.iter().filter(|it| it.1 <= now).count());
        if who.is_empty() { due } else { due.min((SLOTS - 1).saturating_sub(self.held(who))) }
    }

    async fn claim(&mut self, room: usize) {
        let now = self.fixture.clock.now().0;
        let before: BTreeMap<&str, usize> =
            OWNERS.iter().map(|who| (*who, self.takeable(who))).collect();
        let mut running = RunningByOwner::new();
        for (job, _) in self.running.iter().filter(|(job, _)| job.owner.is_some()) {
            *running.entry(owner(job)).or_default() += 1;
        }
        let claimed = take(self.fixture, &mut self.turns, &self.kind, room, &mut running).await;
        assert_eq!(claimed.len(), room.min(before.values().sum()), "a slot stays empty");
        for (job, fence) in claimed {
            let who = owner(&job);
            let list = self.waiting.get_mut(&who).unwrap();
            // The first due one of its owner.
            let first = list.iter().filter(|it| it.1 <= now).min().unwrap().clone();
            assert_eq!(first.2, job.id);
            list.retain(|it| *it != first);
            self.passed_over.remove(&who);
            self.running.push((job, fence));
        }
        for who in OWNERS {
            assert!(who.is_empty() || self.held(who) < SLOTS, "{who} holds every slot");
            let counted = if who.is_empty() { 0 } else { self.held(who) };
            assert_eq!(running.get(who).copied().unwrap_or(0), counted);
            if before[who] == 0 || room == 0 {
                self.passed_over.remove(who);
            } else if self.takeable(who) == before[who] {
                let times = self.passed_over.entry(who.to_owned()).or_default();
                *times += 1;
                assert!(*times < OWNERS.len(), "{who} was passed over {times} times");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn many_owners_are_served_in_turns_and_no_slot_is_idle() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let config = Config { cases: 64, failure_persistence: None, ..Config::default() };
        let kinds = std::sync::atomic::AtomicU32::new(0);
        let case = |ops: Vec<Op>| {
            let kind = format!("t{}", kinds.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
            let mut model = Model {
                fixture: &fixture,
                kind,
                turns: OwnerTurns::new(SLOTS),
                waiting: Waiting::new(),
                running: Vec::new(),
                passed_over: BTreeMap::new(),
            };
            let run = async {
                for op in &ops {
                    model.apply(op).await;
                }
            };
            tokio::runtime::Handle::current().block_on(run);
            Ok(())
        };
        tokio::task::block_in_place(|| TestRunner::new(config).run(&ops(), case).unwrap());
    })
    .await;
}

/// Neither the next owner nor the next job is found by reading the queue.
#[tokio::test(flavor = "multi_thread")]
async fn a_claim_reads_the_index_and_not_the_queue() {
    on_every_engine(async |db| {
        if db.engine() != Engine::Sqlite {
            return;
        }
        let fixture = Fixture::new(db).await;
        let find = format!("EXPLAIN QUERY PLAN {}", sql::owners_text(true));
        let find = store::sql_built(find).bind("one").bind(0).bind(3).bind("ann");
        let plan: Vec<String> = fixture
            .db
            .fetch_all(find)
            .await
            .unwrap()
            .iter()
            .map(|row| row.text(3).unwrap())
            .collect();
        let steps = plan.iter().filter(|it| it.contains(" job "));
        for step in steps {
            assert!(
                step.starts_with("SEARCH job") && step.contains("INDEX job_ready"),
                "{plan:#?}"
            );
        }
        assert!(!plan.iter().any(|it| it.contains("TEMP B-TREE")), "{plan:#?}");
    })
    .await;
}

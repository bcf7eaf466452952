//! A worker whose job was taken over can do nothing more about it.

use std::sync::Arc;
use std::time::Duration;

use clock::{Clock as _, Millis};
use store::{Engine, Migrations, sql};
use testkit::on_every_engine;

use super::{Fixture, LEASE};
use crate::context::RunningJob;
use crate::outcome::ended_as;
use crate::sql::{RenewResult, renew};
use crate::{Fence, Job, JobProgress, JobState};

const EFFECT: [&str; 1] = ["CREATE TABLE t_effect (job TEXT PRIMARY KEY, fence BIGINT)"];
const EFFECTS: Migrations = Migrations { owner: "t", sqlite: &EFFECT, postgres: &EFFECT };

fn fence(fixture: &Fixture, (job, number): (Job, i64)) -> Fence {
    let running_job = Arc::new(RunningJob::new(job, number));
    Fence { db: fixture.db.clone(), clock: fixture.clock.clone(), running_job }
}

/// An effect of a handler that must not happen twice.
async fn commit_effect(fixture: &Fixture, fence: &Fence) -> Result<(), fault::Fault> {
    let mut tx = fixture.db.begin().await?;
    fence.ensure_held(&mut tx).await?;
    let insert = sql("INSERT INTO t_effect (job, fence) VALUES ($1, $2)");
    tx.execute(insert.bind(&fence.running_job.job.id).bind(fence.number())).await?;
    fence.complete_in(&mut tx, &"ok").await?;
    tx.commit().await
}

async fn renew_once(fixture: &Fixture, fence: &Fence) -> RenewResult {
    let mut tx = fixture.db.begin().await.unwrap();
    let until = Millis(fixture.clock.now().0 + 10_000);
    let progress = JobProgress { done: 7, total: None, note: None };
    let renewed =
        renew(&fixture.db, &mut tx, fence.running_job.hold(), until, &progress).await.unwrap();
    tx.commit().await.unwrap();
    renewed
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_hold_cannot_renew_write_or_complete() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        db.migrate(&[EFFECTS]).await.unwrap();
        let id = fixture.push("one").await.id;
        let old = fence(&fixture, fixture.claim("one", 1).await.remove(0));
        fixture.clock.advance(LEASE);
        // The lease has expired, but no worker has taken the job: the holder may go on.
        assert_eq!(renew_once(&fixture, &old).await, RenewResult::Held { cancel_requested: false });
        fixture.clock.advance(LEASE - Duration::from_millis(1));
        assert_eq!(fixture.reap().await, []);
        fixture.clock.advance(Duration::from_millis(1));
        assert_eq!(fixture.reap().await.len(), 1);

        let refused = commit_effect(&fixture, &old).await.unwrap_err();
        assert_eq!(refused.code(), "lease_lost");
        let new = fence(&fixture, fixture.claim("one", 1).await.remove(0));
        assert!(new.number() > old.number());
        assert_eq!(renew_once(&fixture, &old).await, RenewResult::Lost);
        assert_eq!(commit_effect(&fixture, &old).await.unwrap_err().code(), "lease_lost");
        for state in [JobState::Completed, JobState::Failed, JobState::Queued, JobState::Cancelled]
        {
            assert_eq!(fixture.end(old.running_job.hold(), &ended_as(state)).await, None);
        }
        let now = fixture.jobs.get(&id).await.unwrap();
        assert_eq!((now.state, now.attempt, now.progress.done), (JobState::Running, 2, 0));

        commit_effect(&fixture, &new).await.unwrap();
        let done = fixture.jobs.get(&id).await.unwrap();
        assert_eq!((done.state, done.result.as_deref()), (JobState::Completed, Some("\"ok\"")));
        assert_eq!(done.error, None);
        assert_eq!(commit_effect(&fixture, &new).await.unwrap_err().code(), "lease_lost");
        let effects = db.fetch_all(sql("SELECT fence FROM t_effect")).await.unwrap();
        let fences: Vec<i64> = effects.iter().map(|row| row.int(0).unwrap()).collect();
        assert_eq!(fences, [new.number()]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rolled_back_completion_has_no_effect() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let id = fixture.push("one").await.id;
        let fence = fence(&fixture, fixture.claim("one", 1).await.remove(0));
        let mut tx = db.begin().await.unwrap();
        fence.complete_in(&mut tx, &1).await.unwrap();
        drop(tx);
        assert_eq!(fixture.jobs.get(&id).await.unwrap().state, JobState::Running);
        let mut tx = db.begin().await.unwrap();
        let refused = fence.complete_in(&mut tx, &"x".repeat(65_536)).await.unwrap_err();
        assert_eq!(refused.code(), "job_too_large");
    })
    .await;
}

/// On SQLite the transaction itself keeps all other writers out.
#[tokio::test(flavor = "multi_thread")]
async fn no_worker_takes_over_a_job_during_its_commit() {
    on_every_engine(async |db| {
        if db.engine() == Engine::Sqlite {
            return;
        }
        let fixture = Fixture::new(db).await;
        let id = fixture.push("one").await.id;
        let fence = fence(&fixture, fixture.claim("one", 1).await.remove(0));
        let mut tx = db.begin().await.unwrap();
        fence.ensure_held(&mut tx).await.unwrap();
        fixture.clock.advance(LEASE * 2);
        assert_eq!(fixture.reap().await, []);
        assert_eq!(renew_once(&fixture, &fence).await, RenewResult::Locked);
        fence.complete_in(&mut tx, &()).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(fixture.jobs.get(&id).await.unwrap().state, JobState::Completed);
        assert_eq!(fixture.reap().await, []);
    })
    .await;
}

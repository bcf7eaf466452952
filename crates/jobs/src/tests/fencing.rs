//! A worker whose job was taken over can do nothing more about it.

use std::sync::Arc;
use std::time::Duration;

use clock::{Clock as _, Millis};
use store::{Engine, Migrations, sql};
use testkit::on_every_engine;

use super::{LEASE, World};
use crate::context::RunningJob;
use crate::outcome::ended_as;
use crate::sql::{RenewResult, renew};
use crate::{Fence, Job, JobProgress, JobState};

const EFFECT: [&str; 1] = ["CREATE TABLE t_effect (job TEXT PRIMARY KEY, fence BIGINT)"];
const EFFECTS: Migrations = Migrations { owner: "t", sqlite: &EFFECT, postgres: &EFFECT };

fn fence(world: &World, (job, number): (Job, i64)) -> Fence {
    let running_job = Arc::new(RunningJob::new(job, number));
    Fence { db: world.db.clone(), clock: world.clock.clone(), running_job }
}

/// An effect of a handler that must not happen twice.
async fn commit_effect(world: &World, fence: &Fence) -> Result<(), fault::Fault> {
    let mut tx = world.db.begin().await?;
    fence.ensure_held(&mut tx).await?;
    let insert = sql("INSERT INTO t_effect (job, fence) VALUES ($1, $2)");
    tx.execute(insert.bind(&fence.running_job.job.id).bind(fence.number())).await?;
    fence.complete_in(&mut tx, &"ok").await?;
    tx.commit().await
}

async fn renew_once(world: &World, fence: &Fence) -> RenewResult {
    let mut tx = world.db.begin().await.unwrap();
    let until = Millis(world.clock.now().0 + 10_000);
    let progress = JobProgress { done: 7, total: None, note: None };
    let renewed =
        renew(&world.db, &mut tx, fence.running_job.hold(), until, &progress).await.unwrap();
    tx.commit().await.unwrap();
    renewed
}

#[tokio::test(flavor = "multi_thread")]
async fn the_old_holder_neither_renews_nor_acts_nor_completes() {
    on_every_engine(async |db| {
        let world = World::new(db).await;
        db.migrate(&[EFFECTS]).await.unwrap();
        let id = world.push("one").await.id;
        let old = fence(&world, world.claim("one", 1).await.remove(0));
        world.clock.advance(LEASE);
        // The lease has expired, but no worker has taken the job: the holder may go on.
        assert_eq!(renew_once(&world, &old).await, RenewResult::Held { cancel_requested: false });
        world.clock.advance(LEASE - Duration::from_millis(1));
        assert_eq!(world.reap().await, []);
        world.clock.advance(Duration::from_millis(1));
        assert_eq!(world.reap().await.len(), 1);

        let refused = commit_effect(&world, &old).await.unwrap_err();
        assert_eq!(refused.code(), "lease_lost");
        let new = fence(&world, world.claim("one", 1).await.remove(0));
        assert!(new.number() > old.number());
        assert_eq!(renew_once(&world, &old).await, RenewResult::Lost);
        assert_eq!(commit_effect(&world, &old).await.unwrap_err().code(), "lease_lost");
        for state in [JobState::Completed, JobState::Failed, JobState::Queued, JobState::Cancelled]
        {
            assert_eq!(world.end(old.running_job.hold(), &ended_as(state)).await, None);
        }
        let now = world.jobs.get(&id).await.unwrap();
        assert_eq!((now.state, now.attempt, now.progress.done), (JobState::Running, 2, 0));

        commit_effect(&world, &new).await.unwrap();
        let done = world.jobs.get(&id).await.unwrap();
        assert_eq!((done.state, done.result.as_deref()), (JobState::Completed, Some("\"ok\"")));
        assert_eq!(done.error, None);
        assert_eq!(commit_effect(&world, &new).await.unwrap_err().code(), "lease_lost");
        let effects = db.fetch_all(sql("SELECT fence FROM t_effect")).await.unwrap();
        let fences: Vec<i64> = effects.iter().map(|row| row.int(0).unwrap()).collect();
        assert_eq!(fences, [new.number()]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_completion_that_is_rolled_back_never_was() {
    on_every_engine(async |db| {
        let world = World::new(db).await;
        let id = world.push("one").await.id;
        let fence = fence(&world, world.claim("one", 1).await.remove(0));
        let mut tx = db.begin().await.unwrap();
        fence.complete_in(&mut tx, &1).await.unwrap();
        drop(tx);
        assert_eq!(world.jobs.get(&id).await.unwrap().state, JobState::Running);
        let mut tx = db.begin().await.unwrap();
        let refused = fence.complete_in(&mut tx, &"x".repeat(65_536)).await.unwrap_err();
        assert_eq!(refused.code(), "job_too_large");
    })
    .await;
}

/// On SQLite the transaction itself keeps all other writers out.
#[tokio::test(flavor = "multi_thread")]
async fn while_the_holder_commits_nobody_takes_over() {
    on_every_engine(async |db| {
        if db.engine() == Engine::Sqlite {
            return;
        }
        let world = World::new(db).await;
        let id = world.push("one").await.id;
        let fence = fence(&world, world.claim("one", 1).await.remove(0));
        let mut tx = db.begin().await.unwrap();
        fence.ensure_held(&mut tx).await.unwrap();
        world.clock.advance(LEASE * 2);
        assert_eq!(world.reap().await, []);
        assert_eq!(renew_once(&world, &fence).await, RenewResult::Locked);
        fence.complete_in(&mut tx, &()).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(world.jobs.get(&id).await.unwrap().state, JobState::Completed);
        assert_eq!(world.reap().await, []);
    })
    .await;
}

//! Pushing and reading: keys, order, limits, lists, counts, retention.

use std::collections::HashSet;
use std::time::Duration;

use fault::Kind;
use serde_json::json;
use testkit::on_every_engine;
use tokio::task::JoinSet;

use super::{Fixture, job};
use crate::outcome::ended_as;
use crate::sql::JobHold;
use crate::{JobCount, JobFilter, JobPageRequest, JobState, NewJob, QueueLimits};

#[tokio::test(flavor = "multi_thread")]
async fn a_job_comes_back_as_it_was_pushed() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let new = NewJob::new("one", &json!({"sku": "Ж\u{0}", "n": 1})).unwrap();
        let new = new.key("k").owner("alice").priority(-7).max_attempts(2);
        let pushed = fixture.jobs.push(new.delay(Duration::from_secs(3))).await.unwrap();
        assert!(pushed.is_new);
        let found = fixture.jobs.get(&pushed.job.id).await.unwrap();
        assert_eq!(found, pushed.job);
        assert_eq!((found.key.as_deref(), found.owner.as_deref()), (Some("k"), Some("alice")));
        assert_eq!((found.priority, found.attempt, found.max_attempts), (-7, 0, 2));
        assert_eq!(found.state, JobState::Queued);
        assert_eq!(found.run_at.0 - found.created_at.0, 3000);
        let payload: serde_json::Value = found.payload_as().unwrap();
        assert_eq!(payload, json!({"sku": "Ж\u{0}", "n": 1}));
        for id in ["", "nonsense", "00000000-0000-7000-8000-000000000000", "'; DROP TABLE job"] {
            let refused = fixture.jobs.get(id).await.unwrap_err();
            assert_eq!((refused.kind(), refused.code()), (Kind::NotFound, "job_not_found"));
            assert_eq!(fixture.jobs.cancel(id).await.unwrap_err().code(), "job_not_found");
            assert_eq!(fixture.jobs.retry(id).await.unwrap_err().code(), "job_not_found");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_key_has_at_most_one_unfinished_job() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let mut pushers = JoinSet::new();
        for _ in 0..20 {
            let jobs = fixture.elsewhere();
            pushers.spawn(async move { jobs.push(job("one").key("k")).await.unwrap() });
        }
        let pushed = pushers.join_all().await;
        assert_eq!(pushed.iter().filter(|it| it.is_new).count(), 1);
        let ids: HashSet<&str> = pushed.iter().map(|it| it.job.id.as_str()).collect();
        assert_eq!(ids.len(), 1);
        // Another kind has keys of its own, a running job still holds its key, a finished one not.
        assert!(fixture.jobs.push(job("two").key("k")).await.unwrap().is_new);
        let (held, fence) = fixture.claim("one", 1).await.remove(0);
        assert!(!fixture.jobs.push(job("one").key("k")).await.unwrap().is_new);
        fixture.end(JobHold { id: &held.id, fence }, &ended_as(JobState::Failed)).await.unwrap();
        assert!(fixture.jobs.push(job("one").key("k")).await.unwrap().is_new);
        // A dead letter cannot be retried while a successor has its key.
        assert_eq!(fixture.jobs.retry(&held.id).await.unwrap_err().code(), "job_exists");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_are_taken_by_priority_then_time_and_not_before_it() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let second = Duration::from_secs(1);
        let many = vec![
            job("one").key("third"),
            job("one").key("never").delay(second * 60),
            job("one").key("first").priority(5),
            job("one").key("later").priority(9).delay(second),
            job("two").key("other"),
            job("one").key("second").priority(5),
        ];
        let pushed = fixture.jobs.push_many(many).await.unwrap();
        let keys: Vec<_> = pushed.iter().map(|it| it.job.key.clone().unwrap()).collect();
        assert_eq!(keys, ["third", "never", "first", "later", "other", "second"]);
        let mut taken = Vec::new();
        taken.extend(fixture.claim("one", 2).await);
        taken.extend(fixture.claim("one", 9).await);
        fixture.clock.advance(second);
        taken.extend(fixture.claim("one", 9).await);
        let keys: Vec<_> = taken.iter().map(|(job, _)| job.key.clone().unwrap()).collect();
        assert_eq!(keys, ["first", "second", "third", "later"]);
        assert!(taken.iter().all(|(job, fence)| job.attempt == 1 && *fence == 1));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_queue_refuses_new_jobs_but_returns_existing_keys() {
    on_every_engine(async |db| {
        let fixture = Fixture::limited(db, QueueLimits { queued_max: 30 }).await;
        fixture.jobs.push(job("one").key("k")).await.unwrap();
        for _ in 1..30 {
            fixture.push("one").await;
        }
        let refused = fixture.jobs.push(job("one")).await.unwrap_err();
        assert_eq!((refused.kind(), refused.code()), (Kind::Unavailable, "overloaded"));
        assert!(refused.retry_wait().is_some());
        assert!(!fixture.jobs.push(job("one").key("k")).await.unwrap().is_new);
        fixture.push("two").await;
        assert!(fixture.jobs.push_many(vec![job("two"), job("one")]).await.is_err());
        let two = JobCount { kind: "two".to_owned(), state: JobState::Queued, jobs: 1 };
        assert!(fixture.jobs.counts().await.unwrap().contains(&two), "half of a batch stayed");
        fixture.claim("one", 1).await;
        fixture.push("one").await;
        let many = vec![job("one"); 1001];
        assert_eq!(fixture.jobs.push_many(many).await.unwrap_err().code(), "too_many_jobs");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_push_belongs_to_its_callers_transaction() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let mut tx = db.begin().await.unwrap();
        let gone = fixture.jobs.push_in(&mut tx, &job("one")).await.unwrap().job;
        drop(tx);
        assert_eq!(fixture.jobs.get(&gone.id).await.unwrap_err().code(), "job_not_found");
        let mut tx = db.begin().await.unwrap();
        let pushed = fixture.jobs.push_in(&mut tx, &job("one")).await.unwrap().job;
        tx.commit().await.unwrap();
        assert_eq!(fixture.jobs.get(&pushed.id).await.unwrap(), pushed);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_are_filtered_and_paged_newest_first() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let mut made = Vec::new();
        for at in 0..7 {
            let owner = if at % 2 == 0 { "alice" } else { "bob" };
            made.push(fixture.jobs.push(job("one").owner(owner)).await.unwrap().job.id);
        }
        fixture.push("two").await;
        let filter = JobFilter {
            kinds: vec!["one".to_owned(), "three".to_owned()],
            states: vec![JobState::Queued],
            owner: Some("alice".to_owned()),
            key: None,
        };
        let mut page = JobPageRequest { before: None, limit: 3 };
        let mut seen = Vec::new();
        loop {
            let found = fixture.jobs.list(&filter, &page).await.unwrap();
            seen.extend(found.jobs.into_iter().map(|job| job.id));
            match found.next {
                Some(next) => page.before = Some(next),
                None => break,
            }
        }
        let expected: Vec<_> = made.iter().step_by(2).rev().cloned().collect();
        assert_eq!(seen, expected);
        let all =
            fixture.jobs.list(&JobFilter::default(), &JobPageRequest::default()).await.unwrap();
        assert_eq!((all.jobs.len(), all.next), (8, None));
        let filter = JobFilter { states: vec![JobState::Failed], ..JobFilter::default() };
        assert!(
            fixture.jobs.list(&filter, &JobPageRequest::default()).await.unwrap().jobs.is_empty()
        );
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_old_finished_jobs_are_deleted() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let old = fixture.push("one").await;
        fixture.jobs.cancel(&old.id).await.unwrap();
        let waiting = fixture.push("one").await;
        fixture.clock.advance(Duration::from_secs(60));
        let recent = fixture.push("one").await;
        fixture.jobs.cancel(&recent.id).await.unwrap();
        let before = recent.created_at;
        assert_eq!(fixture.jobs.delete_finished_before("two", before).await.unwrap(), 0);
        assert_eq!(fixture.jobs.delete_finished_before("one", before).await.unwrap(), 1);
        assert!(fixture.jobs.get(&old.id).await.is_err());
        for job in [&waiting, &recent] {
            fixture.jobs.get(&job.id).await.unwrap();
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_are_deleted_by_id_in_any_state() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let (held, waiting, other) =
            (fixture.push("one").await, fixture.push("one").await, fixture.push("two").await);
        assert_eq!(fixture.claim("one", 1).await[0].0.id, held.id);
        let mut tx = db.begin().await.unwrap();
        assert_eq!(fixture.jobs.delete_in(&mut tx, &[]).await.unwrap(), 0);
        let named = [held.id.clone(), waiting.id.clone(), "nobody's".to_owned()];
        assert_eq!(fixture.jobs.delete_in(&mut tx, &named).await.unwrap(), 2);
        tx.commit().await.unwrap();
        for gone in [&held, &waiting] {
            assert_eq!(fixture.jobs.get(&gone.id).await.unwrap_err().code(), "job_not_found");
        }
        fixture.jobs.get(&other.id).await.unwrap();
    })
    .await;
}

//! Schedules: due runs start once, missed runs once after a restart, and pausing holds them.

use super::*;
use crate::collector::scheduler::{RUN_KIND, Scheduler};
use jobs::{JobFilter, JobPageRequest};

const HOUR: i64 = 3_600_000;

fn scheduler(fixture: &Fixture) -> Scheduler {
    let (db, jobs) = (fixture.db.clone(), fixture.jobs.clone());
    Scheduler { db, jobs, clock: Arc::clone(&fixture.clock) as _ }
}

/// The collections that schedules have started.
async fn collections(fixture: &Fixture) -> Vec<jobs::Job> {
    let filter = JobFilter { kinds: vec![KIND.to_owned()], ..JobFilter::default() };
    fixture.jobs.list(&filter, &JobPageRequest::default()).await.unwrap().jobs
}

async fn finish_all(fixture: &Fixture) {
    for job in collections(fixture).await {
        fixture.jobs.wait(&job.id, Duration::from_secs(60)).await.unwrap();
    }
}

#[tokio::test]
async fn a_due_collection_starts_once_and_missed_ones_are_made_up_for_once() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let args = json!({ "sku": "A", "schedule": "every 1h", "connector": "mock" });
        let made = fixture.ok("schedule_collection", args).await["schedule"].clone();
        assert_eq!(made["next_run_at"], json!(Millis(NOW.0 + HOUR).to_rfc3339()));
        let scheduler = scheduler(&fixture);
        scheduler.start_due().await.unwrap();
        assert_eq!(collections(&fixture).await.len(), 0, "nothing is due");

        fixture.clock.set(Millis(NOW.0 + 7 * HOUR + HOUR / 2));
        scheduler.start_due().await.unwrap();
        scheduler.start_due().await.unwrap();
        finish_all(&fixture).await;
        assert_eq!(collections(&fixture).await.len(), 1, "seven missed runs are one");
        let listed = fixture.ok("list_schedules", json!({})).await["schedules"][0].clone();
        assert_eq!(listed["next_run_at"], json!(Millis(NOW.0 + 8 * HOUR).to_rfc3339()), "{listed}");
        let status = fixture.ok("get_job_status", json!({ "job_id": listed["last_job_id"] })).await;
        assert_eq!(status["job"]["status"], "DONE", "{status}");

        let id = json!({ "schedule_id": made["schedule_id"] });
        fixture.ok("pause_schedule", id.clone()).await;
        fixture.clock.set(Millis(NOW.0 + 20 * HOUR));
        scheduler.start_due().await.unwrap();
        assert_eq!(collections(&fixture).await.len(), 1, "a paused one does not run");
        let mut on = id.clone();
        on["paused"] = json!(false);
        let resumed = fixture.ok("pause_schedule", on).await["schedule"].clone();
        assert_eq!(resumed["next_run_at"], json!(Millis(NOW.0 + 21 * HOUR).to_rfc3339()));
        fixture.ok("remove_schedule", id.clone()).await;
        assert_eq!(fixture.ok("list_schedules", json!({})).await["count"], 0);
        assert_eq!(
            fixture.call("remove_schedule", id).await.unwrap_err()["error"],
            "schedule_not_found"
        );
        fixture.close().await;
    })
    .await;
}

#[tokio::test]
async fn a_schedule_of_everything_goes_through_the_whole_catalogue() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let rows: Vec<Value> =
            (0..450).map(|at| json!({ "sku": format!("S{at:03}"), "price": 10 })).collect();
        fixture.ok("import_product_catalog", json!({ "rows": rows })).await;
        for connector in ["mock", "http"] {
            let args = json!({ "schedule": "0 * * * *", "connector": connector, "depth": 1 });
            fixture.ok("schedule_collection", args).await;
        }
        fixture.clock.set(Millis(NOW.0 + 2 * HOUR));
        scheduler(&fixture).start_due().await.unwrap();
        let runs = JobFilter { kinds: vec![RUN_KIND.to_owned()], ..JobFilter::default() };
        let mut last_run = 0;
        // Each page queues the next, until one is short.
        loop {
            let page = fixture.jobs.list(&runs, &JobPageRequest::default()).await.unwrap().jobs;
            for job in &page {
                let ended = fixture.jobs.wait(&job.id, Duration::from_secs(60)).await.unwrap();
                assert_eq!(ended.state, JobState::Completed, "{ended:?}");
            }
            if page.len() == last_run {
                break;
            }
            last_run = page.len();
        }
        // Three pages of simulated prices; no product has an address to ask.
        assert_eq!(last_run, 4);
        for sku in ["S000", "S199", "S200", "S449"] {
            let started = async {
                loop {
                    let seen = fixture.ok("fetch_market_features", json!({ "sku": sku })).await;
                    if seen["sample_count"].as_u64() > Some(0) {
                        return;
                    }
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            };
            tokio::time::timeout(Duration::from_secs(120), started).await.unwrap();
        }
        fixture.close().await;
    })
    .await;
}

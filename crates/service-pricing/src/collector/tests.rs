//! The collector as a whole, on both engines.

mod limits;
mod schedules;

use std::sync::Arc;
use std::time::Duration;

use ::market::{DAY_MS, Millis};
use contract::{Authenticator, Call, CallOutcome, Caller, Catalog, Credential, Pipeline};
use fault::Fault;
use jobs::{JobState, Jobs, QueueLimits};
use proptest::prelude::*;
use serde_json::{Value, json};
use store::Db;
use testkit::{FakeClock, TempFolder, on_every_engine};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::*;
use crate::storage::ticks::{self, Tick};

const NOW: Millis = Millis(1_800_000_000_000);

/// Allows every caller every scope.
struct Open;

#[async_trait::async_trait]
impl Authenticator for Open {
    async fn authenticate(&self, _: &Credential, _: &str) -> Result<Caller, Fault> {
        let scopes = ["read", "write", "collect", "import", "admin"].map(str::to_owned);
        Ok(Caller::new("tester", scopes))
    }
}

struct NoMeter;

impl contract::Meter for NoMeter {
    fn record(&self, _: &contract::CallRecord<'_>) {}
}

struct Fixture {
    pipeline: Pipeline,
    jobs: Jobs,
    db: Db,
    clock: Arc<FakeClock>,
    folder: TempFolder,
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl Fixture {
    async fn new(db: &Db) -> Self {
        db.migrate(&[jobs::MIGRATIONS, crate::MIGRATIONS]).await.unwrap();
        let clock = Arc::new(FakeClock::new(NOW));
        let jobs = Jobs::new(db.clone(), Arc::clone(&clock) as _, QueueLimits::default());
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        let folder = TempFolder::new();
        let service = collector(CollectorParts {
            db: db.clone(),
            jobs: jobs.clone(),
            service_info: ServiceInfo {
                service: "data-collector",
                version: "0".to_owned(),
                build: None,
                commit: None,
                clock: Arc::clone(&clock) as _,
                started: NOW,
                counters: Box::new(|| json!({})),
            },
            data: folder.path().to_owned(),
            seed: 1,
            private_addresses: true,
            meter: None,
            tasks: tasks.clone(),
            stop: stop.clone(),
        });
        let catalog = Catalog::new(vec![service.unwrap()]).unwrap();
        let timeout = Duration::from_secs(60);
        let pipeline = Pipeline::new(catalog, Arc::new(Open), Arc::new(NoMeter), timeout);
        Self { pipeline, jobs, db: db.clone(), clock, folder, tasks, stop }
    }

    /// The answer, or the error object.
    async fn call(&self, tool: &str, args: Value) -> Result<Value, Value> {
        let Value::Object(mut args) = args else { panic!("arguments are an object") };
        if !matches!(tool, "ping_health" | "health_check" | "version_info") {
            args.insert("capability_token".to_owned(), json!("t"));
        }
        let outcome: CallOutcome = self.pipeline.call_by_name(tool, Call::new(args)).await.unwrap();
        outcome.map(|reply| reply.result()).map_err(|failure| failure.tool_error)
    }

    async fn ok(&self, tool: &str, args: Value) -> Value {
        self.call(tool, args).await.unwrap()
    }

    /// Starts a collection and waits for its end.
    async fn collected(&self, args: Value) -> Value {
        let started = self.ok("start_collection", args).await;
        let id = started["job_id"].as_str().unwrap();
        let job = self.jobs.wait(id, Duration::from_secs(60)).await.unwrap();
        assert!(job.state.is_finished(), "{job:?}");
        self.ok("get_job_status", json!({ "job_id": id })).await["job"].clone()
    }

    async fn close(self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}

#[tokio::test]
async fn a_simulated_collection_runs_once_and_reports_its_ticks() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let job = fixture.collected(json!({ "sku": "A", "depth": 5 })).await;
        assert_eq!((&job["status"], &job["progress"]), (&json!("DONE"), &json!(1.0)), "{job}");
        let brought = job["collected"].as_u64().unwrap();
        assert!(brought >= 15 && job["new"] == json!(brought), "{job}");
        // Collecting the same moments again finds no new tick.
        let again = fixture.collected(json!({ "sku": "A", "depth": 5 })).await;
        assert_eq!((&again["collected"], &again["new"]), (&json!(brought), &json!(0)), "{again}");
        let seen = fixture.ok("fetch_market_features", json!({ "sku": "A" })).await;
        assert_eq!(seen["sample_count"], json!(brought));
        assert_eq!((&seen["simulated"], &seen["fresh"]), (&json!(true), &json!(true)), "{seen}");
        assert!(seen["competitor_median"].as_f64().unwrap() > 0.0, "{seen}");
        let sources = fixture.ok("list_sources", json!({})).await;
        assert_eq!(sources["sources"][0]["last_collection"], json!(NOW.to_rfc3339()), "{sources}");
        fixture.close().await;
    })
    .await;
}

#[tokio::test]
async fn a_file_is_imported_once_and_its_bad_lines_are_reported() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let missing = fixture.collected(json!({ "sku": "A", "connector": "file" })).await;
        assert_eq!(
            (&missing["status"], &missing["error_code"]),
            (&json!("FAILED"), &json!("drop_folder"))
        );
        let drop = fixture.folder.path().join("pricing/drop");
        std::fs::create_dir_all(&drop).unwrap();
        std::fs::write(drop.join("a.csv"), "sku,our_price,competitor_price\nA,10,9\nB,5,4\nC,,\n")
            .unwrap();
        std::fs::write(drop.join("b.jsonl"), "{\"sku\":\"A\",\"our_price\":11}\n").unwrap();
        std::fs::write(drop.join("notes.txt"), "not ours").unwrap();
        std::fs::write(drop.join(".hidden.csv"), "sku,our_price\nZ,1\n").unwrap();
        let first = fixture.collected(json!({ "sku": "A", "connector": "file" })).await;
        assert_eq!(
            (&first["collected"], &first["problem_count"]),
            (&json!(2), &json!(1)),
            "{first}"
        );
        // The file is moved, and the same content under another name is not imported.
        std::fs::copy(drop.join("taken/a.csv"), drop.join("aa.csv")).unwrap();
        let second =
            fixture.collected(json!({ "sku": "A", "connector": "file", "depth": 9 })).await;
        assert_eq!(second["collected"], json!(1), "{second}");
        assert!(!drop.join("aa.csv").exists() && drop.join("taken/b.jsonl").exists());
        let third = fixture.collected(json!({ "sku": "A", "connector": "file", "depth": 9 })).await;
        assert_eq!((&third["status"], &third["collected"]), (&json!("DONE"), &json!(0)), "{third}");
        let seen = fixture.ok("fetch_market_features", json!({ "sku": "B" })).await;
        assert_eq!((&seen["our_price"], &seen["provenance"]), (&json!(5.0), &json!(["file"])));
        fixture.close().await;
    })
    .await;
}

#[tokio::test]
async fn a_collection_that_cannot_be_made_fails_and_says_why() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let job = fixture.collected(json!({ "sku": "A", "connector": "http" })).await;
        assert_eq!((&job["status"], &job["collected"]), (&json!("FAILED"), &json!(0)), "{job}");
        assert!(job["error"].as_str().unwrap().contains("not in the catalogue"), "{job}");
        let rows = json!([{ "sku": "A", "price": 10, "sources": ["http://127.0.0.1:9/p"] }]);
        fixture.ok("import_product_catalog", json!({ "rows": rows })).await;
        let job = fixture.collected(json!({ "sku": "A", "connector": "http" })).await;
        assert_eq!((&job["status"], &job["problem_count"]), (&json!("DONE"), &json!(1)), "{job}");
        let sources = fixture.ok("list_sources", json!({})).await;
        let http = &sources["sources"][2];
        assert_eq!(
            (&http["status"], &http["last_check"]),
            (&json!("error"), &json!(NOW.to_rfc3339()))
        );
        fixture.close().await;
    })
    .await;
}

#[tokio::test]
async fn the_words_of_errors_are_the_contracts() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let failed = async |tool: &str, args: Value| fixture.call(tool, args).await.unwrap_err();
        let unknown = failed("start_collection", json!({ "sku": "A", "connector": "api" })).await;
        assert_eq!(unknown["error"], "unsupported_connector");
        assert_eq!(unknown["supported_connectors"], json!(["mock", "file", "http"]));
        let no_job = failed("get_job_status", json!({ "job_id": "nope" })).await;
        assert_eq!(
            (&no_job["error"], &no_job["job_id"]),
            (&json!("job_not_found"), &json!("nope"))
        );
        let empty = fixture.ok("import_product_catalog", json!({ "rows": [] })).await;
        assert_eq!((&empty["count"], &empty["total_input"]), (&json!(0), &json!(0)));
        let none =
            failed("import_product_catalog", json!({ "rows": [{ "sku": "A", "price": 0 }] })).await;
        assert_eq!(none["error"], "no_valid_products");
        let bad = failed("ingest_tick", json!({ "d": { "sku": "A" } })).await;
        assert_eq!(
            (&bad["error"], &bad["details"][0]["field"]),
            (&json!("validation_error"), &json!("d.our_price"))
        );
        let long = failed("fetch_market_features", json!({ "sku": "A".repeat(201) })).await;
        assert_eq!(long["details"][0]["field"], "sku");
        fixture.close().await;
    })
    .await;
}

#[tokio::test]
async fn imports_add_to_what_is_known_and_count_truly() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let mut rows: Vec<Value> =
            (0..4_500).map(|it| json!({ "sku": format!("S{it}"), "price": 5 })).collect();
        rows.push(json!({ "sku": "S0", "price": "7.25", "stock": 3 }));
        rows.push(json!({ "sku": "BAD", "cost": -1 }));
        let done = fixture.ok("import_product_catalog", json!({ "rows": rows })).await;
        let counts =
            ["count", "processed", "total_input", "rejected"].map(|it| done[it].as_u64().unwrap());
        assert_eq!(counts, [4_500, 4_501, 4_502, 1]);
        assert_eq!(
            done["problems"],
            json!([{ "row": 4_501, "field": "cost", "expected": "a number of at least 0" }])
        );
        fixture.ok("import_product_catalog", json!({ "rows": [{ "sku": "S0", "cost": 4 }] })).await;
        let kept = crate::storage::products::find(&fixture.db, "S0").await.unwrap().unwrap();
        let micros = |it: Option<pricing_engine::Amount>| it.map(pricing_engine::Amount::micros);
        assert_eq!((micros(kept.price), micros(kept.cost)), (Some(7_250_000), Some(4_000_000)));
        assert_eq!(Value::Object(kept.extra), json!({ "stock": 3 }));
        fixture.close().await;
    })
    .await;
}

#[tokio::test]
async fn a_table_is_imported_by_its_lines() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let table =
            "sku,price,sources\nA,1.50,https://a.example/p https://b.example/p\nB,x,\n,5,\nC,2,\n";
        let done = crate::import_csv(&fixture.db, table.as_bytes(), None, NOW).await.unwrap();
        assert_eq!((done.products, done.good, done.rows), (2, 2, 4));
        let seen: Vec<(usize, &str)> =
            done.problems.iter().map(|(line, field, _)| (*line, &**field)).collect();
        assert_eq!(seen, [(3, "price"), (4, "sku")]);
        let kept = crate::storage::products::find(&fixture.db, "A").await.unwrap().unwrap();
        assert_eq!(kept.sources.len(), 2);
        assert!(crate::import_csv(&fixture.db, b"name,price\nA,1\n", None, NOW).await.is_err());
        fixture.close().await;
    })
    .await;
}

#[tokio::test]
async fn ticks_that_come_together_are_all_kept_and_the_same_twice_is_once() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let tick =
            |it: i64| json!({ "d": { "sku": "A", "our_price": 10, "ts": NOW.0 - it * 1_000 } });
        let calls = (0..300).map(|it| fixture.ok("ingest_tick", tick(it % 100)));
        let answers = futures(calls.collect()).await;
        assert!(answers.iter().all(|it| *it == json!({ "ok": true })));
        let seen = fixture.ok("fetch_market_features", json!({ "sku": "A" })).await;
        assert_eq!(seen["sample_count"], json!(100));
        fixture.close().await;
    })
    .await;
}

/// All at once, on this task.
async fn futures<F: Future<Output = Value>>(calls: Vec<F>) -> Vec<Value> {
    let mut calls: Vec<_> = calls.into_iter().map(Box::pin).collect();
    let mut answers: Vec<Option<Value>> = calls.iter().map(|_| None).collect();
    std::future::poll_fn(|cx| {
        for (call, answer) in calls.iter_mut().zip(&mut answers) {
            if answer.is_none()
                && let std::task::Poll::Ready(seen) = call.as_mut().poll(cx)
            {
                *answer = Some(seen);
            }
        }
        match answers.iter().all(Option::is_some) {
            true => std::task::Poll::Ready(()),
            false => std::task::Poll::Pending,
        }
    })
    .await;
    answers.into_iter().flatten().collect()
}

#[tokio::test]
async fn a_window_ends_at_its_end_and_reports_its_age() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        for (ago, price) in [(0, 1), (DAY_MS - 1, 2), (DAY_MS, 3), (DAY_MS + 1, 4)] {
            let d = json!({ "sku": "A", "our_price": price, "ts": NOW.0 - ago });
            fixture.ok("ingest_tick", json!({ "d": d })).await;
        }
        let count = async |window: &str| {
            let args = json!({ "sku": "A", "time_window": window });
            fixture.ok("fetch_market_features", args).await["sample_count"].as_u64().unwrap()
        };
        let counts = [count("P0D").await, count("P1D").await, count("P2D").await];
        assert_eq!(counts, [1, 3, 4]);
        assert_eq!(count("P99999999999999999999D").await, 4);
        fixture.clock.set(Millis(NOW.0 + 61 * 60_000));
        let seen = fixture.ok("fetch_market_features", json!({ "sku": "A" })).await;
        assert_eq!((&seen["fresh"], &seen["age_minutes"]), (&json!(false), &json!(61.0)));
        let args = json!({ "sku": "A", "freshness_sla_minutes": 61 });
        assert_eq!(fixture.ok("fetch_market_features", args).await["fresh"], true);
        assert_eq!(seen["snapshot_id"], json!(format!("snap:A:DEFAULT:{}", NOW.to_rfc3339())));
        // Ticks of another market do not count.
        let args = json!({ "sku": "A", "market": "EU" });
        assert_eq!(fixture.ok("fetch_market_features", args).await["sample_count"], 0);
        fixture.close().await;
    })
    .await;
}

#[tokio::test]
async fn a_window_with_too_many_ticks_says_that_it_was_cut() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let most = i64::from(crate::features::TICKS_MAX);
        let ticks: Vec<Tick> = (0..=most).map(|it| sample(it, 10, 0)).collect();
        let mut tx = fixture.db.begin().await.unwrap();
        assert_eq!(ticks::add(&mut tx, &ticks, NOW).await.unwrap(), most as u64 + 1);
        tx.commit().await.unwrap();
        let seen = fixture.ok("fetch_market_features", json!({ "sku": "A" })).await;
        assert_eq!((&seen["truncated"], &seen["sample_count"]), (&json!(true), &json!(most)));
        fixture.close().await;
    })
    .await;
}

#[tokio::test]
async fn a_cancelled_collection_keeps_nothing() {
    on_every_engine(async |db| {
        db.migrate(&[jobs::MIGRATIONS, crate::MIGRATIONS]).await.unwrap();
        // No worker runs in this test, so the job stays queued until the test cancels it.
        let jobs = Jobs::new(db.clone(), Arc::new(FakeClock::new(NOW)), QueueLimits::default());
        let errand = json!({ "sku": "A", "market": "DEFAULT", "connector": "mock", "depth": 3 });
        let job = jobs.push(jobs::NewJob::new(KIND, &errand).unwrap()).await.unwrap().job;
        assert_eq!(jobs.cancel(&job.id).await.unwrap().state, JobState::Cancelled);
        let fixture = Fixture::new(db).await;
        let seen = fixture.ok("get_job_status", json!({ "job_id": job.id })).await;
        assert_eq!(seen["job"]["status"], "CANCELLED");
        let seen = fixture.ok("fetch_market_features", json!({ "sku": "A" })).await;
        assert_eq!(seen["sample_count"], 0);
        fixture.close().await;
    })
    .await;
}

#[tokio::test]
async fn a_collection_stops_where_it_is_when_it_is_cancelled() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        // A shop that accepts connections and never replies.
        let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let source = format!("http://{}/p", silent.local_addr().unwrap());
        let rows = json!([{ "sku": "A", "price": 10, "sources": [source] }]);
        fixture.ok("import_product_catalog", json!({ "rows": rows })).await;
        let args = json!({ "sku": "A", "connector": "http" });
        let started = fixture.ok("start_collection", args).await;
        let id = started["job_id"].as_str().unwrap();
        // The shop was called, so the job runs.
        let (_line, _) = silent.accept().await.unwrap();
        fixture.jobs.cancel(id).await.unwrap();
        let job = fixture.jobs.wait(id, Duration::from_secs(60)).await.unwrap();
        assert_eq!(job.state, JobState::Cancelled);
        fixture.close().await;
    })
    .await;
}

fn sample(ago: i64, price: i64, kind: u8) -> Tick {
    let amount = |units: i64| pricing_engine::Amount::from_micros(units * 1_000_000);
    Tick {
        sku: "A".to_owned(),
        market: "DEFAULT".to_owned(),
        at: Millis(NOW.0 - ago * 1_000),
        our_price: amount(price).unwrap(),
        competitor: (!kind.is_multiple_of(3)).then(|| format!("shop {}", kind % 3)),
        competitor_price: amount(price + i64::from(kind)).filter(|_| !kind.is_multiple_of(4)),
        demand_index: (!kind.is_multiple_of(2)).then(|| f64::from(kind) / 7.0),
        units: None,
        in_stock: (!kind.is_multiple_of(5)).then_some(kind % 5 > 1),
        source: if kind.is_multiple_of(2) { "till" } else { "web" }.to_owned(),
        origin: ticks::TickOrigin::Observed,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Ticks that arrive late, out of order, in parts or twice give the same features.
    #[test]
    fn features_do_not_depend_on_how_ticks_came(
        kinds in prop::collection::vec((0_i64..50, 1_i64..5, 0_u8..60), 1..40),
        order in any::<u64>(),
        piece in 1_usize..10,
    ) {
        let ticks: Vec<Tick> = kinds.iter().map(|(a, b, c)| sample(*a, *b, *c)).collect();
        let mut shuffled = ticks.clone();
        shuffled.extend(ticks.iter().take(5).cloned());
        shuffled.sort_by_key(|it| (it.at.0 ^ it.our_price.micros()).wrapping_mul(order as i64 | 1));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (one, other) = runtime.block_on(async {
            (seen(&[ticks]).await, seen(&shuffled.chunks(piece).map(<[Tick]>::to_vec).collect::<Vec<_>>()).await)
        });
        prop_assert_eq!(one, other);
    }
}

async fn seen(pieces: &[Vec<Tick>]) -> crate::features::Features {
    let folder = TempFolder::new();
    let db = Db::open(&store::StoreConfig::sqlite(folder.path())).await.unwrap();
    db.migrate(&[crate::MIGRATIONS]).await.unwrap();
    for piece in pieces {
        let mut tx = db.begin().await.unwrap();
        ticks::add(&mut tx, piece, NOW).await.unwrap();
        tx.commit().await.unwrap();
    }
    let span = (Millis(0), Millis(NOW.0 + 1));
    let all = ticks::window(&db, ("A", "DEFAULT"), span, 1_000).await.unwrap();
    db.close().await;
    crate::features::of(&all)
}

//! What a token limited to one market reaches of the collector, tool by tool.

use std::collections::BTreeSet;

use contract::{GrantLimits, View};
use fault::Kind;

use super::*;

/// A token for the market `EU` alone.
#[derive(Debug)]
struct OnlyEurope;

impl GrantLimits for OnlyEurope {
    fn require_sku(&self, _: &str) -> Result<(), Fault> {
        Ok(())
    }

    fn require_market(&self, market: &str) -> Result<(), Fault> {
        let outside = || Fault::new(Kind::Forbidden, "limit_exceeded", "another market");
        if market == "EU" { Ok(()) } else { Err(outside()) }
    }
}

/// The error code of a call, or `ok`.
async fn outcome(fixture: &Fixture, tool: &str, mut args: Value) -> String {
    let scopes = ["read", "write", "collect", "import", "admin"].map(str::to_owned);
    let caller =
        Caller { grant_limits: Some(Arc::new(OnlyEurope)), ..Caller::new("europe", scopes) };
    if !matches!(tool, "ping_health" | "health_check" | "version_info") {
        args["capability_token"] = json!("t");
    }
    let Value::Object(args) = args else { panic!("arguments are an object") };
    let tool = fixture.pipeline.catalog().find(None, tool).unwrap();
    match fixture.pipeline.call_for(&caller, tool, Call::new(args)).await {
        Ok(_) => "ok".to_owned(),
        Err(failure) => failure.tool_error["error_code"].as_str().unwrap().to_owned(),
    }
}

#[tokio::test]
async fn a_token_for_one_market_touches_no_other() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let theirs = fixture.ok("start_collection", json!({ "sku": "A" })).await;
        let other_job = json!({ "job_id": theirs["job_id"] });
        let hourly = json!({ "sku": "A", "schedule": "every 1h" });
        let scheduled = fixture.ok("schedule_collection", hourly).await;
        let other_schedule = json!({ "schedule_id": scheduled["schedule"]["schedule_id"] });
        let of_europe = json!({ "sku": "A", "market": "EU", "schedule": "every 6h" });
        let (here, there) = (json!({ "sku": "A", "market": "EU" }), json!({ "sku": "A" }));
        let mut from_files = here.clone();
        from_files["connector"] = json!("file");
        let tick = |market: &str| {
            json!({ "d": { "sku": "A", "market": market, "our_price": 1,
                "ts": NOW.to_rfc3339() } })
        };
        let rows = json!({ "rows": [{ "sku": "A", "price": "999.99", "cost": "1" }] });
        let rows_there = [
            ("start_collection", there.clone(), "auth_error"),
            ("start_collection", from_files, "auth_error"),
            ("start_collection", here.clone(), "ok"),
            ("get_job_status", other_job, "job_not_found"),
            ("fetch_market_features", there, "auth_error"),
            ("fetch_market_features", here, "ok"),
            ("ingest_tick", tick("DEFAULT"), "auth_error"),
            ("ingest_tick", tick("EU"), "ok"),
            // The catalogue is what the market DEFAULT is priced from.
            ("import_product_catalog", rows, "auth_error"),
            ("remove_simulated_ticks", json!({ "sku": "A" }), "auth_error"),
            ("remove_simulated_ticks", json!({}), "auth_error"),
            ("remove_simulated_ticks", json!({ "market": "EU" }), "ok"),
            ("schedule_collection", json!({ "sku": "A", "schedule": "every 6h" }), "auth_error"),
            (
                "schedule_collection",
                json!({ "market": "EU", "schedule": "every 6h" }),
                "auth_error",
            ),
            ("schedule_collection", of_europe, "ok"),
            ("pause_schedule", other_schedule.clone(), "schedule_not_found"),
            ("remove_schedule", other_schedule, "schedule_not_found"),
            ("list_schedules", json!({}), "ok"),
            // These concern no market: the state of the connectors, and counters.
            ("list_sources", json!({}), "ok"),
            ("auth_metrics", json!({}), "ok"),
            ("ping_health", json!({}), "ok"),
            ("health_check", json!({}), "ok"),
            ("version_info", json!({}), "ok"),
        ];
        let mut seen = BTreeSet::new();
        for (tool, args, expected) in rows_there {
            assert_eq!(outcome(&fixture, tool, args.clone()).await, expected, "{tool} {args}");
            seen.insert(tool.to_owned());
        }
        let everything = View::default();
        let all: BTreeSet<String> = fixture
            .pipeline
            .catalog()
            .list(&everything)
            .map(|it| it.tool.spec.name.to_string())
            .collect();
        assert_eq!(seen, all, "every tool has a row");
        assert!(crate::storage::products::find(&fixture.db, "A").await.unwrap().is_none());
        fixture.close().await;
    })
    .await;
}

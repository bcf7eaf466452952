//! `schedule_collection`: collects again and again, at the times of a schedule.

use contract::{Cx, JsonReply, next_step};
use fault::{Fault, Kind};
use serde::Deserialize;
use serde_json::json;

use crate::collector::Collector;
use crate::collector::names::invalid;
use crate::collector::recurrence::{EXPECTED, Recurrence};
use crate::collector::schedule_reply::{line, require_schedule, schedule_json};
use crate::storage::schedules::{self, Schedule};

/// The most schedules of a server.
const SCHEDULES_MAX: u32 = 1_000;

#[derive(Deserialize)]
pub(in crate::collector) struct Args {
    schedule: String,
    sku: Option<String>,
    market: String,
    connector: String,
    depth: u32,
}

pub(in crate::collector) async fn call(cx: Cx<Collector>, args: Args) -> Result<JsonReply, Fault> {
    require_schedule(&cx.caller, args.sku.as_deref(), &args.market)?;
    if args.connector == "file" && cx.caller.grant_limits.is_some() {
        let message = "the drop folder holds ticks of every SKU, and this token is limited to some";
        return Err(Fault::new(Kind::Forbidden, "limit_not_honoured", message));
    }
    let now = cx.service.now();
    let Some(next) = Recurrence::parse(&args.schedule).and_then(|it| it.next(now, now)) else {
        let problem = ("schedule".to_owned(), EXPECTED.to_owned());
        return invalid("", vec![problem]).map(|()| JsonReply::new(json!({}), ""));
    };
    let schedule = Schedule {
        id: cx.service.ids.next(now),
        recurrence: args.schedule.trim().to_owned(),
        sku: args.sku,
        market: args.market,
        connector: args.connector,
        depth: args.depth,
        paused: false,
        next,
        last: None,
        last_job: None,
        by: cx.caller.subject.to_string(),
        created: now,
    };
    let mut tx = cx.service.db.begin().await?;
    if !schedules::add(&mut tx, &schedule, SCHEDULES_MAX).await? {
        let message =
            format!("there are {SCHEDULES_MAX} schedules, the most there may be; remove one first");
        return Err(Fault::new(Kind::Conflict, "too_many_schedules", message));
    }
    tx.commit().await?;
    let text = line(&schedule) + &next_step("list_schedules", &json!({}));
    Ok(JsonReply::new(json!({ "ok": true, "schedule": schedule_json(&schedule) }), text))
}

//! `pause_schedule`: stops the runs of a schedule, or lets them go on.

use contract::{Cx, JsonReply, next_step};
use fault::Fault;
use serde::Deserialize;
use serde_json::json;

use crate::collector::Collector;
use crate::collector::recurrence::Recurrence;
use crate::collector::schedule_reply::{line, require_or_hide, schedule_json};
use crate::storage::schedules::{self, unknown_schedule};

#[derive(Deserialize)]
pub(crate) struct Args {
    schedule_id: String,
    paused: bool,
}

pub(crate) async fn call(cx: Cx<Collector>, args: Args) -> Result<JsonReply, Fault> {
    let (db, now) = (&cx.service.db, cx.service.now());
    let mut schedule = schedules::find(db, &args.schedule_id).await?;
    require_or_hide(&cx.caller, &schedule)?;
    // Runs that were due during the pause are skipped; a schedule that was not paused keeps its
    // next time.
    let next = Recurrence::parse(&schedule.recurrence).and_then(|it| it.next(schedule.next, now));
    if schedule.paused != args.paused {
        schedule.next = next.filter(|_| schedule.next <= now).unwrap_or(schedule.next);
        schedule.paused = args.paused;
        if !schedules::set_paused(db, &schedule.id, args.paused, schedule.next).await? {
            return Err(unknown_schedule(&args.schedule_id));
        }
    }
    let text = line(&schedule) + &next_step("list_schedules", &json!({}));
    Ok(JsonReply::new(json!({ "ok": true, "schedule": schedule_json(&schedule) }), text))
}

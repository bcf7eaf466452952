//! `start_collection`: puts a collection into the job queue and replies with the job's id.

use contract::{Cx, JsonReply};
use fault::Fault;
use jobs::NewJob;

use crate::collector::collection_job::{JobPayload, begun};
use crate::collector::names::reach;
use crate::collector::{Collector, KIND};

const ATTEMPTS: u32 = 3;

pub(in crate::collector) async fn call(
    cx: Cx<Collector>,
    payload: JobPayload,
) -> Result<JsonReply, Fault> {
    let JobPayload { sku, market, connector, depth } = &payload;
    reach(&cx.caller, sku, market)?;
    if connector == "file" && cx.caller.grant_limits.is_some() {
        let message = "the drop folder holds ticks of every SKU, and this token is limited to some";
        return Err(Fault::new(fault::Kind::Forbidden, "limit_not_honoured", message));
    }
    let job = NewJob::new(KIND, &payload)?.owner(&*cx.caller.subject).max_attempts(ATTEMPTS);
    let pushed = cx.service.jobs.push(job).await?;
    let id = pushed.job.id;
    let text = format!("Collecting {sku} in {market} from {connector}, depth {depth}: job {id}");
    Ok(JsonReply::new(begun(&id, &payload), text).with_job(&id))
}

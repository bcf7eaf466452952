//! `get_job_status`: the state of a collection that the caller's credential reaches.

use contract::{Cx, JsonReply};
use fault::Fault;
use serde::Deserialize;
use serde_json::json;

use crate::collector::collection_job::{JobPayload, after, describe, line, unknown};
use crate::collector::names::reach;
use crate::collector::{Collector, KIND};

#[derive(Deserialize)]
pub(crate) struct Args {
    job_id: String,
}

pub(crate) async fn call(cx: Cx<Collector>, args: Args) -> Result<JsonReply, Fault> {
    let job = cx.service.jobs.get(&args.job_id).await?;
    let payload: JobPayload = match job.kind == KIND {
        true => job.payload_as()?,
        false => return Err(unknown(&args.job_id)),
    };
    // A job outside the token's limits is reported as missing.
    let reached = reach(&cx.caller, &payload.sku, &payload.market);
    reached.map_err(|_| unknown(&args.job_id))?;
    let described = describe(&job, &payload)?;
    let text = line(&job, &payload, &described) + &after(&job, &payload);
    Ok(JsonReply::new(json!({ "ok": true, "job_id": job.id, "job": described }), text))
}

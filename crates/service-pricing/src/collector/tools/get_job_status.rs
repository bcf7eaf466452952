//! `get_job_status`: the state of a collection that the caller's credential reaches.

use contract::{Cx, JsonReply};
use fault::Fault;
use serde::Deserialize;
use serde_json::json;

use crate::collector::collection_job::{JobPayload, job_json, job_text, next_call, unknown_job};
use crate::collector::names::require_sku_and_market;
use crate::collector::{Collector, KIND};

#[derive(Deserialize)]
pub(crate) struct Args {
    job_id: String,
}

pub(crate) async fn call(cx: Cx<Collector>, args: Args) -> Result<JsonReply, Fault> {
    let job = cx.service.jobs.get(&args.job_id).await?;
    let payload: JobPayload = match job.kind == KIND {
        true => job.payload_as()?,
        false => return Err(unknown_job(&args.job_id)),
    };
    // A job outside the token's limits is reported as missing.
    let reached = require_sku_and_market(&cx.caller, &payload.sku, &payload.market);
    reached.map_err(|_| unknown_job(&args.job_id))?;
    let described = job_json(&job, &payload)?;
    let text = job_text(&job, &payload, &described) + &next_call(&job, &payload);
    Ok(JsonReply::new(json!({ "ok": true, "job_id": job.id, "job": described }), text))
}

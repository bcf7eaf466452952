//! `start_collection`: puts a collection into the job queue and replies with the job's id.

use contract::{Cx, JsonReply, next_step};
use fault::Fault;
use jobs::NewJob;
use serde::Deserialize;
use serde_json::json;

use crate::collector::collection_job::{JobPayload, started_json};
use crate::collector::names::require_sku_and_market;
use crate::collector::{Collector, KIND};
use crate::storage::products;
use crate::storage::ticks::MOCK;

const ATTEMPTS: u32 = 3;
const TRIAL: &str = "Simulated ticks, kept apart: fetch_market_features shows them and no proposal \
                     uses them. For real prices give the product `sources` with \
                     import_product_catalog; to try proposals on simulated prices, name the \
                     connector mock.";
const SIMULATED: &str = "Simulated ticks: proposals that use them are marked simulated and never \
                         applied automatically; remove_simulated_ticks removes them.";

#[derive(Deserialize)]
pub(in crate::collector) struct Args {
    sku: String,
    market: String,
    connector: String,
    depth: u32,
}

pub(in crate::collector) async fn call(cx: Cx<Collector>, args: Args) -> Result<JsonReply, Fault> {
    require_sku_and_market(&cx.caller, &args.sku, &args.market)?;
    let payload = choose_connector(&cx, args).await?;
    let JobPayload { sku, market, connector, depth, trial } = &payload;
    if connector == "file" && cx.caller.grant_limits.is_some() {
        let message = "the drop folder holds ticks of every SKU, and this token is limited to some";
        return Err(Fault::new(fault::Kind::Forbidden, "limit_not_honoured", message));
    }
    let job = NewJob::new(KIND, &payload)?.owner(&*cx.caller.subject).max_attempts(ATTEMPTS);
    let pushed = cx.service.jobs.push(job).await?;
    let id = pushed.job.id;
    let mut text =
        format!("Collecting {sku} in {market} from {connector}, depth {depth}: job {id}");
    if payload.simulated() {
        text.push_str(&format!("\n{}", if *trial { TRIAL } else { SIMULATED }));
    }
    text.push_str(&next_step("get_job_status", &json!({ "job_id": id })));
    Ok(JsonReply::new(started_json(&id, &payload), text).with_job(&id))
}

/// The connector that the call names. A call that names none collects from the addresses of the
/// product, if the catalogue has any; for another product of the catalogue the simulated ticks are
/// kept apart, so that invented prices never reach its proposals.
async fn choose_connector(cx: &Cx<Collector>, args: Args) -> Result<JobPayload, Fault> {
    let Args { sku, market, connector, depth } = args;
    let named = JobPayload { sku, market, connector, depth, trial: false };
    if cx.is_given("connector") {
        return Ok(named);
    }
    let product = products::find(&cx.service.db, &named.sku).await?;
    Ok(match product {
        Some(product) if !product.sources.is_empty() => {
            JobPayload { connector: "http".to_owned(), ..named }
        }
        Some(_) => JobPayload { trial: named.connector == MOCK, ..named },
        None => named,
    })
}

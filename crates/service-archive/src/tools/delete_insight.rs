//! `arkiver_delete_insight`: removes one insight, with the results of tests that speak of it.

use contract::{Cx, JsonReply, next_step};
use fault::Fault;
use serde::Deserialize;
use serde_json::json;

use crate::wire::reply;
use crate::{Archive, tools::delete_file};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Args {
    insight_id: String,
}

pub(crate) async fn call(cx: Cx<Archive>, args: Args) -> Result<JsonReply, Fault> {
    let archive = &cx.service;
    let visibility = archive.visibility(&cx.caller).await?;
    let mut tx = archive.db.begin().await?;
    let insight = archive.insights.delete_one(&mut tx, &visibility, &args.insight_id).await?;
    let tests = archive.documents.quoting_jobs(&mut tx, &insight.file_id).await?;
    // The payload or the result of a test names every insight that it is about.
    archive.jobs.delete_mentioning_in(&mut tx, &tests, &insight.id).await?;
    tx.commit().await?;
    delete_file::purge(archive, &insight.file_id).await;
    let message = format!("deleted the insight {:?}", insight.title);
    let json = json!({ "success": true, "insightId": insight.id, "fileId": insight.file_id,
        "message": message });
    let of_file = json!({ "filters": { "fileId": insight.file_id } });
    Ok(reply(json, message + &next_step("arkiver_query_insights", &of_file)))
}

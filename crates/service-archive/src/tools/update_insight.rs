//! `arkiver_update_insight`: corrects an insight, or marks it as wrong. Who did it and when is kept.

use archive_insights::InsightChange;
use contract::{Cx, JsonReply, next_step};
use fault::Fault;
use serde::Deserialize;
use serde_json::json;

use crate::Archive;
use crate::job_report::insight_line;
use crate::wire::{self, reply};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Args {
    insight_id: String,
    title: Option<String>,
    content: Option<String>,
    tags: Option<Vec<String>>,
    confidence: Option<f64>,
    rejected: Option<bool>,
}

pub(crate) async fn call(cx: Cx<Archive>, args: Args) -> Result<JsonReply, Fault> {
    let archive = &cx.service;
    let visibility = archive.visibility(&cx.caller).await?;
    let by = archive.accounts.owner_name(&visibility.owner).await?;
    let Args { insight_id, title, content, tags, confidence, rejected } = args;
    let change =
        InsightChange { title, content, tags, confidence, is_rejected: rejected, by: by.clone() };
    if change == (InsightChange { by, ..InsightChange::default() }) {
        let message = "nothing to change: give title, content, tags, confidence or rejected";
        return Err(Fault::invalid("invalid_input", message)
            .problem("title", "one of title, content, tags, confidence, rejected"));
    }
    let mut tx = archive.db.begin().await?;
    let insight = archive.insights.correct(&mut tx, &visibility, &insight_id, change).await?;
    tx.commit().await?;
    let done = if insight.is_rejected() {
        "Marked as wrong; searches leave it out unless filters.rejected is true:"
    } else {
        "Corrected:"
    };
    let json = json!({ "success": true, "insight": wire::insight(&insight, None, &visibility),
        "message": done.trim_end_matches(':') });
    let of_file = json!({ "filters": { "fileId": insight.file_id } });
    let next = next_step("arkiver_query_insights", &of_file);
    Ok(reply(json, format!("{done}{}{next}", insight_line(&insight))))
}

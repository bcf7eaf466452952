//! `arkiver_delete_file`: removes a file with its pages, insights and test results.

use contract::{Cx, JsonReply, next_step};
use fault::Fault;
use serde::Deserialize;
use serde_json::json;

use crate::Archive;
use crate::wire::reply;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Args {
    file_id: String,
}

pub(crate) async fn call(cx: Cx<Archive>, args: Args) -> Result<JsonReply, Fault> {
    let archive = &cx.service;
    let visibility = archive.visibility(&cx.caller).await?;
    let file = archive.file_to_delete(&visibility, &args.file_id).await?;
    // A job that does not stop in time finds no file when it ends, and stores nothing.
    if let Some(job) = &file.job_id {
        drop(archive.jobs.cancel(job).await);
    }
    let mut tx = archive.db.begin().await?;
    let file = archive.documents.delete(&mut tx, &file.id).await?;
    archive.search.remove(&mut tx, &file.id).await?;
    let deleted = archive.insights.delete_by_file(&mut tx, &file.id).await?;
    // The results of integrity tests quote sentences of the file.
    let tests = archive.documents.take_quoting_jobs(&mut tx, &file.id).await?;
    archive.jobs.delete_in(&mut tx, &tests).await?;
    tx.commit().await?;
    if let Err(fault) = archive.documents.release(&file.hash).await {
        tracing::warn!(file = file.id, "the content of a file is left to the sweep: {fault}");
    }
    purge(archive, &file.id).await;
    let message = format!("deleted {} with {deleted} insights", file.name);
    let json = json!({ "success": true, "fileId": file.id, "insightsDeleted": deleted,
        "message": message });
    Ok(reply(json, message + &next_step("arkiver_list_files", &json!({}))))
}

/// Removes the words of deleted rows from the database files. A failure is logged and does not
/// fail the call: the rows themselves are gone.
pub(crate) async fn purge(archive: &Archive, file_id: &str) {
    let purged = async {
        archive.insights.purge_deleted_words().await?;
        archive.db.truncate_wal().await
    };
    if let Err(fault) = purged.await {
        tracing::warn!(file = file_id, "words of a deleted file are still on the disk: {fault}");
    }
}

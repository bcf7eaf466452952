//! Files over HTTP: how one is, which there are, and the end of one.

use archive_accounts::Visibility;
use archive_documents::{FileFilter, FileRecord, FileStatus};
use contract::Cx;
use fault::Fault;
use jobs::JobState;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::Archive;
use crate::said::JsonReply;
use crate::wire;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FileArgs {
    file_id: String,
}

pub(crate) async fn status(cx: Cx<Archive>, args: FileArgs) -> Result<JsonReply, Fault> {
    let archive = &cx.service;
    let visibility = archive.visibility(&cx.caller).await?;
    let mut file = archive.file_to_read(&visibility, &args.file_id).await?;
    archive.settle(&mut file).await;
    let mut told = wire::file(&file, &visibility);
    let insights = archive.insights.count_by_file(&visibility, &file.id).await?;
    told["insightCount"] = Value::from(insights);
    let text = describe(&file);
    Ok(JsonReply::new(json!({ "success": true, "file": told }), text))
}

fn describe(file: &FileRecord) -> String {
    let mut text = format!("{} ({}, {} bytes): ", file.name, file.mime, file.size);
    text.push_str(file.status.word());
    if let Some(pages) = file.page_count {
        text.push_str(&format!(", {pages} pages"));
    }
    if let Some(error) = &file.error {
        text.push_str(&format!(", {error}"));
    }
    format!("{text}. File {}.", file.id)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListArgs {
    case_id: Option<String>,
    status: Option<String>,
    limit: u32,
    offset: u64,
}

pub(crate) async fn list(cx: Cx<Archive>, args: ListArgs) -> Result<JsonReply, Fault> {
    let archive = &cx.service;
    let visibility = archive.visibility(&cx.caller).await?;
    let (mut files, total) = archive.listed(&visibility, &args).await?;
    for file in &mut files {
        archive.settle(file).await;
    }
    let told: Vec<Value> = files.iter().map(|it| wire::file(it, &visibility)).collect();
    let pagination = wire::pagination(args.limit, args.offset, files.len(), total);
    let mut text = format!("{total} files.");
    for file in &files {
        text.push_str(&format!("\n- {}", describe(file)));
    }
    let json = json!({ "success": true, "files": told, "total": total, "pagination": pagination });
    Ok(JsonReply::new(json, text))
}

pub(crate) async fn delete(cx: Cx<Archive>, args: FileArgs) -> Result<JsonReply, Fault> {
    let archive = &cx.service;
    let visibility = archive.visibility(&cx.caller).await?;
    let file = archive.file_to_delete(&visibility, &args.file_id).await?;
    // A job that is not stopped finds no file when it ends, and keeps nothing.
    if let Some(job) = &file.job_id {
        drop(archive.jobs.cancel(job).await);
    }
    let mut tx = archive.db.begin().await?;
    let file = archive.documents.delete(&mut tx, &file.id).await?;
    let gone = archive.insights.delete_by_file(&mut tx, &file.id).await?;
    // Tests repeat sentences of the file in their results.
    let tests = archive.documents.take_traces(&mut tx, &file.id).await?;
    archive.jobs.delete_in(&mut tx, &tests).await?;
    tx.commit().await?;
    // The record is gone, so what is left of the content goes now or at the next sweep.
    if let Err(fault) = archive.documents.release(&file.hash).await {
        tracing::warn!(file = file.id, "the content of a file is left to the sweep: {fault}");
    }
    archive.scrub(&file.id).await;
    let message = format!("deleted {} with {gone} insights", file.name);
    let json = json!({ "success": true, "fileId": file.id, "insightsDeleted": gone,
        "message": message });
    Ok(JsonReply::new(json, message))
}

impl Archive {
    /// What nobody is shown any more is not to be found in the database's files either. That this
    /// fails changes nothing for whoever asks.
    async fn scrub(&self, file_id: &str) {
        let scrubbed = async {
            self.insights.purge_deleted_words().await?;
            self.db.truncate_wal().await
        };
        if let Err(fault) = scrubbed.await {
            tracing::warn!(
                file = file_id,
                "words of a deleted file are still on the disk: {fault}"
            );
        }
    }

    async fn listed(
        &self,
        visibility: &Visibility,
        args: &ListArgs,
    ) -> Result<(Vec<FileRecord>, u64), Fault> {
        let case_id = match &args.case_id {
            None => None,
            Some(name) => match visibility.case_named(name) {
                Some(case) => Some(case.id.clone()),
                None => return Ok((Vec::new(), 0)),
            },
        };
        let status = args.status.as_deref().and_then(FileStatus::parse);
        let filter = FileFilter { case_id, status, ..FileFilter::default() };
        self.documents.list(visibility, &filter, args.limit, args.offset).await
    }

    /// A file whose job ended without a word, because its process died with the last attempt, is
    /// told as it is and not as it was written down.
    async fn settle(&self, file: &mut FileRecord) {
        let Some(id) = file.job_id.as_ref().filter(|_| file.status == FileStatus::Processing)
        else {
            return;
        };
        let gone = "its job is no longer known; process it again".to_owned();
        let error = match self.jobs.get(id).await {
            Ok(job) if job.state == JobState::Failed => {
                job.error.map_or_else(|| "its job failed".to_owned(), |it| it.message)
            }
            Ok(job) if job.state == JobState::Cancelled => {
                let read = file.page_count.is_some();
                file.status = if read { FileStatus::Processed } else { FileStatus::Uploaded };
                return;
            }
            Err(fault) if fault.code() == "job_not_found" => gone,
            _ => return,
        };
        file.status = FileStatus::Failed;
        file.error = Some(error);
    }
}

//! `arkiver_process_file`: a file is read as a job of the house's queue, so that it outlives the
//! process that took it in.

mod across;
mod make;
mod pages;
pub(crate) mod scratch;
mod settings;
mod summary;
pub(crate) mod work;

use archive_accounts::Visibility;
use archive_documents::FileRecord;
use contract::Cx;
use fault::{Fault, Kind};
use jobs::{Job, NewJob};
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::Tx;

use crate::said::JsonReply;
use crate::{Archive, PROCESS};
use settings::Settings;

/// Attempts at a file: the reader's death may have come from outside, but not often.
const ATTEMPTS: u32 = 3;
const SECONDS_FOR_ANY: f64 = 1.0;
const SECONDS_A_MEGABYTE: f64 = 0.5;
/// Of a picture, which OCR reads.
const SECONDS_FOR_PICTURES: f64 = 10.0;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Args {
    file_id: String,
    processing_settings: Settings,
}

/// What a job carries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProcessPayload {
    pub(crate) file_id: String,
    pub(crate) settings: Settings,
}

/// What a job came to, beside the insights it made.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProcessSummary {
    pub(crate) page_count: u64,
    pub(crate) word_count: u64,
    /// Seconds.
    pub(crate) processing_time: f64,
    pub(crate) extractors_used: Vec<String>,
    pub(crate) processors_used: Vec<String>,
    pub(crate) extraction_mode: String,
    pub(crate) pages_read: u64,
    pub(crate) ocr_pages: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) problems: Vec<String>,
    pub(crate) insights: u64,
}

pub(crate) async fn call(cx: Cx<Archive>, args: Args) -> Result<JsonReply, Fault> {
    let archive = &cx.service;
    let visibility = archive.visibility(&cx.caller).await?;
    let file = archive.file_to_write(&visibility, &args.file_id).await?;
    let payload = ProcessPayload { file_id: file.id.clone(), settings: args.processing_settings };
    // Everybody's first file goes before anybody's second, and so on.
    let waiting = archive.waiting(PROCESS, &visibility.owner).await?;
    let job = NewJob::new(PROCESS, &payload)?
        .owner(&visibility.owner)
        .priority(-i32::try_from(waiting).unwrap_or(i32::MAX))
        .key(format!("file:{}", file.id))
        .max_attempts(ATTEMPTS);
    let mut tx = archive.db.begin().await?;
    let pushed = archive.jobs.push_in(&mut tx, &job).await?;
    if pushed.is_new {
        archive.documents.begin_processing(&mut tx, &file.id, &pushed.job.id).await?;
        if let Some(name) = &payload.settings.case_id {
            archive.put_into_case(&mut tx, &visibility, &file, name).await?;
        }
        tx.commit().await?;
        archive.jobs.notify_workers();
    } else {
        drop(tx);
        same(&pushed.job, &payload)?;
    }
    let seconds = estimate(&file);
    let id = &pushed.job.id;
    let text = format!(
        "Processing of {} ({}) has started as job {id}; about {seconds} s. \
         Ask arkiver_job_status with this jobId and waitSeconds.",
        file.name, file.id
    );
    let json = json!({ "success": true, "jobId": id, "fileId": file.id, "status": "queued",
        "estimatedDuration": seconds, "message": "Processing started" });
    Ok(JsonReply::new(json, text).begun(id))
}

/// A file that is being processed the same way is processed once.
fn same(running: &Job, payload: &ProcessPayload) -> Result<(), Fault> {
    if running.payload_as::<ProcessPayload>()? == *payload {
        return Ok(());
    }
    let message = format!(
        "job {} processes this file with other settings; wait for it or cancel it first",
        running.id
    );
    Err(Fault::invalid("processing_under_way", message)
        .problem("processingSettings", "those of the running job, or a file at rest"))
}

impl Archive {
    /// Moves a file with its insights into the case of this name. Only who may delete a file may
    /// take it out of the case it is in.
    async fn put_into_case(
        &self,
        tx: &mut Tx,
        visibility: &Visibility,
        file: &FileRecord,
        name: &str,
    ) -> Result<(), Fault> {
        let case = self.accounts.case_for_writing(tx, &visibility.owner, name).await?;
        if file.case_id.as_deref() == Some(case.as_str()) {
            return Ok(());
        }
        if !visibility.may_delete(&file.owner, file.case_id.as_deref()) {
            let message = "only its owner and the owner of its case may move a file";
            return Err(Fault::new(Kind::Forbidden, "file_not_yours", message));
        }
        self.documents.set_case(tx, &file.id, Some(&case)).await?;
        self.insights.move_case(tx, &file.id, file.case_id.as_deref(), Some(&case)).await?;
        Ok(())
    }
}

/// Seconds that a file of this size and type takes, roughly.
fn estimate(file: &FileRecord) -> u64 {
    let megabytes = file.size as f64 / f64::from(1 << 20);
    let pictures = if file.mime.starts_with("image/") { SECONDS_FOR_PICTURES } else { 0.0 };
    // A file has a hundred megabytes at most, so the number is small and not negative.
    (SECONDS_FOR_ANY + SECONDS_A_MEGABYTE * megabytes + pictures).ceil() as u64
}

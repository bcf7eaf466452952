//! `arkiver_process_file`: queues a job that processes a file. The job survives a restart.

use archive_accounts::Visibility;
use archive_documents::FileRecord;
use archive_extract::Password;
use contract::{Cx, JsonReply, next_step};
use fault::{Fault, Kind};
use jobs::{Job, NewJob};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use store::Tx;

use crate::processing::ProcessPayload;
use crate::processing::settings::ProcessingSettings;
use crate::wire::{given_case, reply};
use crate::{Archive, PROCESS};

/// A child process may be killed from outside, but three times in a row means the file is bad.
const ATTEMPTS: u32 = 3;
const SECONDS_PER_FILE: f64 = 1.0;
const SECONDS_PER_MEGABYTE: f64 = 0.5;
/// Added for an image, which needs OCR.
const SECONDS_FOR_OCR: f64 = 10.0;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Args {
    file_id: String,
    processing_settings: ProcessingSettings,
    password: Option<Password>,
}

pub(crate) async fn call(cx: Cx<Archive>, given: Map<String, Value>) -> Result<JsonReply, Fault> {
    let archive = &cx.service;
    let (args, ignored): (Args, _) = archive.inputs.read("arkiver_process_file", given)?;
    let visibility = archive.visibility(&cx.caller).await?;
    let file = archive.file_to_write(&visibility, &args.file_id).await?;
    let (settings, password) = (args.processing_settings, args.password);
    let id = &archive.start_processing(&visibility, &file, settings, password).await?;
    let seconds = estimate(&file);
    let mut text = format!(
        "Processing of {} ({}) has started as job {id}; about {seconds} s.",
        file.name, file.id
    );
    let mut json = json!({ "success": true, "jobId": id, "fileId": file.id, "status": "queued",
        "estimatedDuration": seconds, "message": "Processing started" });
    ignored.add_to(&mut json, &mut text);
    let wait = json!({ "jobId": id, "waitSeconds": 60 });
    text.push_str(&next_step("arkiver_job_status", &wait));
    Ok(reply(json, text).with_job(id))
}

/// A second call with the same settings joins the running job; other settings are refused.
fn check_same_settings(running: &Job, payload: &ProcessPayload) -> Result<(), Fault> {
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
    /// Queues the job that processes a file, or joins the one that does, and returns its id.
    pub(crate) async fn start_processing(
        &self,
        visibility: &Visibility,
        file: &FileRecord,
        settings: ProcessingSettings,
        password: Option<Password>,
    ) -> Result<String, Fault> {
        let has_password = password.is_some();
        let payload = ProcessPayload { file_id: file.id.clone(), settings, has_password };
        let job = NewJob::new(PROCESS, &payload)?
            .owner(&visibility.owner)
            .key(format!("file:{}", file.id))
            .max_attempts(ATTEMPTS);
        let mut tx = self.db.begin().await?;
        let pushed = self.jobs.push_in(&mut tx, &job).await?;
        if pushed.is_new {
            // Before the commit, after which a worker may take the job.
            if let Some(password) = password {
                self.passwords.put(&pushed.job.id, password);
            }
            self.documents.begin_processing(&mut tx, &file.id, &pushed.job.id).await?;
            if let Some(name) = given_case(payload.settings.case_id.as_deref()) {
                self.put_into_case(&mut tx, visibility, file, name).await?;
            }
            tx.commit().await?;
            self.jobs.notify_workers();
        } else {
            drop(tx);
            check_same_settings(&pushed.job, &payload)?;
            // The job may wait since before a restart, which lost its password.
            if let Some(password) = password {
                self.passwords.put(&pushed.job.id, password);
            }
        }
        Ok(pushed.job.id)
    }

    /// Moves a file with its insights into the named case. A caller who may not delete the file
    /// may not take it out of its case.
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
        self.search.move_case(tx, &file.id, &file.owner, Some(&case)).await?;
        self.insights.move_case(tx, &file.id, file.case_id.as_deref(), Some(&case)).await?;
        Ok(())
    }
}

/// A rough estimate in seconds.
fn estimate(file: &FileRecord) -> u64 {
    let megabytes = file.size as f64 / f64::from(1 << 20);
    let pictures = if file.mime.starts_with("image/") { SECONDS_FOR_OCR } else { 0.0 };
    // A file has at most 1 GB, so the number is small and not negative.
    (SECONDS_PER_FILE + SECONDS_PER_MEGABYTE * megabytes + pictures).ceil() as u64
}

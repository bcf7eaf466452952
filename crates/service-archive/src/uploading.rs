//! What all ways to add a file share: the metadata, the storing of received files, and the JSON
//! about a stored file.

use archive_accounts::Visibility;
use archive_documents::{
    FileReceiver, FileRecord, PendingUpload, ReceivedFile, StoredFile, UploadMetadata,
};
use archive_extract::Password;
use contract::FilePart;
use fault::{Fault, Kind};
use limits::OwnerSlot;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::time::Duration;

use archive_search::FileFacts;

use crate::Archive;
use crate::page_index;
use crate::processing::settings::ProcessingSettings;
use crate::upload_tracker::TrackedUpload;
use crate::wire::{case_name, given_case, put};

/// When a caller with too many uploads may try again.
const RETRY_AFTER: Duration = Duration::from_secs(5);

/// What a caller says about a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Metadata {
    /// The name of a case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) case_id: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) tags: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) description: Option<String>,
}

/// Reads a file of a form to its end. Dropping the future removes the bytes received so far.
pub(crate) async fn receive(
    mut receiver: FileReceiver,
    mut file: FilePart<'_>,
    tracked: Option<&TrackedUpload<'_>>,
) -> Result<ReceivedFile, Fault> {
    while let Some(chunk) = file.chunk().await.map_err(name_the_setting)? {
        receiver.write(&chunk).await?;
        if let Some(tracked) = tracked {
            tracked.received(file.upload_received_bytes());
        }
    }
    receiver.finish().await
}

/// Adds the setting that a size limit comes from.
pub(crate) fn name_the_setting(fault: Fault) -> Fault {
    let setting = match fault.code() {
        "file_too_large" => "archive_file_bytes_max",
        "batch_too_large" | "body_too_large" => "archive_batch_bytes_max",
        _ => return fault,
    };
    let message = format!("{}; the setting {setting} changes this limit", fault.message());
    fault.reworded(message)
}

impl Archive {
    /// A place among the uploads of one owner that run at once.
    pub(crate) fn upload_slot(&self, owner: &str) -> Result<OwnerSlot<String>, Fault> {
        self.upload_slots.try_acquire(owner.to_owned()).map_err(|_| {
            let message = "too many uploads of yours are under way; wait for one of them to end";
            let fault = Fault::new(Kind::RateLimited, "too_many_uploads", message);
            fault.retry_after(RETRY_AFTER)
        })
    }

    /// Creates the records of received files, all or none, and closes the upload they came by.
    pub(crate) async fn store_files(
        &self,
        owner: &str,
        metadata: Metadata,
        received: Vec<ReceivedFile>,
        open: Option<&PendingUpload>,
    ) -> Result<Vec<StoredFile>, Fault> {
        let hashes: Vec<String> = received.iter().map(ReceivedFile::hash).collect();
        let stored = async {
            let mut tx = self.db.begin().await?;
            let case_id = match given_case(metadata.case_id.as_deref()) {
                Some(name) => Some(self.accounts.case_for_writing(&mut tx, owner, name).await?),
                None => None,
            };
            let Metadata { tags, description, .. } = metadata;
            let metadata = UploadMetadata { case_id, tags, description };
            let stored = self.documents.store(&mut tx, owner, &metadata, received).await?;
            if let (Some(open), Some(first)) = (open, stored.first()) {
                self.documents.close_upload(&mut tx, open, &first.file.id).await?;
            }
            for StoredFile { file, .. } in &stored {
                // Of the file itself only its name, tags and description are known yet.
                let index = page_index::build(file, &FileFacts::default(), &[]);
                let case = file.case_id.as_deref();
                self.search.replace(&mut tx, &file.id, &file.owner, case, index).await?;
            }
            tx.commit().await?;
            page_index::merge(&self.search, owner, metadata.case_id.as_deref()).await;
            Ok(stored)
        };
        let stored = stored.await;
        if stored.is_err() {
            for hash in &hashes {
                if let Err(fault) = self.documents.release(hash).await {
                    tracing::warn!("a blob without a record is left to the sweep: {fault}");
                }
            }
        }
        stored
    }

    /// Starts the processing of a file that was just stored and returns the id of its job, or why
    /// it could not start: the file is stored all the same.
    pub(crate) async fn process_stored(
        &self,
        visibility: &Visibility,
        file: &FileRecord,
        password: Option<Password>,
    ) -> Result<String, String> {
        let settings = ProcessingSettings::standard();
        let started = self.start_processing(visibility, file, settings, password).await;
        started.map_err(|fault| {
            format!("the file is stored, but processing could not start: {}", fault.message())
        })
    }
}

pub(crate) fn file_json(stored: &StoredFile, visibility: &Visibility) -> Value {
    let file = &stored.file;
    let mut json = json!({
        "fileId": file.id,
        "fileName": file.name,
        "fileSize": file.size,
        "mimeType": file.mime,
        "uploadedAt": file.uploaded_at.to_rfc3339_millis(),
        "status": "uploaded",
        "sha256": file.hash,
        "tags": file.tags,
        "storedBefore": stored.stored_before,
    });
    put(&mut json, "caseId", case_name(visibility, file.case_id.as_deref()));
    put(&mut json, "description", file.description.as_deref());
    json
}

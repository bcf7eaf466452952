//! `arkiver_upload`: receives the files of one form, streams their bytes to `documents`, and stores
//! all files of the form in one transaction or none of them.

use std::time::Duration;

use archive_accounts::Visibility;
use archive_documents::{ReceivedFile, StoredFile, UploadMetadata};
use contract::{Cx, FilePart, JsonReply, Upload, UploadPart};
use fault::{Fault, Kind};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::Archive;
use crate::upload_tracker::TrackedUpload;
use crate::wire::{case_name, put, reply};

/// When a caller with too many uploads may try again.
const RETRY_AFTER: Duration = Duration::from_secs(5);

#[derive(Default, Deserialize)]
pub(crate) struct Form {
    metadata: Option<Metadata>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    case_id: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
    description: Option<String>,
}

pub(crate) async fn call(cx: Cx<Archive>, mut upload: Upload) -> Result<JsonReply, Fault> {
    let archive = &cx.service;
    let owner = archive.accounts.owner(&cx.caller.subject).await?;
    let Ok(_slot) = archive.upload_slots.try_acquire(owner.clone()) else {
        let message = "too many uploads of yours are under way; wait for one of them to end";
        let fault = Fault::new(Kind::RateLimited, "too_many_uploads", message);
        return Err(fault.retry_after(RETRY_AFTER));
    };
    let tracked = archive.upload_tracker.track(&owner, &upload);
    let received = receive_all(archive, &owner, &mut upload, tracked.as_ref()).await?;
    let form: Form = upload.form()?;
    // Checked again: a session may have ended while a large file was arriving.
    let owner = archive.accounts.owner(&cx.caller.subject).await?;
    let stored = archive.store_files(&owner, form.metadata.unwrap_or_default(), received).await?;
    // Read after the files are stored, because the case of the upload may be new.
    let visibility = archive.accounts.visibility(&owner).await?;
    if let Some(tracked) = &tracked {
        tracked.done(stored.iter().map(|it| it.file.id.clone()).collect());
    }
    let files: Vec<Value> = stored.iter().map(|it| file_json(it, &visibility)).collect();
    let mut json = files.first().cloned().unwrap_or_else(|| json!({}));
    json["success"] = Value::from(true);
    if files.len() > 1 {
        json["files"] = Value::from(files);
    }
    let names: Vec<String> =
        stored.iter().map(|it| format!("{} is file {}", it.file.name, it.file.id)).collect();
    Ok(reply(json, format!("Uploaded: {}.", names.join(", "))))
}

/// Reads the form to its end. Metadata that comes before the files is checked before they arrive.
async fn receive_all(
    archive: &Archive,
    owner: &str,
    upload: &mut Upload,
    tracked: Option<&TrackedUpload<'_>>,
) -> Result<Vec<ReceivedFile>, Fault> {
    let files_max = archive.documents.files_per_upload_max();
    let mut received = Vec::new();
    loop {
        match upload.next().await? {
            None => break,
            Some(UploadPart::File(_)) if received.len() >= files_max => {
                let message =
                    format!("an upload has at most {files_max} files; send the rest later");
                let fault = Fault::invalid("too_many_files", message);
                return Err(fault.problem("file", format!("at most {files_max} files")));
            }
            Some(UploadPart::File(file)) => {
                received.push(receive(archive, owner, file, tracked).await?)
            }
            Some(UploadPart::Field { .. }) => drop(upload.form::<Form>()?),
        }
    }
    if received.is_empty() {
        let message = "the form has no file; send it in the field \"file\"";
        return Err(Fault::invalid("invalid_input", message).problem("file", "at least one file"));
    }
    Ok(received)
}

/// Receives one file. Dropping the future removes the bytes received so far.
async fn receive(
    archive: &Archive,
    owner: &str,
    mut file: FilePart<'_>,
    tracked: Option<&TrackedUpload<'_>>,
) -> Result<ReceivedFile, Fault> {
    if !matches!(file.name.as_str(), "file" | "files" | "file[]" | "files[]") {
        let message = format!("files are sent in the field \"file\", not {:?}", file.name);
        return Err(Fault::invalid("invalid_input", message).problem(&file.name, "the name file"));
    }
    let mut receiver = archive.documents.begin(owner, &file.file_name).await?;
    while let Some(chunk) = file.chunk().await? {
        receiver.write(&chunk).await?;
        if let Some(tracked) = tracked {
            tracked.received(file.upload_received_bytes());
        }
    }
    receiver.finish().await
}

impl Archive {
    async fn store_files(
        &self,
        owner: &str,
        metadata: Metadata,
        received: Vec<ReceivedFile>,
    ) -> Result<Vec<StoredFile>, Fault> {
        let hashes: Vec<String> = received.iter().map(ReceivedFile::hash).collect();
        let stored = async {
            let mut tx = self.db.begin().await?;
            let case_id = match &metadata.case_id {
                Some(name) => Some(self.accounts.case_for_writing(&mut tx, owner, name).await?),
                None => None,
            };
            let Metadata { tags, description, .. } = metadata;
            let metadata = UploadMetadata { case_id, tags, description };
            let stored = self.documents.store(&mut tx, owner, &metadata, received).await?;
            tx.commit().await?;
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
}

fn file_json(stored: &StoredFile, visibility: &Visibility) -> Value {
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

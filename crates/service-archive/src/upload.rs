//! The upload of files, and how far it is. The bytes go to `documents` as they come; a form is
//! kept whole or not at all.

use parking_lot::{Mutex, MutexGuard};
use std::collections::VecDeque;
use std::time::Duration;

use archive_accounts::Visibility;
use archive_documents::{ReceivedFile, StoredFile, UploadMetadata};
use contract::{Cx, FilePart, Upload, UploadPart};
use fault::{Fault, Kind};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::Archive;
use crate::said::JsonReply;
use crate::wire::{case_name, put};

/// Uploads whose progress is remembered, the oldest forgotten first.
const TRACKED_MAX: usize = 10_000;
/// When to come back with one more upload.
const COME_BACK: Duration = Duration::from_secs(5);

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
    let visibility = archive.visibility(&cx.caller).await?;
    let Some(_seat) = archive.sending.take(&visibility.owner) else {
        let message = "too many uploads of yours are under way; wait for one of them to end";
        let fault = Fault::new(Kind::RateLimited, "too_many_uploads", message);
        return Err(fault.retry_after(COME_BACK));
    };
    let track = archive.uploads.follow(&visibility.owner, &upload);
    let mut receipts = Vec::new();
    loop {
        match upload.next().await? {
            None => break,
            Some(UploadPart::File(_)) if receipts.len() >= archive.documents.files_at_once() => {
                let most = archive.documents.files_at_once();
                let message = format!("an upload has at most {most} files; send the rest later");
                let fault = Fault::invalid("too_many_files", message);
                return Err(fault.problem("file", format!("at most {most} files")));
            }
            Some(UploadPart::File(file)) => {
                receipts.push(receive(archive, &visibility, file, track.as_ref()).await?);
            }
            // What is wrong with the metadata is said before the files are sent, if it comes first.
            Some(UploadPart::Field { .. }) => drop(upload.form::<Form>()?),
        }
    }
    if receipts.is_empty() {
        let message = "the form has no file; send it in the field \"file\"";
        return Err(Fault::invalid("invalid_input", message).problem("file", "at least one file"));
    }
    let form: Form = upload.form()?;
    // A session may have been ended in the time that a large file takes.
    let visibility = archive.visibility(&cx.caller).await?;
    let kept = archive.keep(&visibility, form.metadata.unwrap_or_default(), receipts).await?;
    // The names of cases, one of which may be new.
    let visibility = archive.accounts.visibility(&visibility.owner).await?;
    let told: Vec<Value> = kept.iter().map(|it| uploaded(it, &visibility)).collect();
    if let Some(track) = &track {
        track.done(kept.iter().map(|it| it.file.id.clone()).collect());
    }
    let mut json = told.first().cloned().unwrap_or_else(|| json!({}));
    json["success"] = Value::from(true);
    if told.len() > 1 {
        json["files"] = Value::from(told);
    }
    let names: Vec<String> =
        kept.iter().map(|it| format!("{} is file {}", it.file.name, it.file.id)).collect();
    Ok(JsonReply::new(json, format!("Uploaded: {}.", names.join(", "))))
}

/// Takes one file in. What was taken of it goes away if this is dropped.
async fn receive(
    archive: &Archive,
    visibility: &Visibility,
    mut file: FilePart<'_>,
    track: Option<&Tracking<'_>>,
) -> Result<ReceivedFile, Fault> {
    if !matches!(file.name.as_str(), "file" | "files" | "file[]" | "files[]") {
        let message = format!("files are sent in the field \"file\", not {:?}", file.name);
        return Err(Fault::invalid("invalid_input", message).problem(&file.name, "the name file"));
    }
    let mut receiver = archive.documents.begin(&visibility.owner, &file.file_name).await?;
    while let Some(chunk) = file.chunk().await? {
        receiver.write(&chunk).await?;
        if let Some(track) = track {
            track.received(file.upload_received_bytes());
        }
    }
    receiver.finish().await
}

impl Archive {
    async fn keep(
        &self,
        visibility: &Visibility,
        metadata: Metadata,
        receipts: Vec<ReceivedFile>,
    ) -> Result<Vec<StoredFile>, Fault> {
        let hashes: Vec<String> = receipts.iter().map(ReceivedFile::hash).collect();
        let kept = async {
            let mut tx = self.db.begin().await?;
            let case_id = match &metadata.case_id {
                Some(name) => {
                    Some(self.accounts.case_for_writing(&mut tx, &visibility.owner, name).await?)
                }
                None => None,
            };
            let Metadata { tags, description, .. } = metadata;
            let about = UploadMetadata { case_id, tags, description };
            let kept = self.documents.keep(&mut tx, &visibility.owner, &about, receipts).await?;
            tx.commit().await?;
            Ok(kept)
        };
        let kept = kept.await;
        if kept.is_err() {
            for hash in &hashes {
                if let Err(fault) = self.documents.release(hash).await {
                    tracing::warn!("a blob without a record is left to the sweep: {fault}");
                }
            }
        }
        kept
    }
}

fn uploaded(kept: &StoredFile, visibility: &Visibility) -> Value {
    let file = &kept.file;
    let mut json = json!({
        "fileId": file.id,
        "fileName": file.name,
        "fileSize": file.size,
        "mimeType": file.mime,
        "uploadedAt": file.uploaded_at.to_rfc3339_millis(),
        "status": "uploaded",
        "sha256": file.hash,
        "tags": file.tags,
        "storedBefore": kept.stored_before,
    });
    put(&mut json, "caseId", case_name(visibility, file.case_id.as_deref()));
    put(&mut json, "description", file.description.as_deref());
    json
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProgressArgs {
    upload_id: String,
}

pub(crate) async fn progress(cx: Cx<Archive>, args: ProgressArgs) -> Result<JsonReply, Fault> {
    let visibility = cx.service.visibility(&cx.caller).await?;
    let id = args.upload_id;
    let found = cx.service.uploads.find(&visibility.owner, &id).ok_or_else(|| {
        let message = format!("there is no upload {id:?}; it failed, or was long ago");
        Fault::not_found("upload_not_found", message)
    })?;
    let mut json = json!({ "success": true, "uploadId": id, "receivedBytes": found.received,
        "done": found.files.is_some(), "files": found.files.clone().unwrap_or_default() });
    put(&mut json, "totalBytes", found.total);
    let text = match (&found.files, found.total) {
        (Some(files), _) => format!("Upload {id} is done: {}.", files.join(", ")),
        (None, Some(total)) => format!("Upload {id}: {} of {total} bytes.", found.received),
        (None, None) => format!("Upload {id}: {} bytes so far.", found.received),
    };
    Ok(JsonReply::new(json, text))
}

/// The uploads that have a name, as far as they are. StoredFile in memory: an upload does not outlive
/// its process either.
#[derive(Default)]
pub(crate) struct Uploads(Mutex<VecDeque<Tracked>>);

#[derive(Clone)]
struct Tracked {
    owner: String,
    id: String,
    received: u64,
    total: Option<u64>,
    /// Set once they are kept.
    files: Option<Vec<String>>,
}

/// One upload under way. Dropped before it is done, it is forgotten.
struct Tracking<'a> {
    uploads: &'a Uploads,
    owner: String,
    id: String,
}

impl Uploads {
    fn all(&self) -> MutexGuard<'_, VecDeque<Tracked>> {
        self.0.lock()
    }

    fn follow(&self, owner: &str, upload: &Upload) -> Option<Tracking<'_>> {
        let id = upload.id()?;
        let mut all = self.all();
        all.retain(|it| it.owner != owner || it.id != id);
        if all.len() >= TRACKED_MAX {
            all.pop_front();
        }
        all.push_back(Tracked {
            owner: owner.to_owned(),
            id: id.to_owned(),
            received: 0,
            total: upload.announced_bytes(),
            files: None,
        });
        Some(Tracking { uploads: self, owner: owner.to_owned(), id: id.to_owned() })
    }

    fn find(&self, owner: &str, id: &str) -> Option<Tracked> {
        self.all().iter().rev().find(|it| it.owner == owner && it.id == id).cloned()
    }
}

impl Tracking<'_> {
    fn change(&self, change: impl FnOnce(&mut Tracked)) {
        let mut all = self.uploads.all();
        // New ones are at the back, and so are those that change.
        let mine = all.iter_mut().rev().find(|it| it.owner == self.owner && it.id == self.id);
        if let Some(mine) = mine {
            change(mine);
        }
    }

    fn received(&self, bytes: u64) {
        self.change(|it| it.received = bytes);
    }

    fn done(&self, files: Vec<String>) {
        self.change(|it| it.files = Some(files));
    }
}

impl Drop for Tracking<'_> {
    fn drop(&mut self) {
        let mut all = self.uploads.all();
        all.retain(|it| it.owner != self.owner || it.id != self.id || it.files.is_some());
    }
}

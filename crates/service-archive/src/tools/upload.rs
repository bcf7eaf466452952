//! `arkiver_upload`: receives the files of one form, streams their bytes to `documents`, and stores
//! all files of the form in one transaction or none of them.

use archive_documents::ReceivedFile;
use contract::{Cx, FilePart, JsonReply, Upload, UploadPart};
use fault::Fault;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::Archive;
use crate::upload_tracker::TrackedUpload;
use crate::uploading::{self, Metadata, file_json, name_the_setting};
use crate::wire::reply;

#[derive(Default, Deserialize)]
pub(crate) struct Form {
    metadata: Option<Metadata>,
}

pub(crate) async fn call(cx: Cx<Archive>, mut upload: Upload) -> Result<JsonReply, Fault> {
    let archive = &cx.service;
    let owner = archive.accounts.owner(&cx.caller.subject).await?;
    let _slot = archive.upload_slot(&owner)?;
    let tracked = archive.upload_tracker.track(&owner, &upload);
    let received = receive_all(archive, &owner, &mut upload, tracked.as_ref()).await?;
    let form: Form = upload.form()?;
    // Checked again: a session may have ended while a large file was arriving.
    let owner = archive.accounts.owner(&cx.caller.subject).await?;
    let metadata = form.metadata.unwrap_or_default();
    let stored = archive.store_files(&owner, metadata, received, None).await?;
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
        match upload.next().await.map_err(name_the_setting)? {
            None => break,
            Some(UploadPart::File(_)) if received.len() >= files_max => {
                let message =
                    format!("an upload has at most {files_max} files; send the rest in others");
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

/// Receives one file.
async fn receive(
    archive: &Archive,
    owner: &str,
    file: FilePart<'_>,
    tracked: Option<&TrackedUpload<'_>>,
) -> Result<ReceivedFile, Fault> {
    if !matches!(file.name.as_str(), "file" | "files" | "file[]" | "files[]") {
        let message = format!("files are sent in the field \"file\", not {:?}", file.name);
        return Err(Fault::invalid("invalid_input", message).problem(&file.name, "the name file"));
    }
    let receiver = archive.documents.begin(owner, &file.file_name).await?;
    uploading::receive(receiver, file, tracked).await
}

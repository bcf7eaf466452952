//! `arkiver_upload_by_link`: receives the bytes of one file at the address that `arkiver_add_file`
//! gave. The token in the address is the only credential, and works for this one file.

use archive_documents::ReceivedFile;
use contract::{Cx, JsonReply, Upload, UploadPart};
use fault::Fault;

use crate::Archive;
use crate::tools::add_file::FileOptions;
use crate::uploading::receive;

pub(crate) async fn call(cx: Cx<Archive>, mut upload: Upload) -> Result<JsonReply, Fault> {
    let archive = &cx.service;
    let (id, token) = (upload.path_argument("uploadId"), upload.path_argument("token"));
    let subject = archive.tokens.verify_upload(token, id).await?;
    let owner = archive.accounts.owner(&subject).await?;
    let open = archive.documents.pending_upload(&owner, id).await?;
    if open.file_id.is_some() {
        let message = "this link was used; ask for another with arkiver_add_file";
        return Err(Fault::not_found("upload_not_found", message)
            .problem("uploadId", "that of an open upload"));
    }
    let _slot = archive.upload_slot(&owner)?;
    let received = receive_one(archive, &open.file_name, &mut upload).await?;
    // Checked again: the session may have ended while the file was arriving.
    archive.accounts.owner(&subject).await?;
    let about: FileOptions = serde_json::from_str(&open.about).map_err(Fault::internal)?;
    archive.finish_upload(&owner, about, None, received, Some(&open)).await
}

/// The file of the request, under the name that the link is for.
async fn receive_one(
    archive: &Archive,
    name: &str,
    upload: &mut Upload,
) -> Result<ReceivedFile, Fault> {
    let mut received = None;
    while let Some(part) = upload.next().await? {
        let UploadPart::File(file) = part else { continue };
        if received.is_some() {
            let message = "the link is for one file; ask for another link for the next";
            return Err(Fault::invalid("too_many_files", message).problem("file", "one file"));
        }
        let receiver = archive.documents.begin_counted(name).await?;
        received = Some(receive(receiver, file, None).await?);
    }
    received.ok_or_else(|| {
        let message = "there is no file in the request; send its bytes as the body";
        Fault::invalid("invalid_input", message).problem("file", "one file")
    })
}

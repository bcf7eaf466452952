//! `arkiver_add_file`: adds one file, from a path of this machine, from content in the call or in
//! several calls, or by a link to which its bytes are sent.

use std::time::Duration;

use archive_accounts::Visibility;
use archive_documents::{NewPendingUpload, PendingUpload, ReceivedFile, StoredFile, UploadPiece};
use archive_extract::Password;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clock::Millis;
use contract::{Cx, JsonReply, next_step};
use fault::Fault;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::io::AsyncReadExt as _;

use crate::Archive;
use crate::local_file;
use crate::uploading::{Metadata, file_json};
use crate::wire::{put, reply};

/// One call has at most this many bytes of content.
const CONTENT_BYTES_MAX: usize = 1 << 20;
/// Bytes of a file of this machine that are read at once.
const READ_BYTES: usize = 64 * 1024;
/// A link works this long.
const LINK_LIFETIME: Duration = Duration::from_secs(15 * 60);
/// An upload waits this long for its next piece.
const PIECE_WAIT: Duration = Duration::from_secs(3600);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Args {
    path: Option<String>,
    filename: Option<String>,
    content: Option<String>,
    encoding: Encoding,
    upload_id: Option<String>,
    offset: Option<u64>,
    last: Option<bool>,
    password: Option<Password>,
    #[serde(flatten)]
    about: FileOptions,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Encoding {
    Text,
    Base64,
}

/// The metadata of a file and whether it is processed, kept until its bytes are complete.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct FileOptions {
    #[serde(flatten)]
    pub(crate) metadata: Metadata,
    pub(crate) process: bool,
}

pub(crate) async fn call(cx: Cx<Archive>, args: Args) -> Result<JsonReply, Fault> {
    let owner = cx.service.accounts.owner(&cx.caller.subject).await?;
    let _slot = cx.service.upload_slot(&owner)?;
    check_password(&args)?;
    match &args {
        Args { path: Some(_), content: Some(_), .. } => Err(two_sources("content")),
        Args { path: Some(_), upload_id: Some(_), .. } => Err(two_sources("uploadId")),
        Args { path: Some(path), .. } => add_by_path(&cx, &owner, path, &args).await,
        Args { upload_id: Some(id), content: None, .. } => upload_state(&cx, &owner, id).await,
        Args { upload_id: Some(id), content: Some(content), .. } => {
            let open = cx.service.documents.pending_upload(&owner, id).await?;
            add_piece(&cx, open, content, &args).await
        }
        Args { filename: Some(name), content: Some(content), .. } => {
            add_content(&cx, &owner, name, content, &args).await
        }
        Args { filename: Some(name), .. } => open_link(&cx, &owner, name, &args.about).await,
        Args { filename: None, .. } => Err(nothing_given(cx.is_local)),
    }
}

async fn add_by_path(
    cx: &Cx<Archive>,
    owner: &str,
    path: &str,
    args: &Args,
) -> Result<JsonReply, Fault> {
    if !cx.is_local {
        let message = "path names a file of the server's machine, which only its own user may add, \
                       over stdio or with `stoa archive add`; send filename with content, or \
                       filename alone for a link to upload to";
        return Err(Fault::invalid("path_not_local", message)
            .problem("path", "no path over HTTP; filename, with content or alone"));
    }
    let (name, mut file) = local_file::open(path).await?;
    let name = args.filename.as_deref().unwrap_or(&name);
    let mut receiver = cx.service.documents.begin_counted(name).await?;
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let read = file.read(&mut buffer).await.map_err(|_| {
            let message = "the file at this path cannot be read to its end";
            Fault::invalid("invalid_path", message).problem("path", "a file that can be read")
        })?;
        match buffer.get(..read) {
            Some(bytes) if read > 0 => receiver.write(bytes).await?,
            _ => break,
        }
    }
    let received = receiver.finish().await?;
    check_caller_and_finish(cx, owner, args, received, None).await
}

/// Adds content with the name of its file: the whole file, or its first piece.
async fn add_content(
    cx: &Cx<Archive>,
    owner: &str,
    name: &str,
    content: &str,
    args: &Args,
) -> Result<JsonReply, Fault> {
    let bytes = decoded(content, args.encoding)?;
    if args.offset.is_some_and(|offset| offset > 0) {
        let message = "a first piece begins at 0; name the uploadId of a later one";
        return Err(Fault::invalid("wrong_offset", message).problem("offset", "0, or an uploadId"));
    }
    let documents = &cx.service.documents;
    if args.last.unwrap_or(true) {
        let mut receiver = match cx.is_local {
            true => documents.begin_counted(name).await?,
            false => documents.begin(owner, name).await?,
        };
        receiver.write(&bytes).await?;
        let received = receiver.finish().await?;
        return check_caller_and_finish(cx, owner, args, received, None).await;
    }
    let open = open_upload(cx, owner, name, &args.about, PIECE_WAIT).await?;
    add_piece(cx, open, content, args).await
}

async fn add_piece(
    cx: &Cx<Archive>,
    open: PendingUpload,
    content: &str,
    args: &Args,
) -> Result<JsonReply, Fault> {
    let (archive, bytes) = (&cx.service, decoded(content, args.encoding)?);
    if open.file_id.is_some() {
        return upload_state(cx, &open.owner, &open.id).await;
    }
    let at = args.offset.unwrap_or(open.received);
    let piece = UploadPiece { at, bytes: &bytes, expires_at: expiry_after(cx, PIECE_WAIT) };
    let received = archive.documents.add_piece(&open, piece).await?;
    if !args.last.unwrap_or(true) {
        let text = format!(
            "{received} bytes of {} are here. Send the next piece: arkiver_add_file \
             {{\"uploadId\":\"{}\",\"offset\":{received},\"content\":…,\"last\":…}}",
            open.file_name, open.id
        );
        let open = PendingUpload { received, expires_at: piece.expires_at, ..open };
        return Ok(reply(open_json(&open, &text), text));
    }
    let mut receiver = archive.documents.begin_counted(&open.file_name).await?;
    let mut at = 0;
    while let Some(bytes) = archive.documents.piece(&open, at).await? {
        receiver.write(&bytes).await?;
        at += bytes.len() as u64;
    }
    let received = receiver.finish().await?;
    let about: FileOptions = serde_json::from_str(&open.about).map_err(Fault::internal)?;
    cx.service.accounts.owner(&cx.caller.subject).await?;
    let password = args.password.clone();
    archive.finish_upload(&open.owner.clone(), about, password, received, Some(&open)).await
}

/// Answers with a link to which the client sends the bytes of the file.
async fn open_link(
    cx: &Cx<Archive>,
    owner: &str,
    name: &str,
    about: &FileOptions,
) -> Result<JsonReply, Fault> {
    if cx.is_local {
        return Err(nothing_given(true));
    }
    let archive = &cx.service;
    let open = open_upload(cx, owner, name, about, LINK_LIFETIME).await?;
    let token = archive.tokens.issue_upload(&cx.caller.subject, &open.id, LINK_LIFETIME).await?;
    let path = format!("/api/arkiver/uploads/{}/{}", open.id, token.token.reveal());
    let url = format!("{}{path}", archive.base_url.as_deref().unwrap_or_default());
    let text = format!(
        "Send the bytes of {} to this address within 15 minutes; it works once and needs no other \
         credential:\n{url}\nFor example: curl -T {} '{url}'{}",
        open.file_name,
        shell_word(&open.file_name),
        next_step("arkiver_add_file", &json!({ "uploadId": open.id }))
    );
    let mut json = open_json(&open, "send the bytes to uploadUrl with PUT, then ask with uploadId");
    json["uploadUrl"] = Value::from(url);
    Ok(reply(json, text))
}

async fn open_upload(
    cx: &Cx<Archive>,
    owner: &str,
    name: &str,
    about: &FileOptions,
    life: Duration,
) -> Result<PendingUpload, Fault> {
    let documents = &cx.service.documents;
    if !cx.is_local {
        documents.count_upload(owner).await?;
    }
    let about = serde_json::to_string(about).map_err(Fault::internal)?;
    let expires_at = expiry_after(cx, life);
    let new = NewPendingUpload { owner, file_name: name, about: &about, expires_at };
    documents.open_upload(new).await
}

/// Answers with the progress of an upload, or with the file that it became.
async fn upload_state(cx: &Cx<Archive>, owner: &str, id: &str) -> Result<JsonReply, Fault> {
    let archive = &cx.service;
    let open = archive.documents.pending_upload(owner, id).await?;
    let Some(file_id) = &open.file_id else {
        let text = format!(
            "{} is not complete: {} bytes are here; the upload waits until {}.",
            open.file_name, open.received, open.expires_at
        );
        return Ok(reply(open_json(&open, &text), text));
    };
    let visibility = archive.accounts.visibility(owner).await?;
    let file = archive.file_to_read(&visibility, file_id).await?;
    let text = format!("{} is file {}.", file.name, file.id);
    let job = file.job_id.clone();
    let stored = StoredFile { file, stored_before: false };
    Ok(stored_reply(&stored, &visibility, job, text))
}

/// Creates the record of a complete file and, if wanted, starts its processing.
async fn check_caller_and_finish(
    cx: &Cx<Archive>,
    owner: &str,
    args: &Args,
    received: ReceivedFile,
    open: Option<&PendingUpload>,
) -> Result<JsonReply, Fault> {
    // The caller is checked again, because a session may end while a large file is read.
    cx.service.accounts.owner(&cx.caller.subject).await?;
    let (about, password) = (args.about.clone(), args.password.clone());
    cx.service.finish_upload(owner, about, password, received, open).await
}

impl Archive {
    pub(crate) async fn finish_upload(
        &self,
        owner: &str,
        about: FileOptions,
        password: Option<Password>,
        received: ReceivedFile,
        open: Option<&PendingUpload>,
    ) -> Result<JsonReply, Fault> {
        let stored = self.store_files(owner, about.metadata, vec![received], open).await?;
        let stored = stored.first().ok_or_else(|| Fault::internal("nothing was stored"))?;
        // Read after the file is stored, because its case may be new.
        let visibility = self.accounts.visibility(owner).await?;
        let (name, id) = (&stored.file.name, &stored.file.id);
        let mut text = format!("Added {name} as file {id}.");
        let job = match about.process {
            false => {
                let settings = json!({ "extractionMode": "standard" });
                let next = json!({ "fileId": id, "processingSettings": settings });
                text.push_str(&next_step("arkiver_process_file", &next));
                None
            }
            true => match self.process_stored(&visibility, &stored.file, password).await {
                Ok(job) => {
                    let next = json!({ "jobId": job, "waitSeconds": 60 });
                    text.push_str("\nIt is being read.");
                    text.push_str(&next_step("arkiver_job_status", &next));
                    Some(job)
                }
                Err(problem) => {
                    text = format!("{text} {problem}");
                    None
                }
            },
        };
        Ok(stored_reply(stored, &visibility, job, text))
    }
}

fn stored_reply(
    stored: &StoredFile,
    visibility: &Visibility,
    job: Option<String>,
    text: String,
) -> JsonReply {
    let mut json = file_json(stored, visibility);
    json["success"] = Value::from(true);
    put(&mut json, "jobId", job);
    json["message"] = Value::from(text.as_str());
    reply(json, text)
}

fn open_json(open: &PendingUpload, message: &str) -> Value {
    json!({ "success": true, "status": "open", "uploadId": open.id, "fileName": open.file_name,
        "receivedBytes": open.received, "expiresAt": open.expires_at.to_rfc3339_millis(),
        "message": message })
}

fn expiry_after(cx: &Cx<Archive>, wait: Duration) -> Millis {
    let wait = i64::try_from(wait.as_millis()).unwrap_or(i64::MAX);
    Millis(cx.service.clock.now().0.saturating_add(wait))
}

fn decoded(content: &str, encoding: Encoding) -> Result<Vec<u8>, Fault> {
    let bytes = match encoding {
        Encoding::Text => content.as_bytes().to_vec(),
        Encoding::Base64 => {
            let written: Vec<u8> = content.bytes().filter(|it| !it.is_ascii_whitespace()).collect();
            STANDARD.decode(written).map_err(|_| {
                let message = "content is not base64, although encoding says so";
                Fault::invalid("invalid_input", message).problem("content", "base64 with padding")
            })?
        }
    };
    if bytes.is_empty() {
        let fault = Fault::invalid("empty_file", "content has no bytes");
        return Err(fault.problem("content", "at least one byte"));
    }
    if bytes.len() > CONTENT_BYTES_MAX {
        let message =
            "content has more than 1 MiB; send it in pieces with last false, or upload it";
        return Err(Fault::invalid("file_too_large", message)
            .problem("content", "at most 1048576 bytes a call"));
    }
    Ok(bytes)
}

/// A password is not stored, so it comes with the call that completes the file and processes it.
fn check_password(args: &Args) -> Result<(), Fault> {
    if args.password.is_none() {
        return Ok(());
    }
    let completes = (args.path.is_some() || args.content.is_some()) && args.last.unwrap_or(true);
    // The first call of an upload in pieces says whether the file is processed.
    let processes = args.about.process || args.upload_id.is_some();
    if completes && processes {
        return Ok(());
    }
    let message = "a password is not stored: send it with the call that completes the file, with \
                   process true, or with arkiver_process_file";
    Err(Fault::invalid("invalid_input", message)
        .problem("password", "process true and the last content, or arkiver_process_file"))
}

fn two_sources(other: &str) -> Fault {
    let message = format!("path is the whole file; leave {other} out");
    Fault::invalid("invalid_input", message).problem(other, "nothing beside path")
}

fn nothing_given(is_local: bool) -> Fault {
    let (message, field, expected) = match is_local {
        true => (
            "say which file: path, or filename with content",
            "path",
            "the full path of a file of this machine",
        ),
        false => (
            "say which file: filename with content, or filename alone for a link to upload to",
            "filename",
            "the name of the file",
        ),
    };
    Fault::invalid("invalid_input", message).problem(field, expected)
}

/// A file name as one word of a shell.
fn shell_word(name: &str) -> String {
    format!("'{}'", name.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(content: &str, encoding: Encoding, expected: Result<&[u8], &str>) {
        let read = decoded(content, encoding);
        assert_eq!(read.as_deref().map_err(Fault::code), expected, "{content:?}");
    }

    #[test]
    fn content_is_text_or_base64_and_bounded() {
        check("жалоба", Encoding::Text, Ok("жалоба".as_bytes()));
        check("AAEC/w==", Encoding::Base64, Ok(&[0, 1, 2, 255]));
        check(" AAEC\n/w==\n", Encoding::Base64, Ok(&[0, 1, 2, 255]));
        check("AAEC/w", Encoding::Base64, Err("invalid_input"));
        check("жалоба", Encoding::Base64, Err("invalid_input"));
        check("", Encoding::Text, Err("empty_file"));
        check("", Encoding::Base64, Err("empty_file"));
        check(&"x".repeat(CONTENT_BYTES_MAX + 1), Encoding::Text, Err("file_too_large"));
        assert_eq!(decoded(&"x".repeat(CONTENT_BYTES_MAX), Encoding::Text).unwrap().len(), 1 << 20);
    }

    #[test]
    fn a_file_name_is_one_word_of_a_shell() {
        assert_eq!(shell_word("a b.pdf"), "'a b.pdf'");
        assert_eq!(shell_word("it's.pdf"), "'it'\\''s.pdf'");
    }
}

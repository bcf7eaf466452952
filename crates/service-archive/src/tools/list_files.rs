//! `arkiver_list_files`: the files the caller may see, newest first, page by page.

use archive_accounts::Visibility;
use archive_documents::{FileFilter, FileRecord, FileStatus};
use contract::{Cx, JsonReply};
use fault::Fault;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::Archive;
use crate::wire::{self, reply};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Args {
    case_id: Option<String>,
    status: Option<String>,
    limit: u32,
    offset: u64,
}

pub(crate) async fn call(cx: Cx<Archive>, args: Args) -> Result<JsonReply, Fault> {
    let archive = &cx.service;
    let visibility = archive.visibility(&cx.caller).await?;
    let (mut files, total) = list(archive, &visibility, &args).await?;
    for file in &mut files {
        archive.refresh_status(file).await;
    }
    let listed: Vec<Value> = files.iter().map(|it| wire::file(it, &visibility)).collect();
    let pagination = wire::pagination(args.limit, args.offset, files.len(), total);
    let mut text = format!("{total} files.");
    for file in &files {
        text.push_str(&format!("\n- {}", wire::file_text(file)));
    }
    let json =
        json!({ "success": true, "files": listed, "total": total, "pagination": pagination });
    Ok(reply(json, text))
}

async fn list(
    archive: &Archive,
    visibility: &Visibility,
    args: &Args,
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
    archive.documents.list(visibility, &filter, args.limit, args.offset).await
}

//! `arkiver_list_files`: the files the caller may see, newest first, page by page.

use archive_accounts::Visibility;
use archive_documents::{FileFilter, FileRecord, FileStatus};
use contract::{Cx, JsonReply, next_step};
use fault::Fault;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::Archive;
use crate::wire::{self, reply};

/// Bytes of the text.
const TEXT_MAX: usize = 20_000;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Args {
    case_id: Option<String>,
    status: Option<String>,
    name: Option<String>,
    tag: Option<String>,
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
    let mut next = args.offset;
    for file in &files {
        next += 1;
        text.push_str(&format!("\n- {}", wire::file_text(file)));
        if text.len() > TEXT_MAX {
            break;
        }
    }
    if next < total && !files.is_empty() {
        let page = json!({ "caseId": args.case_id, "status": args.status, "name": args.name,
            "tag": args.tag, "limit": args.limit, "offset": next });
        text.push_str(&next_step("arkiver_list_files", &page));
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
    let (name, tag) = (args.name.clone(), args.tag.clone());
    let filter = FileFilter { case_id, status, name, tag, hash: None };
    archive.documents.list(visibility, &filter, args.limit, args.offset).await
}

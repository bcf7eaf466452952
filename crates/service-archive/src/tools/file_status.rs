//! `arkiver_file_status`: the record of one file and how many insights the caller sees of it.

use contract::{Cx, JsonReply};
use fault::Fault;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::Archive;
use crate::wire::{self, reply};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Args {
    file_id: String,
}

pub(crate) async fn call(cx: Cx<Archive>, args: Args) -> Result<JsonReply, Fault> {
    let archive = &cx.service;
    let visibility = archive.visibility(&cx.caller).await?;
    let mut file = archive.file_to_read(&visibility, &args.file_id).await?;
    archive.refresh_status(&mut file).await;
    let mut json = wire::file(&file, &visibility);
    let insights = archive.insights.count_by_file(&visibility, &file.id).await?;
    json["insightCount"] = Value::from(insights);
    let text = wire::file_text(&file);
    Ok(reply(json!({ "success": true, "file": json }), text))
}

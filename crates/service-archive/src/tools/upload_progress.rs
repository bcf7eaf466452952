//! `arkiver_upload_progress`: how many bytes of a named upload have arrived.

use contract::{Cx, JsonReply};
use fault::Fault;
use serde::Deserialize;
use serde_json::json;

use crate::Archive;
use crate::wire::{put, reply};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Args {
    upload_id: String,
}

pub(crate) async fn call(cx: Cx<Archive>, args: Args) -> Result<JsonReply, Fault> {
    let visibility = cx.service.visibility(&cx.caller).await?;
    let id = args.upload_id;
    let found = cx.service.upload_tracker.find(&visibility.owner, &id).ok_or_else(|| {
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
    Ok(reply(json, text))
}

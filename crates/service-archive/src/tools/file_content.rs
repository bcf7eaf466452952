//! `arkiver_file_content`: streams the bytes of a file as they were uploaded, 64 KiB at a time.

use std::io;

use bytes::Bytes;
use contract::{Cx, Download};
use fault::Fault;
use futures_util::stream;
use serde::Deserialize;
use tokio::io::AsyncReadExt as _;

use crate::Archive;

const CHUNK_BYTES: usize = 64 * 1024;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Args {
    file_id: String,
}

pub(crate) async fn call(cx: Cx<Archive>, args: Args) -> Result<Download, Fault> {
    let visibility = cx.service.visibility(&cx.caller).await?;
    let file = cx.service.file_to_read(&visibility, &args.file_id).await?;
    let opened = cx.service.documents.open(&file).await?;
    let body = stream::try_unfold(opened, |mut opened| async move {
        let mut chunk = Vec::with_capacity(CHUNK_BYTES);
        let read = (&mut opened).take(CHUNK_BYTES as u64).read_to_end(&mut chunk).await?;
        Ok::<_, io::Error>((read > 0).then(|| (Bytes::from(chunk), opened)))
    });
    Ok(Download::new(file.mime, body).named(file.name).of_length(file.size))
}

//! Files on their way out: as they came, and as one document with everything that is kept of them.
//! Neither is ever held whole.

use std::io;
use std::sync::Arc;

use archive_accounts::Visibility;
use archive_documents::FileRecord;
use archive_insights::{InsightQuery, SortKey};
use bytes::Bytes;
use contract::{Cx, Download};
use fault::Fault;
use futures_util::stream;
use serde::Deserialize;
use serde_json::Value;
use tokio::io::AsyncReadExt as _;

use crate::Archive;
use crate::wire;

/// Bytes that are read at a time.
const CHUNK: usize = 64 * 1024;
/// Insights that are read at a time.
const INSIGHTS_AT_ONCE: u32 = 100;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Args {
    file_id: String,
}

pub(crate) async fn content(cx: Cx<Archive>, args: Args) -> Result<Download, Fault> {
    let visibility = cx.service.visibility(&cx.caller).await?;
    let file = cx.service.file_to_read(&visibility, &args.file_id).await?;
    let opened = cx.service.documents.open(&file).await?;
    let body = stream::try_unfold(opened, |mut opened| async move {
        let mut chunk = Vec::with_capacity(CHUNK);
        let read = (&mut opened).take(CHUNK as u64).read_to_end(&mut chunk).await?;
        Ok::<_, io::Error>((read > 0).then(|| (Bytes::from(chunk), opened)))
    });
    Ok(Download::new(file.mime, body).named(file.name).of_length(file.size))
}

pub(crate) async fn export(cx: Cx<Archive>, args: Args) -> Result<Download, Fault> {
    let visibility = cx.service.visibility(&cx.caller).await?;
    let file = cx.service.file_to_read(&visibility, &args.file_id).await?;
    let name = format!("{}.json", file.name);
    let writer = Writer { archive: Arc::clone(&cx.service), visibility, file, at: At::Head };
    let body = stream::try_unfold(writer, |mut writer| async move {
        let piece = writer.next().await.map_err(io::Error::other)?;
        Ok::<_, io::Error>(piece.map(|piece| (Bytes::from(piece), writer)))
    });
    Ok(Download::new("application/json", body).named(name))
}

/// Writes `{"file": {…}, "pages": […], "insights": […]}` piece by piece.
struct Writer {
    archive: Arc<Archive>,
    visibility: Visibility,
    file: FileRecord,
    at: At,
}

#[derive(Clone, Copy)]
enum At {
    Head,
    /// After this page and piece.
    Pages(Option<(u32, u32)>),
    /// After so many.
    Insights(u64),
    End,
}

impl Writer {
    async fn next(&mut self) -> Result<Option<String>, Fault> {
        match self.at {
            At::Head => {
                self.at = At::Pages(None);
                let file = wire::file(&self.file, &self.visibility);
                Ok(Some(format!("{{\"file\":{file},\"pages\":[")))
            }
            At::Pages(after) => self.pages(after).await.map(Some),
            At::Insights(offset) => self.insights(offset).await.map(Some),
            At::End => Ok(None),
        }
    }

    async fn pages(&mut self, after: Option<(u32, u32)>) -> Result<String, Fault> {
        let pieces = self.archive.documents.pieces(&self.file.id, after).await?;
        let Some(last) = pieces.last() else {
            self.at = At::Insights(0);
            // The last page's text and object are still open.
            let open = if after.is_some() { "\"}" } else { "" };
            return Ok(format!("{open}],\"insights\":["));
        };
        self.at = At::Pages(Some((last.page, last.piece)));
        let mut written = String::new();
        let mut open = after.is_some();
        for piece in &pieces {
            if piece.piece == 0 {
                written.push_str(if open { "\"},\n" } else { "\n" });
                let (page, part_page) = (piece.page, piece.part_page);
                let part = Value::from(piece.part.as_str());
                written.push_str(&format!("{{\"page\":{page},\"part\":{part},"));
                written.push_str(&format!("\"partPage\":{part_page},"));
                if let Some(confidence) = piece.ocr_confidence {
                    written.push_str(&format!("\"ocrConfidence\":{},", Value::from(confidence)));
                }
                written.push_str("\"text\":\"");
                open = true;
            }
            // As JSON writes it, without the marks around it, since more may follow.
            let text = Value::from(piece.text.as_str()).to_string();
            written.push_str(text.get(1..text.len() - 1).unwrap_or_default());
        }
        Ok(written)
    }

    async fn insights(&mut self, offset: u64) -> Result<String, Fault> {
        let ask = InsightQuery {
            file_id: Some(self.file.id.clone()),
            sort: SortKey::CreatedAt,
            descending: false,
            limit: INSIGHTS_AT_ONCE,
            offset,
            ..InsightQuery::default()
        };
        let found = self.archive.insights.query(&self.visibility, &ask).await?;
        if found.insights.is_empty() {
            self.at = At::End;
            return Ok("\n]}\n".to_owned());
        }
        self.at = At::Insights(offset + found.insights.len() as u64);
        let mut written = String::new();
        for (at, (insight, _)) in found.insights.iter().enumerate() {
            written.push_str(if offset == 0 && at == 0 { "\n" } else { ",\n" });
            written.push_str(&wire::insight(insight, None, &self.visibility).to_string());
        }
        Ok(written)
    }
}

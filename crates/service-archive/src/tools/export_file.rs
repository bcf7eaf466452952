//! `arkiver_export_file`: streams one JSON document with the record, the pages and the insights of
//! a file. The document is never in memory as a whole.

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

use crate::Archive;
use crate::wire;

/// Insights that one query reads.
const INSIGHTS_PER_QUERY: u32 = 100;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Args {
    file_id: String,
}

pub(crate) async fn call(cx: Cx<Archive>, args: Args) -> Result<Download, Fault> {
    let visibility = cx.service.visibility(&cx.caller).await?;
    let file = cx.service.file_to_read(&visibility, &args.file_id).await?;
    let name = format!("{}.json", file.name);
    let writer = ExportWriter {
        archive: Arc::clone(&cx.service),
        visibility,
        file,
        position: ExportPosition::Head,
    };
    let body = stream::try_unfold(writer, |mut writer| async move {
        let chunk = writer.next().await.map_err(io::Error::other)?;
        Ok::<_, io::Error>(chunk.map(|chunk| (Bytes::from(chunk), writer)))
    });
    Ok(Download::new("application/json", body).named(name))
}

/// Writes `{"file": {…}, "pages": […], "insights": […]}` chunk by chunk.
struct ExportWriter {
    archive: Arc<Archive>,
    visibility: Visibility,
    file: FileRecord,
    position: ExportPosition,
}

#[derive(Clone, Copy)]
enum ExportPosition {
    Head,
    /// After this page and chunk.
    Pages(Option<(u32, u32)>),
    /// After this many insights.
    Insights(u64),
    End,
}

impl ExportWriter {
    async fn next(&mut self) -> Result<Option<String>, Fault> {
        match self.position {
            ExportPosition::Head => {
                self.position = ExportPosition::Pages(None);
                let file = wire::file(&self.file, &self.visibility);
                Ok(Some(format!("{{\"file\":{file},\"pages\":[")))
            }
            ExportPosition::Pages(after) => self.pages(after).await.map(Some),
            ExportPosition::Insights(offset) => self.insights(offset).await.map(Some),
            ExportPosition::End => Ok(None),
        }
    }

    async fn pages(&mut self, after: Option<(u32, u32)>) -> Result<String, Fault> {
        let chunks = self.archive.documents.chunks(&self.file.id, after).await?;
        let Some(last) = chunks.last() else {
            self.position = ExportPosition::Insights(0);
            // Closes the text and the object of the last page.
            let open = if after.is_some() { "\"}" } else { "" };
            return Ok(format!("{open}],\"insights\":["));
        };
        self.position = ExportPosition::Pages(Some((last.page, last.chunk)));
        let mut written = String::new();
        let mut open = after.is_some();
        for chunk in &chunks {
            if chunk.chunk == 0 {
                written.push_str(if open { "\"},\n" } else { "\n" });
                let (page, part_page) = (chunk.page, chunk.part_page);
                let part = Value::from(chunk.part.as_str());
                written.push_str(&format!("{{\"page\":{page},\"part\":{part},"));
                written.push_str(&format!("\"partPage\":{part_page},"));
                if let Some(confidence) = chunk.ocr_confidence {
                    written.push_str(&format!("\"ocrConfidence\":{},", Value::from(confidence)));
                }
                written.push_str("\"text\":\"");
                open = true;
            }
            // Escaped as JSON, without the quotation marks: the next chunk may continue the text.
            let text = Value::from(chunk.text.as_str()).to_string();
            written.push_str(text.get(1..text.len() - 1).unwrap_or_default());
        }
        Ok(written)
    }

    async fn insights(&mut self, offset: u64) -> Result<String, Fault> {
        let query = InsightQuery {
            file_id: Some(self.file.id.clone()),
            sort: SortKey::CreatedAt,
            descending: false,
            limit: INSIGHTS_PER_QUERY,
            offset,
            ..InsightQuery::default()
        };
        let found = self.archive.insights.query(&self.visibility, &query).await?;
        if found.insights.is_empty() {
            self.position = ExportPosition::End;
            return Ok("\n]}\n".to_owned());
        }
        self.position = ExportPosition::Insights(offset + found.insights.len() as u64);
        let mut written = String::new();
        for (at, (insight, _)) in found.insights.iter().enumerate() {
            written.push_str(if offset == 0 && at == 0 { "\n" } else { ",\n" });
            written.push_str(&wire::insight(insight, None, &self.visibility).to_string());
        }
        Ok(written)
    }
}

//! `arkiver_export`: everything that is kept about a file, in parts that a model can read: its
//! record, the text of its pages, its insights.

use archive_accounts::Visibility;
use archive_insights::{Insight, InsightQuery, SortKey};
use contract::{Cx, JsonReply};
use fault::Fault;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::Archive;
use crate::clip::clip;
use crate::job_report::insight_line;
use crate::page_reader::{PagePart, PagePosition, TEXT_BYTES_MAX};
use crate::wire::{self, reply};

/// Insights in one part, and characters of each in the text.
const INSIGHTS_MAX: u32 = 50;
const CONTENT_SHOWN: usize = 300;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Args {
    file_id: String,
    cursor: Option<String>,
}

/// Where a part begins. Pages come first, then insights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cursor {
    Page(PagePosition),
    Insight(u64),
}

impl Cursor {
    fn read(text: &str) -> Option<Self> {
        let mut words = text.split('.');
        let cursor = match words.next()? {
            "page" => Self::Page(PagePosition {
                page: words.next()?.parse().ok()?,
                start: words.next()?.parse().ok()?,
            }),
            "insight" => Self::Insight(words.next()?.parse().ok()?),
            _ => return None,
        };
        words.next().is_none().then_some(cursor)
    }

    fn write(self) -> String {
        match self {
            Self::Page(PagePosition { page, start }) => format!("page.{page}.{start}"),
            Self::Insight(offset) => format!("insight.{offset}"),
        }
    }
}

pub(crate) async fn call(cx: Cx<Archive>, args: Args) -> Result<JsonReply, Fault> {
    let archive = &cx.service;
    let visibility = archive.visibility(&cx.caller).await?;
    let mut file = archive.file_to_read(&visibility, &args.file_id).await?;
    archive.refresh_status(&mut file).await;
    let first = Cursor::Page(PagePosition { page: 1, start: 0 });
    let from = match &args.cursor {
        None => first,
        Some(text) => Cursor::read(text).ok_or_else(|| {
            let message = "cursor is not one that arkiver_export gave";
            Fault::invalid("invalid_cursor", message).problem("cursor", "next of the last answer")
        })?,
    };
    let mut json = json!({ "success": true, "file": wire::file(&file, &visibility) });
    let mut text = format!("{}\n", wire::file_text(&file));
    let next = match from {
        Cursor::Page(position) => {
            let (parts, next) = archive.read_pages(&file.id, position, u32::MAX).await?;
            text.extend(parts.iter().map(PagePart::text_with_heading));
            json["pages"] = parts.iter().map(PagePart::json).collect();
            match (next, parts.is_empty()) {
                (Some(next), _) => Some(Cursor::Page(next)),
                // A file without text goes on with its insights at once.
                (None, true) => {
                    archive.export_insights(&visibility, &file.id, 0, &mut json, &mut text).await?
                }
                (None, false) => Some(Cursor::Insight(0)),
            }
        }
        Cursor::Insight(offset) => {
            archive.export_insights(&visibility, &file.id, offset, &mut json, &mut text).await?
        }
    };
    if let Some(next) = next {
        let call = json!({ "fileId": file.id, "cursor": next.write() });
        text.push_str(&format!("\nnext: arkiver_export {call}"));
        json["next"] = Value::from(next.write());
    }
    Ok(reply(json, text))
}

impl Archive {
    /// Adds insights from `offset` on, at least one if there is one, and returns where to go on.
    async fn export_insights(
        &self,
        visibility: &Visibility,
        file_id: &str,
        offset: u64,
        json: &mut Value,
        text: &mut String,
    ) -> Result<Option<Cursor>, Fault> {
        let query = InsightQuery {
            file_id: Some(file_id.to_owned()),
            sort: SortKey::CreatedAt,
            descending: false,
            limit: INSIGHTS_MAX,
            offset,
            ..InsightQuery::default()
        };
        let found = self.insights.query(visibility, &query).await?;
        let (mut shown, mut bytes) = (Vec::new(), 0);
        for (insight, _) in &found.insights {
            let one = wire::insight(insight, None, visibility);
            bytes += one.to_string().len();
            if bytes > TEXT_BYTES_MAX && !shown.is_empty() {
                break;
            }
            text.push_str(&readable(insight));
            shown.push(one);
        }
        let next = offset + shown.len() as u64;
        json["insights"] = Value::from(shown);
        Ok((next < found.total && next > offset).then_some(Cursor::Insight(next)))
    }
}

fn readable(insight: &Insight) -> String {
    let content = clip(&insight.content, CONTENT_SHOWN).replace('\n', " ");
    format!("{}\n  {content}", insight_line(insight))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_was_written() {
        for cursor in
            [Cursor::Page(PagePosition { page: 7, start: 1_000_000 }), Cursor::Insight(50)]
        {
            assert_eq!(Cursor::read(&cursor.write()), Some(cursor));
        }
        for bad in ["", "page", "page.1", "page.1.2.3", "page.-1.0", "insight.x", "insight.1.2"] {
            assert_eq!(Cursor::read(bad), None, "{bad}");
        }
    }
}

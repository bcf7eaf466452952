//! `arkiver_page_words`: the words of a page with their boxes, those of an insight marked, for a
//! client that draws the marks itself.

use archive_extract::page_picture::{PageUnit, PageWord};
use contract::{Cx, Download};
use fault::Fault;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::Archive;
use crate::page_drawing::{WantedPage, marks_word};
use crate::wire::put;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Args {
    file_id: String,
    page: u32,
    insight_id: Option<String>,
}

pub(crate) async fn call(cx: Cx<Archive>, args: Args) -> Result<Download, Fault> {
    let wanted = WantedPage {
        file_id: &args.file_id,
        page: args.page,
        insight_id: args.insight_id.as_deref(),
        width: None,
        with_words: true,
        deadline: cx.deadline,
    };
    let (file, page) = cx.service.draw_page(&cx.caller, &wanted).await?;
    let unit = match page.unit {
        PageUnit::Point => "point",
        PageUnit::Pixel => "pixel",
    };
    let words: Vec<Value> = page.words.iter().map(word).collect();
    let mut json = json!({ "success": true, "fileId": file.id, "page": args.page,
        "width": rounded(page.width), "height": rounded(page.height), "unit": unit,
        "words": words });
    put(&mut json, "marks", page.marks.map(marks_word));
    Ok(Download::whole("application/json", json.to_string()))
}

fn word(it: &PageWord) -> Value {
    json!({ "text": it.text, "x": rounded(it.x), "y": rounded(it.y), "w": rounded(it.w),
        "h": rounded(it.h), "marked": it.marked })
}

/// Two digits after the point.
fn rounded(it: f64) -> f64 {
    (it * 100.0).round() / 100.0
}

//! `arkiver_page_picture`: a page as PNG, with the words of an insight marked.

use contract::{Cx, Download};
use fault::Fault;
use serde::Deserialize;

use crate::Archive;
use crate::page_drawing::WantedPage;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Args {
    file_id: String,
    page: u32,
    insight_id: Option<String>,
    width: u32,
}

pub(crate) async fn call(cx: Cx<Archive>, args: Args) -> Result<Download, Fault> {
    let wanted = WantedPage {
        file_id: &args.file_id,
        page: args.page,
        insight_id: args.insight_id.as_deref(),
        width: Some(args.width),
        with_words: false,
        deadline: cx.deadline,
    };
    let (file, picture) = cx.service.draw_page(&cx.caller, &wanted).await?;
    let name = format!("{}, page {}.png", file.name, args.page);
    Ok(Download::whole("image/png", picture.png).named(name))
}

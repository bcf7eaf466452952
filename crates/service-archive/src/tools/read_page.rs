//! `arkiver_read_page`: the text of a page or of several, with the positions of its characters, as
//! much as a model reads at once.

use contract::{Cx, JsonReply};
use fault::Fault;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::Archive;
use crate::page_reader::{PagePart, PagePosition};
use crate::wire::reply;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Args {
    file_id: String,
    page: u32,
    last_page: Option<u32>,
    start: u64,
}

pub(crate) async fn call(cx: Cx<Archive>, args: Args) -> Result<JsonReply, Fault> {
    let archive = &cx.service;
    let visibility = archive.visibility(&cx.caller).await?;
    let file = archive.file_to_read(&visibility, &args.file_id).await?;
    let pages = Archive::check_has_text(&file)?;
    let last = args.last_page.unwrap_or(args.page);
    if u64::from(args.page) > pages {
        let message = format!("there is no page {}: the file has {pages}", args.page);
        let expected = format!("a page from 1 to {pages}");
        return Err(Fault::invalid("no_such_page", message).problem("page", expected));
    }
    if last < args.page {
        let message = "lastPage is before page";
        return Err(Fault::invalid("invalid_input", message)
            .problem("lastPage", format!("a page from {}", args.page)));
    }
    let from = PagePosition { page: args.page, start: args.start };
    let (parts, next) = archive.read_pages(&file.id, from, last).await?;
    let read: Vec<Value> = parts.iter().map(PagePart::json).collect();
    let mut json = json!({ "success": true, "fileId": file.id, "fileName": file.name,
        "pageCount": pages, "pages": read });
    let mut text = format!("{}, {pages} pages\n", file.name);
    text.extend(parts.iter().map(PagePart::readable));
    let after = u64::from(last) + 1;
    match next {
        Some(next) => {
            let mut call = json!({ "fileId": file.id, "page": next.page, "start": next.start });
            if args.last_page.is_some() {
                call["lastPage"] = Value::from(last);
            }
            text.push_str(&format!("next: arkiver_read_page {call}"));
            json["next"] = call;
        }
        None if after <= pages => {
            let call = json!({ "fileId": file.id, "page": after });
            text.push_str(&format!("next page: arkiver_read_page {call}"));
        }
        None => {}
    }
    Ok(reply(json, text))
}

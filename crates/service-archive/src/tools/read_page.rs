//! `arkiver_read_page`: the text of a page or of several, with the positions of its characters, as
//! much as a model reads at once.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use contract::{Cx, JsonReply};
use fault::Fault;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::Archive;
use crate::page_drawing::{WantedPage, marks_word};
use crate::page_reader::{PagePart, PagePosition};
use crate::wire::{put, reply};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Args {
    file_id: String,
    page: u32,
    last_page: Option<u32>,
    start: u64,
    /// Whether the first page is also drawn.
    #[serde(default)]
    picture: bool,
    /// The insight whose words are marked on the picture.
    insight_id: Option<String>,
}

/// The width of a picture in a chat, in pixels.
const PICTURE_WIDTH: u32 = 1_000;
/// Hosts accept about 5 MB of base64 for one picture; a larger one is a link.
const PICTURE_BYTES_MAX: usize = 3 << 20;

pub(crate) async fn call(cx: Cx<Archive>, args: Args) -> Result<JsonReply, Fault> {
    let archive = &cx.service;
    let visibility = archive.visibility(&cx.caller).await?;
    let file = archive.file_to_read(&visibility, &args.file_id).await?;
    let pages = Archive::check_page(&file, args.page)?;
    let last = args.last_page.unwrap_or(args.page);
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
    text.extend(parts.iter().map(PagePart::text_with_heading));
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
    if !args.picture {
        return Ok(reply(json, text));
    }
    let (picture, png) = draw(&cx, &args, &file.id).await?;
    let marks = picture.get("marks").and_then(Value::as_str);
    let marks = marks.map(|it| format!(", words of the insight marked: {it}")).unwrap_or_default();
    let url = picture["url"].as_str().unwrap_or_default();
    text.push_str(&format!("\npicture of page {}{marks}: {url}", args.page));
    json["picture"] = picture;
    Ok(match png.len() <= PICTURE_BYTES_MAX {
        true => reply(json, text).with_image("image/png", BASE64.encode(png)),
        false => reply(json, text),
    })
}

/// The first page as PNG, and what the answer says about it.
async fn draw(cx: &Cx<Archive>, args: &Args, file_id: &str) -> Result<(Value, Vec<u8>), Fault> {
    let wanted = WantedPage {
        file_id,
        page: args.page,
        insight_id: args.insight_id.as_deref(),
        width: Some(PICTURE_WIDTH),
        with_words: false,
        deadline: cx.deadline,
    };
    let (_, drawn) = cx.service.draw_page(&cx.caller, &wanted).await?;
    let base = cx.service.base_url.as_deref().unwrap_or_default();
    let marked = args.insight_id.iter().map(|it| format!("&insightId={it}")).collect::<String>();
    let path = format!("/api/arkiver/files/{file_id}/pages/{}/picture", args.page);
    let url = format!("{base}{path}?width={PICTURE_WIDTH}{marked}");
    let mut json = json!({ "page": args.page, "mimeType": "image/png", "url": url });
    put(&mut json, "marks", drawn.marks.map(marks_word));
    Ok((json, drawn.png))
}

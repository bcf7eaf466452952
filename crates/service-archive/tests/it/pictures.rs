//! The picture of a page with the words of an insight marked, and the words with their boxes.

use std::process::Command;

use archive_extract::testing::pdf;
use futures_util::StreamExt as _;
use serde_json::{Value, json};

use crate::fixture::{COMPLAINT, Fixture, User, on_sqlite};

/// Whether poppler-utils is there; without it nothing is drawn.
fn is_installed() -> bool {
    let found = |tool: &&str| Command::new(tool).arg("-v").output().is_ok();
    ["pdftoppm", "pdftotext", "pdfinfo"].iter().all(found)
}

async fn download(
    user: &User<'_>,
    name: &str,
    args: Value,
) -> Result<(String, Vec<u8>), (u16, Value)> {
    let call = user.call_of(args);
    let opened = user.fixture.download(name, call).await;
    let mut opened = opened.map_err(|it| (it.http_status, it.http_body))?;
    let mut bytes = Vec::new();
    while let Some(chunk) = opened.body.next().await {
        bytes.extend(chunk.unwrap());
    }
    Ok((opened.content_type, bytes))
}

async fn picture(user: &User<'_>, args: Value) -> Result<Vec<u8>, (u16, Value)> {
    let (content_type, bytes) = download(user, "arkiver_page_picture", args).await?;
    assert_eq!(content_type, "image/png");
    assert!(bytes.starts_with(b"\x89PNG\r\n\x1a\n"));
    Ok(bytes)
}

async fn words(user: &User<'_>, args: Value) -> Result<Value, (u16, Value)> {
    let (content_type, bytes) = download(user, "arkiver_page_words", args).await?;
    assert_eq!(content_type, "application/json");
    Ok(serde_json::from_slice(&bytes).unwrap())
}

fn width(png: &[u8]) -> u32 {
    u32::from_be_bytes(png[16..20].try_into().unwrap())
}

fn marked(reply: &Value) -> String {
    let words = reply["words"].as_array().unwrap().iter().filter(|it| it["marked"] == true);
    words.map(|it| it["text"].as_str().unwrap()).collect::<Vec<_>>().join(" ")
}

/// A processed PDF file of two pages, and an insight whose words are on its first page.
async fn complaint(user: &User<'_>) -> (String, Value) {
    let bytes = pdf::text(&[COMPLAINT, "The second page."]);
    let file = user.file("complaint.pdf", &bytes, json!({ "caseId": "Smith" })).await;
    user.processed(&file, json!({ "extractionMode": "standard" })).await;
    let ask = json!({ "filters": { "fileId": file, "category": "citation" } });
    let found = user.ok("arkiver_query_insights", ask).await;
    let insights = found["insights"].as_array().unwrap();
    let is_case = |it: &&Value| it["sources"][0]["quote"].as_str().unwrap().contains("123 F.3d");
    (file, insights.iter().find(is_case).unwrap().clone())
}

pub(crate) fn a_page_is_drawn_with_the_words_of_an_insight() {
    if !is_installed() {
        return;
    }
    on_sqlite(async |db| {
        let fixture = Fixture::new(db).await;
        let user = fixture.user("ann").await;
        let (file, insight) = complaint(&user).await;
        let id = &insight["insightId"];
        let args = json!({ "fileId": file, "page": 1, "insightId": id, "width": 600 });
        let png = picture(&user, args).await.unwrap();
        assert_eq!(width(&png), 600);
        let plain = json!({ "fileId": file, "page": 1, "width": 600 });
        assert_ne!(picture(&user, plain).await.unwrap(), png);
        let args = json!({ "fileId": file, "page": 1, "insightId": id });
        let reply = words(&user, args).await.unwrap();
        let size = (&reply["width"], &reply["height"], &reply["unit"], &reply["marks"]);
        assert_eq!(size, (&json!(996.0), &json!(792.0), &json!("point"), &json!("all")));
        let quote = insight["sources"][0]["quote"].as_str().unwrap();
        let quoted: Vec<&str> = quote.split_whitespace().collect();
        assert!(marked(&reply).contains(&quoted.join(" ")), "{quote}: {}", marked(&reply));
        let plain = words(&user, json!({ "fileId": file, "page": 2 })).await.unwrap();
        assert_eq!((plain.get("marks"), marked(&plain)), (None, String::new()));
        assert_eq!(plain["words"].as_array().unwrap().len(), 3);
        // In a chat the picture is a block beside the text.
        let ask = json!({ "fileId": file, "page": 1, "picture": true, "insightId": id });
        let tool = user.tool("arkiver_read_page");
        let reply = fixture.pipeline.call(tool, user.call_of(ask)).await.unwrap();
        let images = reply.images();
        assert_eq!((images.len(), &images[0]["mimeType"]), (1, &json!("image/png")));
        let shown = reply.result();
        assert_eq!(shown["picture"]["marks"], "all");
        let url = shown["picture"]["url"].as_str().unwrap();
        let start = format!("http://archive.test/api/arkiver/files/{file}/pages/1/picture?");
        assert!(url.starts_with(&start), "{url}");
        assert!(shown["pages"][0]["text"].as_str().unwrap().contains("COMPLAINT"));
        assert!(fixture.scratch_is_empty());
        fixture.close().await;
    });
}

pub(crate) fn pictures_are_refused_with_the_reason() {
    if !is_installed() {
        return;
    }
    on_sqlite(async |db| {
        let fixture = Fixture::new(db).await;
        let (user, other) = (fixture.user("ann").await, fixture.user("bob").await);
        let (file, insight) = complaint(&user).await;
        let id = &insight["insightId"];
        let text = user.file("notes.txt", b"Some notes.", json!({})).await;
        user.processed(&text, json!({ "extractionMode": "fast" })).await;
        let unread = user.file("unread.pdf", &pdf::text(&["unread"]), json!({})).await;
        let wordless = json!({ "title": "t", "content": "c", "sourceLLM": "m" });
        let store = json!({ "fileId": file, "insight": wordless });
        let wordless = user.ok("arkiver_store_insight", store).await["insightId"].clone();
        let nobody = "00000000-0000-7000-8000-000000000000";
        let rows = [
            (json!({ "fileId": file, "page": 99 }), "INVALID_INPUT", "a page from 1 to 2"),
            (json!({ "fileId": file, "page": 0 }), "INVALID_INPUT", "page"),
            (json!({ "fileId": unread, "page": 1 }), "INVALID_INPUT", "arkiver_process_file"),
            (json!({ "fileId": text, "page": 1 }), "UNSUPPORTED_FILE_TYPE", "arkiver_read_page"),
            (json!({ "fileId": "none", "page": 1 }), "FILE_NOT_FOUND", "none"),
            (json!({ "fileId": file, "page": 2, "insightId": id }), "INVALID_INPUT", "no words on"),
            (json!({ "fileId": file, "page": 1, "insightId": nobody }), "INVALID_INPUT", nobody),
            (json!({ "fileId": file, "page": 1, "insightId": "x" }), "INVALID_INPUT", "insightId"),
            (
                json!({ "fileId": file, "page": 1, "insightId": wordless }),
                "INVALID_INPUT",
                "names no words",
            ),
        ];
        for (args, code, part) in rows {
            let (_, body) = words(&user, args.clone()).await.unwrap_err();
            let is_right = body["error"]["code"] == code && body.to_string().contains(part);
            assert!(is_right, "{args}: {body}");
            assert_eq!(picture(&user, args).await.unwrap_err().1, body);
        }
        let second = user.file("second.pdf", &pdf::text(&["second"]), json!({})).await;
        user.processed(&second, json!({ "extractionMode": "fast" })).await;
        let of_other = json!({ "fileId": second, "page": 1, "insightId": id });
        let (_, body) = words(&user, of_other).await.unwrap_err();
        assert!(body["error"]["message"].as_str().unwrap().contains("another file"), "{body}");
        let wide = json!({ "fileId": file, "page": 1, "width": 5_000 });
        let (status, body) = picture(&user, wide).await.unwrap_err();
        assert_eq!((status, &body["error"]["code"]), (400, &json!("INVALID_INPUT")));
        let (status, body) =
            picture(&other, json!({ "fileId": file, "page": 1 })).await.unwrap_err();
        assert_eq!((status, &body["error"]["code"]), (403, &json!("AUTHORIZATION_FAILED")));
        fixture.close().await;
    });
}

pub(crate) fn a_deleted_file_has_no_picture() {
    if !is_installed() {
        return;
    }
    on_sqlite(async |db| {
        let fixture = Fixture::new(db).await;
        let user = fixture.user("ann").await;
        let (file, insight) = complaint(&user).await;
        let args = json!({ "fileId": file, "page": 1, "insightId": insight["insightId"] });
        picture(&user, args.clone()).await.unwrap();
        user.ok("arkiver_delete_file", json!({ "fileId": file })).await;
        let (status, body) = picture(&user, args.clone()).await.unwrap_err();
        assert_eq!((status, &body["error"]["code"]), (404, &json!("FILE_NOT_FOUND")));
        assert_eq!(words(&user, args).await.unwrap_err().0, 404);
        // No picture is left in the data folder.
        let mut folders = vec![fixture.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let bytes = std::fs::read(&path).unwrap();
                    assert!(!bytes.starts_with(b"\x89PNG"), "{}", path.display());
                }
            }
        }
        assert!(fixture.scratch_is_empty());
        fixture.close().await;
    });
}

//! The archive's contract at its edges: which files it takes, how many of them, and what it says
//! when the database is broken.

use std::fs::OpenOptions;
use std::io::Write as _;

use serde_json::{Value, json};

use crate::archive::Person;
use crate::process::{Folder, Server, mcp_post, run, stoa};

/// The limits of uploads are off, so that the rows need not wait.
const UNLIMITED: [(&str, &str); 2] =
    [("STOA_ARCHIVE_UPLOADS_PER_MINUTE", "0"), ("STOA_ARCHIVE_UPLOADS_PER_HOUR", "0")];

#[track_caller]
fn check_refused(name: &str, (status, reply): &(u16, Value), expected: (u16, &str, &str)) {
    let error = &reply["error"];
    assert_eq!((*status, &error["code"]), (expected.0, &json!(expected.1)), "{name}: {reply}");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains(expected.2), "{name}: {message:?} does not say {:?}", expected.2);
}

#[tokio::test]
async fn only_the_contracts_types_are_taken() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &UNLIMITED);
    let ada = Person::register(&server, "ada").await;
    let taken: [(&str, &[u8], &str); 8] = [
        ("a.txt", b"text", "text/plain"),
        ("A.TXT", b"<p>html as text", "text/plain"),
        ("a.md", b"# text", "text/markdown"),
        ("a.pdf", b"%PDF-1.7\n", "application/pdf"),
        ("a.rtf", b"{\\rtf1 a}", "application/rtf"),
        ("a.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "image/png"),
        ("a.jpeg", b"\xff\xd8\xff\xe0\0\x10JFIF\0", "image/jpeg"),
        ("a.tif", b"II*\0\x08\0\0\0", "image/tiff"),
    ];
    for (name, bytes, mime) in taken {
        let (status, reply) = ada.upload(name, None, bytes).await;
        assert_eq!((status, &reply["mimeType"]), (200, &json!(mime)), "{name}: {reply}");
    }
    let extensions = [
        "html", "csv", "json", "xml", "js", "py", "sh", "log", "yaml", "xyz", "exe", "text",
        "markdown", "docm", "xlsx", "gif", "bmp", "webp", "zip",
    ];
    let names = extensions.map(|it| format!("a.{it}"));
    for name in names.iter().map(String::as_str).chain(["noextension", "a.", "pdf", "a.txt.exe"]) {
        let refused = ada.upload(name, None, b"text").await;
        check_refused(name, &refused, (400, "UNSUPPORTED_FILE_TYPE", ".pdf, .docx, .doc, .rtf"));
    }
    let disguised: [(&str, &[u8], &str); 4] = [
        ("a.pdf", b"text", "says PDF, but the content is plain text"),
        ("a.txt", b"%PDF-1.7\n", "says plain text, but the content is PDF"),
        ("a.docx", b"%PDF-1.7\n", "says DOCX, but the content is PDF"),
        ("a.txt", b"\x7fELF\x02\x01\x01\0", "a program"),
    ];
    for (name, bytes, words) in disguised {
        check_refused(
            name,
            &ada.upload(name, None, bytes).await,
            (400, "UNSUPPORTED_FILE_TYPE", words),
        );
    }
}

#[tokio::test]
async fn limits_of_uploads_are_settings_and_refusals_name_them() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &UNLIMITED);
    let ada = Person::register(&server, "ada").await;
    for at in 0..25 {
        ada.file(&format!("{at}.txt"), None, "text").await;
    }
    drop(server);
    let limits = [
        ("STOA_ARCHIVE_UPLOADS_PER_MINUTE", "3"),
        ("STOA_ARCHIVE_FILE_BYTES_MAX", "1048576"),
        ("STOA_ARCHIVE_BATCH_BYTES_MAX", "1048576"),
    ];
    let server = Server::start(folder.path(), &limits);
    let bob = Person::register(&server, "bob").await;
    let large = vec![b'a'; (1 << 20) + 1];
    check_refused(
        "a file",
        &bob.upload("a.txt", None, &large).await,
        (413, "FILE_TOO_LARGE", "1048576 bytes (1 MiB); the setting archive_file_bytes_max"),
    );
    bob.file("a.txt", None, &"a".repeat(1 << 20)).await;
    bob.file("b.txt", None, "text").await;
    check_refused(
        "a rate",
        &bob.upload("c.txt", None, b"text").await,
        (429, "RATE_LIMIT_EXCEEDED", "at most 3 files a minute (archive_uploads_per_minute)"),
    );
    drop(server);
    let mut start = stoa(folder.path());
    start.args(["doctor"]).env("STOA_ARCHIVE_FILE_BYTES_MAX", "100");
    let (code, _, err) = run(&mut start);
    assert!(code == 2 && err.contains("from 1 MiB to 1 GiB"), "{code}: {err}");
}

#[tokio::test]
async fn a_damaged_database_is_a_database_error() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    let ada = Person::register(&server, "ada").await;
    ada.file("a.txt", None, "text").await;
    for file in ["stoa.db", "stoa.db-wal", "stoa.db-shm"] {
        // Not truncated first: the server has mapped one of them into its memory.
        let mut file = OpenOptions::new().write(true).open(folder.path().join(file)).unwrap();
        file.write_all(&[0x5a; 65_536]).unwrap();
    }
    let damaged = (500, "DATABASE_ERROR", "the database operation failed");
    check_refused("files", &ada.get("/api/arkiver/files").await, damaged);
    check_refused("upload", &ada.upload("b.txt", None, b"text").await, damaged);
    let query = ada.post("/api/v1/arkiver/insights/query", json!({})).await;
    check_refused("query", &query, damaged);
    let login = json!({ "action": "login", "username": "ada", "password": "a long secret" });
    check_refused("auth", &ada.post("/api/arkiver/auth", login).await, damaged);
    let params = json!({ "name": "arkiver_query_insights", "arguments": {},
        "_meta": { "auth": { "token": ada.token } } });
    let (_, reply) = mcp_post(&server.url("/mcp/archive"), "tools/call", params).await;
    let text = reply["result"]["content"][0]["text"].as_str().unwrap();
    assert!(reply["result"]["isError"] == true && text.contains("DATABASE_ERROR"), "{reply}");
}

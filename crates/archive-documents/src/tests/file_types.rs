//! What a file is by its content, and what its name may say of it.

use std::io::{Cursor, Write as _};

use store::{Db, StoreConfig};
use testkit::TempFolder;

use super::Fixture;

const PDF: &[u8] = b"%PDF-1.7\n1 0 obj\n<<>>\nendobj\n";
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
const JPEG: &[u8] = b"\xff\xd8\xff\xe0\0\x10JFIF\0";
const TIFF: &[u8] = b"II*\0\x08\0\0\0";
const RTF: &[u8] = b"{\\rtf1\\ansi hello}";
const MAIL: &[u8] = b"Message-ID: <1@x>\r\nFrom: a@x\r\nTo: b@x\r\nSubject: s\r\n\r\nhello\r\n";
const PROGRAM: &[u8] = b"MZ\x90\0\x03\0\0\0\x04\0\0\0\xff\xff\0\0";
const TEXT: &[u8] = "Суд решил: within 21 days".as_bytes();

/// An archive of empty entries behind as many bytes as are asked for.
pub(super) fn zip(names: &[&str], before: usize) -> Vec<u8> {
    let mut bytes = b"PK\x03\x04".to_vec();
    bytes.resize(4 + before, 7);
    let start = bytes.len() as u32;
    for name in names {
        let mut entry = [0_u8; 46];
        entry[..4].copy_from_slice(b"PK\x01\x02");
        entry[28..30].copy_from_slice(&(name.len() as u16).to_le_bytes());
        bytes.extend_from_slice(&entry);
        bytes.extend_from_slice(name.as_bytes());
    }
    let size = bytes.len() as u32 - start;
    bytes.extend_from_slice(b"PK\x05\x06\0\0\0\0");
    for count in [names.len() as u16; 2] {
        bytes.extend_from_slice(&count.to_le_bytes());
    }
    bytes.extend_from_slice(&size.to_le_bytes());
    bytes.extend_from_slice(&start.to_le_bytes());
    bytes.extend_from_slice(&[0, 0]);
    bytes
}

/// A compound file whose first stream is as long as is asked for.
fn compound(names: &[&str], length: usize) -> Vec<u8> {
    let mut file = cfb::CompoundFile::create(Cursor::new(Vec::new())).unwrap();
    file.create_stream("/0data").unwrap().write_all(&vec![7; length]).unwrap();
    for name in names {
        file.create_stream(format!("/{name}")).unwrap();
    }
    file.flush().unwrap();
    file.into_inner().into_inner()
}

/// The media type that a received file gets, or the code and message of its refusal.
async fn received_type(name: &str, bytes: &[u8]) -> Result<String, (String, String)> {
    let folder = TempFolder::new();
    let db = Db::open(&StoreConfig::sqlite(folder.path())).await.unwrap();
    let fixture = Fixture::new(&db).await;
    let received = fixture.receive("user:1", name, bytes).await;
    let judged = match &received {
        Ok(receipt) => Ok(receipt.kind().media_type().to_owned()),
        Err(fault) => Err((fault.code().to_owned(), fault.message().to_owned())),
    };
    // A file that was refused or dropped leaves nothing on the disk.
    drop(received);
    assert!(fixture.on_disk().is_empty(), "{:?}", fixture.on_disk());
    judged
}

#[tokio::test]
async fn the_content_decides() {
    let docx = zip(&["[Content_Types].xml", "word/document.xml"], 300_000);
    let doc = compound(&["WordDocument", "1Table"], 300_000);
    let msg = compound(&["__properties_version1.0", "__substg1.0_0037001F"], 10);
    let word = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
    let rows: [(&str, &[u8], &str); 20] = [
        ("a.pdf", PDF, "application/pdf"),
        ("A.PDF", PDF, "application/pdf"),
        ("Smith v. Jones.pdf", PDF, "application/pdf"),
        ("a.docx", &docx, word),
        ("a.doc", &doc, "application/msword"),
        ("a.doc", RTF, "application/rtf"),
        ("a.rtf", RTF, "application/rtf"),
        ("a.msg", &msg, "application/vnd.ms-outlook"),
        ("a.eml", MAIL, "message/rfc822"),
        ("a.png", PNG, "image/png"),
        ("a.jpg", JPEG, "image/jpeg"),
        ("a.jpeg", JPEG, "image/jpeg"),
        ("a.tif", TIFF, "image/tiff"),
        ("a.tiff", TIFF, "image/tiff"),
        ("a.txt", TEXT, "text/plain"),
        ("a.md", TEXT, "text/markdown"),
        ("a.md", MAIL, "text/markdown"),
        ("a.txt", MAIL, "message/rfc822"),
        ("a.txt", b"%PDFs are discussed here", "text/plain"),
        ("a.txt", RTF, "application/rtf"),
    ];
    for (name, bytes, mime) in rows {
        assert_eq!(received_type(name, bytes).await, Ok(mime.to_owned()), "{name}");
    }
}

#[tokio::test]
async fn a_name_that_says_something_else_is_refused_with_both() {
    let spreadsheet = zip(&["xl/workbook.xml"], 100);
    let archive = zip(&["holiday.jpg"], 100);
    let cut = &zip(&["word/document.xml"], 100_000)[..90_000];
    let locked = compound(&["EncryptedPackage", "EncryptionInfo"], 100_000);
    let damaged = &compound(&["WordDocument"], 100_000)[..5_000];
    let huge: String = "x".repeat(60_000);
    let huge = zip(&vec![huge.as_str(); 80], 0);
    let rows: [(&str, &[u8], &[&str]); 13] = [
        ("a.docx", PDF, &["\"a.docx\"", "says DOCX", "content is PDF", "(.pdf)"]),
        ("a.pdf", PROGRAM, &["says PDF", "content is a program"]),
        ("a.txt", PROGRAM, &["says plain text", "content is a program"]),
        ("a.pdf", TEXT, &["says PDF", "is plain text"]),
        ("a.txt", PDF, &["says plain text", "is PDF"]),
        ("a.jpg", PNG, &["says a JPEG picture", "is a PNG picture"]),
        ("a.docx", &spreadsheet, &["is a spreadsheet"]),
        ("a.docx", &archive, &["is an archive"]),
        ("a.docx", cut, &["\"a.docx\" cannot be read", "save the file again"]),
        ("a.docx", &locked, &["encrypted"]),
        ("a.doc", damaged, &["damaged"]),
        ("a.docx", &huge, &["missing or too large"]),
        ("a.txt", &[1, 2, 3, 0, 5], &["is of no known type"]),
    ];
    for (name, bytes, words) in rows {
        let (code, message) = received_type(name, bytes).await.unwrap_err();
        assert_eq!(code, "unsupported_file_type", "{name}: {message}");
        for word in words {
            assert!(message.contains(word), "{message:?} does not say {word:?}");
        }
    }
    let (code, message) = received_type("a.txt", b"").await.unwrap_err();
    assert_eq!((code.as_str(), message.as_str()), ("empty_file", "the file \"a.txt\" is empty"));
}

#[tokio::test]
async fn a_name_of_another_type_is_refused_whatever_the_content() {
    let rows: [(&str, &[u8]); 24] = [
        ("a.html", b"<!DOCTYPE html><p>text"),
        ("a.csv", b"a,b\n1,2\n"),
        ("a.json", b"{}"),
        ("a.xml", b"<?xml version=\"1.0\"?><a/>"),
        ("a.js", TEXT),
        ("a.py", TEXT),
        ("a.sh", b"#!/bin/sh\n"),
        ("a.log", TEXT),
        ("a.yaml", TEXT),
        ("a.xyz", TEXT),
        ("a.text", TEXT),
        ("a.markdown", TEXT),
        ("noextension", TEXT),
        ("a.", TEXT),
        ("a.exe", TEXT),
        ("a.pdf.exe", PDF),
        ("a.txt\u{202e}.exe", TEXT),
        ("Smith v. Jones", PDF),
        ("a.docm", &zip(&["word/document.xml"], 10)),
        ("a.dot", &compound(&["WordDocument"], 10)),
        ("a.zip", &zip(&["a.txt"], 10)),
        ("a.gif", b"GIF89a"),
        ("a.exe", PROGRAM),
        ("a.exe", b""),
    ];
    for (name, bytes) in rows {
        let (code, message) = received_type(name, bytes).await.unwrap_err();
        assert_eq!(code, "unsupported_file_type", "{name}: {message}");
        let accepted = ".pdf, .docx, .doc, .rtf, .txt, .md, .eml, .msg, .png, .jpg, .jpeg, .tiff";
        assert!(message.contains(accepted) && message.contains(".tif"), "{message}");
    }
}

/// A refused name is no upload: it was refused before its bytes were read.
#[tokio::test]
async fn a_refused_name_does_not_count_as_an_upload() {
    let folder = TempFolder::new();
    let db = Db::open(&StoreConfig::sqlite(folder.path())).await.unwrap();
    let rules = crate::UploadLimits { uploads_per_minute: 1, ..crate::UploadLimits::default() };
    let fixture = Fixture::under(&db, rules).await;
    let long = format!("{}.exe", "x".repeat(250));
    for name in ["a.html", "a.exe", long.as_str()] {
        let refused = fixture.documents.begin("user:1", name).await.err().unwrap();
        assert_eq!(refused.code(), "unsupported_file_type");
        assert!(refused.message().len() < 300, "{}", refused.message());
        assert_eq!(refused.problems()[0].field, "file");
    }
    fixture.documents.begin("user:1", "a.txt").await.unwrap();
}

/// `outline` reads only a part of the file and must detect the type that the whole file has.
#[tokio::test]
async fn the_outline_has_the_type_of_the_file() {
    let files = [
        zip(&["word/document.xml"], 0),
        zip(&["a", "b", "word/document2.xml"], 200_000),
        zip(&["ppt/slides"], 5),
        zip(&["content.xml", "mimetype"], 5),
        compound(&["WordDocument"], 0),
        compound(&["Workbook"], 200_000),
        compound(&["PowerPoint Document"], 5),
        compound(&[], 5),
        "a".repeat(200_000).into_bytes(),
        [TEXT, PDF].concat(),
        [b"\n".as_slice(), PDF].concat(),
    ];
    for bytes in files {
        let folder = TempFolder::new();
        let path = folder.path().join("file");
        std::fs::write(&path, &bytes).unwrap();
        let outlined = crate::outline::detect("a", &path).unwrap();
        assert_eq!(outlined, archive_extract::detect("a", &bytes));
    }
}

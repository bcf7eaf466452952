//! The parts of a form that a handler receives, and the forms that fail before it has read them.

use std::sync::Arc;

use fault::{Fault, Kind};
use serde_json::{Value, json};

use super::{MemoryParts, Upload, UploadPart};
use crate::{Schema, UploadSpec};

fn spec() -> Arc<UploadSpec> {
    let form = json!({ "type": "object", "required": ["caseId"], "additionalProperties": false,
        "properties": {
            "caseId": { "type": "string", "maxLength": 8 },
            "tags": { "type": "array", "items": { "type": "string" } },
            "options": { "type": "object" },
            "pages": { "type": "integer", "default": 3 },
            "ocr": { "type": "boolean" },
        } });
    Arc::new(UploadSpec {
        name: "send".to_owned(),
        title: String::new(),
        description: String::new(),
        path: "/send".to_owned(),
        also: Vec::new(),
        file_bytes: 10,
        batch_bytes: 15,
        raw: false,
        form: Schema::compile(form).unwrap(),
        output: Schema::compile(json!({ "type": "object" })).unwrap(),
        concurrency: None,
    })
}

fn file(parts: MemoryParts, length: usize) -> MemoryParts {
    let bytes = vec![7; length];
    let halves = bytes.split_at(length / 2);
    parts.file("file", "a.txt", None, [halves.0, halves.1])
}

/// Reads the whole form; a file is shown by its size instead of its bytes.
async fn read(upload: &mut Upload) -> Result<Vec<Value>, Fault> {
    let mut seen = Vec::new();
    while let Some(part) = upload.next().await? {
        seen.push(match part {
            UploadPart::Field { name, text } => json!([name, text]),
            UploadPart::File(mut file) => {
                let mut length = 0;
                while let Some(more) = file.chunk().await? {
                    length += more.len();
                }
                assert_eq!(file.received_bytes(), length as u64);
                json!([file.name, file.file_name, file.content_type, length])
            }
        });
    }
    Ok(seen)
}

#[tokio::test]
async fn parts_come_in_their_order_and_fields_are_kept() {
    let parts = MemoryParts::new().field("caseId", "c");
    let parts = file(parts, 4).field("pages", "5").file("b", "", Some("text/plain"), []);
    let mut upload = Upload::new(parts).with_spec(&spec());
    let seen = read(&mut upload).await.unwrap();
    let all = json!([
        ["caseId", "c"],
        ["file", "a.txt", null, 4],
        ["pages", "5"],
        ["b", "", "text/plain", 0]
    ]);
    assert_eq!(Value::from(seen), all);
    assert_eq!(upload.received_bytes(), 4);
    assert_eq!(upload.form::<Value>().unwrap(), json!({ "caseId": "c", "pages": 5 }));
    assert!(upload.next().await.unwrap().is_none(), "what is over stays over");
}

#[tokio::test]
async fn a_field_that_is_sent_as_a_file_is_a_field() {
    let blob = br#"{"a": 1}"#.as_slice();
    let parts = MemoryParts::new().field("caseId", "c");
    let parts = parts.file("options", "blob", Some("application/json"), [blob]);
    let mut upload = Upload::new(file(parts, 4)).with_spec(&spec());
    let seen = read(&mut upload).await.unwrap();
    assert_eq!(seen[1], json!(["options", r#"{"a": 1}"#]));
    assert_eq!(upload.form::<Value>().unwrap()["options"], json!({ "a": 1 }));
    assert_eq!(upload.received_bytes(), 4);
}

#[tokio::test]
async fn a_file_that_the_handler_does_not_read_is_skipped_and_counted() {
    let mut upload = Upload::new(file(file(MemoryParts::new(), 8), 8)).with_spec(&spec());
    assert!(matches!(upload.next().await, Ok(Some(UploadPart::File(_)))));
    assert!(matches!(upload.next().await, Ok(Some(UploadPart::File(_)))));
    assert_eq!(upload.next().await.err().unwrap().code(), "batch_too_large");
}

#[tokio::test]
async fn what_is_too_much_is_refused_and_stays_refused() {
    let many = |count: usize| {
        (0..count).fold(MemoryParts::new(), |parts, at| parts.field(&format!("f{at}"), ""))
    };
    let files = (0..1_001).fold(MemoryParts::new(), |parts, _| parts.file("f", "x", None, []));
    let large = "x".repeat(64 * 1024 + 1);
    let cut = Fault::new(Kind::Cancelled, "body_cut_off", "the body ended too early");
    for (parts, code) in [
        (file(MemoryParts::new(), 10), None),
        (file(MemoryParts::new(), 11), Some("file_too_large")),
        (file(file(MemoryParts::new(), 8), 7), None),
        (file(file(MemoryParts::new(), 8), 8), Some("batch_too_large")),
        (many(64), None),
        (many(65), Some("too_many_parts")),
        (files, Some("too_many_parts")),
        (MemoryParts::new().field("a", &large[1..]), None),
        (MemoryParts::new().field("a", &large), Some("field_too_large")),
        (MemoryParts::new().field("a", "1").field("a", "1"), Some("repeated_field")),
        (file(MemoryParts::new(), 3).ending_with(cut), Some("body_cut_off")),
    ] {
        let mut upload = Upload::new(parts).with_spec(&spec());
        let found = read(&mut upload).await.err().map(|fault| fault.code());
        assert_eq!(found, code);
        assert_eq!(upload.next().await.err().map(|fault| fault.code()), code);
    }
}

#[tokio::test]
async fn texts_become_what_the_form_says_they_are() {
    let check = async |fields: &[(&str, &str)], expected: Result<Value, &str>| {
        let parts = fields.iter().fold(MemoryParts::new(), |it, (name, text)| it.field(name, text));
        let mut upload = Upload::new(parts).with_spec(&spec());
        read(&mut upload).await.unwrap();
        match (upload.form::<Value>(), expected) {
            (Ok(form), Ok(expected)) => assert_eq!(form, expected),
            (Err(fault), Err(field)) => {
                assert_eq!((fault.kind(), fault.code()), (Kind::Invalid, "invalid_input"));
                assert_eq!(fault.problems()[0].field, field, "{fault}");
            }
            (form, _) => panic!("{fields:?}: {form:?}"),
        }
    };
    let good =
        json!({ "caseId": "1", "tags": ["a"], "options": { "x": 1 }, "pages": 2, "ocr": true });
    let case = ("caseId", "1");
    check(
        &[case, ("tags", r#"["a"]"#), ("options", r#"{"x":1}"#), ("pages", "2"), ("ocr", "true")],
        Ok(good),
    )
    .await;
    check(&[case, ("tags", ""), ("ocr", "")], Ok(json!({ "caseId": "1", "pages": 3 }))).await;
    check(&[], Err("caseId")).await;
    check(&[("caseId", "123456789")], Err("caseId")).await;
    check(&[case, ("tags", "a,b")], Err("tags")).await;
    check(&[case, ("tags", "{}")], Err("tags")).await;
    check(&[case, ("options", "[]")], Err("options")).await;
    check(&[case, ("pages", "two")], Err("pages")).await;
    check(&[case, ("other", "x")], Err("other")).await;
}

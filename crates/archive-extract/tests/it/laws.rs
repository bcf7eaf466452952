//! What holds for any bytes: reading ends without a panic, pages are numbered without gaps, and
//! positions fall on the pages they name.

use archive_extract::{Document, NoOcr, ReadLimits};
use proptest::prelude::*;

use archive_extract::testing::doc::Doc;
use archive_extract::testing::docx::{docx, paragraph, zip};
use archive_extract::testing::msg::{Body, Msg};
use archive_extract::testing::{pdf, tiff};

fn limits() -> ReadLimits {
    ReadLimits {
        unpacked_bytes: 32 << 20,
        stream_bytes: 16 << 20,
        pages: 500,
        ..ReadLimits::default()
    }
}

fn consistent(document: &Document) {
    for (index, page) in document.pages.iter().enumerate() {
        assert_eq!(page.page.number as usize, index + 1);
        for problem in &page.problems {
            assert_eq!(problem.page, Some(page.page.number));
        }
    }
    let (text, starts) = document.text();
    for (page, start) in document.pages.iter().zip(&starts) {
        assert_eq!(&text[*start..*start + page.page.text.len()], page.page.text);
    }
    for problem in document.problems_all() {
        assert!(!problem.message.is_empty());
    }
    document.attachments.iter().for_each(|it| consistent(&it.document));
}

fn samples() -> Vec<(&'static str, Vec<u8>)> {
    let notes = "<w:footnotes><w:footnote w:id=\"1\"><w:p><w:r><w:t>n</w:t></w:r></w:p></w:footnote></w:footnotes>";
    let body = format!(
        "{}<w:p><w:r><w:br w:type=\"page\"/><w:footnoteReference w:id=\"1\"/></w:r></w:p>",
        paragraph("one")
    );
    let message = Msg {
        subject: "s",
        recipients: vec![(1, "r")],
        body: Body::Rich("{\\rtf1 x\\par y}"),
        files: vec![("a.txt", b"text".to_vec())],
        messages: vec![Msg::default()],
        ..Msg::default()
    };
    let doc = Doc {
        body: "one\u{c}two \u{13}F\u{14}r\u{15}\r".to_owned(),
        notes: vec![(1, "note".to_owned())],
        hidden: Some((0, 2)),
        ..Doc::default()
    };
    vec![
        ("a.pdf", pdf::text(&["first page", "second page"])),
        ("a.pdf", pdf::pages(&[pdf::lines("one\ntwo"), b"BT /F1 9 Tf [(a) -9 <41>] TJ ET".to_vec()], pdf::HELVETICA, false)),
        ("a.docx", docx(&body, &[("word/footnotes.xml", notes)])),
        ("a.xml", zip(&[("word/document.xml", archive_extract::testing::docx::document(&body).as_bytes())])),
        ("a.doc", doc.finish()),
        ("a.msg", message.finish()),
        ("a.eml", b"From: a@b\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n\r\nt\r\n--x\r\nContent-Type: message/rfc822\r\n\r\nFrom: q\r\n\r\nz\r\n--x--".to_vec()),
        ("a.rtf", b"{\\rtf1\\ansicpg1251{\\fonttbl{\\f0\\fcharset204 A;}}\\f0\\'d1\\u1044?\\par\\page{\\v h}}".to_vec()),
        ("a.tif", tiff(3)),
        ("a.txt", "один\u{c}two".as_bytes().to_vec()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_read_or_refused(
        head in prop::sample::select(vec![
            &b""[..], b"%PDF-1.4\n", b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"{\\rtf1 ", b"II\x2a\0", b"MM\0\x2a", b"From: a\nMIME-Version: 1\n",
        ]),
        tail in prop::collection::vec(any::<u8>(), 0..2_000),
    ) {
        let bytes = [head, &tail].concat();
        consistent(&archive_extract::read_all("a.eml", &bytes, &limits(), &NoOcr));
    }

    #[test]
    fn damaged_files_keep_the_laws(
        which in 0..samples().len(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
        cut in prop::option::weighted(0.3, any::<prop::sample::Index>()),
        moved in prop::option::weighted(0.2, (any::<prop::sample::Index>(), any::<prop::sample::Index>(), 1..64_usize)),
    ) {
        let (name, mut bytes) = samples().swap_remove(which);
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if let Some((from, to, length)) = moved {
            let from = from.index(bytes.len());
            let piece = bytes[from..bytes.len().min(from + length)].to_vec();
            let to = to.index(bytes.len());
            bytes.splice(to..to, piece);
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        consistent(&archive_extract::read_all(name, &bytes, &limits(), &NoOcr));
    }

    #[test]
    fn text_of_a_pdf_is_what_was_drawn(pages in prop::collection::vec("[A-Za-z0-9,.;§éü]{1,12}( [A-Za-z0-9()]{1,12}){0,8}", 1..6)) {
        let shown: Vec<&str> = pages.iter().map(String::as_str).collect();
        let document = archive_extract::read_all("a.pdf", &pdf::text(&shown), &limits(), &NoOcr);
        prop_assert_eq!(crate::texts(&document), shown);
    }

    #[test]
    fn text_of_a_word_file_is_what_was_written(paragraphs in prop::collection::vec("[A-Za-zА-я0-9]{1,12}( [a-zа-я]{1,12}){0,8}", 1..10)) {
        let body: String = paragraphs.iter().map(|it| paragraph(it)).collect();
        let expected = paragraphs.join("\n");
        let document = archive_extract::read_all("a.docx", &docx(&body, &[]), &limits(), &NoOcr);
        prop_assert_eq!(crate::texts(&document), [expected.as_str()]);
        let old = Doc { body: paragraphs.iter().map(|it| format!("{it}\r")).collect(), ..Doc::default() };
        let document = archive_extract::read_all("a.doc", &old.finish(), &limits(), &NoOcr);
        prop_assert_eq!(crate::texts(&document), [expected.as_str()]);
    }
}

//! Text, DOCX, DOC and RTF, and the decision which is which.

use archive_extract::{Format, ProblemCode};

use crate::{codes, read, texts};
use archive_extract::testing::doc::Doc;
use archive_extract::testing::docx::{docx, paragraph, zip};
use archive_extract::testing::{msg::Msg, pdf, tiff};

#[track_caller]
fn check(name: &str, bytes: &[u8], expected: &[&str]) {
    let document = read(name, bytes);
    assert_eq!(texts(&document), expected, "{:?}", document.problems);
    assert_eq!(codes(&document), [], "{document:?}");
    let numbers: Vec<u32> = document.pages.iter().map(|it| it.page.number).collect();
    assert_eq!(numbers, (1..=expected.len() as u32).collect::<Vec<_>>());
}

#[test]
fn plain_text_is_split_at_form_feeds() {
    check("a.txt", b"one\r\ntwo\rthree\x0cfour\n\x0c", &["one\ntwo\nthree", "four\n"]);
    check("a.md", "# Заголовок\n".as_bytes(), &["# Заголовок\n"]);
    check("a.txt", b"\xff\xfeI\0s\0k\0", &["Isk"]);
    check(
        "a.txt",
        b"\xc8\xf1\xea \xf3\xe4\xee\xe2\xeb\xe5\xf2\xe2\xee\xf0\xe8\xf2\xfc",
        &["Иск удовлетворить"],
    );
}

#[test]
fn content_decides_and_the_name_is_checked() {
    let rows: [(&str, Vec<u8>, Format, bool); 10] = [
        ("a.pdf", pdf::text(&["x"]), Format::Pdf, true),
        ("a.docx", docx(&paragraph("x"), &[]), Format::Docx, true),
        ("a.pdf", docx(&paragraph("x"), &[]), Format::Docx, false),
        ("a.txt", pdf::text(&["x"]), Format::Pdf, false),
        ("a.doc", Doc { body: "x\r".to_owned(), ..Doc::default() }.finish(), Format::Doc, true),
        ("a.doc", b"{\\rtf1 x}".to_vec(), Format::Rtf, true),
        ("a.msg", Msg::default().finish(), Format::Msg, true),
        ("noname", b"From: memo\n\ntext".to_vec(), Format::Text, true),
        ("a.eml", b"From: a@b.c\nSubject: x\n\ntext".to_vec(), Format::Eml, true),
        ("a.tif", tiff(1), Format::Tiff, true),
    ];
    for (name, bytes, kind, agrees) in rows {
        let document = read(name, &bytes);
        assert_eq!(document.format, Some(kind), "{name}");
        let warned = document.problems.iter().any(|it| it.code == ProblemCode::NameMismatch);
        assert_eq!(warned, !agrees, "{name}: {:?}", document.problems);
    }
}

#[test]
fn what_is_not_read_says_what_it_is() {
    for (bytes, word) in [
        (zip(&[("xl/workbook.xml", b"x")]), "spreadsheet"),
        (zip(&[("a.txt", b"x")]), "archive"),
        (b"Rar!\x1a\x07".to_vec(), "RAR"),
        (b"\x00\x01\x02\x03\x04".to_vec(), "no known type"),
    ] {
        let document = read("a.bin", &bytes);
        assert_eq!(document.format, None);
        assert_eq!(document.problems[0].code, ProblemCode::Unsupported);
        assert!(document.problems[0].message.contains(word), "{:?}", document.problems);
    }
    assert_eq!(codes(&read("a.txt", b"")), [ProblemCode::Empty]);
}

#[test]
fn docx_text_is_what_a_reader_sees() {
    let body = [
        paragraph("First &amp; &#x414;").as_str(),
        "<w:p><w:r><w:t>in</w:t></w:r><w:ins><w:r><w:t>serted</w:t></w:r></w:ins>",
        "<w:del><w:r><w:delText>gone</w:delText><w:t>gone</w:t></w:r></w:del>",
        "<w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r>",
        "<w:r><w:rPr><w:rStyle w:val=\"H\"/></w:rPr><w:t>hidden</w:t></w:r>",
        "<w:r><w:rPr><w:vanish w:val=\"0\"/></w:rPr><w:tab/><w:t>shown</w:t><w:br/><w:t>line</w:t></w:r></w:p>",
        "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>b</w:t></w:r></w:p></w:tc></w:tr></w:tbl>",
        "<w:p><w:r><w:t>box:</w:t><mc:AlternateContent><mc:Choice><w:txbxContent><w:p><w:r><w:t>inside</w:t></w:r></w:p></w:txbxContent></mc:Choice>",
        "<mc:Fallback><w:txbxContent><w:p><w:r><w:t>inside</w:t></w:r></w:p></w:txbxContent></mc:Fallback></mc:AlternateContent></w:r><w:r><w:t> after</w:t></w:r></w:p>",
    ]
    .concat();
    let styles =
        "<w:styles><w:style w:styleId=\"H\"><w:rPr><w:vanish/></w:rPr></w:style></w:styles>";
    let file = docx(&body, &[("word/styles.xml", styles)]);
    check("a.docx", &file, &["First & Д\ninserted\tshown\nline\na\tb\nbox: after\ninside"]);
}

#[test]
fn docx_pages_notes_and_margins() {
    let body = format!(
        "<w:p><w:r><w:t>one</w:t><w:footnoteReference w:id=\"2\"/></w:r></w:p>\
         <w:p><w:r><w:br w:type=\"page\"/><w:t>two</w:t></w:r></w:p>\
         <w:p><w:pPr><w:pageBreakBefore/></w:pPr><w:r><w:t>three</w:t></w:r></w:p>\
         <w:p><w:pPr><w:sectPr/></w:pPr><w:r><w:t>still three</w:t></w:r></w:p>{}",
        paragraph("four")
    );
    let notes = "<w:footnotes><w:footnote w:id=\"0\" w:type=\"separator\"><w:p/></w:footnote>\
                 <w:footnote w:id=\"2\"><w:p><w:r><w:t>See 5 U.S. 137.</w:t></w:r></w:p></w:footnote></w:footnotes>";
    let header = format!("<w:hdr>{}</w:hdr>", paragraph("Case 1"));
    let footer = format!("<w:ftr>{}</w:ftr>", paragraph("Filed"));
    let file = docx(
        &body,
        &[
            ("word/footnotes.xml", notes),
            ("word/header1.xml", &header),
            ("word/header2.xml", &header),
            ("word/footer1.xml", &footer),
        ],
    );
    check(
        "a.docx",
        &file,
        &["Case 1\none\n[1] See 5 U.S. 137.\nFiled", "two", "three\nstill three", "four"],
    );
}

#[test]
fn doc_text_comes_from_its_pieces() {
    let mut doc = Doc {
        body: "Суд №1\rtab\tle\u{7}\u{c}see \u{13} PAGE \u{14}7\u{15}\rsecret end\r".to_owned(),
        ..Doc::default()
    };
    check("a.doc", &doc.finish(), &["Суд №1\ntab\tle", "see 7\nsecret end"]);
    let at = doc.body.encode_utf16().count() as u32 - 11;
    doc.hidden = Some((at, at + 7));
    doc.notes = vec![(1, "first note".to_owned()), (20, "second".to_owned())];
    doc.margins = "\r\rCase 7\r\rCase 7\r".to_owned();
    check(
        "a.doc",
        &doc.finish(),
        &["Суд №1\ntab\tle\n[1] first note\nCase 7", "see 7\nend\n[2] second"],
    );
    let narrow =
        Doc { body: "caf\u{e9} \u{201c}q\u{201d}\r".to_owned(), narrow: true, ..Doc::default() };
    check("a.doc", &narrow.finish(), &["caf\u{e9} \u{201c}q\u{201d}"]);
}

#[test]
fn rich_text_is_read_as_text() {
    let rtf = b"{\\rtf1\\ansi\\ansicpg1252{\\fonttbl{\\f0 Arial;}{\\f1\\fcharset204 Arial;}}{\\info{\\title no}}\
        {\\f1\\'d1\\'f3\\'e4}\\par {\\v hidden}a\\'e9\\u1044?\\tab b\\page next{\\*\\unknown no}\\u-10179?\\u-8704?}";
    check("a.rtf", rtf, &["Суд\naéД\tb", "next😀"]);
}

/// A run that begins a page, as Word marks it.
fn marked(text: &str) -> String {
    format!("<w:p><w:r><w:lastRenderedPageBreak/><w:t>{text}</w:t></w:r></w:p>")
}

fn app(pages: usize) -> String {
    format!(
        "<Properties><Application>Microsoft Office Word</Application><Pages>{pages}</Pages></Properties>"
    )
}

#[test]
fn docx_pages_are_those_of_the_last_layout() {
    let explicit = "<w:p><w:r><w:t>end</w:t><w:br w:type=\"page\"/></w:r></w:p>";
    let before = "<w:p><w:pPr><w:pageBreakBefore/></w:pPr><w:r><w:lastRenderedPageBreak/><w:t>before</w:t></w:r></w:p>";
    let section = "<w:p><w:pPr><w:sectPr/></w:pPr><w:r><w:t>section</w:t></w:r></w:p>";
    let within = "<w:p><w:r><w:t>half</w:t></w:r><w:r><w:lastRenderedPageBreak/><w:t>other</w:t></w:r></w:p>";
    let cell = |text: &str| format!("<w:tc>{}{}</w:tc>", paragraph(text), marked("more"));
    let row = format!("<w:tbl><w:tr>{}{}</w:tr></w:tbl>", cell("a"), cell("b"));
    for (body, expected) in [
        ([paragraph("one"), marked("two"), marked("three")].concat(), vec!["one", "two", "three"]),
        // An explicit break and the mark after it are one break.
        ([explicit.to_owned(), marked("next")].concat(), vec!["end", "\nnext"]),
        (
            [explicit.to_owned(), paragraph("next"), marked("third")].concat(),
            vec!["end", "\nnext", "third"],
        ),
        ([paragraph("one"), before.to_owned()].concat(), vec!["one", "before"]),
        ([section.to_owned(), marked("next")].concat(), vec!["section", "next"]),
        (within.to_owned(), vec!["half", "other"]),
        // Both cells of a row go over to the next page.
        ([row, marked("after")].concat(), vec!["a", "more\tb\nmore", "after"]),
        // A page with a picture only.
        ([paragraph("one"), marked(""), marked("three")].concat(), vec!["one", "", "three"]),
        (marked("first"), vec!["first"]),
    ] {
        let file = docx(&body, &[("docProps/app.xml", &app(expected.len()))]);
        check("a.docx", &file, &expected);
    }
    let unmarked = docx(&paragraph("one"), &[("docProps/app.xml", &app(20))]);
    let document = read("a.docx", &unmarked);
    assert_eq!(codes(&document), [ProblemCode::PagesUnmarked]);
    assert!(document.problems[0].message.contains("states 20 pages and marks 1"));
    assert_eq!(
        codes(&read("a.docx", &docx(&paragraph("one"), &[("docProps/app.xml", &app(2))]))),
        []
    );
}

#[test]
fn marks_inside_notes_make_no_pages() {
    let notes = format!(
        "<w:footnotes><w:footnote w:id=\"1\">{}{}</w:footnote></w:footnotes>",
        paragraph("note"),
        marked("goes on")
    );
    let body = "<w:p><w:r><w:t>text</w:t><w:footnoteReference w:id=\"1\"/></w:r></w:p>";
    check("a.docx", &docx(body, &[("word/footnotes.xml", &notes)]), &["text\n[1] note\ngoes on"]);
}

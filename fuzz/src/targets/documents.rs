//! The document readers: reading ends, pages are numbered without gaps, and the limits hold.

mod fonts;
mod seeds;

use archive_extract::fuzzing::read_bytes;
use archive_extract::testing::docx::zip;
use archive_extract::testing::msg::Msg;
use archive_extract::testing::pdf::{self, HELVETICA, Pdf};
use archive_extract::{Document, Format, NoOcr, ReadLimits, read_all};

pub(super) use fonts::{FONT_WORDS, pdf_font_programs};
pub(super) use seeds::{
    CMAP_WORDS, EML_WORDS, PDF_PAGE_WORDS, PDF_WORDS, RTF_WORDS, WORD_XML_WORDS, docs, docx_bodies,
    docx_files, emls, files, msg_bodies, msgs, pdf_cmaps, pdf_pages, pdfs, pictures, rtfs, texts,
};

fn limits() -> ReadLimits {
    ReadLimits {
        unpacked_bytes: 4 << 20,
        stream_bytes: 2 << 20,
        text_bytes: 4 << 20,
        pages: 200,
        entries: 50,
        ..ReadLimits::default()
    }
}

fn check(document: &Document, limits: &ReadLimits) {
    let (pages, text_bytes) = check_level(document, 0, limits);
    assert!(pages <= limits.pages as usize, "{pages} pages");
    assert!(text_bytes as u64 <= limits.text_bytes, "{text_bytes} bytes of text");
}

/// The pages and bytes of text of a document and of its attachments.
fn check_level(document: &Document, depth: u32, limits: &ReadLimits) -> (usize, usize) {
    if depth > limits.depth {
        // An attachment below the last level is named and not opened.
        let opened = !document.pages.is_empty() || !document.attachments.is_empty();
        assert!(!opened, "an attachment {depth} levels deep was opened");
    }
    for (page, number) in document.pages.iter().zip(1..) {
        assert_eq!(page.page.number, number);
        for problem in &page.problems {
            assert_eq!(problem.page, Some(number));
        }
    }
    let (text, starts) = document.text();
    for (page, start) in document.pages.iter().zip(&starts) {
        let end = start + page.page.text.len();
        assert_eq!(text.get(*start..end), Some(page.page.text.as_str()));
    }
    for problem in &document.problems {
        assert!(!problem.message.is_empty());
    }
    let own = (document.pages.len(), document.pages.iter().map(|it| it.page.text.len()).sum());
    document.attachments.iter().fold(own, |(pages, bytes), it| {
        let below = check_level(&it.document, depth + 1, limits);
        (pages + below.0, bytes + below.1)
    })
}

fn read(format: Format, bytes: &[u8]) {
    let limits = limits();
    check(&read_bytes(format, bytes, &limits), &limits);
}

pub(super) fn pdf(bytes: &[u8]) {
    read(Format::Pdf, bytes);
}

/// The input is the content of a page and of a form that the page may draw.
pub(super) fn pdf_page(bytes: &[u8]) {
    let mut file = Pdf::default();
    let form = file.stream(&format!("/Subtype /Form /Resources << {HELVETICA} >>"), bytes);
    let resources = format!("{HELVETICA} /XObject << /X {form} 0 R >>");
    pdf(&pdf::pages_into(&mut file, &[bytes.to_vec()], &resources, false));
}

/// The input is the table that gives the characters of a font.
pub(super) fn pdf_font(bytes: &[u8]) {
    let mut file = Pdf::default();
    let map = file.stream("", bytes);
    let font = |dict: &str| format!("<< /Type /Font /BaseFont /A /ToUnicode {map} 0 R {dict} >>");
    let wide = font(
        "/Subtype /Type0 /Encoding /Identity-H /DescendantFonts [<< /W [1 [500] 2 9 600] /DW 400 >>]",
    );
    let coded = font(&format!("/Subtype /Type0 /Encoding {map} 0 R /DescendantFonts [<< >>]"));
    let resources =
        format!("/Font << /F1 {} /F2 {wide} /F3 {coded} >>", font("/Subtype /Type1 /FirstChar 1"));
    let content =
        b"BT /F1 9 Tf (\x01\x02A) Tj /F2 9 Tf <000100020041FFFF> Tj /F3 9 Tf <0001410020> Tj ET";
    pdf(&pdf::pages_into(&mut file, &[content.to_vec()], &resources, false));
}

/// The input is a font program, embedded in each way that a file can embed one.
pub(super) fn pdf_font_program(bytes: &[u8]) {
    let mut file = Pdf::default();
    let program = file.stream("", bytes);
    let descriptor = |key: &str| format!("/FontDescriptor << /Flags 4 /{key} {program} 0 R >>");
    let wide = format!(
        "<< /Type /Font /Subtype /Type0 /Encoding /Identity-H /DescendantFonts [<< {} >>] >>",
        descriptor("FontFile2")
    );
    let simple = |subtype: &str, key: &str| {
        format!("<< /Type /Font /Subtype /{subtype} {} >>", descriptor(key))
    };
    let resources = format!(
        "/Font << /F1 {wide} /F2 {} /F3 {} >>",
        simple("TrueType", "FontFile2"),
        simple("Type1", "FontFile3"),
    );
    let content = b"BT /F1 9 Tf <000100020041> Tj /F2 9 Tf (\x01\x02A) Tj /F3 9 Tf (A\xff) Tj ET";
    pdf(&pdf::pages_into(&mut file, &[content.to_vec()], &resources, false));
}

pub(super) fn docx(bytes: &[u8]) {
    read(Format::Docx, bytes);
}

/// The input is the main part, the notes and the styles of a package.
pub(super) fn docx_body(bytes: &[u8]) {
    let names = ["word/document.xml", "word/footnotes.xml", "word/styles.xml", "word/header1.xml"];
    docx(&zip(&names.map(|name| (name, bytes))));
}

pub(super) fn doc(bytes: &[u8]) {
    read(Format::Doc, bytes);
}

pub(super) fn msg(bytes: &[u8]) {
    read(Format::Msg, bytes);
}

/// The input is the compressed rich text of a message and a file attached to it.
pub(super) fn msg_body(bytes: &[u8]) {
    let body = archive_extract::testing::msg::Body::Packed(bytes);
    let files = vec![("a.rtf", bytes.to_vec())];
    msg(&Msg { subject: "s", body, files, ..Msg::default() }.finish());
}

pub(super) fn rtf(bytes: &[u8]) {
    read(Format::Rtf, bytes);
}

pub(super) fn eml(bytes: &[u8]) {
    read(Format::Eml, bytes);
}

pub(super) fn text(bytes: &[u8]) {
    read(Format::Text, bytes);
    read(Format::Markdown, bytes);
}

pub(super) fn picture(bytes: &[u8]) {
    read(Format::Tiff, bytes);
    read(Format::Png, bytes);
    read(Format::Jpeg, bytes);
}

/// Detection decides how the input is read.
pub(super) fn file(bytes: &[u8]) {
    let limits = limits();
    check(&read_all("a.eml", bytes, &limits, &NoOcr), &limits);
}

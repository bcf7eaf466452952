//! Files made to hurt: each must end, within bounds, with a reason.

use archive_extract::{NoOcr, ProblemCode, ReadLimits};

use crate::{codes, read, texts};
use archive_extract::testing::doc::Doc;
use archive_extract::testing::docx::{docx, paragraph, zip, zip_packed};
use archive_extract::testing::pdf::{HELVETICA, Pdf, lines, pages, pages_into, text};
use archive_extract::testing::{deflate, tiff, zlib};

#[test]
fn a_zip_bomb_is_stopped_by_ratio_and_by_size() {
    let zeros = vec![b' '; 64 << 20];
    let packed = deflate(&zeros);
    let file = zip_packed(&[("word/document.xml", packed.clone(), zeros.len())]);
    let document = read("a.docx", &file);
    assert_eq!(codes(&document), [ProblemCode::TooLarge]);
    let many: Vec<(String, Vec<u8>, usize)> =
        (0..50).map(|it| (format!("word/header{it}.xml"), packed.clone(), zeros.len())).collect();
    let mut entries: Vec<(&str, Vec<u8>, usize)> =
        many.iter().map(|it| (it.0.as_str(), it.1.clone(), it.2)).collect();
    entries.push(("word/document.xml", deflate(b"<a/>"), 4));
    let limits = ReadLimits { ratio: 1 << 30, unpacked_bytes: 100 << 20, ..ReadLimits::default() };
    let document = archive_extract::read_all("a.docx", &zip_packed(&entries), &limits, &NoOcr);
    assert_eq!(codes(&document), [ProblemCode::TooLarge]);
}

#[test]
fn xml_entities_are_not_expanded() {
    let mut dtd = String::from("<!DOCTYPE x [<!ENTITY a0 \"ha\">");
    for step in 1..30 {
        let below = format!("&a{};", step - 1).repeat(10);
        dtd.push_str(&format!("<!ENTITY a{step} \"{below}\">"));
    }
    dtd.push_str("]>");
    let main = format!("{dtd}<w:document><w:body>{}</w:body></w:document>", paragraph("x&a29;y"));
    let document = read("a.docx", &zip(&[("word/document.xml", main.as_bytes())]));
    assert_eq!(texts(&document), ["xy"]);
}

#[test]
fn deep_nesting_ends() {
    let deep = format!("{}{}", "<w:tbl><w:tr><w:tc>".repeat(100_000), paragraph("in"));
    let document = read("a.docx", &docx(&deep, &[]));
    assert_eq!(document.pages.len(), 1);
    let boxes = format!("{}{}", "<w:p><w:r><w:txbxContent>".repeat(2_000), paragraph("in"));
    let document = read("a.docx", &docx(&boxes, &[]));
    assert!(document.pages[0].page.text.contains("in"));
    let rtf = [b"{\\rtf1 ".to_vec(), b"{".repeat(1_000_000), b"x".to_vec()].concat();
    read("a.rtf", &rtf);
    let content =
        [b"[".repeat(1_000_000), b"<<".repeat(1_000_000), b"(".repeat(1_000_000)].concat();
    read("a.pdf", &pages(&[content], HELVETICA, true));
    let mut mail = String::from("From: a@b.c\r\nMIME-Version: 1.0\r\n");
    for step in 0..5_000 {
        mail.push_str(&format!(
            "Content-Type: multipart/mixed; boundary=b{step}\r\n\r\n--b{step}\r\n"
        ));
    }
    assert_eq!(codes(&read("a.eml", mail.as_bytes())), [ProblemCode::TooDeep]);
}

#[test]
fn pdf_loops_end() {
    // Pages that hold themselves, a table that follows itself, forms that draw each other.
    let mut pdf = Pdf::default();
    pdf.add("<< /Type /Pages /Kids [1 0 R 3 0 R 1 0 R] /Parent 1 0 R >>");
    let root = pdf.add("<< /Type /Catalog /Pages 1 0 R >>");
    pdf.add("<< /Type /Page /Contents 4 0 R /Length 5 0 R >>");
    pdf.add("4 0 R");
    pdf.add("<< /Length 5 0 R >>\nstream\nx\nendstream");
    let file = pdf.finish(root, "/Prev 20");
    assert_eq!(read("a.pdf", &file).pages.len(), 1);
    let mut pdf = Pdf::default();
    for form in 1..=20 {
        let next = if form == 20 { 1 } else { form + 1 };
        pdf.stream(
            &format!("/Subtype /Form /Resources << /XObject << /X {next} 0 R >> >>"),
            &b"/X Do ".repeat(10),
        );
    }
    let limits = ReadLimits { unpacked_bytes: 2 << 20, ..ReadLimits::default() };
    let file = pages_into(&mut pdf, &[b"/X Do".to_vec()], "/XObject << /X 1 0 R >>", false);
    let document = archive_extract::read_all("a.pdf", &file, &limits, &NoOcr);
    assert!(document.pages.len() <= 1);
}

#[test]
fn pdf_bombs_are_stopped() {
    let bomb = zlib(&vec![b' '; 64 << 20]);
    let mut pdf = Pdf::default();
    let stream = pdf.stream("/Filter /FlateDecode", &bomb);
    let again = zlib(&bomb);
    let twice = pdf.stream("/Filter [/FlateDecode /FlateDecode]", &again);
    let parts = format!("{stream} 0 R {twice} 0 R ").repeat(50);
    let page = pdf.add(format!("<< /Type /Page /Contents [{parts}] >>"));
    let tree = pdf.add(format!("<< /Type /Pages /Kids [{page} 0 R] >>"));
    let root = pdf.add(format!("<< /Type /Catalog /Pages {tree} 0 R >>"));
    let limits = ReadLimits { unpacked_bytes: 256 << 20, ..ReadLimits::default() };
    let document = archive_extract::read_all("a.pdf", &pdf.finish(root, ""), &limits, &NoOcr);
    assert_eq!(codes(&document), [ProblemCode::TooLarge]);
}

#[test]
fn time_and_size_and_text_are_bounded() {
    let file = text(&["a", "b"]);
    let limits = ReadLimits { seconds: 0, ..ReadLimits::default() };
    assert_eq!(
        codes(&archive_extract::read_all("a.pdf", &file, &limits, &NoOcr)),
        [ProblemCode::TimedOut]
    );
    let limits = ReadLimits { bytes: 10, ..ReadLimits::default() };
    assert_eq!(
        codes(&archive_extract::read_all("a.pdf", &file, &limits, &NoOcr)),
        [ProblemCode::TooLarge]
    );
    let limits = ReadLimits { text_bytes: 3, ..ReadLimits::default() };
    let document = archive_extract::read_all("a.txt", b"ab\x0ccd", &limits, &NoOcr);
    assert_eq!((texts(&document), codes(&document)), (vec!["ab"], vec![ProblemCode::TooLarge]));
}

#[test]
fn polyglots_are_one_thing_and_say_so() {
    // A PDF behind a text line, and an archive with a PDF in front.
    let mut file = b"#!/bin/sh\n".to_vec();
    file.extend(text(&["inside"]));
    let document = read("a.txt", &file);
    assert_eq!(texts(&document), ["inside"]);
    assert_eq!(codes(&document), [ProblemCode::NameMismatch]);
    let mut file = text(&["seen"]);
    file.extend(docx(&paragraph("not seen"), &[]));
    assert_eq!(texts(&read("a.pdf", &file)), ["seen"]);
}

#[test]
fn truncated_and_encrypted_files_say_so() {
    let whole = docx(&paragraph("x"), &[]);
    assert_eq!(codes(&read("a.docx", &whole[..whole.len() - 60])), [ProblemCode::Truncated]);
    let cut = docx("<w:p><w:r><w:t>kept</w:t></w:r></w:p><w:p><w:r><w:t>lost</w", &[]);
    let document = read("a.docx", &cut);
    assert!(document.pages[0].page.text.starts_with("kept"));
    let locked = Doc { body: "x".to_owned(), encrypted: true, ..Doc::default() };
    assert_eq!(codes(&read("a.doc", &locked.finish())), [ProblemCode::Encrypted]);
    let mut package = cfb::CompoundFile::create(std::io::Cursor::new(Vec::new())).unwrap();
    package.create_stream("/EncryptedPackage").unwrap();
    let package = package.into_inner().into_inner();
    assert_eq!(codes(&read("a.docx", &package)), [ProblemCode::Encrypted]);
    assert_eq!(codes(&read("a.tif", b"II\x2a\0\xff\xff\0\0")), [ProblemCode::Truncated]);
}

#[test]
fn a_picture_whose_directories_loop_ends() {
    let mut file = tiff(2);
    let last = file.len() - 6;
    file[last..last + 4].copy_from_slice(&8_u32.to_le_bytes());
    assert_eq!(read("a.tif", &file).pages.len(), 2);
}

#[test]
fn a_page_that_fails_leaves_the_others() {
    let font = "/Font << /F1 << /Subtype /Type1 /BaseFont /Times-Roman >> >>";
    let mut pdf = Pdf::default();
    let broken = pdf.stream("/Filter /FlateDecode", b"not deflated at all");
    let good = pdf.stream("", &lines("good"));
    let kids: Vec<usize> = [broken, good, 999]
        .into_iter()
        .map(|it| pdf.add(format!("<< /Type /Page /Contents {it} 0 R /Resources << {font} >> >>")))
        .collect();
    let kids: String = kids.iter().map(|it| format!("{it} 0 R ")).collect();
    let tree = pdf.add(format!("<< /Type /Pages /Kids [{kids}] >>"));
    let root = pdf.add(format!("<< /Type /Catalog /Pages {tree} 0 R >>"));
    assert_eq!(texts(&read("a.pdf", &pdf.finish(root, ""))), ["", "good", ""]);
}

//! The text layer of PDF: fonts, positions, structure and damage.

use archive_extract::{NoOcr, ProblemCode, ReadLimits, TextSource};

use crate::{codes, read, texts};
use archive_extract::testing::pdf::{HELVETICA, Pdf, lines, pages, pages_into, text};
use archive_extract::testing::zlib;

#[track_caller]
fn check(file: &[u8], expected: &[&str]) {
    let document = read("a.pdf", file);
    assert_eq!(texts(&document), expected, "{:?}", document.problems);
    assert_eq!(codes(&document), []);
}

#[track_caller]
fn check_content(content: &str, expected: &str) {
    check(&pages(&[content.as_bytes().to_vec()], HELVETICA, false), &[expected]);
}

#[test]
fn pages_come_in_order_with_their_lines() {
    let file =
        text(&["The Court (en banc)\nheld: § 1983", "Page two", "caf\u{e9} \u{201c}q\u{201d}"]);
    check(&file, &["The Court (en banc)\nheld: § 1983", "Page two", "caf\u{e9} \u{201c}q\u{201d}"]);
}

#[test]
fn positions_make_spaces_and_lines() {
    let start = "BT /F1 10 Tf 100 700 Td";
    check_content(&format!("{start} (Hel) Tj (lo) Tj ET"), "Hello");
    check_content(&format!("{start} [(Hel) -20 (lo) -400 (world)] TJ ET"), "Hello world");
    check_content(&format!("{start} (left) Tj 100 0 Td (right) Tj ET"), "left right");
    check_content(&format!("{start} (up) Tj 0 -12 Td (down) Tj ET"), "up\ndown");
    check_content(&format!("{start} (a) Tj 0 -40 Td (b) Tj ET"), "a\n\nb");
    check_content(&format!("{start} (note) Tj 6 Tf 4 Ts (1) Tj ET"), "note1");
    check_content("BT /F1 10 Tf 0 1 -1 0 100 100 Tm (turned) Tj (text) Tj ET", "turnedtext");
    check_content("q 2 0 0 2 0 0 cm BT /F1 10 Tf 1 0 0 1 9 9 Tm (big) Tj ET Q", "big");
    check_content(&format!("{start} 12 TL (one) Tj (two) ' 1 2 (three) \" ET"), "one\ntwo\nthree");
    check_content("BI /W 1 /H 1 ID \x01(no) Tj\x02 EI\nBT /F1 9 Tf 9 9 Td (yes) Tj ET", "yes");
}

#[test]
fn fonts_say_what_their_codes_mean() {
    let mut pdf = Pdf::default();
    let map = pdf.stream(
        "",
        b"1 begincodespacerange <0000> <ffff> endcodespacerange 1 beginbfrange <0001> <0020> <0410> endbfrange",
    );
    let fonts = format!(
        "/Font << /F1 << /Subtype /Type0 /Encoding /Identity-H /ToUnicode {map} 0 R /DescendantFonts [<< /DW 600 >>] >> \
         /F2 << /Subtype /Type1 /Encoding << /Differences [65 /afii10017 /section /fi /uni20AC] >> >> >>"
    );
    let content =
        b"BT /F1 10 Tf 10 700 Td <000100020003> Tj /F2 10 Tf 0 -20 Td (ABCD) Tj ET".to_vec();
    check(&pages_into(&mut pdf, &[content], &fonts, false), &["АБВ\nА§fi€"]);
    let silent = "/Font << /F1 << /Subtype /Type0 /Encoding /Identity-H /DescendantFonts [<< /DW 600 >>] >> >>";
    let file = pages(&[b"BT /F1 10 Tf <00010002> Tj ET".to_vec()], silent, false);
    assert_eq!(codes(&read("a.pdf", &file)), [ProblemCode::NoUnicode]);
}

#[test]
fn forms_are_drawn_where_they_stand() {
    let mut pdf = Pdf::default();
    let form = pdf.stream(
        &format!("/Subtype /Form /Resources << {HELVETICA} >>"),
        b"BT /F1 10 Tf 10 10 Td (stamp) Tj ET",
    );
    let resources = format!("{HELVETICA} /XObject << /X {form} 0 R >>");
    let content = b"BT /F1 10 Tf 10 700 Td (text) Tj ET q 1 0 0 1 0 100 cm /X Do Q".to_vec();
    check(&pages_into(&mut pdf, &[content], &resources, true), &["text\n\nstamp"]);
}

#[test]
fn filled_fields_are_part_of_the_page() {
    let mut pdf = Pdf::default();
    let dict = format!("/Subtype /Form /BBox [0 0 99 20] /Resources << {HELVETICA} >>");
    let value = pdf.stream(&dict, b"BT /F1 10 Tf 2 2 Td (John Doe) Tj ET");
    let hidden = pdf.stream(&dict, b"BT /F1 10 Tf 2 2 Td (hidden) Tj ET");
    let content = pdf.stream("", b"BT /F1 10 Tf 10 700 Td (Name:) Tj ET");
    let page = pdf.add(format!(
        "<< /Type /Page /Contents {content} 0 R /Resources << {HELVETICA} >> /Annots [\
         << /Subtype /Widget /Rect [60 698 160 718] /AP << /N {value} 0 R >> >> \
         << /Subtype /Widget /F 2 /Rect [60 698 160 718] /AP << /N {hidden} 0 R >> >> \
         << /Subtype /Widget /AS /Off /Rect [9 9 9 9] /AP << /N << /On {hidden} 0 R >> >> >> \
         << /Subtype /Link /Rect [9 9 9 9] /AP << /N {hidden} 0 R >> >>] >>"
    ));
    let tree = pdf.add(format!("<< /Type /Pages /Kids [{page} 0 R] >>"));
    let root = pdf.add(format!("<< /Type /Catalog /Pages {tree} 0 R >>"));
    check(&pdf.finish(root, ""), &["Name: John Doe"]);
}

/// The same pages with all objects in a compressed stream and a table that is one too.
fn modern() -> Vec<u8> {
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        format!("<< /Type /Page /Parent 2 0 R /Contents 5 0 R /Resources << {HELVETICA} >> >>"),
    ];
    let mut index = String::new();
    let mut body = String::new();
    for (at, object) in objects.iter().enumerate() {
        index.push_str(&format!("{} {} ", at + 1, body.len()));
        body.push_str(object);
        body.push(' ');
    }
    let first = index.len();
    let packed = zlib(format!("{index}{body}").as_bytes());
    let mut file = b"%PDF-1.5\n".to_vec();
    let mut places = Vec::new();
    let streams = [
        (format!("/Type /ObjStm /N 3 /First {first} /Filter /FlateDecode"), packed),
        ("/Filter /FlateDecode".to_owned(), zlib(&lines("modern"))),
    ];
    for (number, (dict, data)) in (4..).zip(&streams) {
        places.push(file.len());
        file.extend(
            format!("{number} 0 obj << {dict} /Length {} >>\nstream\n", data.len()).bytes(),
        );
        file.extend(data);
        file.extend(b"\nendstream endobj\n");
    }
    let at = file.len();
    let mut rows: Vec<[usize; 3]> = vec![[0, 0, 0], [2, 4, 0], [2, 4, 1], [2, 4, 2]];
    rows.extend(places.iter().map(|it| [1, *it, 0]));
    rows.push([1, at, 0]);
    // Each row is written as its difference to the row above, as most writers do.
    let mut above = [0_u8; 4];
    let mut table = Vec::new();
    for [kind, place, index] in rows {
        let row = [kind as u8, (place >> 8) as u8, place as u8, index as u8];
        table.push(2);
        table.extend(row.iter().zip(above).map(|(now, then)| now.wrapping_sub(then)));
        above = row;
    }
    let table = zlib(&table);
    file.extend(
        format!(
            "6 0 obj << /Type /XRef /Size 7 /W [1 2 1] /Root 1 0 R /Filter /FlateDecode \
             /DecodeParms << /Predictor 12 /Columns 4 >> /Length {} >>\nstream\n",
            table.len()
        )
        .bytes(),
    );
    file.extend(table);
    file.extend(format!("\nendstream endobj\nstartxref\n{at}\n%%EOF").bytes());
    file
}

#[test]
fn compressed_tables_and_objects_are_read() {
    check(&modern(), &["modern"]);
}

#[test]
fn damage_costs_what_is_damaged() {
    for whole in [text(&["first page", "second page", "third page"]), modern()] {
        let expected = texts(&read("a.pdf", &whole)).len();
        let at = whole.windows(9).rposition(|it| it == b"startxref").unwrap();
        let document = read("a.pdf", &whole[..at]);
        assert_eq!(document.pages.len(), expected);
        assert_eq!(codes(&document), [ProblemCode::Truncated]);
    }
    // The tree is at the end: without it the pages are found by their type.
    let whole = text(&["first page", "second page", "third page"]);
    let at = whole.windows(6).rposition(|it| it == b"/Kids ").unwrap();
    let document = read("a.pdf", &whole[..at]);
    assert_eq!(document.pages.len(), 3);
    assert_eq!(document.pages.iter().map(|it| it.page.number).collect::<Vec<_>>(), [1, 2, 3]);
    let mut shifted = b"junk before the header\n".to_vec();
    shifted.extend(&whole);
    assert_eq!(read("a.pdf", &shifted).pages[2].page.text, "third page");
}

#[test]
fn encrypted_files_ask_for_the_password() {
    let mut pdf = Pdf::default();
    pages_into(&mut pdf, &[lines("secret")], HELVETICA, false);
    let root = pdf.objects.len();
    let file = pdf.finish(root, "/Encrypt << /Filter /Standard /V 9 /R 9 /O (x) /U (y) /P -4 >>");
    let document = read("a.pdf", &file);
    assert_eq!(codes(&document), [ProblemCode::Encrypted]);
    assert!(document.problems[0].message.contains("remove the password"));
}

#[test]
fn scans_without_ocr_say_what_to_install() {
    let mut pdf = Pdf::default();
    let image = pdf.stream(
        "/Subtype /Image /Width 8 /Height 1 /BitsPerComponent 1 /ColorSpace /DeviceGray",
        b"\xff",
    );
    let resources = format!("{HELVETICA} /XObject << /I {image} 0 R >>");
    let scan = b"q 612 0 0 792 0 0 cm /I Do Q\n".to_vec();
    let mut stamped = scan.clone();
    stamped.extend(lines("Case 1:20-cv-1 Filed"));
    let file = pages_into(&mut pdf, &[scan, stamped, lines("text")], &resources, false);
    let document = read("a.pdf", &file);
    assert_eq!(texts(&document), ["", "Case 1:20-cv-1 Filed", "text"]);
    assert_eq!(codes(&document), [ProblemCode::NeedsOcr, ProblemCode::NeedsOcr]);
    assert_eq!(document.pages[1].problems[0].page, Some(2));
    assert!(document.pages[0].problems[0].message.contains("tesseract-ocr"));
    assert_eq!(document.pages[2].source, TextSource::TextLayer);
}

#[test]
fn ten_thousand_pages_are_read_and_one_more_is_not() {
    let contents: Vec<Vec<u8>> = (0..10_001).map(|it| lines(&format!("page {it}"))).collect();
    let document = read("a.pdf", &pages(&contents, HELVETICA, false));
    assert_eq!(document.pages.len(), 10_000);
    assert_eq!(document.pages[9_999].page.text, "page 9999");
    assert_eq!(codes(&document), [ProblemCode::TooManyPages]);
    let limits = ReadLimits { pages: 2, ..ReadLimits::default() };
    let document = archive_extract::read_all("a.pdf", &text(&["a", "b", "c"]), &limits, &NoOcr);
    assert_eq!(texts(&document), ["a", "b"]);
}

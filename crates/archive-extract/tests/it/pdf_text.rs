//! The text of PDF pages: fonts without a map to Unicode, stated text, layers, fields and lines.

use archive_extract::testing::pdf::{HELVETICA, Pdf, pages, pages_into};

use crate::{read, texts};

#[track_caller]
fn check(file: &[u8], expected: &str) {
    let document = read("a.pdf", file);
    assert_eq!(texts(&document), [expected], "{:?}", document.problems);
}

/// One page whose content uses the font F1 with these entries.
#[track_caller]
fn check_font(font: &str, content: &[u8], expected: &str) {
    let fonts = format!("/Font << /F1 << /Type /Font {font} >> >>");
    let content = [b"BT /F1 10 Tf 50 700 Td ", content, b" ET"].concat();
    check(&pages(&[content], &fonts, false), expected);
}

#[track_caller]
fn check_content(content: &str, expected: &str) {
    check(&pages(&[content.as_bytes().to_vec()], HELVETICA, false), expected);
}

#[test]
fn predefined_cmaps_are_known() {
    let font = |cmap: &str, ordering: &str| {
        format!(
            "/Subtype /Type0 /BaseFont /A /Encoding /{cmap} /DescendantFonts [<< /DW 1000 \
             /CIDSystemInfo << /Registry (Adobe) /Ordering ({ordering}) /Supplement 2 >> >>]"
        )
    };
    check_font(&font("90ms-RKSJ-H", "Japan1"), b"<93FA967B41> Tj", "日本A");
    check_font(&font("GBK-EUC-H", "GB1"), b"<D6D0CEC4> Tj", "中文");
    check_font(&font("UniKS-UCS2-H", "Korea1"), b"<D55CAE00> Tj", "한글");
    check_font(&font("UniJIS-UTF16-H", "Japan1"), b"<65E5D842DFB7> Tj", "日\u{20bb7}");
    check_font(&font("Identity-H", "Japan1"), b"<034B> Tj", "あ");
    // The characters of a vertical line follow each other downwards.
    check_font(&font("UniJIS-UCS2-V", "Japan1"), b"<65E5672C8A9E> Tj", "日本語");
}

#[test]
fn codes_have_the_length_of_their_code_space() {
    let mut pdf = Pdf::default();
    let map = pdf.stream(
        "",
        b"2 begincodespacerange <00> <7f> <8000> <ffff> endcodespacerange \
          2 begincidrange <00> <7f> 0 <8000> <80ff> 200 endcidrange",
    );
    let unicode = pdf.stream(
        "",
        b"1 beginbfchar <8001> <0416> endbfchar 1 beginbfrange <41> <43> <0061> endbfrange",
    );
    let fonts = format!(
        "/Font << /F1 << /Subtype /Type0 /Encoding {map} 0 R /ToUnicode {unicode} 0 R \
         /DescendantFonts [<< /DW 500 /W [201 [900]] >>] >> >>"
    );
    let content = b"BT /F1 10 Tf 50 700 Td <4180014243> Tj ET".to_vec();
    check(&pages_into(&mut pdf, &[content], &fonts, false), "aЖbc");
}

/// A font file with one table for the codes of Unicode: A to C are the glyphs 1 to 3.
fn true_type() -> Vec<u8> {
    let words = |it: &[u16]| it.iter().flat_map(|it| it.to_be_bytes()).collect::<Vec<u8>>();
    let mut file = vec![0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    file.extend(b"cmap\0\0\0\0\0\0\0\x1c\0\0\0\x2c");
    file.extend(words(&[0, 1, 3, 1, 0, 12]));
    file.extend(words(&[4, 32, 0, 4, 4, 1, 0, 67, 0xffff, 0, 65, 0xffff, 0xffc0, 1, 0, 0]));
    file
}

#[test]
fn embedded_fonts_say_what_their_glyphs_are() {
    let mut pdf = Pdf::default();
    let program = pdf.stream("", &true_type());
    let below = |more: &str| {
        format!("[<< /DW 600 {more} /FontDescriptor << /FontFile2 {program} 0 R >> >>]")
    };
    let map = pdf.stream("", &[0, 0, 0, 3]);
    let (plain, mapped) = (below(""), below(&format!("/CIDToGIDMap {map} 0 R")));
    let fonts = format!(
        "/Font << /F1 << /Subtype /Type0 /Encoding /Identity-H /DescendantFonts {plain} >> \
         /F2 << /Subtype /Type0 /Encoding /Identity-H /DescendantFonts {mapped} >> >>"
    );
    let content = b"BT /F1 10 Tf 50 700 Td <000200010003> Tj /F2 10 Tf <0001> Tj ET".to_vec();
    check(&pages_into(&mut pdf, &[content], &fonts, false), "BACC");
}

#[test]
fn fonts_of_symbols_and_names_of_codes_are_read() {
    check_font("/Subtype /Type1 /BaseFont /Symbol", b"(abp) Tj", "αβπ");
    check_font("/Subtype /Type1 /BaseFont /ZapfDingbats", b"(4) Tj", "✔");
    let numbered = "/Subtype /Type3 /FontMatrix [0.01 0 0 0.01 0 0] /FirstChar 65 \
                    /Widths [50 50] /Encoding << /Differences [65 /a65 /a66] >>";
    check_font(numbered, b"(AB) Tj", "AB");
    check_font("/Subtype /TrueType /BaseFont /ArialMT", b"(a\xf1) Tj", "aæ");
}

#[test]
fn stated_text_replaces_what_is_drawn() {
    let start = "BT /F1 10 Tf 50 700 Td";
    let span = "/Span << /ActualText (office) >> BDC (o) Tj (xx) Tj EMC";
    check_content(&format!("{start} (my ) Tj {span} ( is) Tj ET"), "my office is");
    let wide = "/Span << /ActualText <FEFF0416> >> BDC (x) Tj EMC";
    check_content(&format!("{start} {wide} ET"), "Ж");
    check_content(&format!("{start} /Span << /ActualText () >> BDC (x) Tj EMC (y) Tj ET"), "y");
}

#[test]
fn layers_that_are_off_are_not_read() {
    let mut pdf = Pdf::default();
    let layer = pdf.add("<< /Type /OCG /Name (draft) >>");
    let shown = pdf.add("<< /Type /OCG /Name (text) >>");
    let content =
        b"BT /F1 10 Tf 50 700 Td /OC /L1 BDC (draft ) Tj EMC /OC /L2 BDC (final) Tj EMC ET";
    let content = pdf.stream("", content);
    let page = pdf.add(format!(
        "<< /Type /Page /Contents {content} 0 R /Resources << {HELVETICA} \
         /Properties << /L1 {layer} 0 R /L2 {shown} 0 R >> >> >>"
    ));
    let tree = pdf.add(format!("<< /Type /Pages /Kids [{page} 0 R] >>"));
    let root = pdf.add(format!(
        "<< /Type /Catalog /Pages {tree} 0 R /OCProperties << /D << /OFF [{layer} 0 R] >> >> >>"
    ));
    check(&pdf.finish(root, ""), "final");
}

#[test]
fn fields_without_an_appearance_have_their_value() {
    let file = |form: &str, look: &str| {
        let mut pdf = Pdf::default();
        let old = pdf.stream(
            &format!("/Subtype /Form /BBox [0 0 99 20] /Resources << {HELVETICA} >>"),
            b"BT /F1 10 Tf 2 2 Td (old) Tj ET",
        );
        let look = look.replace("OLD", &format!("{old} 0 R"));
        let page = pdf.add(format!(
            "<< /Type /Page /Annots [<< /Subtype /Widget /FT /Tx /V (Jane Roe) \
             /Rect [60 698 160 718] {look} >>] >>"
        ));
        let tree = pdf.add(format!("<< /Type /Pages /Kids [{page} 0 R] >>"));
        let root = pdf.add(format!("<< /Type /Catalog /Pages {tree} 0 R {form} >>"));
        pdf.finish(root, "")
    };
    check(&file("", ""), "Jane Roe");
    check(&file("", "/AP << /N OLD >>"), "old");
    let outdated = "/AcroForm << /NeedAppearances true >>";
    check(&file(outdated, "/AP << /N OLD >>"), "Jane Roe");
}

#[test]
fn what_is_not_visible_is_not_read() {
    let start = "BT /F1 10 Tf 50 700 Td";
    check_content(&format!("{start} (in) Tj 900 0 Td (right) Tj -1800 0 Td (left) Tj ET"), "in");
    // Bold letters are drawn twice.
    check_content(&format!("{start} (bold) Tj -0.3 0 Td (bold) Tj ET"), "bold");
    check_content(&format!("{start} (all) Tj ET"), "all");
    let mut pdf = Pdf::default();
    let number = pdf.objects.len() + 1;
    let form = pdf.stream(
        &format!("/Subtype /Form /Resources << {HELVETICA} /XObject << /X {number} 0 R >> >>"),
        b"BT /F1 10 Tf 10 10 Td (once) Tj ET 0.9 0 0 0.9 9 9 cm /X Do",
    );
    let resources = format!("/XObject << /X {form} 0 R >>");
    check(&pages_into(&mut pdf, &[b"/X Do".to_vec()], &resources, false), "once");
}

#[test]
fn words_that_a_line_end_splits_are_joined() {
    let start = "BT /F1 10 Tf 12 TL 50 700 Td";
    check_content(
        &format!("{start} (the copy-) Tj T* (right holder) Tj ET"),
        "the copyright\nholder",
    );
    check_content(&format!("{start} (pages 12-) Tj T* (14) Tj ET"), "pages 12-\n14");
}

#[test]
fn hebrew_drawn_from_the_left_is_put_into_order() {
    let font = "/Subtype /Type1 /Encoding << /Differences [65 /afii57677 /afii57669 /afii57676 \
                /afii57689] >> /FirstChar 65 /Widths [500 500 500 500]";
    check_font(font, b"(ABCD) Tj", "שלום");
    // The same letters, each drawn to the left of the one before it.
    let backward = b"(D) Tj -5 0 Td (C) Tj -5 0 Td (B) Tj -5 0 Td (A) Tj";
    check_font(font, backward, "שלום");
}

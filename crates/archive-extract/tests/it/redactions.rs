//! Text under black boxes, which a search still finds.

use archive_extract::ProblemCode;
use archive_extract::testing::pdf::{HELVETICA, Pdf, pages};

use crate::{codes, read, texts};

const NAME: &str = "BT /F1 12 Tf 100 700 Td (Secret Name) Tj ET";

#[track_caller]
fn check(content: &str, is_hidden: bool) {
    let resources = format!(
        "{HELVETICA} /ExtGState << /Half << /ca 0.4 >> >> \
         /ColorSpace << /Spot [/Separation /Black /DeviceGray << >>] /Tile [/Pattern] >>"
    );
    let document = read("a.pdf", &pages(&[content.as_bytes().to_vec()], &resources, false));
    assert!(texts(&document)[0].contains("Secret Name"), "{content}");
    let expected: &[ProblemCode] = if is_hidden { &[ProblemCode::HiddenText] } else { &[] };
    assert_eq!(codes(&document), expected, "{content}");
}

#[test]
fn text_under_a_black_box_is_noted() {
    check(&format!("{NAME} 95 695 90 18 re f"), true);
    check(&format!("{NAME} 0 g 95 695 m 185 695 l 185 713 l 95 713 l f"), true);
    check(&format!("{NAME} /Spot cs 1 scn 95 695 90 18 re f"), true);
    check(&format!("{NAME} 18 w 95 704 m 185 704 l S"), true);
    check(&format!("q 0.5 0 0 0.5 50 350 cm {NAME} 95 695 90 18 re f Q"), true);
    // Word draws a black highlight first and the text on it in black.
    check(&format!("95 695 90 18 re f {NAME}"), true);
}

#[test]
fn text_that_can_be_seen_is_not() {
    check(NAME, false);
    check(&format!("{NAME} 95 690 90 2 re f"), false);
    check(&format!("{NAME} 1 g 95 695 90 18 re f"), false);
    check(&format!("{NAME} 1 1 0 rg 95 695 90 18 re f"), false);
    check(&format!("{NAME} 95 500 90 18 re f"), false);
    check(&format!("{NAME} 95 695 90 18 re S"), false);
    check(&format!("{NAME} /Half gs 95 695 90 18 re f"), false);
    check(&format!("{NAME} /Tile cs /P1 scn 95 695 90 18 re f"), false);
    check(&format!("95 695 90 18 re f 1 g {NAME}"), false);
    check(&format!("{NAME} 0 0 9 9 re W n 95 695 90 18 re f"), false);
    // A frame that is a black box with a white one on it.
    check(&format!("90 690 100 28 re f 1 g 92 692 96 24 re f 0 g {NAME}"), false);
}

#[test]
fn annotations_hide_text_too() {
    for (annotation, is_hidden) in [
        ("/Subtype /Square /IC [0 0 0]", true),
        ("/Subtype /Highlight /C [0]", true),
        ("/Subtype /Redact", true),
        ("/Subtype /Square /IC [1 1 0]", false),
        ("/Subtype /Square /C [0 0 0]", false),
        ("/Subtype /Square /IC [0 0 0] /CA 0.3", false),
        ("/Subtype /Square /IC [0 0 0] /F 2", false),
        ("/Subtype /Link", false),
    ] {
        let mut pdf = Pdf::default();
        let content = pdf.stream("", NAME.as_bytes());
        let page = pdf.add(format!(
            "<< /Type /Page /Contents {content} 0 R /Resources << {HELVETICA} >> \
             /Annots [<< {annotation} /Rect [95 695 185 713] >>] >>"
        ));
        let tree = pdf.add(format!("<< /Type /Pages /Kids [{page} 0 R] >>"));
        let root = pdf.add(format!("<< /Type /Catalog /Pages {tree} 0 R >>"));
        let found = codes(&read("a.pdf", &pdf.finish(root, "")));
        assert_eq!(found.contains(&ProblemCode::HiddenText), is_hidden, "{annotation}");
    }
}

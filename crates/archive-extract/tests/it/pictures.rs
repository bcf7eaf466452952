//! OCR: through a tool that stands in for Tesseract, and through Tesseract where it is installed.

use parking_lot::Mutex;
use std::path::{Path, PathBuf};
use std::time::Duration;

use archive_extract::{
    NoOcr, Ocr, OcrPage, PixelArea, ProblemCode, ReadLimits, ReadProblem, Tesseract, TextSource,
};

use crate::{codes, read, texts};
use archive_extract::testing::docx::{document, zip};
use archive_extract::testing::pdf::{HELVETICA, Pdf, lines, pages_into, text};
use archive_extract::testing::tiff;

/// Answers with what it was given, and remembers it.
#[derive(Default)]
struct EchoOcr {
    images: Mutex<Vec<(Vec<u8>, u32)>>,
    pages: usize,
}

impl Ocr for EchoOcr {
    fn ready(&self) -> Result<(), ReadProblem> {
        Ok(())
    }

    fn image(&self, image: &[u8], dpi: u32, _: Duration) -> Result<Vec<OcrPage>, ReadProblem> {
        self.images.lock().push((image.to_vec(), dpi));
        let page = |at| OcrPage { text: format!("seen {at}"), confidence: 0.9 };
        Ok((1..=self.pages).map(page).collect())
    }

    fn pdf_page(
        &self,
        _: &Path,
        page: u32,
        area: Option<PixelArea>,
        _: Duration,
    ) -> Result<OcrPage, ReadProblem> {
        let text = match area {
            Some(it) => format!("part {} {} {} {}", it.x, it.y, it.width, it.height),
            None => format!("rendered {page}"),
        };
        Ok(OcrPage { text, confidence: 0.8 })
    }

    fn scratch_file(&self, _: &[u8]) -> Result<PathBuf, ReadProblem> {
        Ok(PathBuf::from("/nonexistent/scratch"))
    }
}

#[test]
fn pictures_go_to_ocr_page_by_page() {
    let ocr = EchoOcr { pages: 3, ..EchoOcr::default() };
    let document = archive_extract::read_all("a.tif", &tiff(3), &ReadLimits::default(), &ocr);
    assert_eq!(texts(&document), ["seen 1", "seen 2", "seen 3"]);
    assert_eq!(document.pages[0].source, TextSource::Ocr { confidence: 0.9 });
    let document = read("a.tif", &tiff(3));
    assert_eq!(document.pages.len(), 3);
    assert_eq!(codes(&document), [ProblemCode::NeedsOcr; 3]);
}

fn scan(dict: &str, data: &[u8], content: &str) -> Vec<u8> {
    let mut pdf = Pdf::default();
    let image = pdf.stream(&format!("/Subtype /Image {dict}"), data);
    let resources = format!("{HELVETICA} /XObject << /I {image} 0 R >>");
    pages_into(&mut pdf, &[content.as_bytes().to_vec(), lines("typed")], &resources, false)
}

const FULL: &str = "q 612 0 0 792 0 0 cm /I Do Q";

#[test]
fn a_scanned_page_gives_its_picture_as_it_is() {
    let cases: [(&str, &[u8], &[u8]); 4] = [
        ("/Width 2550 /Height 9 /Filter /DCTDecode", b"\xff\xd8jpeg", b"\xff\xd8jpeg"),
        (
            "/Width 16 /Height 1 /BitsPerComponent 1 /ColorSpace /DeviceGray",
            b"\xff\0",
            b"P4\n16 1\n\0\xff",
        ),
        (
            "/Width 2 /Height 1 /BitsPerComponent 8 /ColorSpace /DeviceGray",
            b"\x07\x09",
            b"P5\n2 1\n255\n\x07\x09",
        ),
        (
            "/Width 1 /Height 1 /BitsPerComponent 8 /ColorSpace /DeviceRGB",
            b"rgb",
            b"P6\n1 1\n255\nrgb",
        ),
    ];
    for (dict, data, expected) in cases {
        let ocr = EchoOcr { pages: 1, ..EchoOcr::default() };
        let document = archive_extract::read_all(
            "a.pdf",
            &scan(dict, data, FULL),
            &ReadLimits::default(),
            &ocr,
        );
        assert_eq!(texts(&document), ["seen 1", "typed"], "{dict}");
        assert_eq!(ocr.images.lock()[0].0, expected, "{dict}");
    }
    let ocr = EchoOcr { pages: 1, ..EchoOcr::default() };
    let fax = scan(
        "/Width 2550 /Height 9 /Filter /CCITTFaxDecode /DecodeParms << /K -1 /Columns 2550 >>",
        b"fax",
        FULL,
    );
    assert_eq!(codes(&archive_extract::read_all("a.pdf", &fax, &ReadLimits::default(), &ocr)), []);
    let (image, dpi) = ocr.images.lock().remove(0);
    assert!(image.starts_with(b"II\x2a\0") && image.ends_with(b"fax"));
    assert_eq!(dpi, 300);
}

#[test]
fn other_pages_are_rendered() {
    let jpeg = "/Width 9 /Height 9 /Filter /DCTDecode";
    for (dict, content, expected) in [
        ("/Width 9 /Height 9 /Filter /JBIG2Decode", FULL, "rendered 1"),
        (jpeg, "q 0 612 -792 0 792 0 cm /I Do Q", "rendered 1"),
        (jpeg, "q 612 0 0 400 0 0 cm /I Do Q q 612 0 0 392 0 400 cm /I Do Q", "rendered 1"),
        (jpeg, "q 612 0 0 792 0 0 cm /I Do Q BT /F1 9 Tf 9 9 Td (Filed) Tj ET", "Filed\n\nseen 1"),
    ] {
        let ocr = EchoOcr { pages: 1, ..EchoOcr::default() };
        let document = archive_extract::read_all(
            "a.pdf",
            &scan(dict, b"x", content),
            &ReadLimits::default(),
            &ocr,
        );
        assert_eq!(document.pages[0].page.text, expected, "{content}");
    }
}

#[test]
fn the_number_of_ocr_pages_is_limited() {
    let limits = ReadLimits { ocr_pages: 0, ..ReadLimits::default() };
    let ocr = EchoOcr { pages: 1, ..EchoOcr::default() };
    let file = scan("/Width 9 /Height 9 /Filter /DCTDecode", b"x", FULL);
    let document = archive_extract::read_all("a.pdf", &file, &limits, &ocr);
    assert_eq!(texts(&document), ["", "typed"]);
    assert_eq!(codes(&document), [ProblemCode::OcrLimit]);
}

#[test]
fn a_missing_tool_is_named() {
    let ocr = Tesseract::with("/nonexistent/tesseract", "none", vec!["eng".to_owned()], "/tmp");
    let problem = ocr.ready().unwrap_err();
    assert_eq!(problem.code, ProblemCode::NeedsOcr);
    assert!(problem.message.contains("apt-get install tesseract-ocr"));
    assert_eq!(NoOcr.ready().unwrap_err().code, ProblemCode::NeedsOcr);
}

const JPEG: &str = "/Width 900 /Height 900 /Filter /DCTDecode";

/// The first page of a file with this content and the picture `I`.
fn first_page(content: &str) -> (String, Vec<ProblemCode>) {
    let ocr = EchoOcr { pages: 1, ..EchoOcr::default() };
    let file = scan(JPEG, b"x", content);
    let document = archive_extract::read_all("a.pdf", &file, &ReadLimits::default(), &ocr);
    (document.pages[0].page.text.clone(), codes(&document))
}

/// At least `letters` letters in lines at the top of the page; mode 3 draws them without ink.
fn typed(letters: usize, mode: u32) -> String {
    let line = "word ".repeat(17);
    let lines = (0..letters.div_ceil(68)).map(|_| format!("({line}) Tj T* "));
    format!("BT {mode} Tr /F1 9 Tf 10 TL 20 780 Td {}ET\n", lines.collect::<String>())
}

#[test]
fn pictures_on_pages_with_text_are_read() {
    let check = |content: &str, ends: &str| {
        let (text, codes) = first_page(content);
        assert!(text.ends_with(ends), "{content}\n{text}");
        assert_eq!(codes, [], "{content}");
    };
    // 340 letters above a scan that fills most of the page.
    check(&format!("{}q 612 0 0 700 0 0 cm /I Do Q", typed(340, 0)), "word\n\nseen 1");
    // A caption above a scan of 45 % of the page.
    check(
        "BT /F1 9 Tf 250 760 Td (EXHIBIT 4) Tj ET q 500 0 0 430 50 200 cm /I Do Q",
        "EXHIBIT 4\n\nseen 1",
    );
    // A line of text as a picture, which is rendered.
    check(
        "BT /F1 9 Tf 250 760 Td (Heading) Tj ET q 144 0 0 12 72 648 cm /I Do Q",
        "Heading\n\npart 300 550 600 50",
    );
    // Strips below a caption are one picture.
    let strips: String =
        (0..20).map(|it| format!("q 500 0 0 26 50 {} cm /I Do Q ", 40 + it * 26)).collect();
    check(
        &format!("BT /F1 9 Tf 250 760 Td (Heading) Tj ET {strips}"),
        "Heading\n\npart 208 966 2083 2166",
    );
}

#[test]
fn a_page_of_strips_or_of_drawings_is_rendered() {
    let strips: String =
        (0..30).map(|it| format!("q 600 0 0 26 6 {} cm /I Do Q ", 6 + it * 26)).collect();
    assert_eq!(first_page(&strips), ("rendered 1".to_owned(), Vec::new()));
    assert_eq!(first_page("9 9 m 50 90 l 80 9 l f").0, "rendered 1");
    assert_eq!(first_page("q 612 0 0 792 0 0 cm BI /W 1 /H 1 ID \u{1} EI Q").0, "rendered 1");
    assert_eq!(first_page(""), (String::new(), vec![ProblemCode::BlankPage]));
}

#[test]
fn a_scan_with_its_own_text_is_not_read_again() {
    let (text, _) = first_page(&format!("{FULL} {}", typed(600, 3)));
    assert!(text.ends_with("word"), "{text}");
    let (text, _) = first_page(&format!("{} {FULL}", typed(600, 0)));
    assert!(text.ends_with("word"), "{text}");
}

#[test]
fn the_same_picture_on_many_pages_is_read_once() {
    let mut pdf = Pdf::default();
    let image = pdf.stream(&format!("/Subtype /Image {JPEG}"), b"x");
    let resources = format!("{HELVETICA} /XObject << /I {image} 0 R >>");
    let mut page = lines("typed text");
    page.extend(b"q 200 0 0 100 50 300 cm /I Do Q");
    let file = pages_into(&mut pdf, &vec![page; 5], &resources, false);
    let ocr = EchoOcr { pages: 1, ..EchoOcr::default() };
    let limits = ReadLimits { ocr_pages: 1, ..ReadLimits::default() };
    let document = archive_extract::read_all("a.pdf", &file, &limits, &ocr);
    assert_eq!(texts(&document), ["typed text\n\nseen 1"; 5]);
    assert_eq!(ocr.images.lock().len(), 1);
    assert_eq!(codes(&document), []);
}

#[test]
fn pictures_beyond_the_limits_are_counted() {
    let small: String = (0..12)
        .map(|it| format!("q 144 0 0 12 72 {} cm BI /W 1 /H 1 ID x EI Q ", 40 + it * 50))
        .collect();
    let (text, codes) = first_page(&format!("BT /F1 9 Tf 9 760 Td (Heading) Tj ET {small}"));
    assert_eq!(text.matches("part").count(), 8);
    assert_eq!(codes, [ProblemCode::OcrLimit]);
    let content = "BT /F1 9 Tf 250 760 Td (EXHIBIT) Tj ET q 500 0 0 430 50 200 cm /I Do Q";
    let document = read("a.pdf", &scan(JPEG, b"x", content));
    assert_eq!(codes_of_page(&document, 0), [ProblemCode::NeedsOcr]);
    assert!(document.pages[0].problems[0].message.contains("a picture on the page was not read"));
}

fn codes_of_page(document: &archive_extract::Document, at: usize) -> Vec<ProblemCode> {
    document.pages[at].problems.iter().map(|it| it.code).collect()
}

/// A DOCX with a square picture, `inches` on each side, that has these bytes.
fn picture_in_docx(inches: u32, bytes: &[u8]) -> Vec<u8> {
    let side = inches * 914_400;
    let main = document(&format!(
        "<w:p><w:r><w:drawing><wp:extent cx=\"{side}\" cy=\"{side}\"/>\
         <a:blip r:embed=\"rId1\"/></w:drawing><w:t>typed</w:t></w:r></w:p>"
    ));
    let relations =
        "<Relationships><Relationship Id=\"rId1\" Target=\"media/image1.png\"/></Relationships>";
    zip(&[
        ("[Content_Types].xml", b"<Types/>"),
        ("word/document.xml", main.as_bytes()),
        ("word/_rels/document.xml.rels", relations.as_bytes()),
        ("word/media/image1.png", bytes),
    ])
}

#[test]
fn pictures_of_a_docx_are_read_or_noted() {
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x09\0\0\0\x09".as_slice();
    let ocr = EchoOcr { pages: 1, ..EchoOcr::default() };
    let with =
        |file: &[u8]| archive_extract::read_all("a.docx", file, &ReadLimits::default(), &ocr);
    for inches in [1, 5] {
        let document = with(&picture_in_docx(inches, png));
        assert_eq!(texts(&document), ["typed\n\nseen 1"]);
        assert_eq!(codes(&document), []);
    }
    let document = with(&picture_in_docx(5, b"\xd7\xcd\xc6\x9a a metafile"));
    assert_eq!(codes_of_page(&document, 0), [ProblemCode::Unsupported]);
    assert!(document.pages[0].problems[0].message.contains("save the document as PDF"));
    let document = read("a.docx", &picture_in_docx(5, png));
    assert_eq!(codes_of_page(&document, 0), [ProblemCode::NeedsOcr]);
    assert_eq!(codes(&read("a.docx", &picture_in_docx(1, png))), [ProblemCode::NeedsOcr]);
}

/// A page drawn by `pdftoppm` and read back by Tesseract, where both are installed.
#[test]
fn tesseract_reads_a_page() {
    let folder = std::env::temp_dir();
    let ocr = Tesseract::new(&folder);
    if ocr.ready().is_err() {
        println!("Tesseract is not installed: OCR is tested through a stand-in only");
        return;
    }
    let large = b"BT /F1 24 Tf 72 700 Td (The motion to dismiss is denied.) Tj ET".to_vec();
    let file = archive_extract::testing::pdf::pages(&[large], HELVETICA, true);
    let path = ocr.scratch_file(&file).unwrap();
    let page = ocr.pdf_page(&path, 1, None, Duration::from_secs(120));
    std::fs::remove_file(&path).unwrap();
    match page {
        Ok(page) => {
            assert_eq!(page.text.trim(), "The motion to dismiss is denied.");
            assert!(page.confidence > 0.7, "{}", page.confidence);
        }
        Err(problem) => assert_eq!(problem.code, ProblemCode::NeedsOcr, "{problem:?}"),
    }
    let failed = ocr.image(&text(&["no picture"]), 0, Duration::from_secs(60));
    assert_eq!(failed.unwrap_err().code, ProblemCode::OcrFailed);
}

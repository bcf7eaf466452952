//! The picture of a page, drawn in a child process, where the tools are installed.
//! The test starts itself as the child, so it has its own `main`, which answers `--list` as a test
//! runner expects.
#![expect(clippy::print_stdout, reason = "the test runner reads it")]
#![expect(clippy::unwrap_used, reason = "this is a test")]

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use archive_extract::page_picture::{MarksFound, PagePicture, PageRequest, PageUnit, draw};
use archive_extract::testing::pdf::{HELVETICA, Pdf, lines, pages, pages_into, text};
use archive_extract::{Format, ProblemCode, ReadProblem, ReaderProcess};

const TEXT: &str = "The court orders the defendant to pay.\nThe motion to dismiss is denied.";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |word: &str| arguments.iter().any(|it| it == word);
    match arguments.first().map(String::as_str) {
        Some("worker") => return archive_extract::worker_main(std::io::stdin(), std::io::stdout()),
        Some("hang") => loop {
            std::thread::park();
        },
        _ => {}
    }
    if has("--list") {
        if !has("--ignored") {
            println!("page_picture: test");
        }
        return ExitCode::SUCCESS;
    }
    let folder = std::env::temp_dir().join(format!("stoa-page-picture-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let is_installed = |tool: &str| Command::new(tool).arg("-v").output().is_ok();
    a_child_that_hangs_is_stopped(&folder);
    if ["pdftoppm", "pdftotext", "pdfinfo"].into_iter().all(is_installed) {
        words_of_a_span_are_marked(&folder);
        pages_are_drawn_as_they_are_shown(&folder);
        broken_files_are_problems(&folder);
        if is_installed("tesseract") {
            scans_and_pictures_are_marked(&folder);
        }
    } else {
        println!("poppler-utils is not installed: no pictures");
    }
    std::fs::remove_dir_all(&folder).unwrap();
    println!("test page_picture ... ok");
    ExitCode::SUCCESS
}

fn drawn_by(
    folder: &Path,
    argument: &str,
    path: &Path,
    request: &PageRequest,
) -> Result<PagePicture, ReadProblem> {
    let scratch = folder.join("scratch");
    std::fs::create_dir_all(&scratch).unwrap();
    let child = ReaderProcess {
        password: None,
        program: std::env::current_exe().unwrap(),
        arguments: vec![argument.to_owned()],
        scratch: scratch.clone(),
        languages: Some(vec!["eng".to_owned()]),
    };
    let page = draw(&child, path, request, &|| true);
    std::fs::remove_dir_all(&scratch).unwrap();
    page
}

fn file(folder: &Path, bytes: &[u8]) -> PathBuf {
    let path = folder.join("document");
    std::fs::write(&path, bytes).unwrap();
    path
}

/// Page 1 with the words of `quote` marked.
fn request(format: Format, text: &str, quote: &str) -> PageRequest {
    let at = text.find(quote).unwrap();
    let start = u32::try_from(text[..at].chars().count()).unwrap();
    let length = u32::try_from(quote.chars().count()).unwrap();
    PageRequest {
        format,
        page: 1,
        width: Some(800),
        with_words: true,
        text: text.to_owned(),
        spans: std::iter::once(start..start + length).collect(),
        is_ocr: false,
        seconds: 60,
        memory_bytes: 2 << 30,
    }
}

fn marked(page: &PagePicture) -> String {
    let words = page.words.iter().filter(|it| it.marked).map(|it| it.text.as_str());
    words.collect::<Vec<_>>().join(" ")
}

/// Width and height from the header of a PNG.
fn size(png: &[u8]) -> (u32, u32) {
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"));
    let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    (number(16), number(20))
}

/// The uncompressed file with pages of the usual width, in as many bytes.
fn letter(pdf: &[u8]) -> String {
    String::from_utf8_lossy(pdf).replace("[0 0 624 792]", "[0 0 612 792]")
}

fn words_of_a_span_are_marked(folder: &Path) {
    let path = file(folder, &text(&[TEXT, "another page"]));
    let asked = request(Format::Pdf, TEXT, "defendant to pay.\nThe motion");
    let page = drawn_by(folder, "worker", &path, &asked).unwrap();
    assert_eq!(marked(&page), "defendant to pay. The motion");
    assert_eq!((page.marks, page.unit), (Some(MarksFound::All), PageUnit::Point));
    assert_eq!((page.width, page.height, size(&page.png)), (624.0, 792.0, (800, 1_016)));
    assert_eq!(page.words.len(), 13);
    let defendant = page.words.iter().find(|it| it.text == "defendant").unwrap();
    assert!(defendant.x > 72.0 && defendant.y < 90.0 && defendant.w > 30.0, "{defendant:?}");
    // Without marks the picture differs, and no words are sent unless wanted.
    let plain = PageRequest { spans: Vec::new(), with_words: false, ..asked.clone() };
    let plain = drawn_by(folder, "worker", &path, &plain).unwrap();
    assert!(plain.png != page.png && plain.words.is_empty() && plain.marks.is_none());
    let words = PageRequest { width: None, spans: Vec::new(), ..asked.clone() };
    let words = drawn_by(folder, "worker", &path, &words).unwrap();
    assert!(words.png.is_empty() && words.words.iter().all(|it| !it.marked));
    // The words of another page are not on this one.
    let other = PageRequest { page: 2, ..asked };
    let other = drawn_by(folder, "worker", &path, &other).unwrap();
    assert_eq!((other.marks, marked(&other)), (Some(MarksFound::None), String::new()));
}

fn pages_are_drawn_as_they_are_shown(folder: &Path) {
    let mut pdf = letter(&pages(&[lines(TEXT)], HELVETICA, false));
    pdf = pdf.replace("/MediaBox [0 0 612 792]", "/MediaBox [0 0 612 792] /Rotate 90");
    let path = file(folder, pdf.as_bytes());
    let asked = request(Format::Pdf, TEXT, "dismiss");
    let page = drawn_by(folder, "worker", &path, &asked).unwrap();
    assert_eq!((page.width, page.height, size(&page.png)), (792.0, 612.0, (800, 619)));
    let word = page.words.iter().find(|it| it.marked).unwrap();
    assert!(word.text == "dismiss" && word.x > 612.0 && word.h > word.w, "{word:?}");
    // A page of 1 by 200 inches is drawn within the limit of pixels.
    let long = pdf.replace("[0 0 612 792] /Rotate 90", "[0 0 72 14400]");
    let path = file(folder, long.as_bytes());
    let wide = PageRequest { width: Some(2_000), spans: Vec::new(), ..asked };
    let (width, height) = size(&drawn_by(folder, "worker", &path, &wide).unwrap().png);
    assert!(width * height <= 8_000_000 && height > 10_000, "{width} {height}");
}

fn broken_files_are_problems(folder: &Path) {
    let asked = request(Format::Pdf, TEXT, "dismiss");
    let code = |bytes: &[u8], request: &PageRequest| {
        let path = file(folder, bytes);
        drawn_by(folder, "worker", &path, request).unwrap_err().code
    };
    let good = text(&[TEXT]);
    assert_eq!(code(b"%PDF-1.4 nothing", &asked), ProblemCode::Malformed);
    let beyond = PageRequest { page: 7, ..asked.clone() };
    assert_eq!(code(&good, &beyond), ProblemCode::Malformed);
    let docx = PageRequest { format: Format::Docx, ..asked.clone() };
    assert_eq!(code(&good, &docx), ProblemCode::Unsupported);
    let long = PageRequest { text: "x".repeat(2 << 20), ..asked };
    assert_eq!(code(&good, &long), ProblemCode::TooLarge);
}

fn a_child_that_hangs_is_stopped(folder: &Path) {
    let path = file(folder, &text(&[TEXT]));
    let asked = PageRequest { seconds: 0, ..request(Format::Pdf, TEXT, "dismiss") };
    let problem = drawn_by(folder, "hang", &path, &asked).unwrap_err();
    assert_eq!(problem.code, ProblemCode::TimedOut, "{problem:?}");
}

/// A grey TIFF file with strips of 50 rows.
fn tiff(width: u32, height: u32, pixels: &[u8]) -> Vec<u8> {
    let strips = height / 50;
    let start = u32::try_from(8 + pixels.len()).unwrap();
    let mut bytes = [b"II*\0".as_slice(), &[0; 4], pixels].concat();
    let strip = width * 50;
    (0..strips).for_each(|it| bytes.extend((8 + it * strip).to_le_bytes()));
    (0..strips).for_each(|_| bytes.extend(strip.to_le_bytes()));
    let directory = u32::try_from(bytes.len()).unwrap();
    bytes[4..8].copy_from_slice(&directory.to_le_bytes());
    let tags: [(u16, u32, u32); 7] = [
        (256, 1, width),
        (257, 1, height),
        (258, 1, 8),
        (262, 1, 1),
        (273, strips, start),
        (278, 1, 50),
        (279, strips, start + 4 * strips),
    ];
    bytes.extend(7_u16.to_le_bytes());
    for (tag, count, value) in tags {
        bytes.extend(tag.to_le_bytes());
        bytes.extend(4_u16.to_le_bytes());
        bytes.extend(count.to_le_bytes());
        bytes.extend(value.to_le_bytes());
    }
    bytes.extend([0; 4]);
    bytes
}

fn scans_and_pictures_are_marked(folder: &Path) {
    let large = b"BT /F1 24 Tf 72 700 Td (The motion to dismiss is denied.) Tj ET".to_vec();
    let path = file(folder, &pages(&[large], HELVETICA, true));
    let said = "The motion to dismiss is denied.";
    let plain = PageRequest {
        spans: Vec::new(),
        width: Some(1_700),
        ..request(Format::Pdf, said, "dismiss")
    };
    let png = drawn_by(folder, "worker", &path, &plain).unwrap().png;
    // A picture file: the boxes are in its own pixels.
    let asked = PageRequest { is_ocr: true, ..request(Format::Png, said, "motion to dismiss") };
    let path = file(folder, &png);
    let page = drawn_by(folder, "worker", &path, &asked).unwrap();
    assert_eq!(marked(&page), "motion to dismiss");
    assert_eq!(
        (page.width, page.unit, page.marks),
        (1_700.0, PageUnit::Pixel, Some(MarksFound::All))
    );
    assert_eq!(size(&page.png).0, 800);
    let plain = PageRequest { spans: Vec::new(), with_words: false, ..asked };
    assert_eq!(size(&drawn_by(folder, "worker", &path, &plain).unwrap().png).0, 800);
    // A scan within a PDF file: OCR finds the words, also where the text is said to be typed.
    let drawn = Command::new("pdftoppm")
        .args(["-gray", "-r", "150"])
        .arg(file(folder, letter(&pages(&[lines(TEXT)], HELVETICA, false)).as_bytes()))
        .output()
        .unwrap()
        .stdout;
    let pixels = &drawn[drawn.len() - 1_275 * 1_650..];
    // A picture file in strips.
    let path = file(folder, &tiff(1_275, 1_650, pixels));
    let asked = PageRequest { is_ocr: true, ..request(Format::Tiff, TEXT, "orders the defendant") };
    let page = drawn_by(folder, "worker", &path, &asked).unwrap();
    assert_eq!(marked(&page), "orders the defendant");
    assert_eq!((page.width, size(&page.png)), (1_275.0, (800, 1_036)));
    let mut pdf = Pdf::default();
    let image = pdf.stream(
        "/Subtype /Image /Width 1275 /Height 1650 /ColorSpace /DeviceGray /BitsPerComponent 8",
        pixels,
    );
    let resources = format!("/XObject << /I {image} 0 R >>");
    let content = b"q 612 0 0 792 0 0 cm /I Do Q".to_vec();
    let path = file(folder, &pages_into(&mut pdf, &[content], &resources, false));
    for is_ocr in [true, false] {
        let asked = PageRequest { is_ocr, ..request(Format::Pdf, TEXT, "orders the defendant") };
        let page = drawn_by(folder, "worker", &path, &asked).unwrap();
        assert_eq!(marked(&page), "orders the defendant");
        let word = page.words.iter().find(|it| it.text == "orders").unwrap();
        assert!((100.0..200.0).contains(&word.x) && word.y < 90.0, "{word:?}");
    }
}

//! Pages with a scan and text, made by drawing a page with `pdftoppm`, and read by Tesseract where
//! both are installed.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a failure fails the test")]

use std::process::Command;

use archive_extract::testing::pdf::{self, HELVETICA, Pdf, lines, pages_into};
use archive_extract::testing::zlib;
use archive_extract::{Document, Ocr, ReadLimits, Tesseract};

use crate::codes;

const SCANNED: &str = "The plaintiff moved for summary judgment on the first count.\n\
                       The court has considered the papers and the record as a whole.\n\
                       The parties signed a lease of the premises on March 3, 2014.\n\
                       Notice of default was served on August 1, 2016 by mail.";

/// Grey pixels of a page with the text.
struct Drawing {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
}

/// `None` where the tools are not installed.
fn drawing(dpi: u32) -> Option<Drawing> {
    let folder = std::env::temp_dir().join(format!("drawing-{}-{dpi}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("page.pdf");
    std::fs::write(&path, pdf::text(&[SCANNED])).unwrap();
    let drawn =
        Command::new("pdftoppm").args(["-gray", "-r", &dpi.to_string()]).arg(&path).output();
    std::fs::remove_dir_all(&folder).unwrap();
    let ready = Tesseract::new(std::env::temp_dir()).ready().is_ok();
    let Some(drawn) = drawn.ok().filter(|_| ready) else {
        println!(
            "Tesseract or pdftoppm is not installed: scans are tested through a stand-in only"
        );
        return None;
    };
    let image = drawn.stdout;
    let mut header = image.splitn(4, |it| it.is_ascii_whitespace());
    assert_eq!(header.next(), Some(b"P5".as_slice()));
    let mut number = || {
        let bytes = header.next().unwrap();
        std::str::from_utf8(bytes).unwrap().parse::<usize>().unwrap()
    };
    let (width, height) = (number(), number());
    let pixels = image[image.len() - width * height..].to_vec();
    Some(Drawing { width, height, pixels })
}

impl Drawing {
    /// Adds the rows of pixels to a PDF as a picture.
    fn rows(&self, pdf: &mut Pdf, from: usize, to: usize) -> usize {
        let rows = &self.pixels[from * self.width..to * self.width];
        let dict = format!(
            "/Subtype /Image /Width {} /Height {} /BitsPerComponent 8 /ColorSpace /DeviceGray \
             /Filter /FlateDecode",
            self.width,
            to - from
        );
        pdf.stream(&dict, &zlib(rows))
    }
}

fn read(file: &[u8]) -> Document {
    let ocr = Tesseract::new(std::env::temp_dir());
    archive_extract::read_all("a.pdf", file, &ReadLimits::default(), &ocr)
}

#[track_caller]
fn check(file: &[u8], begins: &str) {
    let document = read(file);
    let text = &document.pages[0].page.text;
    assert!(text.starts_with(begins), "{text}");
    let text = text.replace("\n\n", "\n");
    assert!(text.ends_with(SCANNED), "{text}");
    assert_eq!(codes(&document), []);
}

#[test]
fn a_scan_below_typed_lines_is_read() {
    let Some(drawing) = drawing(200) else { return };
    let mut pdf = Pdf::default();
    let image = drawing.rows(&mut pdf, 0, drawing.height);
    let resources = format!("{HELVETICA} /XObject << /I {image} 0 R >>");
    let mut page = lines(&"Typed letters above the scan. ".repeat(3));
    page.extend(b"q 500 0 0 647 50 20 cm /I Do Q");
    check(&pages_into(&mut pdf, &[page], &resources, false), "Typed letters");
    let mut pdf = Pdf::default();
    let image = drawing.rows(&mut pdf, 0, drawing.height / 3);
    let resources = format!("{HELVETICA} /XObject << /I {image} 0 R >>");
    let mut page = lines("EXHIBIT 4");
    page.extend(b"q 500 0 0 215 50 200 cm /I Do Q");
    check(&pages_into(&mut pdf, &[page], &resources, false), "EXHIBIT 4\n\n");
}

#[test]
fn a_scan_in_strips_is_read_with_and_without_a_caption() {
    let Some(drawing) = drawing(200) else { return };
    let mut pdf = Pdf::default();
    let (mut names, mut content) = (String::new(), String::new());
    for strip in 0..30 {
        let at = |it: usize| it * drawing.height / 30;
        let number = drawing.rows(&mut pdf, at(strip), at(strip + 1));
        names.push_str(&format!("/I{strip} {number} 0 R "));
        let bottom = 780.0 - 26.0 * (strip + 1) as f64;
        content.push_str(&format!("q 602 0 0 26 5 {bottom} cm /I{strip} Do Q "));
    }
    let resources = format!("{HELVETICA} /XObject << {names} >>");
    let caption = format!("{content} BT /F1 8 Tf 300 3 Td (Exhibit) Tj ET");
    let file =
        pages_into(&mut pdf, &[content.into_bytes(), caption.into_bytes()], &resources, false);
    check(&file, "The plaintiff");
    let second = read(&file).pages[1].page.text.replace("\n\n", "\n");
    assert_eq!(second, format!("Exhibit\n{SCANNED}"));
}

#[test]
fn a_picture_of_one_line_is_read() {
    let Some(drawing) = drawing(96) else { return };
    let mut pdf = Pdf::default();
    // The first line has its base at 720 points from the bottom.
    let image = drawing.rows(&mut pdf, 82, 102);
    let resources = format!("{HELVETICA} /XObject << /I {image} 0 R >>");
    let mut page = lines("Heading");
    page.extend(b"q 612 0 0 15 0 300 cm /I Do Q");
    let document = read(&pages_into(&mut pdf, &[page], &resources, false));
    let first = SCANNED.lines().next().unwrap();
    assert_eq!(document.pages[0].page.text, format!("Heading\n\n{first}"));
}

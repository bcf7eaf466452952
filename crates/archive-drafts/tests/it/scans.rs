//! Pages that are pictures: drawn by `pdftoppm`, read back by Tesseract, where both are installed.

use std::path::Path;
use std::process::Command;

use archive_entities::testing::ExpectedFacts;
use archive_extract::testing::pdf::{self, Pdf};
use archive_extract::{Ocr, Tesseract};

use crate::corpus::{CorpusCase, check, run};
use crate::facts::Scores;
use crate::files::{self, FileForm};
use crate::fresh;

const DOTS: usize = 200;
const SIZE: (usize, usize) = (DOTS * 17 / 2, DOTS * 11);

/// Measured 1.000 each; another version of Tesseract may read a letter otherwise.
const FLOORS: [(&str, f64, f64); 11] = [
    ("document type", 0.75, 0.75),
    ("citation", 0.75, 0.75),
    ("party", 0.75, 0.75),
    ("attorney", 0.75, 0.75),
    ("judge", 0.75, 0.75),
    ("court", 0.75, 0.75),
    ("case number", 0.75, 0.75),
    ("organisation", 0.75, 0.75),
    ("money", 0.6, 0.6),
    ("date", 0.75, 0.75),
    ("deadline", 0.75, 0.75),
];

/// The first page of a PDF as a picture.
fn picture(folder: &Path, file: &[u8], option: &str) -> Option<Vec<u8>> {
    let source = folder.join("page.pdf");
    let target = folder.join("page");
    std::fs::write(&source, file).unwrap();
    let drawn = Command::new("pdftoppm")
        .args([option, "-gray", "-singlefile", "-r", &DOTS.to_string()])
        .args([&source, &target])
        .status();
    let ending = match option {
        "-png" => "png",
        "-jpeg" => "jpg",
        _ => "tif",
    };
    drawn.ok().filter(std::process::ExitStatus::success)?;
    std::fs::read(target.with_extension(ending)).ok()
}

/// A PDF whose page is nothing but a picture.
fn scan(jpeg: &[u8]) -> Vec<u8> {
    let mut file = Pdf::default();
    let (width, height) = SIZE;
    let dict = format!(
        "/Subtype /Image /Width {width} /Height {height} /BitsPerComponent 8 /ColorSpace /DeviceGray /Filter /DCTDecode"
    );
    let image = file.stream(&dict, jpeg);
    let content = b"q 612 0 0 792 0 0 cm /I Do Q".to_vec();
    pdf::pages_into(&mut file, &[content], &format!("/XObject << /I {image} 0 R >>"), false)
}

fn drawn(folder: &Path, place: usize, pages: &[String]) -> Option<(FileForm, Vec<u8>)> {
    let file = pdf::text(&pages.iter().map(String::as_str).collect::<Vec<_>>());
    Some(match place % 4 {
        0 => (FileForm::Png, picture(folder, &file, "-png")?),
        1 => (FileForm::Jpg, picture(folder, &file, "-jpeg")?),
        2 => (FileForm::Tiff, picture(folder, &file, "-tiff")?),
        _ => (FileForm::Pdf, scan(&picture(folder, &file, "-jpeg")?)),
    })
}

#[test]
fn scanned_pages_reach_their_floors() {
    let folder = std::env::temp_dir().join(format!("digest-scans-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let ocr = Tesseract::new(&folder);
    if ocr.ready().is_err() || Command::new("pdftoppm").arg("-v").output().is_err() {
        println!("Tesseract or pdftoppm is not installed: no scans");
        return;
    }
    let documents = archive_entities::testing::corpus(2).into_iter().chain(fresh::corpus(1));
    let single = |it: &(String, Vec<String>, ExpectedFacts)| {
        it.1.iter().all(|it| it.is_ascii()) && files::paged(&it.1).len() == 1
    };
    let mut cases = Vec::new();
    for (place, (name, pages, truth)) in documents.filter(single).step_by(2).take(4).enumerate() {
        let Some((form, bytes)) = drawn(&folder, place, &files::paged(&pages)) else { continue };
        cases.push(CorpusCase { name, form, bytes, truth });
    }
    assert_eq!(cases.len(), 4);
    let mut scores = Scores::new();
    let doubts = run(&cases, &ocr, &mut scores);
    std::fs::remove_dir_all(&folder).unwrap();
    check("scans", &scores, &FLOORS);
    assert!(doubts.is_empty(), "{} of the drafts: {}", doubts.len(), doubts.join("\n"));
}

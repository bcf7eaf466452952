//! Pages that lie sideways or upside down, drawn by `pdftoppm` and read by Tesseract where both are
//! installed.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a failure fails the test")]

use std::path::Path;
use std::time::Duration;

use archive_extract::testing::pdf::{HELVETICA, Pdf, lines};
use archive_extract::{CONFIDENT, Ocr, Tesseract};

const TEXT: [&str; 6] = [
    "The plaintiff moved for summary judgment on the first count.",
    "The court has considered the papers and the record as a whole.",
    "The motion is granted in part and denied in part.",
    "The parties signed a lease of the premises on March 3, 2014.",
    "The defendant did not pay the rent of June and July 2016.",
    "Notice of default was served on August 1, 2016 by mail.",
];

/// One page of text that a viewer shows turned by these degrees.
fn turned(degrees: u32) -> Vec<u8> {
    let mut pdf = Pdf::default();
    let content = pdf.stream("", &lines(&TEXT.join("\n")));
    let page = pdf.add(format!(
        "<< /Type /Page /MediaBox [0 0 612 792] /Rotate {degrees} /Contents {content} 0 R \
         /Resources << {HELVETICA} >> >>"
    ));
    let tree = pdf.add(format!("<< /Type /Pages /Kids [{page} 0 R] /Count 1 >>"));
    let root = pdf.add(format!("<< /Type /Catalog /Pages {tree} 0 R >>"));
    pdf.finish(root, "")
}

#[track_caller]
fn check(ocr: &Tesseract, degrees: u32) {
    let path = ocr.scratch_file(&turned(degrees)).unwrap();
    let page = ocr.pdf_page(&path, 1, None, Duration::from_secs(120));
    std::fs::remove_file(&path).unwrap();
    let page = page.unwrap();
    assert!(page.confidence > CONFIDENT, "{degrees}: {}", page.confidence);
    let read: Vec<&str> = page.text.lines().filter(|it| !it.is_empty()).collect();
    assert_eq!(read, TEXT, "{degrees}");
}

fn is_installed(ocr: &Tesseract) -> bool {
    let renders = std::process::Command::new("pdftoppm").arg("-v").output().is_ok();
    let both = ocr.ready().is_ok() && renders;
    if !both {
        println!("Tesseract or pdftoppm is not installed: orientation is not tested");
    }
    both
}

#[test]
fn turned_pages_are_read_by_their_orientation() {
    let ocr = Tesseract::new(std::env::temp_dir());
    if is_installed(&ocr) {
        for degrees in [0, 90, 180, 270] {
            check(&ocr, degrees);
        }
    }
}

/// Tesseract without the data that finds the orientation.
#[cfg(unix)]
#[test]
fn turned_pages_are_read_without_orientation_data() {
    use std::os::unix::fs::PermissionsExt;
    let folder = std::env::temp_dir().join(format!("no-orientation-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let program = folder.join("tesseract");
    let script = "#!/bin/sh\n[ \"$1\" = --list-langs ] && { printf 'languages\\neng\\n'; exit; }\n\
                  exec tesseract \"$@\"\n";
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let ocr = Tesseract::with(&program, Path::new("pdftoppm"), vec!["eng".to_owned()], &folder);
    if is_installed(&ocr) && Tesseract::new(&folder).ready().is_ok() {
        assert!(!ocr.turns_every_image());
        for degrees in [180, 270] {
            check(&ocr, degrees);
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

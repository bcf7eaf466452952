//! Prints the text of a file, page by page: `cargo run -p archive-extract --example text -- FILE`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "printing is what it does")]

use archive_extract::{Document, ReadLimits, Tesseract};

fn main() -> std::io::Result<()> {
    for path in std::env::args().skip(1) {
        let bytes = std::fs::read(&path)?;
        let ocr = Tesseract::new(std::env::temp_dir());
        show(&archive_extract::read_all(&path, &bytes, &ReadLimits::default(), &ocr), 0);
    }
    Ok(())
}

fn show(document: &Document, depth: usize) {
    eprintln!("{:depth$}{:?}, {} pages", "", document.format, document.pages.len());
    for problem in document.problems_all() {
        eprintln!("{:depth$}{:?} {:?}: {}", "", problem.code, problem.page, problem.message);
    }
    println!("{}", document.text().0);
    for attachment in &document.attachments {
        eprintln!("{:depth$}{}, {} bytes", "", attachment.name, attachment.bytes);
        show(&attachment.document, depth + 2);
    }
}

//! Files made here, byte by byte, read by the crate: what is in them must come out, and nothing
//! in them may hurt.

mod encrypted;
mod formats;
mod hostile;
mod laws;
mod mail;
mod orientation;
mod pdf;
mod pdf_text;
mod pictures;
mod redactions;
mod scans;

use archive_extract::{Document, NoOcr, ProblemCode, ReadLimits};

fn read(name: &str, bytes: &[u8]) -> Document {
    archive_extract::read_all(name, bytes, &ReadLimits::default(), &NoOcr)
}

fn texts(document: &Document) -> Vec<&str> {
    document.pages.iter().map(|it| it.page.text.as_str()).collect()
}

fn codes(document: &Document) -> Vec<ProblemCode> {
    document.problems_all().map(|it| it.code).collect()
}

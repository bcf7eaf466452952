//! Turns files into text with page and character positions, in bounded time and memory.
//! It does not store anything, and it does not decide what a file means.
//!
//! [`read`] works in this process; [`isolated::read`] runs the same in a child process, so that a
//! file that crashes or never ends costs that file alone. Both report through [`Event`]s, which
//! [`Draft`] gathers into a [`Document`]; what worked before a failure is kept.

mod compound;
mod doc;
mod document;
mod docx;
mod eml;
pub mod isolated;
mod kind;
mod limits;
mod msg;
mod ocr;
mod pdf;
mod picture;
mod plain;
mod problem;
mod rtf;
#[cfg(feature = "testing")]
pub mod testing;
mod wire;
mod work;
mod zip;

pub use crate::document::{Attachment, Document, Draft, Event, ExtractedPage, Source};
pub use crate::isolated::{Child, worker_main};
pub use crate::kind::{Kind, detect};
pub use crate::limits::Limits;
pub use crate::ocr::{NoOcr, Ocr, OcrPage, Tesseract};
pub use crate::problem::{Code, Problem};

/// Reads a file in this process and gathers what was found.
#[must_use]
pub fn read_all(name: &str, bytes: &[u8], limits: &Limits, ocr: &dyn Ocr) -> Document {
    let mut draft = Draft::default();
    read(name, bytes, limits, ocr, &mut |event| draft.apply(event));
    draft.finish()
}

/// Reads a file in this process; every page, attachment and problem is reported when it is found.
pub fn read(name: &str, bytes: &[u8], limits: &Limits, ocr: &dyn Ocr, emit: &mut dyn FnMut(Event)) {
    let mut work = work::Work::new(limits, ocr, emit);
    if bytes.len() as u64 > limits.bytes {
        work.problem(Problem::new(
            Code::TooLarge,
            format!("the file is larger than {} MB; split it", limits.bytes >> 20),
        ));
        return;
    }
    work.file(name, bytes);
}

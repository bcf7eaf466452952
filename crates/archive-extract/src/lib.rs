//! Turns files into text with page and character positions, in bounded time and memory.
//! It does not store anything, and it does not decide what a file means.
//!
//! [`read`] works in this process; [`isolated::read`] runs the same in a child process, so that a
//! file that crashes or never ends the reader fails alone. Both report through [`ReadEvent`]s, which
//! [`DocumentBuilder`] gathers into a [`Document`]; what worked before a failure is kept.

mod compound;
mod context;
mod doc;
mod document;
mod docx;
mod eml;
mod format;
#[doc(hidden)]
pub mod fuzzing;
pub mod isolated;
mod limits;
mod msg;
mod ocr;
pub mod page_picture;
mod password;
mod pdf;
mod picture;
mod plain;
mod problem;
mod rtf;
#[cfg(feature = "testing")]
pub mod testing;
mod tool_files;
mod wire;
mod zip;

pub use crate::document::{
    Attachment, Document, DocumentBuilder, ExtractedPage, ReadEvent, TextSource,
};
pub use crate::format::{Format, accepted_extensions, detect};
pub use crate::isolated::{ReaderProcess, worker_main};
pub use crate::limits::ReadLimits;
pub use crate::ocr::{CONFIDENT, NoOcr, Ocr, OcrPage, PixelArea, RENDER_DPI, Tesseract};
pub use crate::password::Password;
pub use crate::problem::{ProblemCode, ReadProblem};

/// Reads a file in this process and gathers what was found.
#[must_use]
pub fn read_all(name: &str, bytes: &[u8], limits: &ReadLimits, ocr: &dyn Ocr) -> Document {
    let mut builder = DocumentBuilder::default();
    read(name, bytes, limits, ocr, &mut |event| builder.apply(event));
    builder.finish()
}

/// Reads a file in this process; every page, attachment and problem is reported when it is found.
pub fn read(
    name: &str,
    bytes: &[u8],
    limits: &ReadLimits,
    ocr: &dyn Ocr,
    emit: &mut dyn FnMut(ReadEvent),
) {
    read_with_password(name, bytes, None, limits, ocr, emit);
}

/// Like [`read`]; the password opens the file and what is attached to it.
pub fn read_with_password(
    name: &str,
    bytes: &[u8],
    password: Option<&Password>,
    limits: &ReadLimits,
    ocr: &dyn Ocr,
    emit: &mut dyn FnMut(ReadEvent),
) {
    let mut context = context::ReadContext::new(limits, ocr, password, emit);
    if bytes.len() as u64 > limits.bytes {
        context.problem(ReadProblem::new(
            ProblemCode::TooLarge,
            format!("the file is larger than {} MB; split it", limits.bytes >> 20),
        ));
        return;
    }
    context.file(name, bytes);
}

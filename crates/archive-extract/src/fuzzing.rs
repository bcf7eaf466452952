//! The entry points of the fuzz targets: one reader at a time, without detection, OCR or a process.

use crate::context::ReadContext;
use crate::{Document, DocumentBuilder, Format, NoOcr, ReadLimits};

/// Reads bytes as a format.
#[must_use]
pub fn read_bytes(format: Format, bytes: &[u8], limits: &ReadLimits) -> Document {
    let mut builder = DocumentBuilder::default();
    ReadContext::new(limits, &NoOcr, None, &mut |event| builder.apply(event))
        .read_as(format, bytes);
    builder.finish()
}

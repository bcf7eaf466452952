//! OCR of a page: its one picture taken out as it is, or else the page rendered by a tool.

use std::path::PathBuf;

use super::content::Picture;
use super::file::PdfFile;
use super::object::{Dict, Object};
use crate::context::{ReadContext, ReadResult};
use crate::{OcrPage, ProblemCode, ReadProblem};

/// The file on disk for the renderer, written once and removed at the end.
#[derive(Default)]
pub(super) struct ScratchFile(Option<PathBuf>);

impl Drop for ScratchFile {
    fn drop(&mut self) {
        if let Some(path) = self.0.take() {
            // The parent process removes the folder if this fails.
            drop(std::fs::remove_file(path));
        }
    }
}

pub(super) struct PageScan<'a> {
    pub(super) pictures: &'a [Picture],
    pub(super) rotated: bool,
    /// Whether the page has text that only a rendered page shows.
    pub(super) needs_render: bool,
    pub(super) index: usize,
}

pub(super) fn read(
    context: &mut ReadContext<'_>,
    file: &PdfFile<'_>,
    scratch: &mut ScratchFile,
    page: &PageScan<'_>,
) -> ReadResult<OcrPage> {
    context.ocr.ready()?;
    context.spend_ocr()?;
    let alone = match page.pictures {
        [one] if one.upright && !page.rotated && !page.needs_render => Some(one),
        _ => None,
    };
    if let Some(picture) = alone
        && let Some(image) = take_out(context, file, picture)?
    {
        let dpi = dots_per_inch(file, picture);
        let pages = context.ocr.image(&image, dpi, context.time_left())?;
        return pages
            .into_iter()
            .next()
            .ok_or_else(|| ReadProblem::new(ProblemCode::OcrFailed, "OCR gave no page"));
    }
    if scratch.0.is_none() {
        scratch.0 = Some(context.ocr.scratch_file(file.bytes)?);
    }
    let path = scratch.0.as_deref().unwrap_or_else(|| std::path::Path::new(""));
    let number = u32::try_from(page.index + 1).unwrap_or(u32::MAX);
    context.ocr.pdf_page(path, number, context.time_left())
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped first")]
fn dots_per_inch(file: &PdfFile<'_>, picture: &Picture) -> u32 {
    let dict = picture.object.dict();
    let pixels = dict.and_then(|it| file.number(it, "Width")).unwrap_or(0.0);
    (pixels / picture.width * 72.0).clamp(70.0, 1_200.0) as u32
}

/// The picture as an image file, if its encoding needs no decoder.
fn take_out(
    context: &mut ReadContext<'_>,
    file: &PdfFile<'_>,
    picture: &Picture,
) -> ReadResult<Option<Vec<u8>>> {
    let Object::Stream(dict, start) = &*picture.object else { return Ok(None) };
    let decoded = file.data(dict, *start, context.stream_max());
    context.unpack(decoded.data.len())?;
    let size = |key: &str| file.get(dict, key).and_then(|it| it.count());
    let Some((width, height)) = size("Width").zip(size("Height")) else { return Ok(None) };
    let inverted = file
        .get(dict, "Decode")
        .is_some_and(|it| it.array().and_then(|it| it.first()?.number()) == Some(1.0));
    Ok(match &decoded.picture {
        Some((name, _)) if name == "DCTDecode" || name == "DCT" => Some(decoded.data),
        Some((name, parameters)) if name == "CCITTFaxDecode" || name == "CCF" => {
            Some(fax(file, parameters, (width, height), inverted, &decoded.data))
        }
        Some(_) => None,
        None => plain(file, dict, (width, height), inverted, decoded.data),
    })
}

/// Wraps fax data into a TIFF file.
fn fax(
    file: &PdfFile<'_>,
    parameters: &Dict,
    (width, height): (usize, usize),
    inverted: bool,
    data: &[u8],
) -> Vec<u8> {
    let k = file.number(parameters, "K").unwrap_or(0.0);
    let columns = file.get(parameters, "Columns").and_then(|it| it.count()).unwrap_or(width);
    let black_is_1 = file.get(parameters, "BlackIs1").is_some_and(|it| *it == Object::Bool(true));
    let word = |it: usize| u32::try_from(it).unwrap_or(u32::MAX);
    let compression = if k < 0.0 { 4 } else { 3 };
    let rows: [(u16, u32); 9] = [
        (256, word(columns)),
        (257, word(height)),
        (258, 1),
        (259, compression),
        (262, u32::from(black_is_1 != inverted)),
        (273, 8 + 2 + 9 * 12 + 4),
        (278, word(height)),
        (279, word(data.len())),
        (292, u32::from(k > 0.0)),
    ];
    let mut tiff = b"II\x2a\0\x08\0\0\0\x09\0".to_vec();
    for (tag, value) in rows {
        tiff.extend(tag.to_le_bytes());
        tiff.extend(4_u16.to_le_bytes());
        tiff.extend(1_u32.to_le_bytes());
        tiff.extend(value.to_le_bytes());
    }
    tiff.extend([0; 4]);
    tiff.extend(data);
    tiff
}

/// Samples in a portable map: one bit, grey or colour.
fn plain(
    file: &PdfFile<'_>,
    dict: &Dict,
    (width, height): (usize, usize),
    inverted: bool,
    mut data: Vec<u8>,
) -> Option<Vec<u8>> {
    let depth = file.get(dict, "BitsPerComponent").and_then(|it| it.count()).unwrap_or(1);
    let pixels = width.checked_mul(height).filter(|it| *it > 0)?;
    let (kind, length) = match depth {
        1 => ("P4", width.div_ceil(8).checked_mul(height)?),
        8 if data.len() >= pixels.checked_mul(4)? => return None,
        8 if data.len() >= pixels * 3 => ("P6", pixels * 3),
        8 => ("P5", pixels),
        _ => return None,
    };
    let space = file.get(dict, "ColorSpace");
    let palette = space.as_deref().and_then(Object::array).and_then(|it| it.first()?.name());
    if data.len() < length || palette == Some("Indexed") {
        return None;
    }
    data.truncate(length);
    // In a portable bitmap 1 is black, in PDF it is white.
    if (depth == 1) != inverted {
        data.iter_mut().for_each(|it| *it = !*it);
    }
    let mut image = format!("{kind}\n{width} {height}\n").into_bytes();
    if depth != 1 {
        image.extend(b"255\n");
    }
    image.extend(data);
    Some(image)
}

//! Reads the picture of a page or of a part of it by OCR. A picture that needs no decoder is taken
//! out of the file; others are rendered by `pdftoppm`.

use std::collections::HashMap;
use std::path::PathBuf;

use super::area::Area;
use super::drawn_items::Picture;
use super::file::PdfFile;
use super::object::{Dict, Object};
use super::picture_group::PictureGroup;
use crate::context::{ReadContext, ReadResult};
use crate::{CONFIDENT, OcrPage, PixelArea, ProblemCode, RENDER_DPI, ReadProblem};

/// The text of at most this many pictures is cached for the next page that shows them, such as a
/// letterhead.
const CACHED_MAX: usize = 256;
/// A lower picture is rendered: it has few pixels, and Tesseract wants letters of a usual size.
const DIRECT_HEIGHT_MIN: f64 = 60.0;

/// The file on disk for the renderer, written once and removed at the end.
#[derive(Default)]
struct ScratchFile(Option<PathBuf>);

impl Drop for ScratchFile {
    fn drop(&mut self) {
        if let Some(path) = self.0.take() {
            // The parent process removes the folder if this fails.
            drop(std::fs::remove_file(path));
        }
    }
}

/// The page as the renderer draws it.
pub(super) struct PageFrame {
    pub(super) area: Area,
    /// Degrees clockwise: 0, 90, 180 or 270.
    pub(super) rotation: u32,
    /// Counted from 1.
    pub(super) number: u32,
}

impl PageFrame {
    /// Where an area is on the rendered page.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped first")]
    fn pixels(&self, area: &Area) -> PixelArea {
        let page = &self.area;
        let (left, top, right, bottom) = match self.rotation {
            90 => (
                area.bottom - page.bottom,
                area.left - page.left,
                area.top - page.bottom,
                area.right - page.left,
            ),
            180 => (
                page.right - area.right,
                area.bottom - page.bottom,
                page.right - area.left,
                area.top - page.bottom,
            ),
            270 => (
                page.top - area.top,
                page.right - area.right,
                page.top - area.bottom,
                page.right - area.left,
            ),
            _ => (
                area.left - page.left,
                page.top - area.top,
                area.right - page.left,
                page.top - area.bottom,
            ),
        };
        let scale = f64::from(RENDER_DPI) / 72.0;
        let pixel = |points: f64| (points * scale).clamp(0.0, 1e6) as u32;
        PixelArea {
            x: pixel(left),
            y: pixel(top),
            width: pixel(right - left).max(1),
            height: pixel(bottom - top).max(1),
        }
    }
}

/// Reads pictures of one file.
pub(super) struct PictureReader<'a, 'b> {
    file: &'a PdfFile<'b>,
    scratch: ScratchFile,
    /// Text by the position of the picture in the file, the rotation of the page and the picture's
    /// size.
    cache: HashMap<(usize, u32, [i64; 2]), OcrPage>,
}

impl<'a, 'b> PictureReader<'a, 'b> {
    pub(super) fn new(file: &'a PdfFile<'b>) -> Self {
        Self { file, scratch: ScratchFile::default(), cache: HashMap::new() }
    }

    /// Reads a whole page: `alone`, the only picture on it, or else the page rendered.
    pub(super) fn read_page(
        &mut self,
        context: &mut ReadContext<'_>,
        frame: &PageFrame,
        alone: Option<&Picture>,
    ) -> ReadResult<OcrPage> {
        let direct = match alone {
            Some(picture) => self.read_direct(context, frame, picture)?,
            None => None,
        };
        match direct {
            Some(found) if found.confidence >= CONFIDENT || context.ocr.turns_every_image() => {
                Ok(found)
            }
            // A rendered page can be turned, its compressed picture cannot.
            Some(found) => match self.read_rendered(context, frame, None) {
                Ok(other) if other.confidence > found.confidence => Ok(other),
                Err(problem) if problem.code == ProblemCode::TimedOut => Err(problem),
                _ => Ok(found),
            },
            None => self.read_rendered(context, frame, None),
        }
    }

    /// The text of a group that an earlier page has shown in the same size.
    pub(super) fn cached(&self, group: &PictureGroup<'_>, frame: &PageFrame) -> Option<OcrPage> {
        self.cache.get(&cache_key(group, frame)?).cloned()
    }

    /// Reads a part of a page.
    pub(super) fn read_group(
        &mut self,
        context: &mut ReadContext<'_>,
        frame: &PageFrame,
        group: &PictureGroup<'_>,
    ) -> ReadResult<OcrPage> {
        let area = frame.pixels(&group.area);
        let alone = match group.pictures[..] {
            [one] => Some(one),
            _ => None,
        };
        let is_large = group.area.height() >= DIRECT_HEIGHT_MIN;
        let mut found = match alone.filter(|_| is_large) {
            Some(picture) => self.read_direct(context, frame, picture)?,
            None => None,
        };
        if found.is_none() {
            found = match (self.read_rendered(context, frame, Some(area)), alone) {
                (Err(problem), Some(picture)) if problem.code == ProblemCode::NeedsOcr => {
                    Some(self.read_direct(context, frame, picture)?.ok_or(problem)?)
                }
                (outcome, _) => Some(outcome?),
            };
        }
        let found = found.unwrap_or_default();
        if let Some(key) = cache_key(group, frame)
            && self.cache.len() < CACHED_MAX
        {
            self.cache.insert(key, found.clone());
        }
        Ok(found)
    }

    /// Reads a picture without the renderer, if it is upright and its encoding needs no decoder.
    fn read_direct(
        &self,
        context: &mut ReadContext<'_>,
        frame: &PageFrame,
        picture: &Picture,
    ) -> ReadResult<Option<OcrPage>> {
        if !picture.upright || frame.rotation != 0 {
            return Ok(None);
        }
        let Some(image) = as_image_file(context, self.file, picture)? else { return Ok(None) };
        let dpi = dots_per_inch(self.file, picture);
        let pages = context.ocr.image(&image, dpi, context.time_left())?;
        let missing = || ReadProblem::new(ProblemCode::OcrFailed, "OCR gave no page");
        pages.into_iter().next().map(Some).ok_or_else(missing)
    }

    /// Reads a page, or a part of it, as the tool renders it.
    fn read_rendered(
        &mut self,
        context: &mut ReadContext<'_>,
        frame: &PageFrame,
        area: Option<PixelArea>,
    ) -> ReadResult<OcrPage> {
        if self.file.is_locked {
            let message = "a page of a PDF with a password is not rendered for OCR, because the \
                           renderer would show the password to other users of the machine; remove \
                           the password and send the file again";
            return Err(ReadProblem::new(ProblemCode::OcrFailed, message));
        }
        if self.scratch.0.is_none() {
            self.scratch.0 = Some(context.ocr.scratch_file(self.file.bytes)?);
        }
        let path = self.scratch.0.as_deref().unwrap_or_else(|| std::path::Path::new(""));
        context.ocr.pdf_page(path, frame.number, area, context.time_left())
    }
}

/// The key under which the text of a group is cached; `None` for strips and pictures inside the
/// content.
#[expect(clippy::cast_possible_truncation, reason = "an area on a page is small")]
fn cache_key(group: &PictureGroup<'_>, frame: &PageFrame) -> Option<(usize, u32, [i64; 2])> {
    let [Picture { object, .. }] = group.pictures[..] else { return None };
    let Object::Stream(_, start) = **object else { return None };
    let size = [group.area.width(), group.area.height()].map(|it| it.round() as i64);
    Some((start, frame.rotation, size))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped first")]
fn dots_per_inch(file: &PdfFile<'_>, picture: &Picture) -> u32 {
    let dict = picture.object.dict();
    let pixels = dict.and_then(|it| file.number(it, "Width")).unwrap_or(0.0);
    (pixels / picture.area.width() * 72.0).clamp(70.0, 1_200.0) as u32
}

/// The picture as an image file, if its encoding needs no decoder.
fn as_image_file(
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
            Some(tiff_of_fax(file, parameters, (width, height), inverted, &decoded.data))
        }
        Some(_) => None,
        None => portable_map(file, dict, (width, height), inverted, decoded.data),
    })
}

/// Wraps fax data into a TIFF file.
fn tiff_of_fax(
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
fn portable_map(
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

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(rotation: u32, expected: [u32; 4]) {
        let area = Area::new((10.0, 20.0), (610.0, 820.0));
        let frame = PageFrame { area, rotation, number: 1 };
        // 72 points wide and 144 high, one inch from the left and two from the top.
        let pixels = frame.pixels(&Area::new((82.0, 532.0), (154.0, 676.0)));
        assert_eq!([pixels.x, pixels.y, pixels.width, pixels.height], expected, "{rotation}");
    }

    #[test]
    fn areas_turn_with_the_page() {
        check(0, [300, 600, 300, 600]);
        check(90, [2_133, 300, 600, 300]);
        check(180, [1_900, 2_133, 300, 600]);
        check(270, [600, 1_900, 600, 300]);
    }
}

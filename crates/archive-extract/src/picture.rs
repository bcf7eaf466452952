//! Pictures of pages: PNG, JPEG and TIFF of one or many pages, all by OCR.

use crate::context::{ReadContext, ReadResult};
use crate::{CONFIDENT, Format, ProblemCode, ReadProblem, TextSource};

/// A page of A3 at 1200 dots an inch has fewer; beyond it OCR only uses up its time.
const PIXELS_MAX: u64 = 300_000_000;

pub(crate) fn is_png(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\x89PNG\r\n\x1a\n")
}

pub(crate) fn is_jpeg(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0xff, 0xd8, 0xff])
}

pub(crate) fn is_tiff(bytes: &[u8]) -> bool {
    matches!(bytes, [b'I', b'I', 42 | 43, 0, ..] | [b'M', b'M', 0, 42 | 43, ..])
}

pub(crate) fn read_png(context: &mut ReadContext<'_>, bytes: &[u8]) -> ReadResult {
    read(context, Format::Png, bytes)
}

pub(crate) fn read_jpeg(context: &mut ReadContext<'_>, bytes: &[u8]) -> ReadResult {
    read(context, Format::Jpeg, bytes)
}

pub(crate) fn read_tiff(context: &mut ReadContext<'_>, bytes: &[u8]) -> ReadResult {
    read(context, Format::Tiff, bytes)
}

fn read(context: &mut ReadContext<'_>, format: Format, bytes: &[u8]) -> ReadResult {
    let count = if format == Format::Tiff { tiff_pages(bytes) } else { 1 };
    if count == 0 {
        return Err(ReadProblem::new(ProblemCode::Truncated, "the picture's directory is missing"));
    }
    let pages = u32::try_from(count).unwrap_or(u32::MAX);
    context.total(pages);
    let outcome = context.ocr.ready().and_then(|()| check_size(format, bytes)).and_then(|()| {
        for _ in 0..count {
            context.spend_ocr()?;
        }
        context.ocr.image(bytes, 0, context.time_left())
    });
    match outcome {
        Ok(found) => {
            for page in found {
                let source = TextSource::Ocr { confidence: page.confidence };
                let problem = if page.text.is_empty() {
                    let message = "OCR found no text in the picture";
                    Some(ReadProblem::new(ProblemCode::BlankPage, message))
                } else {
                    (page.confidence < CONFIDENT).then(crate::ocr::low_confidence)
                };
                context.page_from(page.text, source, problem)?;
            }
            Ok(())
        }
        Err(problem) if problem.code == ProblemCode::TimedOut => Err(problem),
        Err(problem) => {
            let message = format!("the page is a picture; {}", problem.message);
            let problem = ReadProblem { message, ..problem };
            // The pages exist although OCR could not read them.
            for _ in 0..count {
                context.page_from(String::new(), TextSource::TextLayer, [problem.clone()])?;
            }
            Ok(())
        }
    }
}

pub(crate) fn check_size(format: Format, bytes: &[u8]) -> Result<(), ReadProblem> {
    let size = match format {
        Format::Png => number(bytes, 16, 4, true).zip(number(bytes, 20, 4, true)),
        Format::Jpeg => jpeg_size(bytes),
        _ => tiff_sizes(bytes).into_iter().max_by_key(|(wide, high)| wide.saturating_mul(*high)),
    };
    let pixels = size.map_or(0, |(wide, high)| wide.saturating_mul(high)) as u64;
    if pixels <= PIXELS_MAX {
        return Ok(());
    }
    let (has, most) = (pixels / 1_000_000, PIXELS_MAX / 1_000_000);
    let message = format!("the picture has {has} megapixels; save it with at most {most}");
    Err(ReadProblem::new(ProblemCode::TooLarge, message))
}

fn number(bytes: &[u8], at: usize, size: usize, big_endian: bool) -> Option<usize> {
    let raw = bytes.get(at..at.checked_add(size)?)?;
    let fold = |sum: usize, it: &u8| sum << 8 | usize::from(*it);
    Some(if big_endian { raw.iter().fold(0, fold) } else { raw.iter().rev().fold(0, fold) })
}

/// From the first segment that begins a frame.
fn jpeg_size(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut at = 2;
    loop {
        let (mark, kind) = (*bytes.get(at)?, *bytes.get(at + 1)?);
        match kind {
            _ if mark != 0xff => return None,
            // Filled up to the next mark.
            0xff => at += 1,
            0xc0..=0xcf if !matches!(kind, 0xc4 | 0xc8 | 0xcc) => {
                return number(bytes, at + 7, 2, true).zip(number(bytes, at + 5, 2, true));
            }
            _ => at += 2 + number(bytes, at + 2, 2, true)?.max(2),
        }
    }
}

/// How many pages a TIFF has.
fn tiff_pages(bytes: &[u8]) -> usize {
    tiff_sizes(bytes).len()
}

/// Width and height of the pages of a TIFF, by its chain of directories; a chain that loops ends.
fn tiff_sizes(bytes: &[u8]) -> Vec<(usize, usize)> {
    let big_endian = bytes.starts_with(b"MM");
    let word = |at: usize, size: usize| number(bytes, at, size, big_endian);
    let mut seen = std::collections::BTreeSet::new();
    let mut sizes = Vec::new();
    let mut next = word(4, 4);
    while let Some(at) = next.filter(|it| *it != 0) {
        let Some(entries) = word(at, 2) else { break };
        if !seen.insert(at) || seen.len() >= 100_000 {
            break;
        }
        // Tags are in their order, and these two are among the first.
        let tag = |wanted: usize| {
            let entry = (0..entries.min(16)).map(|it| at + 2 + it * 12);
            let entry = entry.into_iter().find(|it| word(*it, 2) == Some(wanted))?;
            word(entry + 8, if word(entry + 2, 2) == Some(3) { 2 } else { 4 })
        };
        sizes.push((tag(256).unwrap_or(0), tag(257).unwrap_or(0)));
        next = word(at + 2 + entries * 12, 4);
    }
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(format: Format, bytes: &[u8], megapixels: Option<&str>) {
        let told = check_size(format, bytes).err().map(|it| it.message);
        assert_eq!(told.is_some(), megapixels.is_some(), "{told:?}");
        assert!(told.unwrap_or_default().contains(megapixels.unwrap_or_default()));
    }

    fn png(wide: u32, high: u32) -> Vec<u8> {
        let head = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".as_slice();
        [head, &wide.to_be_bytes(), &high.to_be_bytes()].concat()
    }

    fn jpeg(wide: u16, high: u16) -> Vec<u8> {
        let head = b"\xff\xd8\xff\xe0\0\x04xx\xff\xff\xc2\0\x11\x08".as_slice();
        [head, &high.to_be_bytes(), &wide.to_be_bytes()].concat()
    }

    fn tiff(wide: u32, high: u16) -> Vec<u8> {
        let mut bytes = b"II*\0\x08\0\0\0\x02\0\0\x01\x04\0\x01\0\0\0".to_vec();
        bytes.extend(wide.to_le_bytes());
        bytes.extend(b"\x01\x01\x03\0\x01\0\0\0");
        bytes.extend(high.to_le_bytes());
        bytes.extend([0; 6]);
        bytes
    }

    #[test]
    fn pictures_over_the_pixel_limit_are_refused() {
        check(Format::Png, &png(10_000, 30_000), None);
        check(Format::Png, &png(30_000, 30_000), Some("900 megapixels"));
        check(Format::Png, &png(u32::MAX, u32::MAX), Some("megapixels"));
        check(Format::Png, &png(1, 1)[..18], None);
        check(Format::Jpeg, &jpeg(5_000, 7_000), None);
        check(Format::Jpeg, &jpeg(60_000, 50_000), Some("3000 megapixels"));
        check(Format::Jpeg, &jpeg(60_000, 50_000)[..12], None);
        check(Format::Jpeg, b"\xff\xd8\xff\xe0\0\0", None);
        check(Format::Tiff, &tiff(5_000, 7_000), None);
        check(Format::Tiff, &tiff(40_000, 40_000), Some("1600 megapixels"));
        check(Format::Tiff, b"MM\0*", None);
    }
}

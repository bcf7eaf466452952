//! Pictures of pages: PNG, JPEG and TIFF of one or many pages, all by OCR.

use crate::work::{Step, Work};
use crate::{Code, Kind, Problem, Source};

pub(crate) fn read(work: &mut Work<'_>, kind: Kind, bytes: &[u8]) -> Step {
    let count = if kind == Kind::Tiff { tiff_pages(bytes) } else { 1 };
    if count == 0 {
        return Err(Problem::new(Code::Truncated, "the picture's directory is missing"));
    }
    let pages = u32::try_from(count).unwrap_or(u32::MAX);
    work.total(pages);
    let outcome = work.ocr.ready().and_then(|()| {
        for _ in 0..count {
            work.spend_ocr()?;
        }
        work.ocr.image(bytes, 0, work.time_left())
    });
    match outcome {
        Ok(found) => {
            for page in found {
                work.page_from(page.text, Source::Ocr { confidence: page.confidence }, None)?;
            }
            Ok(())
        }
        Err(problem) if problem.code == Code::TimedOut => Err(problem),
        Err(problem) => {
            // The pages exist even if nobody could read them.
            for _ in 0..count {
                work.page_from(String::new(), Source::TextLayer, Some(problem.clone()))?;
            }
            Ok(())
        }
    }
}

/// How many pages a TIFF has, by its chain of directories; a chain that loops ends.
fn tiff_pages(bytes: &[u8]) -> usize {
    let big_endian = bytes.starts_with(b"MM");
    let word = |at: usize, size: usize| -> Option<usize> {
        let raw = bytes.get(at..at.checked_add(size)?)?;
        let fold = |sum: usize, it: &u8| sum << 8 | usize::from(*it);
        Some(if big_endian { raw.iter().fold(0, fold) } else { raw.iter().rev().fold(0, fold) })
    };
    let mut seen = std::collections::BTreeSet::new();
    let mut next = word(4, 4);
    while let Some(at) = next.filter(|it| *it != 0) {
        let Some(entries) = word(at, 2) else { break };
        if !seen.insert(at) || seen.len() >= 100_000 {
            break;
        }
        next = word(at + 2 + entries * 12, 4);
    }
    seen.len()
}

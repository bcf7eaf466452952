//! Which bytes of the `WordDocument` stream are hidden or deleted text.
//! Character formatting is kept in pages of 512 bytes, each with its runs and their changes.

use crate::compound::{u16_at, usize_at};
use crate::context::{ReadContext, ReadResult};

const PAGE: usize = 512;
const DELETED: u16 = 0x0800;
const HIDDEN: u16 = 0x083c;

/// Sorted, as the formatting pages are.
pub(super) struct Ranges(Vec<(usize, usize)>);

pub(super) fn ranges(
    context: &ReadContext<'_>,
    main: &[u8],
    table: Option<&[u8]>,
) -> ReadResult<Ranges> {
    let table = table.unwrap_or_default();
    let count = table.len().saturating_sub(4) / 8;
    let mut ranges = Vec::new();
    for entry in 0..count {
        context.tick()?;
        let Some(number) = usize_at(table, (count + 1) * 4 + entry * 4) else { break };
        let start = (number & 0x3f_ffff) * PAGE;
        let Some(page) = main.get(start..start + PAGE) else { continue };
        let runs = usize::from(page[PAGE - 1]);
        for run in 0..runs {
            let Some(offset) = page.get((runs + 1) * 4 + run).copied().filter(|it| *it != 0) else {
                continue;
            };
            let at = usize::from(offset) * 2;
            let Some(length) = page.get(at).copied() else { continue };
            let changes = page.get(at + 1..at + 1 + usize::from(length)).unwrap_or_default();
            let range = usize_at(page, run * 4).zip(usize_at(page, run * 4 + 4));
            if let Some(range) = range.filter(|_| hides(changes)) {
                ranges.push(range);
            }
        }
    }
    ranges.sort_unstable();
    Ok(Ranges(ranges))
}

/// Whether the formatting changes leave the text hidden or deleted; the last change of each counts.
fn hides(changes: &[u8]) -> bool {
    let (mut hidden, mut deleted) = (false, false);
    let mut at = 0;
    while let Some(code) = u16_at(changes, at) {
        at += 2;
        let operand = changes.get(at).copied().unwrap_or(0);
        match code {
            HIDDEN => hidden = operand & 1 != 0,
            DELETED => deleted = operand & 1 != 0,
            _ => {}
        }
        at += match code >> 13 {
            0 | 1 => 1,
            2 | 4 | 5 => 2,
            3 => 4,
            6 => usize::from(operand) + 1,
            _ => 3,
        };
    }
    hidden || deleted
}

impl Ranges {
    /// Blanks the characters of a piece that starts at `start`, each `width` bytes.
    pub(super) fn blank(&self, units: &mut [u16], start: usize, width: usize) {
        let end = start + units.len() * width;
        let first = self.0.partition_point(|it| it.1 <= start);
        for (from, to) in self.0[first..].iter().take_while(|it| it.0 < end) {
            let from = from.saturating_sub(start) / width;
            let to = (to.saturating_sub(start) / width).min(units.len());
            if let Some(range) = units.get_mut(from..to) {
                range.fill(0);
            }
        }
    }
}

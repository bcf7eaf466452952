//! Moving windows without a state: the windows that end at each number of a row, put together from
//! shorter windows that are neighbours.
//!
//! Windows of n become windows of 2n, or of 2n + 1 with one number more, in one pass over the row;
//! log2(n) passes make windows of n. No pass waits for its own results, so many numbers are worked
//! on at once; nothing is ever taken away from a sum, so no rounding is carried along.

/// How many numbers are worked on at a time, so that the passes stay in cache.
pub(crate) const CHUNK: usize = 512;

/// The longest window that is made this way: longer ones would be mostly repetition.
pub(crate) const NEAR: usize = 256;

pub(crate) type Row = [f64; CHUNK + NEAR];

/// Space for the numbers of a chunk with those before, and for the passes.
pub(crate) struct Work {
    pub(super) row: Row,
    pub(super) spare: [Row; 2],
}

impl Work {
    pub(crate) fn new() -> Work {
        Work { row: [0.0; CHUNK + NEAR], spare: [[0.0; CHUNK + NEAR]; 2] }
    }

    /// Whether a chunk can be worked on here.
    #[inline(always)]
    pub(super) fn fits(period: usize, len: usize) -> bool {
        (1..=NEAR).contains(&period) && (1..=CHUNK).contains(&len)
    }

    /// Lines up what came before, in two parts, and the chunk; gives how long the row is.
    #[inline(always)]
    pub(super) fn line_up(&mut self, older: &[f64], newer: &[f64], xs: &[f64]) -> usize {
        join(&mut self.row, older, newer, xs)
    }

    /// What `fold` makes of each window of the row and `done` of that, into `out`, one for each
    /// window.
    #[inline(always)]
    pub(super) fn slide(
        &mut self,
        period: usize,
        len: usize,
        out: &mut [f64],
        fold: impl Fn(f64, f64) -> f64 + Copy,
        done: impl Fn(f64) -> f64,
    ) {
        let (row, [a, b]) = (&self.row[..len], &mut self.spare);
        let (mut from, mut to) = (a, b);
        if period == 1 {
            out.iter_mut().zip(row).for_each(|(slot, x)| *slot = done(*x));
        }
        for (width, odd) in passes(period) {
            let wide = 2 * width + usize::from(odd);
            let windows = if width == 1 { row } else { &from[..] };
            if wide == period {
                pass(windows, width, odd, row, out, fold, &done);
            } else {
                let to = &mut to[..len + 1 - wide];
                pass(windows, width, odd, row, to, fold, |x| x);
            }
            std::mem::swap(&mut from, &mut to);
        }
    }
}

#[inline(always)]
pub(super) fn join(row: &mut Row, older: &[f64], newer: &[f64], xs: &[f64]) -> usize {
    let (first, rest) = row.split_at_mut(older.len());
    let (second, rest) = rest.split_at_mut(newer.len());
    first.copy_from_slice(older);
    second.copy_from_slice(newer);
    rest[..xs.len()].copy_from_slice(xs);
    older.len() + newer.len() + xs.len()
}

/// The widths of the passes on the way to `period`: how wide the windows are before each, and
/// whether one number is added.
#[inline(always)]
pub(super) fn passes(period: usize) -> impl Iterator<Item = (usize, bool)> {
    (0..period.ilog2()).rev().map(move |bit| (period >> (bit + 1), (period >> bit) & 1 == 1))
}

/// Windows twice as wide, and one number wider where it is odd.
#[inline(always)]
fn pass(
    windows: &[f64],
    width: usize,
    odd: bool,
    row: &[f64],
    out: &mut [f64],
    fold: impl Fn(f64, f64) -> f64,
    done: impl Fn(f64) -> f64,
) {
    let len = out.len();
    let (older, newer) = (&windows[..len], &windows[width..width + len]);
    if odd {
        let last = &row[2 * width..2 * width + len];
        for index in 0..len {
            out[index] = done(fold(fold(older[index], newer[index]), last[index]));
        }
    } else {
        for index in 0..len {
            out[index] = done(fold(older[index], newer[index]));
        }
    }
}

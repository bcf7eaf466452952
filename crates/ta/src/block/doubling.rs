//! Stateless moving windows: the windows that end at each number of a row, merged from adjacent
//! shorter windows.
//!
//! One pass over the row turns windows of n into windows of 2n, or of 2n + 1 with one more number;
//! log2(n) passes give windows of n. No pass depends on its own results, so the compiler vectorizes
//! it; nothing is ever subtracted, so no rounding accumulates.

use std::ops::Range;

/// Numbers per batch step, so that all passes stay in the level-1 cache.
pub(crate) const CHUNK: usize = 192;

/// The longest window computed this way: for longer ones most of the work would repeat.
pub(crate) const WINDOW_MAX: usize = 128;

pub(crate) type Row = [f64; CHUNK + WINDOW_MAX];

/// Buffers for the numbers of a chunk with those before it, and for the passes. A window has `K`
/// values, each in its own row.
pub(crate) struct WindowBuffers<const K: usize = 1> {
    pub(super) rows: [Row; K],
    passes: [[Row; K]; 2],
}

/// The values of two adjacent windows, the older first, and their widths.
pub(super) struct Pair<const K: usize> {
    pub(super) older: [f64; K],
    pub(super) newer: [f64; K],
    pub(super) widths: (f64, f64),
}

impl<const K: usize> WindowBuffers<K> {
    pub(crate) fn new() -> WindowBuffers<K> {
        let row = [0.0; CHUNK + WINDOW_MAX];
        WindowBuffers { rows: [row; K], passes: [[row; K]; 2] }
    }

    /// Writes the previous numbers, in two parts, and the chunk into the first row; returns the
    /// length used.
    #[inline(always)]
    pub(super) fn fill_first_row(&mut self, older: &[f64], newer: &[f64], xs: &[f64]) -> usize {
        self.fill_row(0, older, newer, xs)
    }

    #[inline(always)]
    pub(super) fn fill_row(
        &mut self,
        which: usize,
        older: &[f64],
        newer: &[f64],
        xs: &[f64],
    ) -> usize {
        let Some(row) = self.rows.get_mut(which) else { return 0 };
        let (first, rest) = row.split_at_mut(older.len());
        let (second, rest) = rest.split_at_mut(newer.len());
        first.copy_from_slice(older);
        second.copy_from_slice(newer);
        rest[..xs.len()].copy_from_slice(xs);
        older.len() + newer.len() + xs.len()
    }

    /// Writes `done(fold of each window)` for the windows in a stretch of the rows, into outputs
    /// with one slot per window.
    #[inline(always)]
    pub(super) fn slide<const M: usize>(
        &mut self,
        period: usize,
        stretch: Range<usize>,
        out: [&mut [f64]; M],
        fold: impl Fn(Pair<K>) -> [f64; K] + Copy,
        done: impl Fn([f64; K]) -> [f64; M] + Copy,
    ) {
        let len = stretch.len();
        let rows = self.rows.each_ref().map(|row| &row[stretch.clone()]);
        let [mut from, mut to] = self.passes.each_mut();
        if period == 1 {
            for index in 0..len {
                let values = done(rows.map(|row| row[index]));
                (0..M).for_each(|m| out[m][index] = values[m]);
            }
            return;
        }
        let mut width = 1;
        for bit in (1..period.ilog2()).rev() {
            let odd = (period >> bit) & 1 == 1;
            let count = len + 1 - (period >> bit);
            let to_now = to.each_mut().map(|row| &mut row[..count]);
            let windows = if width == 1 { rows } else { from.each_ref().map(|row| &row[..]) };
            pass(windows, width, odd, rows, to_now, fold, |it| it);
            std::mem::swap(&mut from, &mut to);
            width = period >> bit;
        }
        let odd = period & 1 == 1;
        let windows = if width == 1 { rows } else { from.each_ref().map(|row| &row[..]) };
        pass(windows, width, odd, rows, out, fold, done);
    }
}

/// Whether the period is at most 128, and the chunk at most 192 numbers in the safe range.
#[inline(always)]
pub(super) fn fits(period: usize, xs: &[f64]) -> bool {
    (1..=WINDOW_MAX).contains(&period) && (1..=CHUNK).contains(&xs.len()) && in_safe_range(xs)
}

/// Whether all numbers are finite and below about 1.8e100, so that their squares and sums stay
/// finite. Tests all of them without an early exit, so that the compiler vectorizes the loop.
#[inline(always)]
pub(super) fn in_safe_range(xs: &[f64]) -> bool {
    // A number outside the range overflows to infinity, and infinity times 0 is NaN.
    const OVER: f64 = 1e208;
    let (chunks, rest) = xs.as_chunks::<16>();
    let mut sums = [0.0; 16];
    for chunk in chunks {
        for (sum, x) in sums.iter_mut().zip(chunk) {
            *sum += x * OVER * 0.0;
        }
    }
    let rest: f64 = rest.iter().map(|x| x * OVER * 0.0).sum();
    sums.iter().sum::<f64>() + rest == 0.0
}

/// One pass: windows twice as wide, and one number wider when `odd`.
#[inline(always)]
fn pass<const K: usize, const M: usize>(
    windows: [&[f64]; K],
    width: usize,
    odd: bool,
    rows: [&[f64]; K],
    out: [&mut [f64]; M],
    fold: impl Fn(Pair<K>) -> [f64; K],
    done: impl Fn([f64; K]) -> [f64; M],
) {
    let len = out.iter().map(|row| row.len()).min().unwrap_or(0);
    let out = out.map(|row| &mut row[..len]);
    let older = windows.map(|row| &row[..len]);
    let newer = windows.map(|row| &row[width..width + len]);
    let last = rows.map(|row| row.get(2 * width..2 * width + len).unwrap_or_default());
    let half = width as f64;
    let widths = (half, half);
    let both = |index: usize| {
        let (older, newer) = (older.map(|row| row[index]), newer.map(|row| row[index]));
        fold(Pair { older, newer, widths })
    };
    let mut show = |index: usize, values: [f64; M]| {
        (0..M).for_each(|m| out[m][index] = values[m]);
    };
    // Two loops, so that neither contains a branch.
    if odd {
        for index in 0..len {
            let (older, newer) = (both(index), last.map(|row| row[index]));
            show(index, done(fold(Pair { older, newer, widths: (half + half, 1.0) })));
        }
    } else {
        for index in 0..len {
            show(index, done(both(index)));
        }
    }
}

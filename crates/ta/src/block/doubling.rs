//! Moving windows without a state: the windows that end at each number of a row, put together from
//! shorter windows that are neighbours.
//!
//! Windows of n become windows of 2n, or of 2n + 1 with one number more, in one pass over the row;
//! log2(n) passes make windows of n. No pass waits for its own results, so many numbers are worked
//! on at once; nothing is ever taken away from a sum, so no rounding is carried along.

use std::ops::Range;

/// How many numbers are worked on at a time, so that the passes stay in cache.
pub(crate) const CHUNK: usize = 192;

/// The longest window that is made this way: longer ones would be mostly repetition.
pub(crate) const WINDOW_MAX: usize = 128;

pub(crate) type Row = [f64; CHUNK + WINDOW_MAX];

/// Space for the numbers of a chunk with those before, and for the passes. What is known of a
/// window is `K` numbers, each in a row of its own.
pub(crate) struct WindowBuffers<const K: usize = 1> {
    pub(super) rows: [Row; K],
    passes: [[Row; K]; 2],
}

/// What is known of two neighbours, the older first, and how wide they are.
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

    /// Lines up in a row what came before, in two parts, and the chunk; gives how long the row is.
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

    /// What `fold` makes of each window in a stretch of the rows and `done` of that, into outputs
    /// that are as long as there are windows.
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

/// Whether a chunk can be worked on here: there is room, and nothing is missing.
#[inline(always)]
pub(super) fn fits(period: usize, xs: &[f64]) -> bool {
    (1..=WINDOW_MAX).contains(&period) && (1..=CHUNK).contains(&xs.len()) && in_safe_range(xs)
}

/// Whether no number is missing or so large that what is made of them could be infinite. Looks at
/// all of them without stopping, which is faster than stopping, and at many at once.
#[inline(always)]
pub(super) fn in_safe_range(xs: &[f64]) -> bool {
    // What is outside the safe range becomes infinite, and what is not finite times zero is NaN.
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

/// Windows twice as wide, and one number wider where it is odd.
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
    // Two loops, so that neither has a branch in it.
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

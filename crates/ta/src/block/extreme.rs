//! Highest or lowest of the last n numbers in constant time, by the van Herk algorithm: one running
//! extreme forward through the current block of n, one backward through the previous block.

use super::Block;
use super::doubling::{Pair, WindowBuffers, fits};

pub type Highest = Extreme<true>;
pub type Lowest = Extreme<false>;

#[derive(Clone, Debug)]
pub struct Extreme<const HIGH: bool> {
    /// Below `at`: the numbers of the current block. From `at`: the extremes of the rest of the
    /// previous block. The last slot is always `EMPTY`.
    block: Box<[f64]>,
    at: usize,
    /// The extreme of the current block so far.
    best: f64,
    /// Observations since the last missing one, at most `shown`.
    run: usize,
    /// How many consecutive observations give a value.
    shown: usize,
}

#[derive(Clone, Copy)]
pub struct ExtremeUpdate {
    x: f64,
    best: f64,
    run: usize,
}

impl<const HIGH: bool> Extreme<HIGH> {
    /// Worse than every finite number.
    const EMPTY: f64 = if HIGH { f64::NEG_INFINITY } else { f64::INFINITY };

    pub(crate) fn new(period: usize) -> Extreme<HIGH> {
        Extreme::shown_after(period, period)
    }

    /// Has a value after `shown` numbers, over as many as there are.
    pub(crate) fn shown_after(period: usize, shown: usize) -> Extreme<HIGH> {
        let block = vec![Self::EMPTY; period + 1].into_boxed_slice();
        Extreme { block, at: 0, best: Self::EMPTY, run: 0, shown }
    }

    /// Writes the extremes at each of `xs` into `out`, of the same length; they equal those of
    /// `step`.
    #[inline(always)]
    pub(crate) fn scan(&mut self, xs: &[f64], out: &mut [f64], buffers: &mut WindowBuffers) {
        let period = self.block.len() - 1;
        let len = xs.len().min(out.len());
        if !fits(period, &xs[..len]) {
            return self.each(&xs[..len], &mut out[..len]);
        }
        // The numbers before the first value go one by one.
        let head = (self.shown - self.run).min(len);
        self.each(&xs[..head], &mut out[..head]);
        let (xs, out) = (&xs[head..len], &mut out[head..len]);
        if xs.is_empty() {
            return;
        }
        // The previous block holds the extremes of its rest instead of its numbers; every window
        // that reaches into it gives the same extreme.
        let before = &self.block[self.at + 1..period];
        let row = buffers.fill_first_row(before, &self.block[..self.at], xs);
        buffers.slide(
            period,
            0..row,
            [out],
            |Pair { older: [older], newer: [newer], .. }| [Self::pick(older, newer)],
            |it| it,
        );
        self.block[..period].copy_from_slice(&buffers.rows[0][row - period..row]);
        self.at = period;
        self.finish_block();
    }

    #[inline(never)]
    fn each(&mut self, xs: &[f64], out: &mut [f64]) {
        for (x, slot) in xs.iter().zip(out) {
            *slot = self.push(*x);
        }
    }

    /// Whether there is a value, and one after every further finite number.
    #[inline(always)]
    pub(crate) fn is_full(&self) -> bool {
        self.run >= self.shown
    }

    /// Like `push`, for a finite number once the block is full.
    #[inline(always)]
    pub(crate) fn roll(&mut self, x: f64) -> f64 {
        self.best = Self::pick(self.best, x);
        let value = Self::pick(self.block[self.at + 1], self.best);
        self.block[self.at] = x;
        self.at += 1;
        self.finish_block();
        value
    }

    /// Starts the next block when the current one is full.
    #[inline(always)]
    fn finish_block(&mut self) {
        let period = self.block.len() - 1;
        if self.at >= period {
            let mut best = Self::EMPTY;
            for slot in self.block[..period].iter_mut().rev() {
                best = Self::pick(best, *slot);
                *slot = best;
            }
            self.at = 0;
            self.best = Self::EMPTY;
        }
    }

    #[inline(always)]
    fn pick(a: f64, b: f64) -> f64 {
        if (HIGH && a > b) || (!HIGH && a < b) { a } else { b }
    }
}

impl<const HIGH: bool> Block for Extreme<HIGH> {
    type Update = ExtremeUpdate;

    #[inline(always)]
    fn step(&self, x: f64) -> (f64, ExtremeUpdate) {
        let here = x.is_finite();
        let x = if here { x } else { Self::EMPTY };
        let run = if here { (self.run + 1).min(self.shown) } else { 0 };
        let best = Self::pick(self.best, x);
        let value = Self::pick(self.block[self.at + 1], best);
        (if run >= self.shown { value } else { f64::NAN }, ExtremeUpdate { x, best, run })
    }

    #[inline(always)]
    fn commit(&mut self, next: ExtremeUpdate) {
        self.block[self.at] = next.x;
        self.at += 1;
        self.best = next.best;
        self.run = next.run;
        self.finish_block();
    }
}

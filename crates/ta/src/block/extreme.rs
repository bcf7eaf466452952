//! Highest or lowest of the last n numbers in constant time, by van Herk's two running extremes:
//! one forward through the block of n being filled, one backward through the block before.

use super::Block;
use super::doubling::{Pair, WindowBuffers, fits};

pub type Highest = Extreme<true>;
pub type Lowest = Extreme<false>;

#[derive(Clone, Debug)]
pub struct Extreme<const HIGH: bool> {
    /// Up to `at`, the numbers of this block; from `at`, the extremes of the rest of the block
    /// before; one slot more that is always empty.
    block: Box<[f64]>,
    at: usize,
    /// The extreme of this block so far.
    best: f64,
    /// Observations since the last that was missing, no further than n.
    run: usize,
    /// How many observations in a row make a value.
    shown: usize,
}

#[derive(Clone, Copy)]
pub struct ExtremeUpdate {
    x: f64,
    best: f64,
    run: usize,
}

impl<const HIGH: bool> Extreme<HIGH> {
    /// Beaten by every number.
    const EMPTY: f64 = if HIGH { f64::NEG_INFINITY } else { f64::INFINITY };

    pub(crate) fn new(period: usize) -> Extreme<HIGH> {
        Extreme::shown_after(period, period)
    }

    /// One that has a value after `shown` numbers, over as many as there are.
    pub(crate) fn shown_after(period: usize, shown: usize) -> Extreme<HIGH> {
        let block = vec![Self::EMPTY; period + 1].into_boxed_slice();
        Extreme { block, at: 0, best: Self::EMPTY, run: 0, shown }
    }

    /// The extremes at each of `xs` into `out`, which is as long; the same as those of `step`.
    #[inline(always)]
    pub(crate) fn scan(&mut self, xs: &[f64], out: &mut [f64], buffers: &mut WindowBuffers) {
        let period = self.block.len() - 1;
        let len = xs.len().min(out.len());
        if !fits(period, &xs[..len]) {
            return self.each(&xs[..len], &mut out[..len]);
        }
        // What is missing before there is a value comes one by one.
        let head = (self.shown - self.run).min(len);
        self.each(&xs[..head], &mut out[..head]);
        let (xs, out) = (&xs[head..len], &mut out[head..len]);
        if xs.is_empty() {
            return;
        }
        // In place of the numbers of the block before stand the extremes of its rest, which are
        // the same to every window that reaches into it.
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

    /// Whether there is a value, and one after every further number.
    #[inline(always)]
    pub(crate) fn is_full(&self) -> bool {
        self.run >= self.shown
    }

    /// The same as `push` with a finite number, once it is full.
    #[inline(always)]
    pub(crate) fn roll(&mut self, x: f64) -> f64 {
        self.best = Self::pick(self.best, x);
        let value = Self::pick(self.block[self.at + 1], self.best);
        self.block[self.at] = x;
        self.at += 1;
        self.finish_block();
        value
    }

    /// Begins the next block when this one is full.
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

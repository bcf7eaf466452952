//! Exponential average: m = (1 - a) m + a x, with a = 2 / (n + 1) or 1 / n (Wilder).
//!
//! Across missing observations the old mean loses weight as if time had passed, as in pandas'
//! `ewm(adjust=False)`.

use super::{Block, all_finite};
use crate::Parity;
use crate::indicator::{available, finite};

/// How many numbers batch forms work on at a time, so that the steps between stay in cache.
pub(crate) const CHUNK: usize = 256;

#[derive(Clone, Debug)]
pub struct Ewm {
    alpha: f64,
    beta: f64,
    /// While the seed is gathered, its sum.
    mean: f64,
    /// What the mean weighs at the next observation: `beta`, or less after a gap.
    weight: f64,
    /// Observations so far; stops growing when the average is out.
    count: usize,
    /// How many observations the first mean is made of.
    seed: usize,
    /// How many observations there must be before the average is shown.
    shown: usize,
}

#[derive(Clone, Copy)]
pub struct Next {
    mean: f64,
    weight: f64,
    count: usize,
}

impl Ewm {
    fn new(alpha: f64, period: usize, parity: Parity) -> Ewm {
        let seed = if parity == Parity::TaLib { period } else { 1 };
        let beta = 1.0 - alpha;
        Ewm { alpha, beta, mean: 0.0, weight: beta, count: 0, seed, shown: period }
    }

    pub(crate) fn span(period: usize, parity: Parity) -> Ewm {
        Ewm::new(2.0 / (period as f64 + 1.0), period, parity)
    }

    pub(crate) fn wilder(period: usize, parity: Parity) -> Ewm {
        Ewm::new(1.0 / period as f64, period, parity)
    }

    /// Whether there have been observations enough for a value.
    pub(crate) fn is_shown(&self) -> bool {
        self.count >= self.shown
    }

    /// Whether the next observation is one like any other: not the first ones, not after a gap.
    #[inline(always)]
    fn is_steady(&self) -> bool {
        self.count >= self.shown && self.weight == self.beta
    }

    /// A step at the start or in a gap. Kept out of the way of the others: were it mixed with
    /// them, each would wait for its division.
    #[inline(always)]
    fn step_unsteady(&self, x: f64) -> (f64, Next) {
        std::hint::cold_path();
        let mut next = Next { mean: self.mean, weight: self.beta, count: self.count };
        if !x.is_finite() {
            next.weight = if self.count < self.seed { self.beta } else { self.weight * self.beta };
        } else {
            next.count += usize::from(self.count < self.shown);
            if self.count < self.seed {
                next.mean += x;
                if next.count == self.seed {
                    next.mean /= self.seed as f64;
                }
            } else {
                let whole = self.weight + self.alpha;
                next.mean = (self.weight * self.mean + self.alpha * x) / whole;
            }
        }
        (if next.count >= self.shown { next.mean } else { f64::NAN }, next)
    }

    /// Averages `xs` into `out`, which is of the same length. The values are those of `step` up
    /// to rounding, `NaN` where they are not finite: four steps are folded into one, so that the processor need not wait for each
    /// mean before it begins the next.
    pub(crate) fn scan(&mut self, xs: &[f64], out: &mut [f64]) {
        if !self.is_steady() || !all_finite(xs) {
            for (x, slot) in xs.iter().zip(out) {
                *slot = available(self.push(*x));
            }
            return;
        }
        let (a, b) = (self.alpha, self.beta);
        let (b2, b3, b4) = (b * b, b * b * b, b * b * b * b);
        let mut mean = self.mean;
        let (xs_four, xs_rest) = xs.as_chunks::<4>();
        let (out_four, out_rest) = out.as_chunks_mut::<4>();
        for (x, slot) in xs_four.iter().zip(out_four) {
            let y0 = a * x[0];
            let y1 = a * x[1] + b * y0;
            let y2 = a * x[2] + b * y1;
            let y3 = a * x[3] + b * y2;
            *slot = [y0 + b * mean, y1 + b2 * mean, y2 + b3 * mean, y3 + b4 * mean];
            mean = slot[3];
        }
        self.mean = mean;
        for (x, slot) in xs_rest.iter().zip(out_rest) {
            *slot = self.push(*x);
        }
    }
}

impl Block for Ewm {
    type Next = Next;

    #[inline(always)]
    fn step(&self, x: f64) -> (f64, Next) {
        if !(finite(x) && self.is_steady()) {
            return self.step_unsteady(x);
        }
        let mean = self.beta * self.mean + self.alpha * x;
        (mean, Next { mean, weight: self.beta, count: self.count })
    }

    #[inline(always)]
    fn commit(&mut self, next: Next) {
        self.mean = next.mean;
        self.weight = next.weight;
        self.count = next.count;
    }
}

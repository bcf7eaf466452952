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
    /// Whether the next observation is one like any other: not the first ones, not after a gap.
    steady: bool,
}

/// The mean and what takes it four steps on. Within the four nothing waits for the mean, so that
/// the processor need not finish one before it begins the next.
#[derive(Clone, Copy)]
pub(crate) struct Fold {
    alpha: f64,
    powers: [f64; 4],
    mean: f64,
}

impl Fold {
    #[inline(always)]
    pub(crate) fn next(&mut self, x: &[f64; 4]) -> [f64; 4] {
        let (a, [b, b2, b3, b4]) = (self.alpha, self.powers);
        let y0 = a * x[0];
        let y1 = a * x[1] + b * y0;
        let y2 = a * x[2] + b * y1;
        let y3 = a * x[3] + b * y2;
        let m = self.mean;
        let means = [y0 + b * m, y1 + b2 * m, y2 + b3 * m, y3 + b4 * m];
        self.mean = means[3];
        means
    }
}

#[derive(Clone, Copy)]
pub struct Next {
    mean: f64,
    weight: f64,
    count: usize,
    steady: bool,
}

impl Ewm {
    fn new(alpha: f64, period: usize, parity: Parity) -> Ewm {
        let seed = if parity == Parity::TaLib { period } else { 1 };
        let beta = 1.0 - alpha;
        Ewm { alpha, beta, mean: 0.0, weight: beta, count: 0, seed, shown: period, steady: false }
    }

    pub(crate) fn span(period: usize, parity: Parity) -> Ewm {
        Ewm::new(2.0 / (period as f64 + 1.0), period, parity)
    }

    pub(crate) fn wilder(period: usize, parity: Parity) -> Ewm {
        Ewm::new(1.0 / period as f64, period, parity)
    }

    /// Four steps at a time, while the average is steady and what comes is finite.
    #[inline(always)]
    pub(crate) fn fold(&self) -> Fold {
        let b = self.beta;
        let powers = [b, b * b, b * b * b, b * b * b * b];
        Fold { alpha: self.alpha, powers, mean: self.mean }
    }

    pub(crate) fn unfold(&mut self, fold: Fold) {
        self.mean = fold.mean;
    }

    #[inline(always)]
    pub(crate) fn is_steady(&self) -> bool {
        self.steady
    }

    /// A step of a steady average, by a finite number, in place.
    #[inline(always)]
    pub(crate) fn push_steady(&mut self, x: f64) -> f64 {
        self.mean = self.beta * self.mean + self.alpha * x;
        self.mean
    }

    /// A step at the start or in a gap. Kept out of the way of the others: were it mixed with
    /// them, each would wait for its division.
    #[inline(always)]
    fn step_unsteady(&self, x: f64) -> (f64, Next) {
        std::hint::cold_path();
        let mut next =
            Next { mean: self.mean, weight: self.beta, count: self.count, steady: false };
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
        next.steady = next.count >= self.shown && next.weight == self.beta;
        (if next.count >= self.shown { next.mean } else { f64::NAN }, next)
    }

    /// Averages `xs` into `out`, which is of the same length. The values are those of `step` up
    /// to rounding, `NaN` where they are not finite.
    pub(crate) fn scan(&mut self, xs: &[f64], out: &mut [f64]) {
        if !self.is_steady() || !all_finite(xs) {
            for (x, slot) in xs.iter().zip(out) {
                *slot = available(self.push(*x));
            }
            return;
        }
        let (xs_four, xs_rest) = xs.as_chunks::<4>();
        let (out_four, out_rest) = out.as_chunks_mut::<4>();
        let mut fold = self.fold();
        for (x, slot) in xs_four.iter().zip(out_four) {
            *slot = fold.next(x);
        }
        self.unfold(fold);
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
        (mean, Next { mean, weight: self.beta, count: self.count, steady: true })
    }

    #[inline(always)]
    fn commit(&mut self, next: Next) {
        self.mean = next.mean;
        self.weight = next.weight;
        self.count = next.count;
        self.steady = next.steady;
    }
}

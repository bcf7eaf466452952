//! Exponential average: m = (1 - a) m + a x, with a = 2 / (n + 1) or 1 / n (Wilder).
//!
//! Across missing observations the old mean loses weight as if time had passed, as in pandas'
//! `ewm(adjust=False)`.

use super::Block;
use super::lanes::Lanes;
use crate::Parity;
use crate::indicator::{finite, finite_or_nan};

/// How many numbers batch forms work on at a time: so few that the steps between stay in cache and
/// that memory takes what was made before while the next is being made.
pub(crate) const CHUNK: usize = 128;

/// No two numbers are neighbours: where they are, the compiler keeps them in one register, in
/// which each waits for the other.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Ewm {
    alpha: f64,
    /// Observations so far; stops growing when the average is out.
    count: usize,
    beta: f64,
    /// How many observations the first mean is made of.
    seed: usize,
    /// While the seed is gathered, its sum.
    mean: f64,
    /// How many observations there must be before the average is shown.
    shown: usize,
    /// What the mean weighs at the next observation: `beta`, or less after a gap.
    weight: f64,
    /// Whether the next observation is one like any other: not the first ones, not after a gap.
    steady: bool,
}

#[derive(Clone, Copy)]
pub struct EwmUpdate {
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

    #[inline(always)]
    pub(crate) fn is_steady(&self) -> bool {
        self.steady
    }

    #[inline(always)]
    pub(crate) fn mean(&self) -> f64 {
        self.mean
    }

    /// Whether it is so small that it may fade away within a chunk: one over two numbers, the fastest
    /// that fades at all, loses 61 digits in 128 steps.
    #[inline(always)]
    pub(crate) fn may_underflow(&self) -> bool {
        self.mean.abs() < 1e-200
    }

    #[inline(always)]
    pub(crate) fn alpha(&self) -> f64 {
        self.alpha
    }

    #[inline(always)]
    pub(crate) fn beta(&self) -> f64 {
        self.beta
    }

    /// Takes what `next_mean` gave.
    #[inline(always)]
    pub(crate) fn set(&mut self, mean: f64) {
        self.mean = mean;
    }

    /// The mean after a finite number, while the average is steady.
    #[inline(always)]
    pub(crate) fn next_mean(&self, x: f64) -> f64 {
        // One instruction where the program is compiled for machines that have it.
        if cfg!(target_feature = "fma") {
            return self.beta.mul_add(self.mean, self.alpha * x);
        }
        self.beta * self.mean + self.alpha * x
    }

    /// A step at the start or in a gap. Kept out of the way of the others: were it mixed with
    /// them, each would wait for its division.
    #[inline(always)]
    fn step_unsteady(&self, x: f64) -> (f64, EwmUpdate) {
        std::hint::cold_path();
        let mut next =
            EwmUpdate { mean: self.mean, weight: self.beta, count: self.count, steady: false };
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
        if next.count < self.shown {
            return (f64::NAN, next);
        }
        next.steady = next.weight == self.beta;
        (next.mean, next)
    }

    /// The same many numbers at a time, for finite numbers and while the average is steady.
    #[inline(always)]
    pub(crate) fn lanes(&self) -> Lanes {
        Lanes { a: self.alpha, b: self.beta, mean: self.mean }
    }

    /// Averages `xs` into `out`, which is of the same length. The values are those of `step` up
    /// to rounding, `NaN` where they are not finite.
    #[inline(always)]
    pub(crate) fn scan(&mut self, xs: &[f64], out: &mut [f64]) {
        if self.scan_steady(xs, out) {
            return;
        }
        for (x, slot) in xs.iter().zip(out) {
            *slot = finite_or_nan(self.push(*x));
        }
    }

    /// The same for a steady average and finite numbers. Otherwise it says so, and nothing has
    /// changed but `out`.
    #[inline(always)]
    pub(crate) fn scan_steady(&mut self, xs: &[f64], out: &mut [f64]) -> bool {
        let mean = self.lanes().scan(xs, out);
        // A number that is not finite makes every mean after it so.
        if !(self.steady && finite(mean)) {
            return false;
        }
        self.mean = mean;
        true
    }
}

impl Block for Ewm {
    type Update = EwmUpdate;

    #[inline(always)]
    fn step(&self, x: f64) -> (f64, EwmUpdate) {
        if !(finite(x) && self.steady) {
            return self.step_unsteady(x);
        }
        let mean = self.next_mean(x);
        (mean, EwmUpdate { mean, weight: self.beta, count: self.count, steady: true })
    }

    #[inline(always)]
    fn commit(&mut self, next: EwmUpdate) {
        self.mean = next.mean;
        self.weight = next.weight;
        self.count = next.count;
        self.steady = next.steady;
    }
}

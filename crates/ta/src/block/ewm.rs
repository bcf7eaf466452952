//! Exponential average: m = (1 - a) m + a x, with a = 2 / (n + 1) or 1 / n (Wilder).
//!
//! After missing observations the old mean loses weight as if time had passed, as in pandas
//! `ewm(adjust=False)`.

use super::Block;
use super::lanes::Lanes;
use crate::Parity;
use crate::indicator::{finite, finite_or_nan};

/// Numbers per batch step: 128, so that intermediate rows stay in the level-1 cache and the
/// previous outputs are written to memory meanwhile.
pub(crate) const CHUNK: usize = 128;

/// Field order matters: the compiler packs two adjacent floats into one SIMD register, which makes
/// each wait for the other. So integers separate the floats.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Ewm {
    alpha: f64,
    /// Observations so far; stops at `shown`.
    count: usize,
    beta: f64,
    /// How many observations the first mean averages.
    seed: usize,
    /// Until `seed` observations: their sum. Then: the mean.
    mean: f64,
    /// How many observations before the average has a value.
    shown: usize,
    /// The weight of the mean at the next observation: `beta`, or less after a gap.
    weight: f64,
    /// Whether the plain formula applies to the next observation: the start is over and no gap
    /// precedes it.
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

    /// Whether the mean may decay into denormals within a chunk: below 1e-200. Period 2, the
    /// fastest decay, loses 61 decimal digits in 128 steps.
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

    /// Sets the mean that `next_mean` computed.
    #[inline(always)]
    pub(crate) fn set(&mut self, mean: f64) {
        self.mean = mean;
    }

    /// The mean after a finite number. Requires a steady average.
    #[inline(always)]
    pub(crate) fn next_mean(&self, x: f64) -> f64 {
        // One fused instruction when the target has FMA.
        if cfg!(target_feature = "fma") {
            return self.beta.mul_add(self.mean, self.alpha * x);
        }
        self.beta * self.mean + self.alpha * x
    }

    /// A step at the start or in a gap. Kept separate: if the two paths were merged, the common one
    /// would wait for this division.
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

    /// The same recurrence for many numbers at a time. Requires finite numbers and a steady
    /// average.
    #[inline(always)]
    pub(crate) fn lanes(&self) -> Lanes {
        Lanes { a: self.alpha, b: self.beta, mean: self.mean }
    }

    /// Averages `xs` into `out`, of the same length. The values equal those of `step` up to
    /// rounding; values that are not finite become NaN.
    #[inline(always)]
    pub(crate) fn scan(&mut self, xs: &[f64], out: &mut [f64]) {
        if self.scan_steady(xs, out) {
            return;
        }
        for (x, slot) in xs.iter().zip(out) {
            *slot = finite_or_nan(self.push(*x));
        }
    }

    /// Like `scan`, for a steady average and finite numbers; otherwise returns false and changes
    /// only `out`.
    #[inline(always)]
    pub(crate) fn scan_steady(&mut self, xs: &[f64], out: &mut [f64]) -> bool {
        let mean = self.lanes().scan(xs, out);
        // A number that is not finite makes every later mean not finite, so one test of the last is
        // enough.
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

//! Wraps an indicator and delays some of its outputs by a number of candles. Moving outputs to
//! earlier candles is not supported: it would need future candles.

use std::array;

use crate::block::{Block, Delay};
use crate::indicator::finite_or_nan;
use crate::{Candle, Indicator};

#[derive(Clone, Debug)]
pub(crate) struct Delayed<I, const N: usize> {
    inner: I,
    delays: [Option<Delay>; N],
    by: usize,
}

impl<I: Indicator<N>, const N: usize> Delayed<I, N> {
    /// `by` is at least one candle.
    pub(crate) fn new(inner: I, by: usize, late: [bool; N]) -> Delayed<I, N> {
        Delayed { inner, delays: late.map(|late| late.then(|| Delay::new(by))), by }
    }
}

impl<I: Indicator<N>, const N: usize> Indicator<N> for Delayed<I, N> {
    type Update = (I::Update, [f64; N]);

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; N], Self::Update) {
        let (values, next) = self.inner.step(candle);
        let values = values.map(finite_or_nan);
        let shown = array::from_fn(|index| match &self.delays[index] {
            Some(delay) => delay.step(values[index]).0,
            None => values[index],
        });
        (shown, (next, values))
    }

    #[inline(always)]
    fn commit(&mut self, (next, values): Self::Update) {
        self.inner.commit(next);
        for (delay, value) in self.delays.iter_mut().zip(values) {
            if let Some(delay) = delay {
                delay.commit(value);
            }
        }
    }

    /// Exact when the slowest output is one of the delayed ones, which holds for every use.
    fn warmup(&self) -> usize {
        self.inner.warmup() + self.by
    }
}

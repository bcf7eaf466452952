//! The running sum of a flow per candle, computed from close, volume and previous close: shared by
//! on-balance volume and the volume-price trend.

use std::marker::PhantomData;

use crate::block::{Block, CHUNK, RunningSum, UpdateOf};
use crate::indicator::OutputSink;
use crate::{Candle, Candles, Indicator};

/// The flow that one candle adds.
pub trait Flow: Clone {
    /// Candles before the first sum.
    const WARMUP: usize;

    /// The flow of a candle; `before` is NaN at the first one.
    fn change(close: f64, volume: f64, before: f64) -> f64;
}

/// The running sum of a flow per candle, computed from close, volume and previous close: shared by
/// on-balance volume and the volume-price trend.
#[derive(Clone, Debug)]
pub struct FlowTotal<F> {
    sum: RunningSum,
    close: f64,
    flow: PhantomData<F>,
}

impl<F> Default for FlowTotal<F> {
    fn default() -> FlowTotal<F> {
        FlowTotal { sum: RunningSum::default(), close: f64::NAN, flow: PhantomData }
    }
}

impl<F: Flow> Indicator<1> for FlowTotal<F> {
    type Update = (UpdateOf<RunningSum>, f64);

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], Self::Update) {
        let (value, sum_next) = self.sum.step(F::change(candle.c, candle.v, self.close));
        ([value], (sum_next, candle.c))
    }

    #[inline(always)]
    fn commit(&mut self, (sum, close): Self::Update) {
        self.sum.commit(sum);
        self.close = close;
    }

    fn warmup(&self) -> usize {
        F::WARMUP
    }

    const HAS_BATCH: bool = true;

    #[inline(always)]
    fn run_batch(&mut self, candles: &Candles<'_>, out: &mut impl OutputSink<1>) {
        let mut changes = [0.0; CHUNK];
        for (c, v) in candles.closes().chunks(CHUNK).zip(candles.volumes().chunks(CHUNK)) {
            let ([out], changes) = (out.next(c.len()), &mut changes[..c.len()]);
            changes[0] = F::change(c[0], v[0], self.close);
            for (slot, (pair, v)) in changes[1..].iter_mut().zip(c.windows(2).zip(&v[1..])) {
                *slot = F::change(pair[1], *v, pair[0]);
            }
            self.close = c[c.len() - 1];
            self.sum.scan(changes, out);
        }
    }
}

//! The change from the previous close, shared by plain and logarithmic returns.

use std::marker::PhantomData;

use crate::block::CHUNK;
use crate::indicator::finite_or_nan;
use crate::{Candle, Candles, Indicator, OutputSink};

/// A formula that compares two closes.
pub trait ChangeFormula: Clone {
    /// The form of a close that is stored for the next step, such as its logarithm.
    fn of(close: f64) -> f64;

    /// The return between the stored forms of two closes.
    fn change(now: f64, before: f64) -> f64;
}

/// The return from the previous close to this one, computed by `M`.
#[derive(Clone, Debug)]
pub struct CloseChange<M> {
    before: f64,
    measure: PhantomData<M>,
}

impl<M> Default for CloseChange<M> {
    fn default() -> CloseChange<M> {
        CloseChange { before: f64::NAN, measure: PhantomData }
    }
}

impl<M: ChangeFormula> Indicator<1> for CloseChange<M> {
    type Update = f64;

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], Self::Update) {
        let now = M::of(candle.c);
        ([M::change(now, self.before)], now)
    }

    #[inline(always)]
    fn commit(&mut self, before: Self::Update) {
        self.before = before;
    }

    fn warmup(&self) -> usize {
        1
    }

    const HAS_BATCH: bool = true;

    #[inline(always)]
    fn run_batch(&mut self, candles: &Candles<'_>, out: &mut impl OutputSink<1>) {
        let mut kept = [0.0; 1 + CHUNK];
        for closes in candles.closes().chunks(CHUNK) {
            let kept = &mut kept[..=closes.len()];
            kept[0] = self.before;
            for (slot, close) in kept[1..].iter_mut().zip(closes) {
                *slot = M::of(*close);
            }
            let [out] = out.next(closes.len());
            for (slot, pair) in out.iter_mut().zip(kept.windows(2)) {
                *slot = finite_or_nan(M::change(pair[1], pair[0]));
            }
            self.before = kept[closes.len()];
        }
    }
}

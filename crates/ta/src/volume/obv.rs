//! On-balance volume: the running sum of the volume, taken negative where the close fell. As in
//! `ta`, a close that did not move counts as a rise.

use crate::indicator::erase;
use crate::spec::Entry;
use crate::{Candle, Indicator};

pub(crate) const ENTRY: Entry =
    Entry { name: "obv", params: &[], outputs: &["obv"], build: |_| Ok(erase(Obv::default())) };

#[derive(Clone, Debug)]
pub struct Obv {
    sum: f64,
    close: f64,
}

impl Default for Obv {
    fn default() -> Obv {
        Obv { sum: 0.0, close: f64::NAN }
    }
}

impl Indicator<1> for Obv {
    type Next = (f64, f64);

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], Self::Next) {
        let obv = self.sum + if candle.c < self.close { -candle.v } else { candle.v };
        let sum_next = if obv.is_finite() { obv } else { self.sum };
        let close_next = candle.c;
        ([obv], (sum_next, close_next))
    }

    #[inline(always)]
    fn commit(&mut self, (sum, close): Self::Next) {
        self.sum = sum;
        self.close = close;
    }

    fn warmup(&self) -> usize {
        0
    }
}

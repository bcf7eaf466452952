//! Volume-price trend: the running sum of the volume times the relative change of the close.

use crate::indicator::erase;
use crate::spec::Entry;
use crate::{Candle, Indicator};

pub(crate) const ENTRY: Entry =
    Entry { name: "vpt", params: &[], outputs: &["vpt"], build: |_| Ok(erase(Vpt::default())) };

#[derive(Clone, Debug)]
pub struct Vpt {
    sum: f64,
    close: f64,
}

impl Default for Vpt {
    fn default() -> Vpt {
        Vpt { sum: 0.0, close: f64::NAN }
    }
}

impl Indicator<1> for Vpt {
    type Next = (f64, f64);

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], Self::Next) {
        let vpt = self.sum + (candle.c / self.close - 1.0) * candle.v;
        let sum_next = if vpt.is_finite() { vpt } else { self.sum };
        let close_next = candle.c;
        ([vpt], (sum_next, close_next))
    }

    #[inline(always)]
    fn commit(&mut self, (sum, close): Self::Next) {
        self.sum = sum;
        self.close = close;
    }

    fn warmup(&self) -> usize {
        1
    }
}

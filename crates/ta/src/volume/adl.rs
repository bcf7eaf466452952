//! Accumulation/distribution line: the running sum of the volume times where the close lies in its
//! range, ((C - L) - (H - C)) / (H - L).

use crate::indicator::erase;
use crate::spec::Entry;
use crate::{Candle, Indicator};

pub(crate) const ENTRY: Entry =
    Entry { name: "adl", params: &[], outputs: &["adl"], build: |_| Ok(erase(Adl::default())) };

#[derive(Clone, Debug)]
pub struct Adl {
    sum: f64,
}

impl Default for Adl {
    fn default() -> Adl {
        Adl { sum: 0.0 }
    }
}

impl Indicator<1> for Adl {
    type Next = f64;

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], Self::Next) {
        let adl = self.sum + candle.location() * candle.v;
        let sum_next = if adl.is_finite() { adl } else { self.sum };
        ([adl], sum_next)
    }

    #[inline(always)]
    fn commit(&mut self, sum: Self::Next) {
        self.sum = sum;
    }

    fn warmup(&self) -> usize {
        0
    }
}

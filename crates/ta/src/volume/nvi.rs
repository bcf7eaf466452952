//! Negative volume index: from 1000, multiplied by the relative close on candles whose volume is
//! below that of the candle before.

use crate::indicator::erase;
use crate::spec::Entry;
use crate::{Candle, Indicator};

pub(crate) const ENTRY: Entry =
    Entry { name: "nvi", params: &[], outputs: &["nvi"], build: |_| Ok(erase(Nvi::default())) };

#[derive(Clone, Debug)]
pub struct Nvi {
    index: f64,
    close: f64,
    volume: f64,
}

impl Default for Nvi {
    fn default() -> Nvi {
        Nvi { index: 1000.0, close: f64::NAN, volume: f64::NAN }
    }
}

impl Indicator<1> for Nvi {
    type Next = (f64, f64, f64);

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], Self::Next) {
        let moved = self.index * (candle.c / self.close);
        let counts = self.volume > candle.v && moved.is_finite();
        let index_next = if counts { moved } else { self.index };
        let (close_next, volume_next) = (candle.c, candle.v);
        ([index_next], (index_next, close_next, volume_next))
    }

    #[inline(always)]
    fn commit(&mut self, (index, close, volume): Self::Next) {
        self.index = index;
        self.close = close;
        self.volume = volume;
    }

    fn warmup(&self) -> usize {
        0
    }
}

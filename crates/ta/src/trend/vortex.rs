//! Vortex: over `period` candles, the sums of |H - L'| and of |L - H'|, each over the sum of true
//! ranges; L' and H' are those of the candle before.

use crate::block::{Block, Of, Sum, check_period};
use crate::indicator::erase;
use crate::spec::{Entry, Param};
use crate::{Candle, Error, Indicator};

pub(crate) const ENTRY: Entry = Entry {
    name: "vortex",
    params: &[Param::period("period", 14)],
    outputs: &["vip", "vin", "vid"],
    build: |v| Ok(erase(Vortex::new(v.period(0))?)),
};

#[derive(Clone, Debug)]
pub struct Vortex {
    up: Sum,
    down: Sum,
    range: Sum,
    high: f64,
    low: f64,
    close: f64,
    warmup: usize,
}

impl Vortex {
    pub fn new(period: usize) -> Result<Vortex, Error> {
        check_period("period", period)?;
        Ok(Vortex {
            up: Sum::new(period),
            down: Sum::new(period),
            range: Sum::new(period),
            high: f64::NAN,
            low: f64::NAN,
            close: f64::NAN,
            warmup: period,
        })
    }
}

impl Indicator<3> for Vortex {
    type Next = (Of<Sum>, Of<Sum>, Of<Sum>, f64, f64, f64);

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 3], Self::Next) {
        let (up, up_next) = self.up.step((candle.h - self.low).abs());
        let (down, down_next) = self.down.step((candle.l - self.high).abs());
        let (range, range_next) = self.range.step(candle.true_range(self.close));
        let (high_next, low_next, close_next) = (candle.h, candle.l, candle.c);
        (
            [up / range, down / range, up / range - down / range],
            (up_next, down_next, range_next, high_next, low_next, close_next),
        )
    }

    #[inline(always)]
    fn commit(&mut self, (up, down, range, high, low, close): Self::Next) {
        self.up.commit(up);
        self.down.commit(down);
        self.range.commit(range);
        self.high = high;
        self.low = low;
        self.close = close;
    }

    fn warmup(&self) -> usize {
        self.warmup
    }
}

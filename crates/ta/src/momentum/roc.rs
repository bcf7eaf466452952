//! Rate of change: 100 (C - C') / C', C' being the close `period` candles before.

use crate::block::{Block, Delay, Of, check_period};
use crate::indicator::{available, erase, shortest};
use crate::spec::{Entry, Param};
use crate::{Candle, Candles, Error, Indicator};

pub(crate) const ENTRY: Entry = Entry {
    name: "roc",
    params: &[Param::period("period", 12)],
    outputs: &["roc"],
    build: |v| Ok(erase(Roc::new(v.period(0))?)),
};

#[derive(Clone, Debug)]
pub struct Roc {
    before: Delay,
    warmup: usize,
}

impl Roc {
    pub fn new(period: usize) -> Result<Roc, Error> {
        check_period("period", period)?;
        Ok(Roc { before: Delay::new(period), warmup: period })
    }
}

impl Indicator<1> for Roc {
    type Next = Of<Delay>;

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], Self::Next) {
        let (before, before_next) = self.before.step(candle.c);
        ([(candle.c - before) / before * 100.0], before_next)
    }

    #[inline(always)]
    fn commit(&mut self, before: Self::Next) {
        self.before.commit(before);
    }

    fn warmup(&self) -> usize {
        self.warmup
    }

    fn extend(&mut self, candles: &Candles<'_>, out: [&mut [f64]; 1]) {
        let len = shortest(candles, &out);
        let [out] = out;
        self.before.scan(&candles.closes()[..len], out);
        for (slot, close) in out.iter_mut().zip(&candles.closes()[..len]) {
            *slot = available((close - *slot) / *slot * 100.0);
        }
    }
}

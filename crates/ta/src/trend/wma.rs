//! Weighted moving average: the mean of the last `period` closes, the newest weighing `period`, the
//! oldest 1.

use crate::block::slide::{CHUNK, Work};
use crate::block::{Block, Of, Weighted, check_period};
use crate::indicator::erase;
use crate::spec::{Entry, Memory, Param};
use crate::{Candle, Candles, Error, Indicator, OutputSink};

pub(crate) const ENTRY: Entry = Entry {
    name: "wma",
    params: &[Param::period("period", 9)],
    outputs: &["wma"],
    memory: |_| Memory::Windowed,
    build: |v| Ok(erase(Wma::new(v.period(0))?)),
};

#[derive(Clone, Debug)]
pub struct Wma {
    weighted: Weighted,
    warmup: usize,
}

impl Wma {
    pub fn new(period: usize) -> Result<Wma, Error> {
        check_period("period", period)?;
        Ok(Wma { weighted: Weighted::new(period), warmup: period - 1 })
    }
}

impl Indicator<1> for Wma {
    type Next = Of<Weighted>;

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], Self::Next) {
        let (wma, weighted_next) = self.weighted.step(candle.c);
        ([wma], weighted_next)
    }

    #[inline(always)]
    fn commit(&mut self, weighted: Self::Next) {
        self.weighted.commit(weighted);
    }

    fn warmup(&self) -> usize {
        self.warmup
    }

    const HAS_BATCH: bool = true;

    #[inline(always)]
    fn run_batch(&mut self, candles: &Candles<'_>, out: &mut impl OutputSink<1>) {
        let mut work = Work::new();
        for closes in candles.closes().chunks(CHUNK) {
            let [out] = out.next(closes.len());
            self.weighted.scan(closes, out, &mut work);
        }
    }
}

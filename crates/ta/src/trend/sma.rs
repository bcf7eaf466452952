//! Simple moving average: the plain mean of the last `period` closes.

use crate::block::doubling::{CHUNK, WindowBuffers};
use crate::block::{Block, UpdateOf, WindowSum, check_period};
use crate::indicator::erase;
use crate::spec::{Entry, Memory, Param};
use crate::{Candle, Candles, Error, Indicator, OutputSink};

pub(crate) const ENTRY: Entry = Entry {
    name: "sma",
    params: &[Param::period("period", 12)],
    outputs: &["sma"],
    memory: |_| Memory::Windowed,
    build: |v| Ok(erase(Sma::new(v.period(0))?)),
};

/// Simple moving average.
#[derive(Clone, Debug)]
pub struct Sma {
    sum: WindowSum,
    warmup: usize,
}

impl Sma {
    /// A window of `period` candles.
    pub fn new(period: usize) -> Result<Sma, Error> {
        check_period("period", period)?;
        Ok(Sma { sum: WindowSum::new(period), warmup: period - 1 })
    }
}

impl Indicator<1> for Sma {
    type Update = UpdateOf<WindowSum>;

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], Self::Update) {
        let (sma, sum_next) = self.sum.mean(candle.c);
        ([sma], sum_next)
    }

    #[inline(always)]
    fn commit(&mut self, sum: Self::Update) {
        self.sum.commit(sum);
    }

    fn warmup(&self) -> usize {
        self.warmup
    }

    const HAS_BATCH: bool = true;

    #[inline(always)]
    fn run_batch(&mut self, candles: &Candles<'_>, out: &mut impl OutputSink<1>) {
        let mut buffers = WindowBuffers::new();
        for closes in candles.closes().chunks(CHUNK) {
            let [out] = out.next(closes.len());
            self.sum.scan_means(closes, out, &mut buffers);
        }
    }
}

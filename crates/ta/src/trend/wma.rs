//! Weighted moving average: the mean of the last `period` closes, the newest weighing `period`, the
//! oldest 1.

use crate::block::doubling::{CHUNK, WindowBuffers};
use crate::block::{Block, UpdateOf, WeightedMean, check_period};
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

/// Weighted moving average.
#[derive(Clone, Debug)]
pub struct Wma {
    weighted: WeightedMean,
    warmup: usize,
}

impl Wma {
    /// A window of `period` candles.
    pub fn new(period: usize) -> Result<Wma, Error> {
        check_period("period", period)?;
        Ok(Wma { weighted: WeightedMean::new(period), warmup: period - 1 })
    }
}

impl Indicator<1> for Wma {
    type Update = UpdateOf<WeightedMean>;

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], Self::Update) {
        let (wma, weighted_next) = self.weighted.step(candle.c);
        ([wma], weighted_next)
    }

    #[inline(always)]
    fn commit(&mut self, weighted: Self::Update) {
        self.weighted.commit(weighted);
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
            self.weighted.scan(closes, out, &mut buffers);
        }
    }
}

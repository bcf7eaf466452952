//! Bollinger bands: the plain mean of the close and `stdev` population standard deviations above
//! and below it.

use crate::block::{StdDev, StdDevUpdate, check_period, check_positive};
use crate::indicator::erase;
use crate::spec::{Entry, Memory, Param};
use crate::{Candle, Candles, Error, Indicator, OutputSink};

pub(crate) const ENTRY: Entry = Entry {
    name: "bollinger",
    params: &[Param::period("period", 20), Param::real("stdev", 2.0)],
    outputs: &["bb_mavg", "bb_hband", "bb_lband"],
    memory: |_| Memory::Windowed,
    build: |v| Ok(erase(Bollinger::new(v.period(0), v.real(1))?)),
};

/// Bollinger bands.
#[derive(Clone, Debug)]
pub struct Bollinger {
    spread: StdDev,
    stdev: f64,
    warmup: usize,
}

impl Bollinger {
    /// A window of `period` candles and bands `stdev` standard deviations from the mean.
    pub fn new(period: usize, stdev: f64) -> Result<Bollinger, Error> {
        let n = check_period("period", period)?;
        let stdev = check_positive("stdev", stdev)?;
        Ok(Bollinger { spread: StdDev::new(n), stdev, warmup: n - 1 })
    }
}

impl Indicator<3> for Bollinger {
    type Update = StdDevUpdate;

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 3], Self::Update) {
        let ((mean, deviation), next) = self.spread.step(candle.c);
        let width = self.stdev * deviation;
        ([mean, mean + width, mean - width], next)
    }

    #[inline(always)]
    fn commit(&mut self, next: Self::Update) {
        self.spread.commit(next);
    }

    fn warmup(&self) -> usize {
        self.warmup
    }

    const HAS_BATCH: bool = true;

    #[inline(always)]
    fn run_batch(&mut self, candles: &Candles<'_>, out: &mut impl OutputSink<3>) {
        let stdev = self.stdev;
        self.spread.run_batch(candles.closes(), out, |mean, deviation| {
            let width = stdev * deviation;
            [mean, mean + width, mean - width]
        });
    }
}

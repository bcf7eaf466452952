//! Exponential moving average of the close: E = (1 - a) E' + a C, a = 2 / (period + 1).
//!
//! `ta` starts at the first close, TA-Lib at the mean of the first `period` closes.

use crate::block::{Block, CHUNK, Ewm, UpdateOf, check_period};
use crate::indicator::{OutputSink, erase};
use crate::spec::{Entry, Memory, Param};
use crate::{Candle, Candles, Error, Indicator, Parity};

pub(crate) const ENTRY: Entry = Entry {
    name: "ema",
    params: &[Param::period("period", 14), Param::parity()],
    outputs: &["ema"],
    memory: |_| Memory::Decaying,
    build: |v| Ok(erase(Ema::new(v.period(0), v.parity(1))?)),
};

/// Exponential moving average.
#[derive(Clone, Debug)]
pub struct Ema {
    average: Ewm,
    warmup: usize,
}

impl Ema {
    /// A window of `period` candles.
    pub fn new(period: usize, parity: Parity) -> Result<Ema, Error> {
        let n = check_period("period", period)?;
        Ok(Ema { average: Ewm::span(n, parity), warmup: n - 1 })
    }
}

impl Indicator<1> for Ema {
    type Update = UpdateOf<Ewm>;

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], Self::Update) {
        let (value, next) = self.average.step(candle.c);
        ([value], next)
    }

    #[inline(always)]
    fn commit(&mut self, next: Self::Update) {
        self.average.commit(next);
    }

    fn warmup(&self) -> usize {
        self.warmup
    }

    const HAS_BATCH: bool = true;

    #[inline(always)]
    fn run_batch(&mut self, candles: &Candles<'_>, out: &mut impl OutputSink<1>) {
        for closes in candles.closes().chunks(CHUNK) {
            let [out] = out.next(closes.len());
            self.average.scan(closes, out);
        }
    }
}

//! Ease of movement: (dH + dL) (H - L) / (2 V) in units of 1e-8, where dH and dL are the changes of
//! high and low; and its plain mean over `period` candles.

use crate::block::{Block, UpdateOf, WindowSum, check_period};
use crate::indicator::erase;
use crate::spec::{Entry, Memory, Param};
use crate::{Candle, Error, Indicator};

pub(crate) const ENTRY: Entry = Entry {
    name: "eom",
    params: &[Param::period("period", 14)],
    outputs: &["eom", "sma_eom"],
    memory: |_| Memory::Windowed,
    build: |v| Ok(erase(Eom::new(v.period(0))?)),
};

/// Ease of movement.
#[derive(Clone, Debug)]
pub struct Eom {
    sum: WindowSum,
    high: f64,
    low: f64,
    warmup: usize,
}

impl Eom {
    /// A window of `period` candles.
    pub fn new(period: usize) -> Result<Eom, Error> {
        check_period("period", period)?;
        Ok(Eom { sum: WindowSum::new(period), high: f64::NAN, low: f64::NAN, warmup: period })
    }
}

impl Indicator<2> for Eom {
    type Update = (UpdateOf<WindowSum>, f64, f64);

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 2], Self::Update) {
        let moved = (candle.h - self.high) + (candle.l - self.low);
        let eom = moved * (candle.h - candle.l) / (2.0 * candle.v) * 1e8;
        let (sma_eom, sum_next) = self.sum.mean(eom);
        let (high_next, low_next) = (candle.h, candle.l);
        ([eom, sma_eom], (sum_next, high_next, low_next))
    }

    #[inline(always)]
    fn commit(&mut self, (sum, high, low): Self::Update) {
        self.sum.commit(sum);
        self.high = high;
        self.low = low;
    }

    fn warmup(&self) -> usize {
        self.warmup
    }
}

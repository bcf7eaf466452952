//! Commodity channel index: (P - M) / (constant D), where P is the typical price, M its plain mean
//! over `period` candles and D its mean absolute deviation from M.

use crate::block::{Deviation, DeviationNext, check_period, positive};
use crate::indicator::erase;
use crate::spec::{Entry, Param};
use crate::{Candle, Error, Indicator};

pub(crate) const ENTRY: Entry = Entry {
    name: "cci",
    params: &[Param::period("period", 20), Param::real("constant", 0.015)],
    outputs: &["cci"],
    build: |v| Ok(erase(Cci::new(v.period(0), v.real(1))?)),
};

#[derive(Clone, Debug)]
pub struct Cci {
    deviation: Deviation,
    constant: f64,
    warmup: usize,
}

impl Cci {
    pub fn new(period: usize, constant: f64) -> Result<Cci, Error> {
        check_period("period", period)?;
        positive("constant", constant)?;
        Ok(Cci { deviation: Deviation::new(period), constant, warmup: period - 1 })
    }
}

impl Indicator<1> for Cci {
    type Next = DeviationNext;

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], Self::Next) {
        let price = candle.typical();
        let ((mean, deviation), deviation_next) = self.deviation.step(price);
        ([(price - mean) / (self.constant * deviation)], deviation_next)
    }

    #[inline(always)]
    fn commit(&mut self, deviation: Self::Next) {
        self.deviation.commit(deviation);
    }

    fn warmup(&self) -> usize {
        self.warmup
    }
}

//! Force index: an exponential average of the change of the close times the volume.
//!
//! `ta` starts at the first product, TA-Lib at the mean of the first `period` products.

use crate::block::{Block, Ewm, Of, check_period};
use crate::indicator::erase;
use crate::spec::{Entry, Param};
use crate::{Candle, Error, Indicator, Parity};

pub(crate) const ENTRY: Entry = Entry {
    name: "force",
    params: &[Param::period("period", 13), Param::parity()],
    outputs: &["fi"],
    build: |v| Ok(erase(Force::new(v.period(0), v.parity(1))?)),
};

#[derive(Clone, Debug)]
pub struct Force {
    average: Ewm,
    close: f64,
    warmup: usize,
}

impl Force {
    pub fn new(period: usize, parity: Parity) -> Result<Force, Error> {
        check_period("period", period)?;
        Ok(Force { average: Ewm::span(period, parity), close: f64::NAN, warmup: period })
    }
}

impl Indicator<1> for Force {
    type Next = (Of<Ewm>, f64);

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], Self::Next) {
        let (fi, average_next) = self.average.step((candle.c - self.close) * candle.v);
        let close_next = candle.c;
        ([fi], (average_next, close_next))
    }

    #[inline(always)]
    fn commit(&mut self, (average, close): Self::Next) {
        self.average.commit(average);
        self.close = close;
    }

    fn warmup(&self) -> usize {
        self.warmup
    }
}

//! True strength index: 100 E(E(d)) / E(E(|d|)), where d is the change of the close and E(E()) an
//! exponential average over `slow` candles averaged again over `fast`.
//!
//! `ta` starts averages at their first value, TA-Lib at the mean of their first window.

use crate::block::{Block, Ewm, Of, check_period};
use crate::indicator::erase;
use crate::spec::{Entry, Param};
use crate::{Candle, Error, Indicator, Parity};

pub(crate) const ENTRY: Entry = Entry {
    name: "tsi",
    params: &[Param::period("slow", 25), Param::period("fast", 13), Param::parity()],
    outputs: &["tsi"],
    build: |v| Ok(erase(Tsi::new(v.period(0), v.period(1), v.parity(2))?)),
};

#[derive(Clone, Debug)]
pub struct Tsi {
    change: Ewm,
    change_again: Ewm,
    size: Ewm,
    size_again: Ewm,
    close: f64,
    warmup: usize,
}

impl Tsi {
    pub fn new(slow: usize, fast: usize, parity: Parity) -> Result<Tsi, Error> {
        check_period("slow", slow)?;
        check_period("fast", fast)?;
        Ok(Tsi {
            change: Ewm::span(slow, parity),
            change_again: Ewm::span(fast, parity),
            size: Ewm::span(slow, parity),
            size_again: Ewm::span(fast, parity),
            close: f64::NAN,
            warmup: slow + fast - 1,
        })
    }
}

impl Indicator<1> for Tsi {
    type Next = (Of<Ewm>, Of<Ewm>, Of<Ewm>, Of<Ewm>, f64);

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], Self::Next) {
        let difference = candle.c - self.close;
        let (change, change_next) = self.change.step(difference);
        let (change, change_again_next) = self.change_again.step(change);
        let (size, size_next) = self.size.step(difference.abs());
        let (size, size_again_next) = self.size_again.step(size);
        let close_next = candle.c;
        (
            [100.0 * change / size],
            (change_next, change_again_next, size_next, size_again_next, close_next),
        )
    }

    #[inline(always)]
    fn commit(&mut self, (change, change_again, size, size_again, close): Self::Next) {
        self.change.commit(change);
        self.change_again.commit(change_again);
        self.size.commit(size);
        self.size_again.commit(size_again);
        self.close = close;
    }

    fn warmup(&self) -> usize {
        self.warmup
    }
}

//! Stochastic RSI, from 0 to 1: S = (RSI - min RSI) / (max RSI - min RSI) over as many candles as
//! the RSI has; K is the plain mean of `k` values of S, D the plain mean of `d` values of K.

use super::Rsi;
use crate::block::{Block, Highest, Lowest, Of, Sum, check_period};
use crate::indicator::erase;
use crate::spec::{Entry, Param};
use crate::{Candle, Error, Indicator, Parity};

pub(crate) const ENTRY: Entry = Entry {
    name: "stochRsi",
    params: &[
        Param::period("rsi", 14),
        Param::period("k", 3),
        Param::period("d", 3),
        Param::parity(),
    ],
    outputs: &["stochrsi", "stochrsi_k", "stochrsi_d"],
    build: |v| Ok(erase(StochRsi::new(v.period(0), v.period(1), v.period(2), v.parity(3))?)),
};

/// An RSI, from 0 to 100, that moves by less than this does not move.
const STILL: f64 = 1e-10;

#[derive(Clone, Debug)]
pub struct StochRsi {
    rsi: Rsi,
    high: Highest,
    low: Lowest,
    k: Sum,
    d: Sum,
    warmup: usize,
}

impl StochRsi {
    pub fn new(rsi: usize, k: usize, d: usize, parity: Parity) -> Result<StochRsi, Error> {
        check_period("rsi", rsi)?;
        check_period("k", k)?;
        check_period("d", d)?;
        let inner = Rsi::new(rsi, parity)?;
        Ok(StochRsi {
            warmup: inner.warmup() + rsi + k + d - 3,
            rsi: inner,
            high: Highest::new(rsi),
            low: Lowest::new(rsi),
            k: Sum::new(k),
            d: Sum::new(d),
        })
    }
}

impl Indicator<3> for StochRsi {
    type Next = (<Rsi as Indicator<1>>::Next, Of<Highest>, Of<Lowest>, Of<Sum>, Of<Sum>);

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 3], Self::Next) {
        let (rsi, rsi_next) = self.rsi.step_close(candle.c);
        let (high, high_next) = self.high.step(rsi);
        let (low, low_next) = self.low.step(rsi);
        let range = high - low;
        // While the close stands still the RSI does too, but for its rounding.
        let raw = if range > STILL { (rsi - low) / range } else { f64::NAN };
        let (k, k_next) = self.k.mean(raw);
        let (d, d_next) = self.d.mean(k);
        ([raw, k, d], (rsi_next, high_next, low_next, k_next, d_next))
    }

    #[inline(always)]
    fn commit(&mut self, (rsi, high, low, k, d): Self::Next) {
        self.rsi.commit(rsi);
        self.high.commit(high);
        self.low.commit(low);
        self.k.commit(k);
        self.d.commit(d);
    }

    fn warmup(&self) -> usize {
        self.warmup
    }
}

//! Keltner channel. The first form (`original`) has the plain mean of the typical price in the
//! middle and that of the range H - L around it; the second (`atr`) has the exponential average
//! of the close and `multiplier` average true ranges around it. The width is
//! in percent of the middle; the last output is where the close lies, from low (0) to high (1).

use super::Atr;
use crate::block::{Block, Ewm, Of, Sum, check_period, positive};
use crate::indicator::erase;
use crate::spec::{Entry, Param};
use crate::{Candle, Error, Indicator, Parity};

pub(crate) const ENTRY: Entry = Entry {
    name: "keltner",
    params: &[
        Param::period("period", 20),
        Param::period("atr", 10),
        Param::real("multiplier", 2.0),
        Param::choice("bands", &["original", "atr"]),
    ],
    outputs: &["kc_mband", "kc_hband", "kc_lband", "kc_wband", "kc_pband"],
    build: |v| match v.chosen(3) {
        false => Ok(erase(Keltner::new(v.period(0))?)),
        true => Ok(erase(KeltnerAtr::new(v.period(0), v.period(1), v.real(2))?)),
    },
};

fn bands(middle: f64, half: f64, close: f64) -> [f64; 5] {
    let (low, width) = (middle - half, 2.0 * half);
    [middle, middle + half, low, width / middle * 100.0, (close - low) / width]
}

/// The first form.
#[derive(Clone, Debug)]
pub struct Keltner {
    middle: Sum,
    range: Sum,
    warmup: usize,
}

impl Keltner {
    pub fn new(period: usize) -> Result<Keltner, Error> {
        let sum = Sum::new(check_period("period", period)?);
        Ok(Keltner { middle: sum.clone(), range: sum, warmup: period - 1 })
    }
}

impl Indicator<5> for Keltner {
    type Next = (Of<Sum>, Of<Sum>);

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 5], Self::Next) {
        let (middle, middle_next) = self.middle.mean(candle.typical());
        // `ta` averages (4H - 2L + C) / 3 and (4L - 2H + C) / 3, which are the typical price and
        // the range above and below it; kept apart, the width of a flat stretch is exactly 0.
        let (range, range_next) = self.range.mean(candle.h - candle.l);
        (bands(middle, range, candle.c), (middle_next, range_next))
    }

    #[inline(always)]
    fn commit(&mut self, (middle, range): Self::Next) {
        self.middle.commit(middle);
        self.range.commit(range);
    }

    fn warmup(&self) -> usize {
        self.warmup
    }
}

/// The second form.
#[derive(Clone, Debug)]
pub struct KeltnerAtr {
    middle: Ewm,
    range: Atr,
    multiplier: f64,
    warmup: usize,
}

impl KeltnerAtr {
    pub fn new(period: usize, atr: usize, multiplier: f64) -> Result<KeltnerAtr, Error> {
        check_period("period", period)?;
        check_period("atr", atr)?;
        Ok(KeltnerAtr {
            middle: Ewm::span(period, Parity::Ta),
            range: Atr::new(atr, Parity::Ta)?,
            multiplier: positive("multiplier", multiplier)?,
            warmup: period.max(atr) - 1,
        })
    }
}

impl Indicator<5> for KeltnerAtr {
    type Next = (Of<Ewm>, <Atr as Indicator<1>>::Next);

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 5], Self::Next) {
        let (middle, middle_next) = self.middle.step(candle.c);
        let ([range], range_next) = self.range.step(candle);
        let half = self.multiplier * range;
        (bands(middle, half, candle.c), (middle_next, range_next))
    }

    #[inline(always)]
    fn commit(&mut self, (middle, range): Self::Next) {
        self.middle.commit(middle);
        self.range.commit(range);
    }

    fn warmup(&self) -> usize {
        self.warmup
    }
}

//! Volume-weighted average price: the sum of typical price times volume over the sum of volume.
//! The sums run over a day that begins at 00:00 UTC, over everything (`continuous`), or, when a
//! `period` is given, over that many candles.

use std::hint::cold_path;

use crate::block::{Block, Of, Sum, check_period};
use crate::indicator::{erase, finite};
use crate::spec::{Entry, Param};
use crate::{Candle, Error, Indicator};

pub(crate) const ENTRY: Entry = Entry {
    name: "vwap",
    params: &[Param::choice("session", &["day", "continuous"]), Param::optional("period")],
    outputs: &["vwap"],
    build: |v| match (v.optional(1), v.chosen(0)) {
        (Some(period), _) => Ok(erase(RollingVwap::new(period)?)),
        (None, false) => Ok(erase(Vwap::new(Session::Day))),
        (None, true) => Ok(erase(Vwap::new(Session::Continuous))),
    },
};

const DAY_MS: i64 = 86_400_000;

/// When the sums begin anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Session {
    Day,
    Continuous,
}

#[derive(Clone, Debug)]
pub struct Vwap {
    session: Session,
    sums: Sums,
}

#[derive(Clone, Copy, Debug)]
pub struct Sums {
    traded: f64,
    volume: f64,
    /// When the running day ends; candles at or after it, or a day before it, begin another.
    ends: i64,
}

impl Vwap {
    pub fn new(session: Session) -> Vwap {
        let ends = if session == Session::Day { i64::MIN } else { i64::MAX };
        Vwap { session, sums: Sums { traded: 0.0, volume: 0.0, ends } }
    }

    fn begins(&self, t: i64) -> bool {
        self.session == Session::Day
            && (t >= self.sums.ends || t < self.sums.ends.saturating_sub(DAY_MS))
    }
}

impl Indicator<1> for Vwap {
    type Next = Sums;

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], Sums) {
        let mut sums = self.sums;
        if self.begins(candle.t) {
            let start = candle.t.saturating_sub(candle.t.rem_euclid(DAY_MS));
            sums = Sums { traded: 0.0, volume: 0.0, ends: start.saturating_add(DAY_MS) };
        }
        let traded = candle.typical() * candle.v;
        // A candle with something missing has no value and is not counted.
        let whole = sums.traded + traded;
        if !(finite(whole) && finite(candle.v)) {
            cold_path();
            return ([f64::NAN], sums);
        }
        sums.traded = whole;
        sums.volume += candle.v;
        ([sums.traded / sums.volume], sums)
    }

    #[inline(always)]
    fn commit(&mut self, sums: Sums) {
        self.sums = sums;
    }

    fn warmup(&self) -> usize {
        0
    }
}

/// The form of Python `ta`: over the last `period` candles.
#[derive(Clone, Debug)]
pub struct RollingVwap {
    traded: Sum,
    volume: Sum,
    warmup: usize,
}

impl RollingVwap {
    pub fn new(period: usize) -> Result<RollingVwap, Error> {
        let n = check_period("period", period)?;
        Ok(RollingVwap { traded: Sum::new(n), volume: Sum::new(n), warmup: n - 1 })
    }
}

impl Indicator<1> for RollingVwap {
    type Next = (Of<Sum>, Of<Sum>);

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], Self::Next) {
        let (traded, traded_next) = self.traded.step(candle.typical() * candle.v);
        let (volume, volume_next) = self.volume.step(candle.v);
        ([traded / volume], (traded_next, volume_next))
    }

    #[inline(always)]
    fn commit(&mut self, (traded, volume): Self::Next) {
        self.traded.commit(traded);
        self.volume.commit(volume);
    }

    fn warmup(&self) -> usize {
        self.warmup
    }
}

//! Average true range: Wilder's average of TR = max(H - L, |H - C'|, |L - C'|), C' being the
//! close before; it starts with the plain mean of `period` ranges.
//!
//! `ta` counts the first candle's own range; TA-Lib leaves the first candle out.

use std::hint::cold_path;

use crate::block::{Block, CHUNK, Ewm, UpdateOf, check_period};
use crate::candle::true_range;
use crate::indicator::{OutputSink, erase, finite_or_nan};
use crate::spec::{Entry, Memory, Param};
use crate::{Candle, Candles, Error, Indicator, Parity};

pub(crate) const ENTRY: Entry = Entry {
    name: "atr",
    params: &[Param::period("period", 14), Param::parity()],
    outputs: &["atr"],
    memory: |_| Memory::Decaying,
    build: |v| Ok(erase(Atr::new(v.period(0), v.parity(1))?)),
};

/// Average true range.
#[derive(Clone, Debug)]
pub struct Atr {
    range: Ewm,
    close: f64,
    /// How many candles are still skipped.
    skips: usize,
    warmup: usize,
}

impl Atr {
    /// A window of `period` candles.
    pub fn new(period: usize, parity: Parity) -> Result<Atr, Error> {
        let n = check_period("period", period)?;
        Ok(Atr::next_slot(usize::from(parity == Parity::TaLib), n))
    }

    /// For a checked period; the first `skips` candles only set the close.
    pub(super) fn next_slot(skips: usize, period: usize) -> Atr {
        // Both libraries start this average with a mean, unlike other averages of `ta`.
        let range = Ewm::wilder(period, Parity::TaLib);
        Atr { range, close: f64::NAN, skips, warmup: period - 1 + skips }
    }
}

/// Larger means risk overflow in sums.
const LARGEST: f64 = 1e300;

impl Atr {
    #[cold]
    #[inline(never)]
    fn update_with_gap_rules(mut self, h: f64, l: f64, c: f64) -> ([f64; 1], Atr) {
        let (values, next) = self.step(&Candle { t: 0, o: 0.0, h, l, c, v: 0.0 });
        self.commit(next);
        (values.map(finite_or_nan), self)
    }
}

impl Indicator<1> for Atr {
    type Update = (UpdateOf<Ewm>, f64);

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], Self::Update) {
        let range = if self.skips > 0 { f64::NAN } else { candle.true_range(self.close) };
        let (value, next) = self.range.step(range);
        ([value], (next, candle.c))
    }

    #[inline(always)]
    fn commit(&mut self, (range, close): Self::Update) {
        self.range.commit(range);
        self.close = close;
        self.skips = self.skips.saturating_sub(1);
    }

    #[inline(always)]
    fn update(&mut self, candle: &Candle) -> [f64; 1] {
        // The true range of a candle without missing values.
        let top = if candle.h > self.close { candle.h } else { self.close };
        let bottom = if candle.l < self.close { candle.l } else { self.close };
        let mean = self.range.next_mean(top - bottom);
        // A NaN close makes the mean NaN, and a NaN high or low fails `>=`.
        if self.range.is_steady() && candle.h >= candle.l && mean <= LARGEST {
            self.range.set(mean);
            self.close = candle.c;
            return [mean];
        }
        cold_path();
        // By value: a reference would force the mean of the loop into memory at every step. Three
        // prices instead of the candle: the loop would otherwise read all six fields.
        let (values, state) = self.clone().update_with_gap_rules(candle.h, candle.l, candle.c);
        *self = state;
        values
    }

    fn warmup(&self) -> usize {
        self.warmup
    }

    const HAS_BATCH: bool = true;

    #[inline(always)]
    fn run_batch(&mut self, candles: &Candles<'_>, out: &mut impl OutputSink<1>) {
        let mut ranges = [0.0; CHUNK];
        // The skipped candles only set the close.
        let from = self.skips.min(candles.len());
        if let Some(close) = candles.closes()[..from].last() {
            let [out] = out.next(from);
            out.fill(f64::NAN);
            self.skips -= from;
            self.close = *close;
        }
        for from in (from..candles.len()).step_by(CHUNK) {
            let part = candles.slice(from, from + CHUNK);
            let (h, l, c) = (part.highs(), part.lows(), part.closes());
            let ([out], ranges) = (out.next(part.len()), &mut ranges[..part.len()]);
            ranges[0] = true_range(h[0], l[0], self.close);
            for (slot, ((&h, &l), &close)) in
                ranges[1..].iter_mut().zip(h[1..].iter().zip(&l[1..]).zip(c))
            {
                *slot = true_range(h, l, close);
            }
            self.close = c[c.len() - 1];
            self.range.scan(ranges, out);
        }
    }
}

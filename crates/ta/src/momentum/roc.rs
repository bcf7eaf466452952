//! Rate of change: 100 (C - C') / C', C' being the close `period` candles before.

use crate::block::doubling::CHUNK;
use crate::block::{Block, Delay, UpdateOf, check_period};
use crate::indicator::{erase, finite_or_nan};
use crate::spec::{Entry, Memory, Param};
use crate::{Candle, Candles, Error, Indicator, OutputSink};

pub(crate) const ENTRY: Entry = Entry {
    name: "roc",
    params: &[Param::period("period", 12)],
    outputs: &["roc"],
    memory: |_| Memory::Windowed,
    build: |v| Ok(erase(Roc::new(v.period(0))?)),
};

/// Rate of change.
#[derive(Clone, Debug)]
pub struct Roc {
    before: Delay,
    warmup: usize,
}

impl Roc {
    /// A window of `period` candles.
    pub fn new(period: usize) -> Result<Roc, Error> {
        check_period("period", period)?;
        Ok(Roc { before: Delay::new(period), warmup: period })
    }
}

#[inline(always)]
fn change(close: f64, before: f64) -> f64 {
    finite_or_nan((close - before) / before * 100.0)
}

impl Indicator<1> for Roc {
    type Update = UpdateOf<Delay>;

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], Self::Update) {
        let (before, before_next) = self.before.step(candle.c);
        ([change(candle.c, before)], before_next)
    }

    #[inline(always)]
    fn commit(&mut self, before: Self::Update) {
        self.before.commit(before);
    }

    fn warmup(&self) -> usize {
        self.warmup
    }

    const HAS_BATCH: bool = true;

    #[inline(always)]
    fn run_batch(&mut self, candles: &Candles<'_>, out: &mut impl OutputSink<1>) {
        let (closes, period) = (candles.closes(), self.before.period());
        let (first, rest) = closes.split_at(period.min(closes.len()));
        for close in first {
            let value = change(*close, self.before.push(*close));
            out.next(1).into_iter().for_each(|slots| slots.fill(value));
        }
        for (now, before) in rest.chunks(CHUNK).zip(closes.chunks(CHUNK)) {
            let [slots] = out.next(now.len());
            for ((slot, now), before) in slots.iter_mut().zip(now).zip(before) {
                *slot = change(*now, *before);
            }
        }
        if !rest.is_empty() {
            self.before.restart(&closes[rest.len()..]);
        }
    }
}

//! Williams %R: -100 (H - C) / (H - L) with the highest high and lowest low of `period` candles.

use crate::block::doubling::{CHUNK, WindowBuffers};
use crate::block::{Block, Highest, Lowest, UpdateOf, check_period};
use crate::indicator::{erase, finite_or_nan};
use crate::spec::{Entry, Memory, Param};
use crate::{Candle, Candles, Error, Indicator, OutputSink};

pub(crate) const ENTRY: Entry = Entry {
    name: "williamsR",
    params: &[Param::period("period", 14)],
    outputs: &["wr"],
    memory: |_| Memory::Windowed,
    build: |v| Ok(erase(WilliamsR::new(v.period(0))?)),
};

/// Williams %R.
#[derive(Clone, Debug)]
pub struct WilliamsR {
    high: Highest,
    low: Lowest,
    warmup: usize,
}

impl WilliamsR {
    /// A window of `period` candles.
    pub fn new(period: usize) -> Result<WilliamsR, Error> {
        check_period("period", period)?;
        Ok(WilliamsR { high: Highest::new(period), low: Lowest::new(period), warmup: period - 1 })
    }
}

impl Indicator<1> for WilliamsR {
    type Update = (UpdateOf<Highest>, UpdateOf<Lowest>);

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], Self::Update) {
        let (high, high_next) = self.high.step(candle.h);
        let (low, low_next) = self.low.step(candle.l);
        ([-100.0 * (high - candle.c) / (high - low)], (high_next, low_next))
    }

    #[inline(always)]
    fn commit(&mut self, (high, low): Self::Update) {
        self.high.commit(high);
        self.low.commit(low);
    }

    fn warmup(&self) -> usize {
        self.warmup
    }

    const HAS_BATCH: bool = true;

    #[inline(always)]
    fn run_batch(&mut self, candles: &Candles<'_>, out: &mut impl OutputSink<1>) {
        let (mut buffers, mut high, mut low) = (WindowBuffers::new(), [0.0; CHUNK], [0.0; CHUNK]);
        for from in (0..candles.len()).step_by(CHUNK) {
            let part = candles.slice(from, from + CHUNK);
            let (high, low) = (&mut high[..part.len()], &mut low[..part.len()]);
            self.high.scan(part.highs(), high, &mut buffers);
            self.low.scan(part.lows(), low, &mut buffers);
            let [out] = out.next(part.len());
            for (((slot, close), high), low) in out.iter_mut().zip(part.closes()).zip(high).zip(low)
            {
                *slot = finite_or_nan(-100.0 * (*high - close) / (*high - *low));
            }
        }
    }
}

//! Donchian channel: the highest high and lowest low of `period` candles and the middle between
//! them; the width in percent of the mean close; the position of the close from low (0) to high
//! (1). With `offset`, all outputs are delayed by `offset` candles.

use crate::block::doubling::{CHUNK, WindowBuffers};
use crate::block::{Block, Highest, Lowest, UpdateOf, WindowSum, check_period};
use crate::delayed::Delayed;
use crate::indicator::{erase, finite_or_nan};
use crate::spec::{Entry, Memory, Param};
use crate::{Candle, Candles, Error, Indicator, OutputSink};

pub(crate) const ENTRY: Entry = Entry {
    name: "donchian",
    params: &[Param::period("period", 20), Param::offset("offset")],
    outputs: &["dc_hband", "dc_lband", "dc_mband", "dc_wband", "dc_pband"],
    memory: |_| Memory::Windowed,
    build: |v| match (Donchian::new(v.period(0))?, v.period(1)) {
        (donchian, 0) => Ok(erase(donchian)),
        (donchian, offset) => Ok(erase(Delayed::new(donchian, offset, [true; 5]))),
    },
};

/// Donchian channel.
#[derive(Clone, Debug)]
pub struct Donchian {
    high: Highest,
    low: Lowest,
    sum: WindowSum,
    warmup: usize,
}

impl Donchian {
    /// A window of `period` candles.
    pub fn new(period: usize) -> Result<Donchian, Error> {
        check_period("period", period)?;
        Ok(Donchian {
            high: Highest::new(period),
            low: Lowest::new(period),
            sum: WindowSum::new(period),
            warmup: period - 1,
        })
    }
}

impl Indicator<5> for Donchian {
    type Update = (UpdateOf<Highest>, UpdateOf<Lowest>, UpdateOf<WindowSum>);

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 5], Self::Update) {
        let (high, high_next) = self.high.step(candle.h);
        let (low, low_next) = self.low.step(candle.l);
        let (mean, sum_next) = self.sum.mean(candle.c);
        let width = high - low;
        (
            [high, low, width / 2.0 + low, width / mean * 100.0, (candle.c - low) / width],
            (high_next, low_next, sum_next),
        )
    }

    #[inline(always)]
    fn commit(&mut self, (high, low, sum): Self::Update) {
        self.high.commit(high);
        self.low.commit(low);
        self.sum.commit(sum);
    }

    fn warmup(&self) -> usize {
        self.warmup
    }

    const HAS_BATCH: bool = true;

    #[inline(always)]
    fn run_batch(&mut self, candles: &Candles<'_>, out: &mut impl OutputSink<5>) {
        let (mut buffers, mut mean) = (WindowBuffers::new(), [0.0; CHUNK]);
        let (wide, placed) = (out.wants(3), out.wants(4));
        for from in (0..candles.len()).step_by(CHUNK) {
            let part = candles.slice(from, from + CHUNK);
            let [high, low, middle, width, position] = out.next(part.len());
            self.high.scan(part.highs(), high, &mut buffers);
            self.low.scan(part.lows(), low, &mut buffers);
            for index in 0..part.len() {
                let (high, low) = (high[index], low[index]);
                middle[index] = finite_or_nan((high - low) / 2.0 + low);
            }
            if wide {
                let mean = &mut mean[..part.len()];
                self.sum.scan_means(part.closes(), mean, &mut buffers);
                for index in 0..part.len() {
                    width[index] = finite_or_nan((high[index] - low[index]) / mean[index] * 100.0);
                }
            }
            if placed {
                for (index, close) in part.closes().iter().enumerate() {
                    let (high, low) = (high[index], low[index]);
                    position[index] = finite_or_nan((close - low) / (high - low));
                }
            }
        }
        if !wide {
            // The mean is not wanted here, but its window must be updated for later candles.
            let last = candles.len().saturating_sub(self.sum.period());
            candles.closes()[last..].iter().for_each(|close| _ = self.sum.push(*close));
        }
    }
}

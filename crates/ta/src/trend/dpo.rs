//! Detrended price oscillator: the close of `period` / 2 + 1 candles before less the plain mean of
//! the last `period` closes.

use crate::block::doubling::{CHUNK, WindowBuffers};
use crate::block::{Block, Delay, UpdateOf, WindowSum, check_period};
use crate::indicator::{erase, finite_or_nan};
use crate::spec::{Entry, Memory, Param};
use crate::{Candle, Candles, Error, Indicator, OutputSink};

pub(crate) const ENTRY: Entry = Entry {
    name: "dpo",
    params: &[Param::period("period", 20)],
    outputs: &["dpo"],
    memory: |_| Memory::Windowed,
    build: |v| Ok(erase(Dpo::new(v.period(0))?)),
};

/// Detrended price oscillator.
#[derive(Clone, Debug)]
pub struct Dpo {
    before: Delay,
    sum: WindowSum,
    warmup: usize,
}

impl Dpo {
    /// A window of `period` candles.
    pub fn new(period: usize) -> Result<Dpo, Error> {
        check_period("period", period)?;
        Ok(Dpo {
            before: Delay::new(period / 2 + 1),
            sum: WindowSum::new(period),
            warmup: (period - 1).max(period / 2 + 1),
        })
    }
}

impl Indicator<1> for Dpo {
    type Update = (UpdateOf<Delay>, UpdateOf<WindowSum>);

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], Self::Update) {
        let (before, before_next) = self.before.step(candle.c);
        let (mean, sum_next) = self.sum.mean(candle.c);
        ([before - mean], (before_next, sum_next))
    }

    #[inline(always)]
    fn commit(&mut self, (before, sum): Self::Update) {
        self.before.commit(before);
        self.sum.commit(sum);
    }

    fn warmup(&self) -> usize {
        self.warmup
    }

    const HAS_BATCH: bool = true;

    #[inline(always)]
    fn run_batch(&mut self, candles: &Candles<'_>, out: &mut impl OutputSink<1>) {
        let (closes, ago) = (candles.closes(), self.before.period());
        let (mut buffers, mut row) = (WindowBuffers::new(), [0.0; CHUNK]);
        for (part, from) in closes.chunks(CHUNK).zip((0..).step_by(CHUNK)) {
            let [out] = out.next(part.len());
            self.sum.scan_means(part, out, &mut buffers);
            let before = if from >= ago {
                &closes[from - ago..]
            } else {
                row.iter_mut().zip(part).for_each(|(slot, x)| *slot = self.before.push(*x));
                &row[..]
            };
            for (slot, before) in out.iter_mut().zip(before) {
                *slot = finite_or_nan(before - *slot);
            }
        }
        if let Some(last) = closes.len().checked_sub(ago) {
            self.before.restart(&closes[last..]);
        }
    }
}

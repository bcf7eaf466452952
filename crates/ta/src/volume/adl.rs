//! Accumulation/distribution line: the running sum of the volume times where the close lies in its
//! range, ((C - L) - (H - C)) / (H - L).

use crate::block::{Block, RunningSum, UpdateOf};
use crate::indicator::{OutputSink, erase};
use crate::spec::{Entry, Memory};
use crate::{Candle, Candles, Indicator};

pub(crate) const ENTRY: Entry = Entry {
    name: "adl",
    params: &[],
    outputs: &["adl"],
    memory: |_| Memory::Cumulative,
    build: |_| Ok(erase(Adl::default())),
};

/// Candles per batch step: 64, because the loop mostly waits for its four input columns, which load
/// while the previous part is summed.
const PART: usize = 64;

/// Accumulation/distribution line.
#[derive(Clone, Debug, Default)]
pub struct Adl {
    sum: RunningSum,
}

impl Indicator<1> for Adl {
    type Update = UpdateOf<RunningSum>;

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], Self::Update) {
        let (adl, next) = self.sum.step(candle.location() * candle.v);
        ([adl], next)
    }

    #[inline(always)]
    fn commit(&mut self, next: Self::Update) {
        self.sum.commit(next);
    }

    fn warmup(&self) -> usize {
        0
    }

    const HAS_BATCH: bool = true;

    #[inline(always)]
    fn run_batch(&mut self, candles: &Candles<'_>, out: &mut impl OutputSink<1>) {
        let mut flows = [0.0; PART];
        for from in (0..candles.len()).step_by(PART) {
            let part = candles.slice(from, from + PART);
            let ([out], flows) = (out.next(part.len()), &mut flows[..part.len()]);
            part.flows(flows);
            self.sum.scan(flows, out);
        }
    }
}

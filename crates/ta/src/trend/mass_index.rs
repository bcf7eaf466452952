//! Mass index: the sum over `slow` candles of E(r) / E(E(r)), where r is H - L and E an exponential
//! average over `fast` candles.
//!
//! `ta` starts averages at their first value, TA-Lib at the mean of their first window.

use crate::block::doubling::WindowBuffers;
use crate::block::rolling::{SumIndicator, run_batch};
use crate::block::{Block, CHUNK, Ewm, UpdateOf, WindowSum, check_period};
use crate::indicator::{erase, safe_divisor};
use crate::spec::{Entry, Memory, Param};
use crate::{Candle, Candles, Error, Indicator, OutputSink, Parity};

pub(crate) const ENTRY: Entry = Entry {
    name: "massIndex",
    params: &[Param::period("fast", 9), Param::period("slow", 25), Param::parity()],
    outputs: &["mass_index"],
    memory: |_| Memory::Decaying,
    build: |v| Ok(erase(MassIndex::new(v.period(0), v.period(1), v.parity(2))?)),
};

/// Mass index.
#[derive(Clone, Debug)]
pub struct MassIndex {
    once: Ewm,
    twice: Ewm,
    sum: WindowSum,
    warmup: usize,
}

impl MassIndex {
    /// Averages over `fast` candles, summed over `slow`.
    pub fn new(fast: usize, slow: usize, parity: Parity) -> Result<MassIndex, Error> {
        check_period("fast", fast)?;
        check_period("slow", slow)?;
        Ok(MassIndex {
            once: Ewm::span(fast, parity),
            twice: Ewm::span(fast, parity),
            sum: WindowSum::new(slow),
            warmup: 2 * (fast - 1) + slow - 1,
        })
    }
}

impl Indicator<1> for MassIndex {
    type Update = (UpdateOf<Ewm>, UpdateOf<Ewm>, UpdateOf<WindowSum>);

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], Self::Update) {
        let (once, once_next) = self.once.step(candle.h - candle.l);
        let (twice, twice_next) = self.twice.step(once);
        let (mass_index, sum_next) = self.sum.step(once / safe_divisor(twice));
        ([mass_index], (once_next, twice_next, sum_next))
    }

    #[inline(always)]
    fn commit(&mut self, (once, twice, sum): Self::Update) {
        self.once.commit(once);
        self.twice.commit(twice);
        self.sum.commit(sum);
    }

    fn warmup(&self) -> usize {
        self.warmup
    }

    const HAS_BATCH: bool = true;

    #[inline(always)]
    fn run_batch(&mut self, candles: &Candles<'_>, out: &mut impl OutputSink<1>) {
        run_batch(self, candles, out);
    }
}

impl SumIndicator<1, 1> for MassIndex {
    type Buffers = ([f64; CHUNK], WindowBuffers);

    fn buffers(&self) -> Self::Buffers {
        ([0.0; CHUNK], WindowBuffers::new())
    }

    fn periods(&self) -> [usize; 1] {
        [self.sum.period()]
    }

    /// E(r) / E(E(r)).
    #[inline(always)]
    fn fill(
        &mut self,
        candles: &Candles<'_>,
        from: usize,
        [ratios]: [&mut [f64]; 1],
        (onces, _): &mut Self::Buffers,
    ) {
        let (len, onces) = (ratios.len(), &mut onces[..ratios.len()]);
        let (h, l) = (&candles.highs()[from..from + len], &candles.lows()[from..from + len]);
        for (slot, (h, l)) in ratios.iter_mut().zip(h.iter().zip(l)) {
            *slot = h - l;
        }
        let may_underflow = self.twice.may_underflow();
        self.once.scan(ratios, onces);
        self.twice.scan(onces, ratios);
        if may_underflow {
            ratios.iter_mut().for_each(|twice| *twice = safe_divisor(*twice));
        }
        for (slot, once) in ratios.iter_mut().zip(onces) {
            *slot = *once / *slot;
        }
    }

    #[inline(always)]
    fn show(&self) -> impl Fn([f64; 1]) -> [f64; 1] {
        |sums| sums
    }

    fn restart(&mut self, [window]: [&[f64]; 1]) {
        self.sum.restart(window);
    }

    #[inline(always)]
    fn scan(
        &mut self,
        [ratios]: [&[f64]; 1],
        [out]: [&mut [f64]; 1],
        (_, buffers): &mut Self::Buffers,
    ) {
        self.sum.scan_means(ratios, out, buffers);
        let period = self.sum.period() as f64;
        out.iter_mut().for_each(|slot| *slot *= period);
    }
}

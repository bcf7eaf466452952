//! Chaikin oscillator: the accumulation/distribution line averaged exponentially over `fast` candles
//! less the same over `slow`.

use crate::block::{Block, CHUNK, Ewm, RunningSum, UpdateOf, check_fast_slow, ewm_line};
use crate::indicator::{OutputSink, erase, finite, finite_or_nan};
use crate::spec::{Entry, Memory, Param};
use crate::{Candle, Candles, Error, Indicator, Parity};

pub(crate) const ENTRY: Entry = Entry {
    name: "chaikin",
    params: &[Param::period("fast", 3), Param::period("slow", 10)],
    outputs: &["chaikin"],
    memory: |_| Memory::Decaying,
    build: |v| Ok(erase(Chaikin::new(v.period(0), v.period(1))?)),
};

/// Chaikin oscillator.
#[derive(Clone, Debug)]
pub struct Chaikin {
    sum: RunningSum,
    fast: Ewm,
    slow: Ewm,
    warmup: usize,
}

impl Chaikin {
    /// Averages over `fast` and `slow` candles; `fast` must be below `slow`.
    pub fn new(fast: usize, slow: usize) -> Result<Chaikin, Error> {
        check_fast_slow(fast, slow)?;
        Ok(Chaikin {
            sum: RunningSum::default(),
            fast: Ewm::span(fast, Parity::Ta),
            slow: Ewm::span(slow, Parity::Ta),
            warmup: slow - 1,
        })
    }
}

impl Indicator<1> for Chaikin {
    type Update = (UpdateOf<RunningSum>, UpdateOf<Ewm>, UpdateOf<Ewm>);

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], Self::Update) {
        let (line, sum_next) = self.sum.step(candle.location() * candle.v);
        let (fast, fast_next) = self.fast.step(line);
        let (slow, slow_next) = self.slow.step(line);
        ([fast - slow], (sum_next, fast_next, slow_next))
    }

    #[inline(always)]
    fn commit(&mut self, (sum, fast, slow): Self::Update) {
        self.sum.commit(sum);
        self.fast.commit(fast);
        self.slow.commit(slow);
    }

    fn warmup(&self) -> usize {
        self.warmup
    }

    const HAS_BATCH: bool = true;

    #[inline(always)]
    fn run_batch(&mut self, candles: &Candles<'_>, out: &mut impl OutputSink<1>) {
        let (mut lines, mut fasts, mut slows) = ([0.0; CHUNK], [0.0; CHUNK], [0.0; CHUNK]);
        for from in (0..candles.len()).step_by(CHUNK) {
            let part = candles.slice(from, from + CHUNK);
            let [out] = out.next(part.len());
            let len = part.len();
            let [lines, fasts, slows] =
                [&mut lines, &mut fasts, &mut slows].map(|row| &mut row[..len]);
            part.flows(fasts);
            self.sum.scan(fasts, lines);
            if self.extend_steady(lines, out, [fasts, slows]) {
                continue;
            }
            for (slot, line) in out.iter_mut().zip(&*lines) {
                *slot = finite_or_nan(self.fast.push(*line) - self.slow.push(*line));
            }
        }
    }
}

impl Chaikin {
    /// Returns false, with only the output changed, unless both averages are steady and all numbers
    /// finite.
    #[inline(always)]
    fn extend_steady(&mut self, lines: &[f64], out: &mut [f64], buffers: [&mut [f64]; 2]) -> bool {
        let lanes = [self.fast.lanes(), self.slow.lanes()];
        let [fast, slow] = ewm_line(lanes, |fast, slow| fast - slow, lines, out, buffers);
        let steady = self.fast.is_steady() && self.slow.is_steady();
        // A number that is not finite makes every later mean not finite, so one test of the last is
        // enough.
        if !(steady && finite(fast) && finite(slow)) {
            return false;
        }
        self.fast.set(fast);
        self.slow.set(slow);
        true
    }
}

//! Distance between a fast and a slow exponential average, with a signal line over it: what MACD,
//! PPO and PVO have in common.

use super::{Block, CHUNK, Ewm, check_period, fast_slow};
use crate::indicator::available;
use crate::{Error, Parity};

#[derive(Clone, Debug)]
pub struct Oscillator<const PERCENT: bool> {
    fast: Ewm,
    slow: Ewm,
    signal: Ewm,
    /// Observations the fast average still passes over. TA-Lib's MACD starts both averages at
    /// once, so that the fast one is seeded with the last numbers of the slow one's seed.
    skip: usize,
    warmup: usize,
    /// Whether the line waits for its signal, as TA-Lib's MACD does.
    waits: bool,
}

#[derive(Clone, Copy)]
pub struct Next {
    fast: <Ewm as Block>::Next,
    slow: <Ewm as Block>::Next,
    signal: <Ewm as Block>::Next,
    skip: usize,
}

impl<const PERCENT: bool> Oscillator<PERCENT> {
    pub(crate) fn new(
        fast: usize,
        slow: usize,
        signal: usize,
        parity: Parity,
    ) -> Result<Oscillator<PERCENT>, Error> {
        fast_slow(fast, slow)?;
        check_period("signal", signal)?;
        let talib = parity == Parity::TaLib && !PERCENT;
        Ok(Oscillator {
            fast: Ewm::span(fast, parity),
            slow: Ewm::span(slow, parity),
            signal: Ewm::span(signal, parity),
            skip: if talib { slow - fast } else { 0 },
            warmup: slow + signal - 2,
            waits: talib,
        })
    }

    pub(crate) fn warmup(&self) -> usize {
        self.warmup
    }

    #[inline(always)]
    fn line(fast: f64, slow: f64) -> f64 {
        if PERCENT { (fast - slow) / slow * 100.0 } else { fast - slow }
    }

    #[inline(always)]
    pub(crate) fn step(&self, x: f64) -> ([f64; 3], Next) {
        let skipped = self.skip > 0;
        let (fast, fast_next) = self.fast.step(if skipped { f64::NAN } else { x });
        let (slow, slow_next) = self.slow.step(x);
        let line = Self::line(fast, slow);
        let (signal, signal_next) = self.signal.step(line);
        let skip = self.skip - usize::from(skipped && x.is_finite());
        let next = Next { fast: fast_next, slow: slow_next, signal: signal_next, skip };
        let shown = if self.waits && signal.is_nan() { f64::NAN } else { line };
        ([shown, signal, line - signal], next)
    }

    #[inline(always)]
    pub(crate) fn commit(&mut self, next: Next) {
        self.fast.commit(next.fast);
        self.slow.commit(next.slow);
        self.signal.commit(next.signal);
        self.skip = next.skip;
    }

    /// The same over many numbers; the outputs are as long as `xs`.
    pub(crate) fn extend(&mut self, xs: &[f64], out: [&mut [f64]; 3]) {
        let [lines, signals, hists] = out;
        let mut slow = [0.0; CHUNK];
        let mut from = 0;
        while from < xs.len() {
            let to = (from + CHUNK).min(xs.len());
            // The start has rules of its own and goes step by step.
            if self.skip > 0 || !self.signal.is_shown() {
                for index in from..to {
                    let (values, next) = self.step(xs[index]);
                    self.commit(next);
                    [lines[index], signals[index], hists[index]] = values.map(available);
                }
                from = to;
                continue;
            }
            let slow = &mut slow[..to - from];
            let line = &mut lines[from..to];
            let signal = &mut signals[from..to];
            self.fast.scan(&xs[from..to], line);
            self.slow.scan(&xs[from..to], slow);
            for (fast, slow) in line.iter_mut().zip(&*slow) {
                *fast = Self::line(*fast, *slow);
            }
            self.signal.scan(line, signal);
            for ((hist, line), signal) in hists[from..to].iter_mut().zip(line).zip(&*signal) {
                *line = available(*line);
                *hist = available(*line - signal);
            }
            from = to;
        }
    }
}

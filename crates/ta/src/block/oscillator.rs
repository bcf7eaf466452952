//! Distance between a fast and a slow exponential average, with a signal line over it: what MACD,
//! PPO and PVO have in common.

use std::array;
use std::hint::cold_path;

use super::{Block, CHUNK, Ewm, all_finite, check_period, fast_slow};
use crate::indicator::{available, finite};
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

    /// `step` and `commit` in one: what almost every candle needs, with one test for all three.
    #[inline(always)]
    pub(crate) fn push(&mut self, x: f64) -> [f64; 3] {
        let steady = self.fast.is_steady() & self.slow.is_steady() & self.signal.is_steady();
        if !(steady && finite(x)) {
            cold_path();
            return self.push_unsteady(x);
        }
        let line = Self::line(self.fast.push_steady(x), self.slow.push_steady(x));
        let signal = if finite(line) {
            self.signal.push_steady(line)
        } else {
            cold_path();
            Block::push(&mut self.signal, line)
        };
        [available(line), signal, available(line - signal)]
    }

    // Inlined, because a call would force the averages of a loop into memory at every step.
    #[inline(always)]
    fn push_unsteady(&mut self, x: f64) -> [f64; 3] {
        let (values, next) = self.step(x);
        self.commit(next);
        values.map(available)
    }

    /// The same over many numbers; the outputs are as long as `xs`.
    pub(crate) fn extend(&mut self, xs: &[f64], out: [&mut [f64]; 3]) {
        let [lines, signals, hists] = out;
        for from in (0..xs.len()).step_by(CHUNK) {
            let to = (from + CHUNK).min(xs.len());
            let (xs, lines) = (&xs[from..to], &mut lines[from..to]);
            let (signals, hists) = (&mut signals[from..to], &mut hists[from..to]);
            // The start and the gaps have rules of their own and go step by step.
            let done = self.extend_steady(xs, lines, signals, hists);
            for index in done..xs.len() {
                let (values, next) = self.step(xs[index]);
                self.commit(next);
                [lines[index], signals[index], hists[index]] = values.map(available);
            }
        }
    }

    /// Takes as many numbers as can be taken four at a time, and says how many those were.
    fn extend_steady(
        &mut self,
        xs: &[f64],
        lines: &mut [f64],
        signals: &mut [f64],
        hists: &mut [f64],
    ) -> usize {
        let steady = self.fast.is_steady() && self.slow.is_steady() && self.signal.is_steady();
        if !steady || !all_finite(xs) {
            return 0;
        }
        let (mut fast, mut slow) = (self.fast.fold(), self.slow.fold());
        let mut signal = self.signal.fold();
        let mut check = 0.0;
        let out = lines.as_chunks_mut::<4>().0.iter_mut();
        let out = out.zip(signals.as_chunks_mut::<4>().0).zip(hists.as_chunks_mut::<4>().0);
        for (x, ((lines, signals), hists)) in xs.as_chunks::<4>().0.iter().zip(out) {
            let (fast, slow) = (fast.next(x), slow.next(x));
            *lines = array::from_fn(|i| Self::line(fast[i], slow[i]));
            *signals = signal.next(lines);
            *hists = array::from_fn(|i| lines[i] - signals[i]);
            check += signals[3];
        }
        // A line that is not finite makes every signal after it so.
        if !finite(check) {
            return 0;
        }
        self.fast.unfold(fast);
        self.slow.unfold(slow);
        self.signal.unfold(signal);
        xs.len() & !3
    }
}

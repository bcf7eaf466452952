//! Parabolic stop and reverse: P = P' + a (X - P'), where X is the extreme of the current trend and
//! `a` grows by `step` with each new extreme up to `max_step`. The stop stays outside the two
//! previous candles; a candle that crosses it reverses the trend, and the stop jumps to X.
//!
//! As in `ta`, the stop starts at the second close in a rising trend. `psar_up` and `psar_down`
//! hold the stop of the current trend; the indicators are 1 where a trend starts. `sar` is the form
//! of TA-Lib.

use super::Sar;
use crate::block::check_positive;
use crate::indicator::{OutputSink, erase};
use crate::spec::{Entry, Memory, Param};
use crate::{Candle, Candles, Error, Indicator, Parity};

pub(crate) const ENTRY: Entry = Entry {
    name: "psar",
    params: &[Param::real("step", 0.02), Param::real("max_step", 0.2), Param::parity()],
    outputs: &["psar", "psar_up", "psar_down", "psar_up_indicator", "psar_down_indicator"],
    memory: |_| Memory::Decaying,
    build: |v| match v.parity(2) {
        Parity::Ta => Ok(erase(Psar::new(v.real(0), v.real(1))?)),
        Parity::TaLib => Ok(erase(Sar::new(v.real(0), v.real(1))?)),
    },
};

/// Candles per batch step: few, because the slots of five outputs are zeroed in memory while the
/// trend is computed.
const PART: usize = 64;

/// Parabolic stop and reverse of Python `ta`.
#[derive(Clone, Debug)]
pub struct Psar {
    step: f64,
    max_step: f64,
    state: PsarState,
}

#[derive(Clone, Copy, Debug)]
pub struct PsarState {
    /// Candles seen, at most 2.
    seen: usize,
    rising: bool,
    /// Whether a trend was shown; the next trend is a reversal only if it differs.
    shown: bool,
    factor: f64,
    stop: f64,
    /// The highest high of a rising trend and the lowest low of a falling one.
    high: f64,
    low: f64,
    /// Highs and lows of the two previous candles, the latest first.
    highs: [f64; 2],
    lows: [f64; 2],
}

pub(super) fn check_steps(step: f64, max_step: f64) -> Result<(), Error> {
    check_positive("step", step)?;
    check_positive("max_step", max_step)?;
    if step > max_step {
        return Err(Error::parameter("step", "must not be above max_step"));
    }
    Ok(())
}

impl Psar {
    /// The factor grows by `step` up to `max_step`. Both must be above 0, and `step` at most
    /// `max_step`.
    pub fn new(step: f64, max_step: f64) -> Result<Psar, Error> {
        check_steps(step, max_step)?;
        let state = PsarState {
            seen: 0,
            rising: true,
            shown: false,
            factor: step,
            stop: f64::NAN,
            high: f64::NAN,
            low: f64::NAN,
            highs: [f64::NAN; 2],
            lows: [f64::NAN; 2],
        };
        Ok(Psar { step, max_step, state })
    }

    #[inline(always)]
    fn faster(&self, factor: f64) -> f64 {
        (factor + self.step).min(self.max_step)
    }

    fn rise(&self, next: &mut PsarState, candle: &Candle) {
        next.stop += next.factor * (next.high - next.stop);
        if candle.l < next.stop {
            next.rising = false;
            next.stop = next.high;
            next.low = candle.l;
            next.factor = self.step;
            return;
        }
        if candle.h > next.high {
            next.high = candle.h;
            next.factor = self.faster(next.factor);
        }
        let [nearer, farther] = next.lows;
        if farther < next.stop {
            next.stop = farther;
        } else if nearer < next.stop {
            next.stop = nearer;
        }
    }

    fn fall(&self, next: &mut PsarState, candle: &Candle) {
        next.stop -= next.factor * (next.stop - next.low);
        if candle.h > next.stop {
            next.rising = true;
            next.stop = next.low;
            next.high = candle.h;
            next.factor = self.step;
            return;
        }
        if candle.l < next.low {
            next.low = candle.l;
            next.factor = self.faster(next.factor);
        }
        let [nearer, farther] = next.highs;
        if farther > next.stop {
            next.stop = farther;
        } else if nearer > next.stop {
            next.stop = nearer;
        }
    }
}

/// The results of one batch step.
struct PsarBuffers {
    /// The stops, negated in a falling trend.
    stops: [f64; PART],
    /// 1 in a rising trend and -1 in a falling one, starting with the candle before the part.
    sides: [f64; 1 + PART],
}

impl PsarBuffers {
    #[inline(always)]
    fn show_stops(&self, out: &mut [f64]) {
        for (shown, (stop, side)) in out.iter_mut().zip(self.stops.iter().zip(&self.sides[1..])) {
            *shown = side * stop;
        }
    }

    #[inline(always)]
    fn show_trends(&self, [_, ups, downs, up_starts, down_starts]: [&mut [f64]; 5]) {
        let stops = self.stops.iter().zip(&self.sides[1..]);
        for ((up, down), (stop, side)) in ups.iter_mut().zip(downs).zip(stops) {
            *up = choose(*side > 0.0, *stop, f64::NAN);
            *down = choose(*side > 0.0, f64::NAN, -stop);
        }
        let sides = self.sides.iter().zip(&self.sides[1..]);
        for ((up, down), (before, side)) in up_starts.iter_mut().zip(down_starts).zip(sides) {
            *up = choose(*side > *before, 1.0, 0.0);
            *down = choose(*side < *before, 1.0, 0.0);
        }
    }
}

/// Whether all prices are finite. Tests all of them without an early exit, so that the compiler
/// vectorizes the loop.
#[inline(always)]
fn all_finite(highs: &[f64], lows: &[f64], closes: &[f64]) -> bool {
    let (highs, rest) = highs.as_chunks::<4>();
    let mut zeros = [0.0; 4];
    for ((h, l), c) in highs.iter().zip(lows.as_chunks().0).zip(closes.as_chunks().0) {
        let (l, c): (&[f64; 4], &[f64; 4]) = (l, c);
        for j in 0..4 {
            // NaN or infinity times 0 is NaN.
            zeros[j] += (h[j] + l[j] + c[j]) * 0.0;
        }
    }
    rest.is_empty() && zeros.iter().sum::<f64>() == 0.0
}

impl Psar {
    /// Computes the stops of candles without missing values, once there is a stop. A falling trend
    /// is computed as a rising one with negated prices.
    ///
    /// The loop has no branches: reversals and new extremes are unpredictable, and a misprediction
    /// costs more than the whole step. The compiler turns a condition that is used twice into a
    /// branch, so trend side and reversal are expressed by a different comparison at each use.
    #[inline(always)]
    #[allow(
        clippy::neg_cmp_op_on_partial_ord,
        reason = "another comparison keeps the loop free of branches"
    )]
    fn follow(&mut self, highs: &[f64], lows: &[f64], buffers: &mut PsarBuffers) {
        let PsarState { rising, mut factor, stop, high, low, .. } = self.state;
        let Psar { step, max_step, .. } = *self;
        // 1 in a rising trend and -1 in a falling one.
        let mut side = choose(rising, 1.0, -1.0);
        let (mut stop, mut extreme) = (side * stop, side * choose(rising, high, low));
        let (mut high, mut low) = (self.state.highs, self.state.lows);
        buffers.sides[0] = side;
        let slots = buffers.stops.iter_mut().zip(&mut buffers.sides[1..]);
        for ((&h, &l), (stops, sides)) in highs.iter().zip(lows).zip(slots) {
            let (bottom, top) = (choose(side > 0.5, l, -h), choose(side > 0.25, h, -l));
            let nearer = choose(side > 0.125, low[0], -high[0]);
            let farther = choose(side > 0.0625, low[1], -high[1]);
            let moved = stop + factor * (extreme - stop);
            let held = choose(farther < moved, farther, choose(nearer < moved, nearer, moved));
            let faster = factor + choose(top > extreme, step, 0.0);
            let limited = choose(faster < max_step, faster, max_step);
            let furthest = choose(extreme < top, top, extreme);
            // After a reversal all prices change sign; the extreme of the new trend is the other
            // end of the candle.
            let through = moved - bottom;
            stop = choose(bottom < moved, -extreme, held);
            extreme = choose(!(bottom >= moved), -bottom, furthest);
            factor = choose(through > 0.0, step, limited);
            side = choose(!(through <= 0.0), -side, side);
            (*stops, *sides) = (stop, side);
            (high, low) = ([h, high[0]], [l, low[0]]);
        }
        let next = &mut self.state;
        (next.rising, next.factor, next.stop) = (side > 0.0, factor, side * stop);
        *(if side > 0.0 { &mut next.high } else { &mut next.low }) = side * extreme;
        (next.highs, next.lows) = (high, low);
    }
}

#[inline(always)]
fn choose(which: bool, yes: f64, no: f64) -> f64 {
    if which { yes } else { no }
}

impl Indicator<5> for Psar {
    type Update = PsarState;

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 5], PsarState) {
        let mut next = self.state;
        // A candle with a missing value is skipped.
        if !(candle.h.is_finite() && candle.l.is_finite() && candle.c.is_finite()) {
            return ([f64::NAN; 5], next);
        }
        let ready = self.state.seen >= 2;
        match (self.state.seen, self.state.rising) {
            (0, _) => (next.high, next.low) = (candle.h, candle.l),
            (1, _) => next.stop = candle.c,
            (_, true) => self.rise(&mut next, candle),
            (_, false) => self.fall(&mut next, candle),
        }
        next.seen = (self.state.seen + 1).min(2);
        next.highs = [candle.h, self.state.highs[0]];
        next.lows = [candle.l, self.state.lows[0]];
        if !ready {
            return ([f64::NAN; 5], next);
        }
        next.shown = true;
        let begins = !self.state.shown || self.state.rising != next.rising;
        let flag = |on: bool| if on { 1.0 } else { 0.0 };
        let (up, down) = if next.rising { (next.stop, f64::NAN) } else { (f64::NAN, next.stop) };
        let flags = [flag(begins && next.rising), flag(begins && !next.rising)];
        ([next.stop, up, down, flags[0], flags[1]], next)
    }

    #[inline(always)]
    fn commit(&mut self, next: PsarState) {
        self.state = next;
    }

    fn warmup(&self) -> usize {
        2
    }

    const HAS_BATCH: bool = true;

    #[inline(always)]
    fn run_batch(&mut self, candles: &Candles<'_>, out: &mut impl OutputSink<5>) {
        let mut buffers = PsarBuffers { stops: [0.0; PART], sides: [0.0; 1 + PART] };
        for from in (0..candles.len()).step_by(PART) {
            let part = candles.slice(from, from + PART);
            let (highs, lows) = (part.highs(), part.lows());
            if self.state.shown && all_finite(highs, lows, part.closes()) {
                self.follow(highs, lows, &mut buffers);
                let trends = (1..5).any(|which| out.wants(which));
                let out = out.next(part.len());
                buffers.show_stops(out[0]);
                if trends {
                    buffers.show_trends(out);
                }
                continue;
            }
            // The first two candles, and parts with a missing value, go one by one.
            let mut out = out.next(part.len());
            for (at, candle) in part.iter().enumerate() {
                let values = self.update(&candle);
                out.iter_mut().zip(values).for_each(|(column, value)| column[at] = value);
            }
        }
    }
}

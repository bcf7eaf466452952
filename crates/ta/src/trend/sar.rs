//! Parabolic stop and reverse of TA-Lib. It starts at the low of the first candle, or at its high
//! if the second candle moved further down than up; a candle that touches the stop reverses the
//! trend; and the stop stays outside the current and the previous candle, also at a reversal.
//!
//! The outputs are those of `psar`.

use super::psar::check_steps;
use crate::{Candle, Error, Indicator};

/// Parabolic stop and reverse of TA-Lib.
#[derive(Clone, Debug)]
pub struct Sar {
    step: f64,
    max_step: f64,
    state: SarState,
}

#[derive(Clone, Copy, Debug)]
pub struct SarState {
    /// Candles seen, at most 2.
    seen: usize,
    rising: bool,
    factor: f64,
    /// The stop for the next candle.
    stop: f64,
    extreme: f64,
    high: f64,
    low: f64,
}

impl Sar {
    /// The factor grows by `step` up to `max_step`. Both must be above 0, and `step` at most
    /// `max_step`.
    pub fn new(step: f64, max_step: f64) -> Result<Sar, Error> {
        check_steps(step, max_step)?;
        let state = SarState {
            seen: 0,
            rising: true,
            factor: step,
            stop: f64::NAN,
            extreme: f64::NAN,
            high: f64::NAN,
            low: f64::NAN,
        };
        Ok(Sar { step, max_step, state })
    }

    /// The trend after the first two candles.
    fn begin(&self, candle: &Candle) -> SarState {
        let SarState { high, low, .. } = self.state;
        let (up, down) = (candle.h - high, low - candle.l);
        let rising = !(down > 0.0 && down > up);
        let (stop, extreme) = if rising { (low, candle.h) } else { (high, candle.l) };
        SarState { rising, stop, extreme, high: candle.h, low: candle.l, ..self.state }
    }

    /// The stop at a candle, and the state after it. A falling trend is computed as a rising one
    /// with negated prices.
    fn follow(&self, state: SarState, candle: &Candle) -> (f64, SarState) {
        let side = if state.rising { 1.0 } else { -1.0 };
        let turned = |high: f64, low: f64| if state.rising { (high, low) } else { (-low, -high) };
        let (top, bottom) = turned(candle.h, candle.l);
        let (top_before, bottom_before) = turned(state.high, state.low);
        let (stop, extreme) = (side * state.stop, side * state.extreme);
        let next = SarState { high: candle.h, low: candle.l, ..state };
        if bottom <= stop {
            let above = |stop: f64| stop.max(top_before).max(top);
            let shown = above(extreme);
            let stop = above(shown + self.step * (bottom - shown));
            let (stop, extreme) = (side * stop, side * bottom);
            let rising = !state.rising;
            return (side * shown, SarState { rising, factor: self.step, stop, extreme, ..next });
        }
        let further = top > extreme;
        let faster = (state.factor + self.step).min(self.max_step);
        let factor = if further { faster } else { state.factor };
        let extreme = if further { top } else { extreme };
        let ahead = (stop + factor * (extreme - stop)).min(bottom_before).min(bottom);
        (side * stop, SarState { factor, stop: side * ahead, extreme: side * extreme, ..next })
    }
}

impl Indicator<5> for Sar {
    type Update = SarState;

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 5], SarState) {
        // A candle with a missing value is skipped.
        if !(candle.h.is_finite() && candle.l.is_finite()) {
            return ([f64::NAN; 5], self.state);
        }
        let started = self.state.seen >= 2;
        let state = match self.state.seen {
            0 => {
                let next = SarState { seen: 1, high: candle.h, low: candle.l, ..self.state };
                return ([f64::NAN; 5], next);
            }
            1 => SarState { seen: 2, ..self.begin(candle) },
            _ => self.state,
        };
        let (stop, next) = self.follow(state, candle);
        let begins = !started || state.rising != next.rising;
        let flag = |on: bool| if on { 1.0 } else { 0.0 };
        let (up, down) = if next.rising { (stop, f64::NAN) } else { (f64::NAN, stop) };
        ([stop, up, down, flag(begins && next.rising), flag(begins && !next.rising)], next)
    }

    #[inline(always)]
    fn commit(&mut self, next: SarState) {
        self.state = next;
    }

    fn warmup(&self) -> usize {
        1
    }
}

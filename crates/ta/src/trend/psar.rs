//! Parabolic stop and reverse: P = P' + a (X - P'), where X is the extreme of the running trend
//! and `a` grows by `step` with each new extreme up to `max_step`. The stop stays outside the two
//! candles before; a candle that crosses it turns the trend, and the stop jumps to X.
//!
//! As in `ta`, the stop starts at the second close in a rising trend. `psar_up` and `psar_down`
//! hold the stop of the trend that runs; the indicators are 1 where a trend begins.

use crate::block::positive;
use crate::indicator::{Room, erase, finite};
use crate::spec::{Entry, Param};
use crate::{Candle, Candles, Error, Indicator};

pub(crate) const ENTRY: Entry = Entry {
    name: "psar",
    params: &[Param::real("step", 0.02), Param::real("max_step", 0.2)],
    outputs: &["psar", "psar_up", "psar_down", "psar_up_indicator", "psar_down_indicator"],
    build: |v| Ok(erase(Psar::new(v.real(0), v.real(1))?)),
};

/// Candles taken at a time. Few, because five outputs are made room for, which goes on in memory
/// while the trend is followed.
const PART: usize = 64;

#[derive(Clone, Debug)]
pub struct Psar {
    step: f64,
    max_step: f64,
    state: State,
}

#[derive(Clone, Copy, Debug)]
pub struct State {
    /// Candles seen, no further than two.
    seen: usize,
    rising: bool,
    /// Whether a trend has been shown, so that the next is a turn only if it differs.
    shown: bool,
    factor: f64,
    stop: f64,
    /// The highest high of a rising trend and the lowest low of a falling one.
    high: f64,
    low: f64,
    /// Highs and lows of the two candles before, the nearer first.
    highs: [f64; 2],
    lows: [f64; 2],
}

impl Psar {
    pub fn new(step: f64, max_step: f64) -> Result<Psar, Error> {
        positive("step", step)?;
        positive("max_step", max_step)?;
        if step > max_step {
            return Err(Error::parameter("step", "must not be above max_step"));
        }
        let state = State {
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

    fn rise(&self, next: &mut State, candle: &Candle) {
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

    fn fall(&self, next: &mut State, candle: &Candle) {
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

impl Psar {
    /// Goes along a trend until it turns, something is missing or the candles end, and says how
    /// many candles that were. A falling trend is a rising one with the prices turned over.
    ///
    /// Nothing but the turn is a branch: whether a candle goes further than the one before cannot
    /// be foretold.
    #[inline(always)]
    fn follow<const RISING: bool>(
        &mut self,
        candles: &Candles<'_>,
        [stops, ups, downs, up_starts, down_starts]: [&mut [f64]; 5],
    ) -> usize {
        let turned = |price: f64| if RISING { price } else { -price };
        let State { mut factor, stop, high, low, highs, lows, .. } = self.state;
        let (mut stop, mut extreme) = (turned(stop), turned(if RISING { high } else { low }));
        let [mut top, mut top_before] = if RISING { highs } else { lows }.map(turned);
        let [mut bottom, mut bottom_before] = if RISING { lows } else { highs }.map(turned);
        let prices = candles.highs().iter().zip(candles.lows()).zip(candles.closes());
        let (mut count, mut turns) = (0, false);
        let growth = [0.0, self.step];
        let slots = stops.iter_mut().zip(ups).zip(downs).zip(up_starts).zip(down_starts);
        for (((&h, &l), &c), ((((shown, up), down), up_start), down_start)) in prices.zip(slots) {
            if !finite(h + l + c) {
                break;
            }
            let (now_top, now_bottom) = if RISING { (h, l) } else { (-l, -h) };
            let moved = stop + factor * (extreme - stop);
            turns = now_bottom < moved;
            if turns {
                stop = extreme;
            } else {
                let further = now_top > extreme;
                extreme = if further { now_top } else { extreme };
                let faster = factor + growth[usize::from(further)];
                factor = if faster < self.max_step { faster } else { self.max_step };
                let held = if bottom < moved { bottom } else { moved };
                stop = if bottom_before < moved { bottom_before } else { held };
            }
            (top_before, top) = (top, now_top);
            (bottom_before, bottom) = (bottom, now_bottom);
            *shown = turned(stop);
            let rises = RISING != turns;
            (*up, *down) = if rises { (*shown, f64::NAN) } else { (f64::NAN, *shown) };
            *up_start = if turns && rises { 1.0 } else { 0.0 };
            *down_start = if turns && !rises { 1.0 } else { 0.0 };
            count += 1;
            if turns {
                break;
            }
        }
        let (tops, bottoms) = ([top, top_before].map(turned), [bottom, bottom_before].map(turned));
        let (highs, lows) = if RISING { (tops, bottoms) } else { (bottoms, tops) };
        let next = &mut self.state;
        (next.stop, next.factor, next.highs, next.lows) = (turned(stop), factor, highs, lows);
        // The trend that begins has the candle's other end as its extreme.
        let (ends, begins) = (turned(extreme), turned(bottom));
        match (RISING, turns) {
            (true, false) => next.high = ends,
            (false, false) => next.low = ends,
            (true, true) => next.low = begins,
            (false, true) => next.high = begins,
        }
        if turns {
            (next.rising, next.factor) = (!RISING, self.step);
        }
        count
    }
}

impl Indicator<5> for Psar {
    type Next = State;

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 5], State) {
        let mut next = self.state;
        // A candle with something missing is passed over.
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
    fn commit(&mut self, next: State) {
        self.state = next;
    }

    fn warmup(&self) -> usize {
        2
    }

    const POURS: bool = true;

    #[inline(always)]
    fn pour(&mut self, candles: &Candles<'_>, out: &mut impl Room<5>) {
        for from in (0..candles.len()).step_by(PART) {
            let part = candles.slice(from, from + PART);
            let mut out = out.next(part.len());
            let mut at = 0;
            while at < part.len() {
                let rest = part.slice(at, part.len());
                let slots = out.each_mut().map(|column| &mut column[at..]);
                at += match (self.state.shown, self.state.rising) {
                    (false, _) => 0,
                    (true, true) => self.follow::<true>(&rest, slots),
                    (true, false) => self.follow::<false>(&rest, slots),
                };
                // The first candles, and one with something missing.
                if let Some(candle) = part.slice(at, at + 1).iter().next() {
                    if self.state.shown && finite(candle.h + candle.l + candle.c) {
                        continue;
                    }
                    let values = self.update(&candle);
                    out.iter_mut().zip(values).for_each(|(column, value)| column[at] = value);
                    at += 1;
                }
            }
        }
    }
}

//! Volume-weighted average price: the sum of typical price times volume over the sum of volume.
//! The sums run over a day that begins at 00:00 UTC, over everything (`continuous`), or, when a
//! `period` is given, over that many candles.

use std::hint::cold_path;

use crate::block::{Block, CHUNK, UpdateOf, WindowSum, check_period, running};
use crate::indicator::{OutputSink, erase, finite, finite_or_nan};
use crate::spec::{Entry, Memory, Param};
use crate::{Candle, Candles, Error, Indicator};

pub(crate) const ENTRY: Entry = Entry {
    name: "vwap",
    params: &[Param::choice("session", &["day", "continuous"]), Param::optional("period")],
    outputs: &["vwap"],
    memory: |v| match (v.optional(1), v.chosen(0)) {
        (Some(_), _) => Memory::Windowed,
        (None, false) => Memory::Session,
        (None, true) => Memory::Cumulative,
    },
    build: |v| match (v.optional(1), v.chosen(0)) {
        (Some(period), _) => Ok(erase(RollingVwap::new(period)?)),
        (None, false) => Ok(erase(Vwap::new(VwapSession::Day))),
        (None, true) => Ok(erase(Vwap::new(VwapSession::Continuous))),
    },
};

const DAY_MS: i64 = 86_400_000;

/// When the sums restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VwapSession {
    /// At 00:00 UTC of every day.
    Day,
    /// Never.
    Continuous,
}

/// Volume-weighted average price since the start of the session.
#[derive(Clone, Debug)]
pub struct Vwap {
    session: VwapSession,
    sums: VwapSums,
}

#[derive(Clone, Copy, Debug)]
pub struct VwapSums {
    /// The sum of (H + L + C) times volume; divided by 3 in the result.
    traded: f64,
    volume: f64,
    /// End of the current day in milliseconds; a candle at or after it, or more than a day before
    /// it, starts another day.
    ends: i64,
}

impl Vwap {
    /// Sums that restart as `session` says.
    pub fn new(session: VwapSession) -> Vwap {
        let ends = if session == VwapSession::Day { i64::MIN } else { i64::MAX };
        Vwap { session, sums: VwapSums { traded: 0.0, volume: 0.0, ends } }
    }

    fn begins(&self, t: i64) -> bool {
        self.session == VwapSession::Day
            && (t >= self.sums.ends || t < self.sums.ends.saturating_sub(DAY_MS))
    }
}

impl Indicator<1> for Vwap {
    type Update = VwapSums;

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], VwapSums) {
        let mut sums = self.sums;
        if self.begins(candle.t) {
            let start = candle.t.saturating_sub(candle.t.rem_euclid(DAY_MS));
            sums = VwapSums { traded: 0.0, volume: 0.0, ends: start.saturating_add(DAY_MS) };
        }
        let traded = (candle.h + candle.l + candle.c) * candle.v;
        // A candle with a missing value gives NaN and is not added.
        let whole = sums.traded + traded;
        if !(finite(whole) && finite(candle.v)) {
            cold_path();
            return ([f64::NAN], sums);
        }
        sums.traded = whole;
        sums.volume += candle.v;
        ([sums.traded / (3.0 * sums.volume)], sums)
    }

    #[inline(always)]
    fn commit(&mut self, sums: VwapSums) {
        self.sums = sums;
    }

    fn warmup(&self) -> usize {
        0
    }

    const HAS_BATCH: bool = true;

    #[inline(always)]
    fn run_batch(&mut self, candles: &Candles<'_>, out: &mut impl OutputSink<1>) {
        let mut from = 0;
        while from < candles.len() {
            let part = candles.slice(from, from + CHUNK);
            // The candles in the session of the first one go together; at a session start, or with
            // a missing value, candles go one by one.
            let same = |t: &&i64| !self.begins(**t);
            let run = part.times().iter().take_while(same).count();
            let part = part.slice(0, run.max(1));
            let [out] = out.next(part.len());
            if run == 0 || !self.scan(&part, out) {
                for (slot, candle) in out.iter_mut().zip(part.iter()) {
                    [*slot] = self.update(&candle);
                }
            }
            from += part.len();
        }
    }
}

impl Vwap {
    /// Returns false, with only the output changed, when a value is missing.
    #[inline(always)]
    fn scan(&mut self, candles: &Candles<'_>, out: &mut [f64]) -> bool {
        let (h, l, c) = (candles.highs(), candles.lows(), candles.closes());
        let v = candles.volumes();
        let (mut flows, mut volumes) = ([0.0; CHUNK], [0.0; CHUNK]);
        for (flow, (((h, l), c), v)) in flows.iter_mut().zip(h.iter().zip(l).zip(c).zip(v)) {
            *flow = (h + l + c) * v;
        }
        let traded = running(self.sums.traded, &flows[..v.len()], out);
        let volume = running(self.sums.volume, v, &mut volumes[..v.len()]);
        // A number that is not finite makes every later sum not finite, so one test of the last is
        // enough.
        if !(finite(traded) && finite(volume)) {
            return false;
        }
        for (slot, volume) in out.iter_mut().zip(&volumes) {
            *slot = finite_or_nan(*slot / (3.0 * volume));
        }
        (self.sums.traded, self.sums.volume) = (traded, volume);
        true
    }
}

/// Volume-weighted average price over the last `period` candles, as in Python `ta`.
#[derive(Clone, Debug)]
pub struct RollingVwap {
    traded: WindowSum,
    volume: WindowSum,
    warmup: usize,
}

impl RollingVwap {
    /// Sums over the last `period` candles.
    pub fn new(period: usize) -> Result<RollingVwap, Error> {
        let n = check_period("period", period)?;
        Ok(RollingVwap { traded: WindowSum::new(n), volume: WindowSum::new(n), warmup: n - 1 })
    }
}

impl Indicator<1> for RollingVwap {
    type Update = (UpdateOf<WindowSum>, UpdateOf<WindowSum>);

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], Self::Update) {
        let (traded, traded_next) = self.traded.step(candle.typical() * candle.v);
        let (volume, volume_next) = self.volume.step(candle.v);
        ([traded / volume], (traded_next, volume_next))
    }

    #[inline(always)]
    fn commit(&mut self, (traded, volume): Self::Update) {
        self.traded.commit(traded);
        self.volume.commit(volume);
    }

    fn warmup(&self) -> usize {
        self.warmup
    }
}

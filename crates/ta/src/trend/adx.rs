//! Average directional index: +DI and -DI are 100 times Wilder sums of upward and downward movement
//! over that of the true range; DX = 100 |+DI - -DI| / (+DI + -DI); ADX is the Wilder average of
//! DX, which starts with the plain mean of `period` values. With a range of 0 the direction is 0.
//!
//! The first candle only sets the prices for the comparison; the sums start with `period`
//! movements, and as in `ta` +DI and -DI have values from the next movement on.
//!
//! The sums of TA-Lib start with one movement less, which equals a first movement of 0, and have
//! values one candle earlier. Without direction its ADX keeps its value.

use crate::block::{Block, CHUNK, Ewm, UpdateOf, check_period};
use crate::candle::true_range;
use crate::indicator::{erase, finite};
use crate::spec::{Entry, Memory, Param};
use crate::{Candle, Candles, Error, Indicator, OutputSink, Parity};

pub(crate) const ENTRY: Entry = Entry {
    name: "adx",
    params: &[Param::period("period", 14), Param::parity()],
    outputs: &["adx", "adx_pos", "adx_neg"],
    memory: |_| Memory::Decaying,
    build: |v| Ok(erase(Adx::new(v.period(0), v.parity(1))?)),
};

/// Average directional index.
#[derive(Clone, Debug)]
pub struct Adx {
    // Wilder averages replace Wilder sums: only ratios are used.
    range: Ewm,
    up: Ewm,
    down: Ewm,
    average: Ewm,
    before: Option<Candle>,
    /// Movements seen, at most `period` + 1.
    seen: usize,
    period: usize,
    parity: Parity,
}

/// TA-Lib treats absolute values below this as 0.
const TALIB_ZERO: f64 = 1e-14;

/// Smaller sums may decay into denormals within a chunk and go step by step.
const SUM_MIN: f64 = 1e-200;

#[derive(Clone, Copy)]
pub struct AdxUpdate {
    range: UpdateOf<Ewm>,
    up: UpdateOf<Ewm>,
    down: UpdateOf<Ewm>,
    /// `None` when the ADX keeps its value.
    average: Option<UpdateOf<Ewm>>,
    before: Option<Candle>,
    seen: usize,
}

impl Adx {
    /// A window of `period` candles.
    pub fn new(period: usize, parity: Parity) -> Result<Adx, Error> {
        let n = check_period("period", period)?;
        let average = Ewm::wilder(n, Parity::TaLib);
        let mut sum = average.clone();
        if parity == Parity::TaLib {
            sum.push(0.0);
        }
        let (range, up, down) = (sum.clone(), sum.clone(), sum);
        Ok(Adx { range, up, down, average, before: None, seen: 0, period: n, parity })
    }

    /// Whether the start is over and all averages are steady.
    fn is_steady(&self) -> bool {
        let sums = [&self.range, &self.up, &self.down, &self.average];
        self.seen > self.period && sums.iter().all(|sum| sum.is_steady())
    }

    /// Like `step`, for many movements; overwrites the rows. Returns false, with only rows and
    /// outputs changed, when a movement needs the step-by-step rules.
    #[inline(always)]
    fn scan(&mut self, rows: [&mut [f64]; 3], out: [&mut [f64]; 3]) -> bool {
        let ([ranges, ups, downs], [adx, pos, neg]) = (rows, out);
        let before = [&self.range, &self.up, &self.down].map(Ewm::mean);
        let mut sound = self.range.scan_steady(ranges, adx)
            && self.up.scan_steady(ups, pos)
            && self.down.scan_steady(downs, neg);
        if sound {
            let (dx, mut wrong) = (&mut *ranges, 0);
            for ((dx, range), (pos, neg)) in
                dx.iter_mut().zip(&*adx).zip(pos.iter_mut().zip(neg.iter_mut()))
            {
                let (size, share) = (*pos + *neg, 100.0 / range);
                *dx = 100.0 * (*pos - *neg).abs() / size;
                (*pos, *neg) = (*pos * share, *neg * share);
                wrong +=
                    u64::from(!(*range > SUM_MIN && size > SUM_MIN && size * share > TALIB_ZERO));
            }
            sound = wrong == 0 && self.average.scan_steady(dx, adx);
        }
        if !sound {
            let [range, up, down] = before;
            self.range.set(range);
            self.up.set(up);
            self.down.set(down);
        }
        sound
    }

    /// The ADX for this DX and this sum of +DI and -DI, and its state change.
    #[inline(always)]
    fn average(&self, dx: f64, size: f64, seen: usize) -> (f64, Option<UpdateOf<Ewm>>) {
        let still = self.parity == Parity::TaLib && size.abs() < TALIB_ZERO;
        if still && self.average.is_steady() {
            return (self.average.mean(), None);
        }
        let early = self.parity == Parity::TaLib && seen < self.period;
        let (value, next) = self.average.step(if early { f64::NAN } else { dx });
        (value, Some(next))
    }

    /// True range, upward and downward movement since the previous candle.
    #[inline(always)]
    fn movement(&self, candle: &Candle) -> [f64; 3] {
        let Some(before) = &self.before else { return [f64::NAN; 3] };
        let range = candle.true_range(before.c);
        let (up, down) = (candle.h - before.h, before.l - candle.l);
        if !(range.is_finite() && up.is_finite() && down.is_finite()) {
            return [f64::NAN; 3];
        }
        let up_counts = up > down && up > 0.0;
        let down_counts = down > up && down > 0.0;
        [range, if up_counts { up } else { 0.0 }, if down_counts { down } else { 0.0 }]
    }
}

impl Indicator<3> for Adx {
    type Update = AdxUpdate;

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 3], AdxUpdate) {
        let [range, up, down] = self.movement(candle);
        let moved = range.is_finite();
        let (range, range_next) = self.range.step(range);
        let (up, up_next) = self.up.step(up);
        let (down, down_next) = self.down.step(down);
        let ratio = |part: f64, whole: f64| if whole == 0.0 { 0.0 } else { 100.0 * part / whole };
        let (up, down) = (ratio(up, range), ratio(down, range));
        let dx = ratio((up - down).abs(), up + down);
        let seen = (self.seen + usize::from(moved)).min(self.period + 1);
        let (adx, average_next) = self.average(if moved { dx } else { f64::NAN }, up + down, seen);
        let next = AdxUpdate {
            range: range_next,
            up: up_next,
            down: down_next,
            average: average_next,
            before: Some(*candle),
            seen,
        };
        let unshown = self.period - usize::from(self.parity == Parity::TaLib);
        let shown = |value: f64| if seen > unshown { value } else { f64::NAN };
        ([adx, shown(up), shown(down)], next)
    }

    #[inline(always)]
    fn commit(&mut self, next: AdxUpdate) {
        self.range.commit(next.range);
        self.up.commit(next.up);
        self.down.commit(next.down);
        if let Some(average) = next.average {
            self.average.commit(average);
        }
        self.before = next.before;
        self.seen = next.seen;
    }

    fn warmup(&self) -> usize {
        let least = self.period + usize::from(self.parity == Parity::Ta);
        (2 * self.period - 1).max(least)
    }

    const HAS_BATCH: bool = true;

    #[inline(always)]
    fn run_batch(&mut self, candles: &Candles<'_>, out: &mut impl OutputSink<3>) {
        let (mut ranges, mut ups, mut downs) = ([0.0; CHUNK], [0.0; CHUNK], [0.0; CHUNK]);
        for from in (0..candles.len()).step_by(CHUNK) {
            let part = candles.slice(from, from + CHUNK);
            let len = part.len();
            let rows = [&mut ranges[..len], &mut ups[..len], &mut downs[..len]];
            let moved = from > 0 && self.is_steady() && movements(candles, from, rows);
            let [adx, pos, neg] = out.next(len);
            let rows = [&mut ranges[..len], &mut ups[..len], &mut downs[..len]];
            if moved && self.scan(rows, [&mut *adx, &mut *pos, &mut *neg]) {
                self.before = part.slice(len - 1, len).iter().next();
                continue;
            }
            // The start, missing values and candles without direction go step by step.
            for (index, candle) in part.iter().enumerate() {
                [adx[index], pos[index], neg[index]] = self.update(&candle);
            }
        }
    }
}

/// Writes the movements of the candles from `from` (at least 1) on, as many as fit; returns false
/// when a value is missing.
#[inline(always)]
fn movements(candles: &Candles<'_>, from: usize, rows: [&mut [f64]; 3]) -> bool {
    let [ranges, ups, downs] = rows;
    let len = ranges.len();
    let now = [candles.highs(), candles.lows()].map(|column| &column[from..from + len]);
    let before = [candles.highs(), candles.lows(), candles.closes()];
    let ([h, l], [high, low, close]) = (now, before.map(|column| &column[from - 1..][..len]));
    let (ups, downs) = (&mut ups[..len], &mut downs[..len]);
    let mut wrong = 0;
    for i in 0..len {
        let range = true_range(h[i], l[i], close[i]);
        let (up, down) = (h[i] - high[i], low[i] - l[i]);
        wrong += u64::from(!finite(range + up + down));
        ranges[i] = range;
        ups[i] = if up > down && up > 0.0 { up } else { 0.0 };
        downs[i] = if down > up && down > 0.0 { down } else { 0.0 };
    }
    wrong == 0
}

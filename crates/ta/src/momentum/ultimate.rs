//! Ultimate oscillator: the mean of three ratios of buying pressure to true range, over `short`,
//! `middle` and `long` candles, weighing 4, 2 and 1, times 100. Buying pressure is the close less
//! the lower of the low and the close before.

use crate::block::slide::{CHUNK, Work};
use crate::block::{Block, Of, Sum, check_period};
use crate::indicator::{available, erase};
use crate::spec::{Entry, Param};
use crate::{Candle, Candles, Error, Indicator, Room};

pub(crate) const ENTRY: Entry = Entry {
    name: "ultimate",
    params: &[Param::period("short", 7), Param::period("middle", 14), Param::period("long", 28)],
    outputs: &["uo"],
    build: |v| Ok(erase(Ultimate::new(v.period(0), v.period(1), v.period(2))?)),
};

#[derive(Clone, Debug)]
pub struct Ultimate {
    short: Ratio,
    middle: Ratio,
    long: Ratio,
    close: f64,
    warmup: usize,
}

/// Pressure over range in one window.
#[derive(Clone, Debug)]
struct Ratio {
    pressure: Sum,
    range: Sum,
}

type RatioNext = (Of<Sum>, Of<Sum>);

impl Ratio {
    fn new(period: usize) -> Ratio {
        Ratio { pressure: Sum::new(period), range: Sum::new(period) }
    }

    #[inline(always)]
    fn step(&self, pressure: f64, range: f64) -> (f64, RatioNext) {
        let (pressure, pressure_next) = self.pressure.step(pressure);
        let (range, range_next) = self.range.step(range);
        (pressure / range, (pressure_next, range_next))
    }

    #[inline(always)]
    fn scan(
        &mut self,
        pressure: &[f64],
        range: &[f64],
        out: &mut [f64],
        ranges: &mut [f64],
        work: &mut Work,
    ) {
        self.pressure.scan(pressure, out, work);
        self.range.scan(range, ranges, work);
        out.iter_mut().zip(ranges).for_each(|(slot, range)| *slot /= *range);
    }

    #[inline(always)]
    fn commit(&mut self, (pressure, range): RatioNext) {
        self.pressure.commit(pressure);
        self.range.commit(range);
    }
}

impl Ultimate {
    pub fn new(short: usize, middle: usize, long: usize) -> Result<Ultimate, Error> {
        Ok(Ultimate {
            short: Ratio::new(check_period("short", short)?),
            middle: Ratio::new(check_period("middle", middle)?),
            long: Ratio::new(check_period("long", long)?),
            close: f64::NAN,
            warmup: short.max(middle).max(long),
        })
    }
}

/// Written so that a close before that is not known leaves the pressure unknown.
#[inline(always)]
fn pressure(low: f64, close: f64, before: f64) -> f64 {
    close - if low < before { low } else { before }
}

#[inline(always)]
fn mean(short: f64, middle: f64, long: f64) -> f64 {
    100.0 * (4.0 * short + 2.0 * middle + long) / 7.0
}

impl Indicator<1> for Ultimate {
    type Next = (RatioNext, RatioNext, RatioNext, f64);

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], Self::Next) {
        let (pressure, range) =
            (pressure(candle.l, candle.c, self.close), candle.true_range(self.close));
        let (short, short_next) = self.short.step(pressure, range);
        let (middle, middle_next) = self.middle.step(pressure, range);
        let (long, long_next) = self.long.step(pressure, range);
        ([mean(short, middle, long)], (short_next, middle_next, long_next, candle.c))
    }

    #[inline(always)]
    fn commit(&mut self, (short, middle, long, close): Self::Next) {
        self.short.commit(short);
        self.middle.commit(middle);
        self.long.commit(long);
        self.close = close;
    }

    fn warmup(&self) -> usize {
        self.warmup
    }

    const POURS: bool = true;

    #[inline(always)]
    fn pour(&mut self, candles: &Candles<'_>, out: &mut impl Room<1>) {
        let mut work = Work::new();
        let (mut before, mut sums) = ([0.0; CHUNK + 1], [0.0; CHUNK]);
        let (mut pressures, mut ranges) = ([0.0; CHUNK], [0.0; CHUNK]);
        let (mut short, mut middle) = ([0.0; CHUNK], [0.0; CHUNK]);
        for from in (0..candles.len()).step_by(CHUNK) {
            let part = candles.slice(from, from + CHUNK);
            let n = part.len();
            before[0] = self.close;
            before[1..=n].copy_from_slice(part.closes());
            self.close = before[n];
            let (pressures, ranges) = (&mut pressures[..n], &mut ranges[..n]);
            let (h, l, c) = (&part.highs()[..n], &part.lows()[..n], &part.closes()[..n]);
            let before = &before[..n];
            for index in 0..n {
                let (h, l, c, before) = (h[index], l[index], c[index], before[index]);
                pressures[index] = pressure(l, c, before);
                ranges[index] = Candle { t: 0, o: c, h, l, c, v: 0.0 }.true_range(before);
            }
            let (short, middle, sums) = (&mut short[..n], &mut middle[..n], &mut sums[..n]);
            let [out] = out.next(n);
            self.short.scan(pressures, ranges, short, sums, &mut work);
            self.middle.scan(pressures, ranges, middle, sums, &mut work);
            self.long.scan(pressures, ranges, out, sums, &mut work);
            for ((slot, short), middle) in out.iter_mut().zip(short).zip(middle) {
                *slot = available(mean(*short, *middle, *slot));
            }
        }
    }
}

//! Ultimate oscillator: the mean of three ratios of buying pressure to true range, over `short`,
//! `middle` and `long` candles, weighing 4, 2 and 1, times 100. Buying pressure is the close less
//! the lower of the low and the close before.

use crate::block::{Block, Of, Sum, check_period};
use crate::indicator::erase;
use crate::spec::{Entry, Param};
use crate::{Candle, Error, Indicator};

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

impl Indicator<1> for Ultimate {
    type Next = (RatioNext, RatioNext, RatioNext, f64);

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], Self::Next) {
        // Written so that a close before that is not known leaves the pressure unknown.
        let floor = if candle.l < self.close { candle.l } else { self.close };
        let pressure = candle.c - floor;
        let range = candle.true_range(self.close);
        let (short, short_next) = self.short.step(pressure, range);
        let (middle, middle_next) = self.middle.step(pressure, range);
        let (long, long_next) = self.long.step(pressure, range);
        let value = 100.0 * (4.0 * short + 2.0 * middle + long) / 7.0;
        ([value], (short_next, middle_next, long_next, candle.c))
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
}

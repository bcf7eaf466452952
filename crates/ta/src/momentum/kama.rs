//! Kaufman's adaptive moving average: K = K' + s (C - K'), where s is the square of a constant
//! between 2 / (slow + 1) and 2 / (fast + 1), chosen by how straight the last `period` changes were:
//! the distance covered over the way gone.

use crate::block::{Block, Delay, Of, Sum, check_period};
use crate::indicator::erase;
use crate::spec::{Entry, Param};
use crate::{Candle, Error, Indicator};

pub(crate) const ENTRY: Entry = Entry {
    name: "kama",
    params: &[Param::period("period", 10), Param::period("fast", 2), Param::period("slow", 30)],
    outputs: &["kama"],
    build: |v| Ok(erase(Kama::new(v.period(0), v.period(1), v.period(2))?)),
};

#[derive(Clone, Debug)]
pub struct Kama {
    way: Sum,
    start: Delay,
    close: f64,
    average: f64,
    /// Candles seen, no further than the first value.
    seen: usize,
    fastest: f64,
    slowest: f64,
    warmup: usize,
}

impl Kama {
    pub fn new(period: usize, fast: usize, slow: usize) -> Result<Kama, Error> {
        check_period("period", period)?;
        check_period("fast", fast)?;
        check_period("slow", slow)?;
        Ok(Kama {
            way: Sum::new(period),
            start: Delay::new(period),
            close: f64::NAN,
            average: f64::NAN,
            seen: 0,
            fastest: 2.0 / (fast as f64 + 1.0),
            slowest: 2.0 / (slow as f64 + 1.0),
            warmup: period - 1,
        })
    }
}

impl Indicator<1> for Kama {
    type Next = (Of<Sum>, Of<Delay>, f64, f64, usize);

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], Self::Next) {
        let (start, start_next) = self.start.step(candle.c);
        let (way, way_next) = self.way.step((candle.c - self.close).abs());
        let seen_next = (self.seen + 1).min(self.warmup + 1);
        let close_next = candle.c;
        let mut kama = f64::NAN;
        if self.average.is_nan() {
            // The average starts at the close.
            if seen_next > self.warmup {
                kama = candle.c;
            }
        } else {
            let straight = if way == 0.0 { 0.0 } else { (candle.c - start).abs() / way };
            let speed = straight * (self.fastest - self.slowest) + self.slowest;
            kama = self.average + speed * speed * (candle.c - self.average);
        }
        let average_next = if kama.is_finite() { kama } else { self.average };
        ([kama], (way_next, start_next, close_next, average_next, seen_next))
    }

    #[inline(always)]
    fn commit(&mut self, (way, start, close, average, seen): Self::Next) {
        self.way.commit(way);
        self.start.commit(start);
        self.close = close;
        self.average = average;
        self.seen = seen;
    }

    fn warmup(&self) -> usize {
        self.warmup
    }
}

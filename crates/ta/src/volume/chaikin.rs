//! Chaikin oscillator: the accumulation/distribution line averaged exponentially over `fast` candles
//! less the same over `slow`.

use crate::block::{Block, Ewm, Of, fast_slow};
use crate::indicator::erase;
use crate::spec::{Entry, Param};
use crate::{Candle, Error, Indicator, Parity};

pub(crate) const ENTRY: Entry = Entry {
    name: "chaikin",
    params: &[Param::period("fast", 3), Param::period("slow", 10)],
    outputs: &["chaikin"],
    build: |v| Ok(erase(Chaikin::new(v.period(0), v.period(1))?)),
};

#[derive(Clone, Debug)]
pub struct Chaikin {
    sum: f64,
    fast: Ewm,
    slow: Ewm,
    warmup: usize,
}

impl Chaikin {
    pub fn new(fast: usize, slow: usize) -> Result<Chaikin, Error> {
        fast_slow(fast, slow)?;
        Ok(Chaikin {
            sum: 0.0,
            fast: Ewm::span(fast, Parity::Ta),
            slow: Ewm::span(slow, Parity::Ta),
            warmup: slow - 1,
        })
    }
}

impl Indicator<1> for Chaikin {
    type Next = (f64, Of<Ewm>, Of<Ewm>);

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], Self::Next) {
        let line = self.sum + candle.location() * candle.v;
        let sum_next = if line.is_finite() { line } else { self.sum };
        let (fast, fast_next) = self.fast.step(line);
        let (slow, slow_next) = self.slow.step(line);
        ([fast - slow], (sum_next, fast_next, slow_next))
    }

    #[inline(always)]
    fn commit(&mut self, (sum, fast, slow): Self::Next) {
        self.sum = sum;
        self.fast.commit(fast);
        self.slow.commit(slow);
    }

    fn warmup(&self) -> usize {
        self.warmup
    }
}

//! Awesome oscillator: the plain mean of (H + L) / 2 over `fast` candles less that over `slow`.

use crate::block::{Block, Of, Sum, fast_slow};
use crate::indicator::erase;
use crate::spec::{Entry, Param};
use crate::{Candle, Error, Indicator};

pub(crate) const ENTRY: Entry = Entry {
    name: "awesome",
    params: &[Param::period("fast", 5), Param::period("slow", 34)],
    outputs: &["ao"],
    build: |v| Ok(erase(Awesome::new(v.period(0), v.period(1))?)),
};

#[derive(Clone, Debug)]
pub struct Awesome {
    fast: Sum,
    slow: Sum,
    warmup: usize,
}

impl Awesome {
    pub fn new(fast: usize, slow: usize) -> Result<Awesome, Error> {
        fast_slow(fast, slow)?;
        Ok(Awesome { fast: Sum::new(fast), slow: Sum::new(slow), warmup: slow - 1 })
    }
}

impl Indicator<1> for Awesome {
    type Next = (Of<Sum>, Of<Sum>);

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], Self::Next) {
        let middle = 0.5 * (candle.h + candle.l);
        let (fast, fast_next) = self.fast.mean(middle);
        let (slow, slow_next) = self.slow.mean(middle);
        ([fast - slow], (fast_next, slow_next))
    }

    #[inline(always)]
    fn commit(&mut self, (fast, slow): Self::Next) {
        self.fast.commit(fast);
        self.slow.commit(slow);
    }

    fn warmup(&self) -> usize {
        self.warmup
    }
}

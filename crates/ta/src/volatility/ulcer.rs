//! Ulcer index: the root of the mean square, over `period` candles, of the fall in percent from the
//! highest close of the last `period`.

use crate::block::{Block, Highest, UpdateOf, WindowSum, check_period};
use crate::indicator::erase;
use crate::spec::{Entry, Memory, Param};
use crate::{Candle, Error, Indicator};

pub(crate) const ENTRY: Entry = Entry {
    name: "ulcer",
    params: &[Param::period("period", 14)],
    outputs: &["ui"],
    memory: |_| Memory::Decaying,
    build: |v| Ok(erase(Ulcer::new(v.period(0))?)),
};

/// Ulcer index.
#[derive(Clone, Debug)]
pub struct Ulcer {
    high: Highest,
    squares: WindowSum,
    warmup: usize,
}

impl Ulcer {
    /// A window of `period` candles.
    pub fn new(period: usize) -> Result<Ulcer, Error> {
        check_period("period", period)?;
        Ok(Ulcer {
            high: Highest::shown_after(period, 1),
            squares: WindowSum::new(period),
            warmup: period - 1,
        })
    }
}

impl Indicator<1> for Ulcer {
    type Update = (UpdateOf<Highest>, UpdateOf<WindowSum>);

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], Self::Update) {
        let (high, high_next) = self.high.step(candle.c);
        let fall = 100.0 * (candle.c - high) / high;
        let (square, squares_next) = self.squares.mean(fall * fall);
        ([square.abs().sqrt()], (high_next, squares_next))
    }

    #[inline(always)]
    fn commit(&mut self, (high, squares): Self::Update) {
        self.high.commit(high);
        self.squares.commit(squares);
    }

    fn warmup(&self) -> usize {
        self.warmup
    }
}

//! Cumulative return in percent: 100 (C / C1 - 1), C1 being the first close.

use crate::indicator::erase;
use crate::spec::{Entry, Memory};
use crate::{Candle, Indicator};

pub(crate) const ENTRY: Entry = Entry {
    name: "cumulativeReturn",
    params: &[],
    outputs: &["cum_ret"],
    memory: |_| Memory::Cumulative,
    build: |_| Ok(erase(CumulativeReturn::default())),
};

/// Cumulative return in percent.
#[derive(Clone, Debug)]
pub struct CumulativeReturn {
    first: f64,
}

impl Default for CumulativeReturn {
    fn default() -> CumulativeReturn {
        CumulativeReturn { first: f64::NAN }
    }
}

impl Indicator<1> for CumulativeReturn {
    type Update = f64;

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], Self::Update) {
        let first_next = if self.first.is_finite() { self.first } else { candle.c };
        ([(candle.c / first_next - 1.0) * 100.0], first_next)
    }

    #[inline(always)]
    fn commit(&mut self, first: Self::Update) {
        self.first = first;
    }

    fn warmup(&self) -> usize {
        0
    }
}

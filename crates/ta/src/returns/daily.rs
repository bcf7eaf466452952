//! Return in percent: 100 (C / C' - 1), C' being the close before.

use crate::indicator::erase;
use crate::spec::Entry;
use crate::{Candle, Indicator};

pub(crate) const ENTRY: Entry = Entry {
    name: "dailyReturn",
    params: &[],
    outputs: &["d_ret"],
    build: |_| Ok(erase(DailyReturn::default())),
};

#[derive(Clone, Debug)]
pub struct DailyReturn {
    close: f64,
}

impl Default for DailyReturn {
    fn default() -> DailyReturn {
        DailyReturn { close: f64::NAN }
    }
}

impl Indicator<1> for DailyReturn {
    type Next = f64;

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], Self::Next) {
        let close_next = candle.c;
        ([(candle.c / self.close - 1.0) * 100.0], close_next)
    }

    #[inline(always)]
    fn commit(&mut self, close: Self::Next) {
        self.close = close;
    }

    fn warmup(&self) -> usize {
        1
    }
}

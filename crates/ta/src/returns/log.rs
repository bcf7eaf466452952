//! Logarithmic return in percent: 100 (ln C - ln C'), C' being the close before.

use crate::indicator::erase;
use crate::spec::Entry;
use crate::{Candle, Indicator};

pub(crate) const ENTRY: Entry = Entry {
    name: "logReturn",
    params: &[],
    outputs: &["d_logret"],
    build: |_| Ok(erase(LogReturn::default())),
};

#[derive(Clone, Debug)]
pub struct LogReturn {
    log: f64,
}

impl Default for LogReturn {
    fn default() -> LogReturn {
        LogReturn { log: f64::NAN }
    }
}

impl Indicator<1> for LogReturn {
    type Next = f64;

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], Self::Next) {
        let log_next = candle.c.ln();
        ([(log_next - self.log) * 100.0], log_next)
    }

    #[inline(always)]
    fn commit(&mut self, log: Self::Next) {
        self.log = log;
    }

    fn warmup(&self) -> usize {
        1
    }
}

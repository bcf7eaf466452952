//! Width of the Bollinger bands in percent of the middle, the position of the close from the low
//! band (0) to the high band (1), and flags for a close above the high and below the low band. A
//! separate indicator, because most callers need only the bands.

use crate::block::{StdDev, StdDevUpdate, check_positive, check_window};
use crate::indicator::{erase, exceeds};
use crate::spec::{Entry, Memory, Param};
use crate::{Candle, Error, Indicator};

pub(crate) const ENTRY: Entry = Entry {
    name: "bollingerBandwidth",
    params: &[Param::period("period", 20), Param::real("stdev", 2.0)],
    outputs: &["bb_wband", "bb_pband", "bb_hind", "bb_lind"],
    memory: |_| Memory::Windowed,
    build: |v| Ok(erase(Bandwidth::new(v.period(0), v.real(1))?)),
};

/// Width of the Bollinger bands and the position of the close in them.
#[derive(Clone, Debug)]
pub struct Bandwidth {
    spread: StdDev,
    stdev: f64,
    warmup: usize,
}

impl Bandwidth {
    /// A window of `period` candles and bands `stdev` standard deviations from the mean.
    pub fn new(period: usize, stdev: f64) -> Result<Bandwidth, Error> {
        let n = check_window("period", period)?;
        let stdev = check_positive("stdev", stdev)?;
        Ok(Bandwidth { spread: StdDev::new(n), stdev, warmup: n - 1 })
    }
}

impl Indicator<4> for Bandwidth {
    type Update = StdDevUpdate;

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 4], Self::Update) {
        let ((mean, deviation), next) = self.spread.step(candle.c);
        let half = self.stdev * deviation;
        let (high, low, width) = (mean + half, mean - half, 2.0 * half);
        let (above, below) = (exceeds(candle.c - high, high), exceeds(low - candle.c, low));
        ([width / mean * 100.0, (candle.c - low) / width, above, below], next)
    }

    #[inline(always)]
    fn commit(&mut self, next: Self::Update) {
        self.spread.commit(next);
    }

    fn warmup(&self) -> usize {
        self.warmup
    }
}

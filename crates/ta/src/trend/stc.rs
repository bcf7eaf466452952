//! Schaff trend cycle: the position of MACD between its lowest and highest of `cycle` candles, from
//! 0 to 100, averaged exponentially over `smooth1`; the same transformation of the result, averaged
//! over `smooth2`.

use crate::block::{
    Block, Ewm, Highest, Lowest, UpdateOf, check_fast_slow, check_period, check_window,
};
use crate::indicator::erase;
use crate::spec::{Entry, Memory, Param};
use crate::{Candle, Error, Indicator, Parity};

pub(crate) const ENTRY: Entry = Entry {
    name: "stc",
    params: &[
        Param::period("slow", 50),
        Param::period("fast", 23),
        Param::period("cycle", 10),
        Param::period("smooth1", 3),
        Param::period("smooth2", 3),
    ],
    outputs: &["stc"],
    memory: |_| Memory::Decaying,
    build: |v| {
        Ok(erase(Stc::new(v.period(0), v.period(1), v.period(2), v.period(3), v.period(4))?))
    },
};

/// Schaff trend cycle: the position of MACD between its lowest and highest of `cycle` candles, from
/// 0 to 100, averaged exponentially over `smooth1`; the same transformation of the result, averaged
/// over `smooth2`.
#[derive(Clone, Debug)]
pub struct Stc {
    fast: Ewm,
    slow: Ewm,
    low1: Lowest,
    high1: Highest,
    smooth1: Ewm,
    low2: Lowest,
    high2: Highest,
    smooth2: Ewm,
    warmup: usize,
}

impl Stc {
    /// The periods of MACD, of the two stochastics and of their two averages.
    pub fn new(
        slow: usize,
        fast: usize,
        cycle: usize,
        smooth1: usize,
        smooth2: usize,
    ) -> Result<Stc, Error> {
        check_fast_slow(fast, slow)?;
        check_window("cycle", cycle)?;
        check_period("smooth1", smooth1)?;
        check_period("smooth2", smooth2)?;
        Ok(Stc {
            fast: Ewm::span(fast, Parity::Ta),
            slow: Ewm::span(slow, Parity::Ta),
            low1: Lowest::new(cycle),
            high1: Highest::new(cycle),
            smooth1: Ewm::span(smooth1, Parity::Ta),
            low2: Lowest::new(cycle),
            high2: Highest::new(cycle),
            smooth2: Ewm::span(smooth2, Parity::Ta),
            warmup: slow + 2 * cycle + smooth1 + smooth2 - 5,
        })
    }
}

impl Indicator<1> for Stc {
    type Update = (
        UpdateOf<Ewm>,
        UpdateOf<Ewm>,
        UpdateOf<Lowest>,
        UpdateOf<Highest>,
        UpdateOf<Ewm>,
        UpdateOf<Lowest>,
        UpdateOf<Highest>,
        UpdateOf<Ewm>,
    );

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], Self::Update) {
        let (fast, fast_next) = self.fast.step(candle.c);
        let (slow, slow_next) = self.slow.step(candle.c);
        let macd = fast - slow;
        let (low, low1_next) = self.low1.step(macd);
        let (high, high1_next) = self.high1.step(macd);
        let (once, smooth1_next) = self.smooth1.step(100.0 * (macd - low) / (high - low));
        let (low, low2_next) = self.low2.step(once);
        let (high, high2_next) = self.high2.step(once);
        let (stc, smooth2_next) = self.smooth2.step(100.0 * (once - low) / (high - low));
        (
            [stc],
            (
                fast_next,
                slow_next,
                low1_next,
                high1_next,
                smooth1_next,
                low2_next,
                high2_next,
                smooth2_next,
            ),
        )
    }

    #[inline(always)]
    fn commit(&mut self, (fast, slow, low1, high1, smooth1, low2, high2, smooth2): Self::Update) {
        self.fast.commit(fast);
        self.slow.commit(slow);
        self.low1.commit(low1);
        self.high1.commit(high1);
        self.smooth1.commit(smooth1);
        self.low2.commit(low2);
        self.high2.commit(high2);
        self.smooth2.commit(smooth2);
    }

    fn warmup(&self) -> usize {
        self.warmup
    }
}

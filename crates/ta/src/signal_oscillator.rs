//! The indicator type behind MACD, PPO and PVO: an [`Oscillator`] over the close or the volume.

use crate::block::Oscillator;
use crate::indicator::OutputSink;
use crate::spec::Param;
use crate::{Candle, Candles, Error, Indicator, Parity};

/// The parameters of all three indicators.
pub(crate) const PARAMS: &[Param] = &[
    Param::period("fast", 12),
    Param::period("slow", 26),
    Param::period("signal", 9),
    Param::parity(),
];

/// A line from a fast and a slow exponential average, its signal and the histogram between them.
///
/// `PERCENT` makes the line 100 (fast - slow) / slow instead of fast - slow; `OF_VOLUME` averages
/// the volume instead of the close. Both are constants, so each indicator has loops of its own.
#[derive(Clone, Debug)]
pub struct SignalOscillator<const PERCENT: bool, const OF_VOLUME: bool>(Oscillator<PERCENT>);

impl<const PERCENT: bool, const OF_VOLUME: bool> SignalOscillator<PERCENT, OF_VOLUME> {
    /// Averages over `fast` and `slow` candles, and a signal over `signal` values of the line.
    /// Refuses a period outside 1 to `PERIOD_MAX`, and `fast` that is not below `slow`.
    pub fn new(fast: usize, slow: usize, signal: usize, parity: Parity) -> Result<Self, Error> {
        Ok(Self(Oscillator::new(fast, slow, signal, parity)?))
    }

    #[inline(always)]
    fn input(candle: &Candle) -> f64 {
        if OF_VOLUME { candle.v } else { candle.c }
    }
}

impl<const PERCENT: bool, const OF_VOLUME: bool> Indicator<3>
    for SignalOscillator<PERCENT, OF_VOLUME>
{
    type Update = Oscillator<PERCENT>;

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 3], Self::Update) {
        let mut next = self.0.clone();
        (next.push(Self::input(candle)), next)
    }

    #[inline(always)]
    fn commit(&mut self, next: Self::Update) {
        self.0 = next;
    }

    #[inline(always)]
    fn update(&mut self, candle: &Candle) -> [f64; 3] {
        self.0.push(Self::input(candle))
    }

    fn warmup(&self) -> usize {
        self.0.warmup()
    }

    const HAS_BATCH: bool = true;

    #[inline(always)]
    fn run_batch(&mut self, candles: &Candles<'_>, out: &mut impl OutputSink<3>) {
        let inputs = if OF_VOLUME { candles.volumes() } else { candles.closes() };
        self.0.run_batch(inputs, out);
    }
}

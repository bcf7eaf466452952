//! Percentage volume oscillator: the line is 100 (fast - slow) / slow, of exponential averages of the
//! volume; the signal is an exponential average of the line; hist = line - signal.

use crate::block::Oscillator;
use crate::indicator::{OutputSink, erase};
use crate::spec::{Entry, Memory, Param};
use crate::{Candle, Candles, Error, Indicator, Parity};

pub(crate) const ENTRY: Entry = Entry {
    name: "pvo",
    params: &[
        Param::period("fast", 12),
        Param::period("slow", 26),
        Param::period("signal", 9),
        Param::parity(),
    ],
    outputs: &["pvo", "pvo_signal", "pvo_hist"],
    memory: |_| Memory::Decaying,
    build: |v| Ok(erase(Pvo::new(v.period(0), v.period(1), v.period(2), v.parity(3))?)),
};

#[derive(Clone, Debug)]
pub struct Pvo(Oscillator<true>);

impl Pvo {
    pub fn new(fast: usize, slow: usize, signal: usize, parity: Parity) -> Result<Pvo, Error> {
        Ok(Pvo(Oscillator::new(fast, slow, signal, parity)?))
    }
}

impl Indicator<3> for Pvo {
    type Next = Oscillator<true>;

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 3], Self::Next) {
        let mut next = self.0.clone();
        (next.push(candle.v), next)
    }

    #[inline(always)]
    fn commit(&mut self, next: Self::Next) {
        self.0 = next;
    }

    #[inline(always)]
    fn update(&mut self, candle: &Candle) -> [f64; 3] {
        self.0.push(candle.v)
    }

    fn warmup(&self) -> usize {
        self.0.warmup()
    }

    const HAS_BATCH: bool = true;

    #[inline(always)]
    fn run_batch(&mut self, candles: &Candles<'_>, out: &mut impl OutputSink<3>) {
        self.0.run_batch(candles.volumes(), out);
    }
}

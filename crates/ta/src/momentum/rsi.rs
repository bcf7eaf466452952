//! Relative strength index: RSI = 100 - 100 / (1 + G / L), where G and L are Wilder averages of
//! the gains and of the losses of the close; 100 where there are no losses.
//!
//! `ta` counts the first candle as neither gain nor loss; TA-Lib leaves it out and starts with
//! plain means.

use crate::block::{Block, CHUNK, Ewm, UpdateOf, check_period};
use crate::indicator::{OutputSink, erase, finite, finite_or_nan};
use crate::spec::{Entry, Memory, Param};
use crate::{Candle, Candles, Error, Indicator, Parity};

pub(crate) const ENTRY: Entry = Entry {
    name: "rsi",
    params: &[Param::period("period", 14), Param::parity()],
    outputs: &["rsi"],
    memory: |_| Memory::Decaying,
    build: |v| Ok(erase(Rsi::new(v.period(0), v.parity(1))?)),
};

/// Relative strength index.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Rsi {
    gain: Ewm,
    loss: Ewm,
    close: f64,
    parity: Parity,
    warmup: usize,
    /// Whether both averages are steady.
    steady: bool,
}

impl Rsi {
    /// A window of `period` candles.
    pub fn new(period: usize, parity: Parity) -> Result<Rsi, Error> {
        let n = check_period("period", period)?;
        let average = Ewm::wilder(n, parity);
        let warmup = if parity == Parity::TaLib { n } else { n - 1 };
        Ok(Rsi {
            gain: average.clone(),
            loss: average,
            close: f64::NAN,
            parity,
            warmup,
            steady: false,
        })
    }

    #[inline(always)]
    pub(crate) fn step_close(&self, close: f64) -> (f64, (UpdateOf<Ewm>, UpdateOf<Ewm>, f64)) {
        let change = close - self.close;
        let (up, down) = self.split(change);
        let (gain, gain_next) = self.gain.step(up);
        let (loss, loss_next) = self.loss.step(down);
        (self.strength(gain, loss), (gain_next, loss_next, close))
    }

    /// A NaN change counts as 0 for `ta` and is skipped by TA-Lib.
    #[inline(always)]
    fn split(&self, change: f64) -> (f64, f64) {
        if self.parity == Parity::TaLib && change.is_nan() {
            return (change, change);
        }
        (if change > 0.0 { change } else { 0.0 }, if change < 0.0 { -change } else { 0.0 })
    }

    #[inline(always)]
    fn strength(&self, gain: f64, loss: f64) -> f64 {
        // Equal to 100 - 100 / (1 + gain / loss), with one division less.
        let value = 100.0 * gain / (gain + loss);
        // TA-Lib gives 0 when gain and loss are both 0.
        let still = self.parity == Parity::TaLib && gain == 0.0;
        let lossless = if still { 0.0 } else { 100.0 };
        if loss == 0.0 { lossless } else { value }
    }
}

impl Rsi {
    #[cold]
    #[inline(never)]
    fn push_unsteady(mut self, close: f64) -> (f64, Rsi) {
        let (value, next) = self.step_close(close);
        self.commit(next);
        self.steady = self.gain.is_steady() && self.loss.is_steady();
        (finite_or_nan(value), self)
    }
}

impl Indicator<1> for Rsi {
    type Update = (UpdateOf<Ewm>, UpdateOf<Ewm>, f64);

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], Self::Update) {
        let (value, next) = self.step_close(candle.c);
        ([value], next)
    }

    #[inline(always)]
    fn commit(&mut self, (gain, loss, close): Self::Update) {
        self.gain.commit(gain);
        self.loss.commit(loss);
        self.close = close;
    }

    #[inline(always)]
    fn update(&mut self, candle: &Candle) -> [f64; 1] {
        let change = candle.c - self.close;
        if !(finite(change) & self.steady) {
            // By value: a reference would force the averages of the loop into memory.
            let (value, state) = self.clone().push_unsteady(candle.c);
            *self = state;
            return [value];
        }
        let up = if change > 0.0 { change } else { 0.0 };
        let (gain, loss) = (self.gain.next_mean(up), self.loss.next_mean(up - change));
        self.gain.set(gain);
        self.loss.set(loss);
        self.close = candle.c;
        [finite_or_nan(self.strength(gain, loss))]
    }

    fn warmup(&self) -> usize {
        self.warmup
    }

    const HAS_BATCH: bool = true;

    #[inline(always)]
    fn run_batch(&mut self, candles: &Candles<'_>, out: &mut impl OutputSink<1>) {
        let (mut up, mut down) = ([0.0; CHUNK], [0.0; CHUNK]);
        let mut loss = [0.0; CHUNK];
        for closes in candles.closes().chunks(CHUNK) {
            let len = closes.len();
            let ([out], loss) = (out.next(len), &mut loss[..len]);
            (up[0], down[0]) = self.split(closes[0] - self.close);
            for (index, pair) in closes.windows(2).enumerate() {
                (up[index + 1], down[index + 1]) = self.split(pair[1] - pair[0]);
            }
            self.close = closes[len - 1];
            self.gain.scan(&up[..len], out);
            self.loss.scan(&down[..len], loss);
            for (slot, loss) in out.iter_mut().zip(&*loss) {
                *slot = finite_or_nan(self.strength(*slot, *loss));
            }
        }
        self.steady = self.gain.is_steady() && self.loss.is_steady();
    }
}

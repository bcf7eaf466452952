//! Relative strength index: RSI = 100 - 100 / (1 + G / L), where G and L are Wilder averages of
//! the gains and of the losses of the close; 100 where there are no losses.
//!
//! `ta` counts the first candle as neither gain nor loss; TA-Lib leaves it out and starts with
//! plain means.

use std::hint::cold_path;

use crate::block::{Block, CHUNK, Ewm, Of, check_period};
use crate::indicator::{available, erase, finite, shortest};
use crate::spec::{Entry, Param};
use crate::{Candle, Candles, Error, Indicator, Parity};

pub(crate) const ENTRY: Entry = Entry {
    name: "rsi",
    params: &[Param::period("period", 14), Param::parity()],
    outputs: &["rsi"],
    build: |v| Ok(erase(Rsi::new(v.period(0), v.parity(1))?)),
};

#[derive(Clone, Debug)]
pub struct Rsi {
    gain: Ewm,
    loss: Ewm,
    close: f64,
    parity: Parity,
    warmup: usize,
}

impl Rsi {
    pub fn new(period: usize, parity: Parity) -> Result<Rsi, Error> {
        let n = check_period("period", period)?;
        let average = Ewm::wilder(n, parity);
        let warmup = if parity == Parity::TaLib { n } else { n - 1 };
        Ok(Rsi { gain: average.clone(), loss: average, close: f64::NAN, parity, warmup })
    }

    #[inline(always)]
    pub(crate) fn step_close(&self, close: f64) -> (f64, (Of<Ewm>, Of<Ewm>, f64)) {
        let change = close - self.close;
        let (up, down) = self.split(change);
        let (gain, gain_next) = self.gain.step(up);
        let (loss, loss_next) = self.loss.step(down);
        (self.strength(gain, loss), (gain_next, loss_next, close))
    }

    /// A change that is not known is no move for `ta` and nothing at all for TA-Lib.
    #[inline(always)]
    fn split(&self, change: f64) -> (f64, f64) {
        if self.parity == Parity::TaLib && change.is_nan() {
            return (change, change);
        }
        (if change > 0.0 { change } else { 0.0 }, if change < 0.0 { -change } else { 0.0 })
    }

    #[inline(always)]
    fn strength(&self, gain: f64, loss: f64) -> f64 {
        // The same as 100 - 100 / (1 + gain / loss) with one division less.
        let value = 100.0 * gain / (gain + loss);
        // TA-Lib calls a market that does not move at all 0.
        let still = self.parity == Parity::TaLib && gain == 0.0;
        let lossless = if still { 0.0 } else { 100.0 };
        if loss == 0.0 { lossless } else { value }
    }
}

impl Indicator<1> for Rsi {
    type Next = (Of<Ewm>, Of<Ewm>, f64);

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], Self::Next) {
        let (value, next) = self.step_close(candle.c);
        ([value], next)
    }

    #[inline(always)]
    fn commit(&mut self, (gain, loss, close): Self::Next) {
        self.gain.commit(gain);
        self.loss.commit(loss);
        self.close = close;
    }

    #[inline(always)]
    fn update(&mut self, candle: &Candle) -> [f64; 1] {
        let change = candle.c - self.close;
        if !(finite(change) && self.gain.is_steady() && self.loss.is_steady()) {
            cold_path();
            let (values, next) = self.step(candle);
            self.commit(next);
            return values.map(available);
        }
        let (up, down) = self.split(change);
        let (gain, loss) = (self.gain.push_steady(up), self.loss.push_steady(down));
        self.close = candle.c;
        [available(self.strength(gain, loss))]
    }

    fn warmup(&self) -> usize {
        self.warmup
    }

    fn extend(&mut self, candles: &Candles<'_>, out: [&mut [f64]; 1]) {
        let len = shortest(candles, &out);
        let [out] = out;
        let (mut up, mut down) = ([0.0; CHUNK], [0.0; CHUNK]);
        let (mut gain, mut loss) = ([0.0; CHUNK], [0.0; CHUNK]);
        for (closes, out) in candles.closes()[..len].chunks(CHUNK).zip(out.chunks_mut(CHUNK)) {
            let n = closes.len();
            (up[0], down[0]) = self.split(closes[0] - self.close);
            for (index, pair) in closes.windows(2).enumerate() {
                (up[index + 1], down[index + 1]) = self.split(pair[1] - pair[0]);
            }
            self.close = closes[n - 1];
            self.gain.scan(&up[..n], &mut gain[..n]);
            self.loss.scan(&down[..n], &mut loss[..n]);
            for ((slot, &gain), &loss) in out.iter_mut().zip(&gain).zip(&loss).take(n) {
                *slot = available(self.strength(gain, loss));
            }
        }
    }
}

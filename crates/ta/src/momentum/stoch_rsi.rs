//! Stochastic RSI, from 0 to 1: S = (RSI - min RSI) / (max RSI - min RSI) over as many candles as
//! the RSI has; K is the plain mean of `k` values of S, D the plain mean of `d` values of K.

use super::Rsi;
use crate::block::doubling::{CHUNK, WindowBuffers};
use crate::block::{Block, Highest, Lowest, UpdateOf, WindowSum, check_period, check_window};
use crate::indicator::{erase, finite_or_nan};
use crate::spec::{Entry, Memory, Param};
use crate::{Candle, Candles, Error, Indicator, OutputSink, Parity};

pub(crate) const ENTRY: Entry = Entry {
    name: "stochRsi",
    params: &[
        Param::period("rsi", 14),
        Param::period("k", 3),
        Param::period("d", 3),
        Param::parity(),
    ],
    outputs: &["stochrsi", "stochrsi_k", "stochrsi_d"],
    memory: |_| Memory::Decaying,
    build: |v| Ok(erase(StochRsi::new(v.period(0), v.period(1), v.period(2), v.parity(3))?)),
};

/// A range of RSI (0 to 100) below this counts as no movement.
const STILL: f64 = 1e-10;

/// A constant close keeps the RSI constant except for rounding.
#[inline(always)]
fn position(rsi: f64, high: f64, low: f64) -> f64 {
    let range = high - low;
    if range > STILL { (rsi - low) / range } else { f64::NAN }
}

/// Stochastic RSI.
#[derive(Clone, Debug)]
pub struct StochRsi {
    rsi: Rsi,
    high: Highest,
    low: Lowest,
    k: WindowSum,
    d: WindowSum,
    warmup: usize,
}

impl StochRsi {
    /// An RSI over `rsi` candles, %K over `k` and %D over `d` values.
    pub fn new(rsi: usize, k: usize, d: usize, parity: Parity) -> Result<StochRsi, Error> {
        check_window("rsi", rsi)?;
        check_period("k", k)?;
        check_period("d", d)?;
        let inner = Rsi::new(rsi, parity)?;
        Ok(StochRsi {
            warmup: inner.warmup() + rsi + k + d - 3,
            rsi: inner,
            high: Highest::new(rsi),
            low: Lowest::new(rsi),
            k: WindowSum::new(k),
            d: WindowSum::new(d),
        })
    }
}

impl Indicator<3> for StochRsi {
    type Update = (
        <Rsi as Indicator<1>>::Update,
        UpdateOf<Highest>,
        UpdateOf<Lowest>,
        UpdateOf<WindowSum>,
        UpdateOf<WindowSum>,
    );

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 3], Self::Update) {
        let (rsi, rsi_next) = self.rsi.step_close(candle.c);
        let (high, high_next) = self.high.step(rsi);
        let (low, low_next) = self.low.step(rsi);
        let raw = position(rsi, high, low);
        let (k, k_next) = self.k.mean(raw);
        let (d, d_next) = self.d.mean(k);
        ([raw, k, d], (rsi_next, high_next, low_next, k_next, d_next))
    }

    #[inline(always)]
    fn commit(&mut self, (rsi, high, low, k, d): Self::Update) {
        self.rsi.commit(rsi);
        self.high.commit(high);
        self.low.commit(low);
        self.k.commit(k);
        self.d.commit(d);
    }

    fn warmup(&self) -> usize {
        self.warmup
    }

    const HAS_BATCH: bool = true;

    #[inline(always)]
    fn run_batch(&mut self, candles: &Candles<'_>, out: &mut impl OutputSink<3>) {
        let (mut buffers, mut rsi) = (WindowBuffers::new(), [0.0; CHUNK]);
        let (mut high, mut low) = ([0.0; CHUNK], [0.0; CHUNK]);
        for from in (0..candles.len()).step_by(CHUNK) {
            let part = candles.slice(from, from + CHUNK);
            let rsi = &mut rsi[..part.len()];
            let [raws, ks, ds] = out.next(part.len());
            self.rsi.extend(&part, [&mut *rsi]);
            let (high, low) = (&mut high[..part.len()], &mut low[..part.len()]);
            self.high.scan(rsi, high, &mut buffers);
            self.low.scan(rsi, low, &mut buffers);
            for (((raw, rsi), high), low) in raws.iter_mut().zip(&*rsi).zip(high).zip(low) {
                *raw = finite_or_nan(position(*rsi, *high, *low));
            }
            self.k.scan_means(raws, ks, &mut buffers);
            self.d.scan_means(ks, ds, &mut buffers);
        }
    }
}

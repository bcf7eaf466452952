//! Stochastic oscillator: %K = 100 (C - L) / (H - L) with the highest high and lowest low of `k`
//! candles; %D is the plain mean of `d` values of %K.
//!
//! With `smooth` and `d` it is the slow form: %K is first averaged over `smooth` values, as in
//! 14/3/3. `smooth` without `d` is the name that `ta` uses for `d`.

use std::hint::cold_path;

use crate::block::doubling::{CHUNK, WindowBuffers};
use crate::block::{Block, Highest, Lowest, UpdateOf, WindowSum, check_period};
use crate::indicator::{erase, finite, finite_or_nan};
use crate::spec::{Entry, Memory, Param};
use crate::{Candle, Candles, Error, Indicator, OutputSink};

pub(crate) const ENTRY: Entry = Entry {
    name: "stoch",
    params: &[Param::period("k", 14), Param::optional("d"), Param::optional("smooth")],
    outputs: &["stoch_k", "stoch_d"],
    memory: |_| Memory::Windowed,
    build: |v| {
        let (smooth, d) = match (v.optional(1), v.optional(2)) {
            (Some(d), Some(smooth)) => (smooth, d),
            (Some(d), None) | (None, Some(d)) => (1, d),
            (None, None) => (1, 3),
        };
        Ok(erase(Stoch::new(v.period(0), smooth, d)?))
    },
};

/// Stochastic oscillator.
#[derive(Clone, Debug)]
pub struct Stoch {
    high: Highest,
    low: Lowest,
    /// `None` when %K is not smoothed.
    slow: Option<WindowSum>,
    mean: WindowSum,
    warmup: usize,
}

impl Stoch {
    /// %K over `k` candles, smoothed over `smooth` (1 leaves it as it is), and %D over `d`.
    pub fn new(k: usize, smooth: usize, d: usize) -> Result<Stoch, Error> {
        check_period("k", k)?;
        check_period("smooth", smooth)?;
        check_period("d", d)?;
        Ok(Stoch {
            high: Highest::new(k),
            low: Lowest::new(k),
            slow: (smooth > 1).then(|| WindowSum::new(smooth)),
            mean: WindowSum::new(d),
            warmup: k + smooth + d - 3,
        })
    }
}

impl Indicator<2> for Stoch {
    type Update =
        (UpdateOf<Highest>, UpdateOf<Lowest>, Option<UpdateOf<WindowSum>>, UpdateOf<WindowSum>);

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 2], Self::Update) {
        let (high, high_next) = self.high.step(candle.h);
        let (low, low_next) = self.low.step(candle.l);
        let mut k = 100.0 * (candle.c - low) / (high - low);
        let mut slow_next = None;
        if let Some(slow) = &self.slow {
            let (mean, next) = slow.mean(k);
            (k, slow_next) = (mean, Some(next));
        }
        let (d, mean_next) = self.mean.mean(k);
        ([k, d], (high_next, low_next, slow_next, mean_next))
    }

    #[inline(always)]
    fn commit(&mut self, (high, low, slow, mean): Self::Update) {
        self.high.commit(high);
        self.low.commit(low);
        if let (Some(sum), Some(next)) = (&mut self.slow, slow) {
            sum.commit(next);
        }
        self.mean.commit(mean);
    }

    #[inline(always)]
    fn update(&mut self, candle: &Candle) -> [f64; 2] {
        let Candle { h, l, c, .. } = *candle;
        if !(finite(h - l) && self.high.is_full() && self.low.is_full()) {
            cold_path();
            let (values, next) = self.step(candle);
            self.commit(next);
            return values.map(finite_or_nan);
        }
        let (high, low) = (self.high.roll(h), self.low.roll(l));
        let mut k = 100.0 * (c - low) / (high - low);
        if let Some(slow) = &mut self.slow {
            k = slow.push_mean(k);
        }
        [k, self.mean.push_mean(k)].map(finite_or_nan)
    }

    fn warmup(&self) -> usize {
        self.warmup
    }

    const HAS_BATCH: bool = true;

    #[inline(always)]
    fn run_batch(&mut self, candles: &Candles<'_>, out: &mut impl OutputSink<2>) {
        let (mut buffers, mut high, mut low) = (WindowBuffers::new(), [0.0; CHUNK], [0.0; CHUNK]);
        for from in (0..candles.len()).step_by(CHUNK) {
            let part = candles.slice(from, from + CHUNK);
            let (high, low) = (&mut high[..part.len()], &mut low[..part.len()]);
            self.high.scan(part.highs(), high, &mut buffers);
            self.low.scan(part.lows(), low, &mut buffers);
            let [ks, ds] = out.next(part.len());
            for (((k, close), high), low) in ks.iter_mut().zip(part.closes()).zip(high).zip(low) {
                *k = finite_or_nan(100.0 * (close - *low) / (*high - *low));
            }
            if let Some(slow) = &mut self.slow {
                ds.copy_from_slice(ks);
                slow.scan_means(ds, ks, &mut buffers);
            }
            self.mean.scan_means(ks, ds, &mut buffers);
        }
    }
}

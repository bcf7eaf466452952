//! Stochastic oscillator: %K = 100 (C - L) / (H - L) with the highest high and lowest low of `k`
//! candles; %D is the plain mean of `smooth` values of %K. `d` is another name for `smooth`.

use crate::block::slide::{CHUNK, Work};
use crate::block::{Block, Highest, Lowest, Of, Sum, check_period};
use crate::indicator::{available, erase};
use crate::spec::{Entry, Param};
use crate::{Candle, Candles, Error, Indicator, Room};

pub(crate) const ENTRY: Entry = Entry {
    name: "stoch",
    params: &[Param::period("k", 14), Param::optional("d"), Param::optional("smooth")],
    outputs: &["stoch_k", "stoch_d"],
    build: |v| {
        let smooth = v.optional(2).or(v.optional(1)).unwrap_or(3);
        Ok(erase(Stoch::new(v.period(0), smooth)?))
    },
};

#[derive(Clone, Debug)]
pub struct Stoch {
    high: Highest,
    low: Lowest,
    smooth: Sum,
    warmup: usize,
}

impl Stoch {
    pub fn new(k: usize, smooth: usize) -> Result<Stoch, Error> {
        check_period("k", k)?;
        check_period("smooth", smooth)?;
        Ok(Stoch {
            high: Highest::new(k),
            low: Lowest::new(k),
            smooth: Sum::new(smooth),
            warmup: k + smooth - 2,
        })
    }
}

impl Indicator<2> for Stoch {
    type Next = (Of<Highest>, Of<Lowest>, Of<Sum>);

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 2], Self::Next) {
        let (high, high_next) = self.high.step(candle.h);
        let (low, low_next) = self.low.step(candle.l);
        let k = 100.0 * (candle.c - low) / (high - low);
        let (d, smooth_next) = self.smooth.mean(k);
        ([k, d], (high_next, low_next, smooth_next))
    }

    #[inline(always)]
    fn commit(&mut self, (high, low, smooth): Self::Next) {
        self.high.commit(high);
        self.low.commit(low);
        self.smooth.commit(smooth);
    }

    fn warmup(&self) -> usize {
        self.warmup
    }

    const POURS: bool = true;

    #[inline(always)]
    fn pour(&mut self, candles: &Candles<'_>, out: &mut impl Room<2>) {
        let (mut work, mut high, mut low) = (Work::new(), [0.0; CHUNK], [0.0; CHUNK]);
        for from in (0..candles.len()).step_by(CHUNK) {
            let part = candles.slice(from, from + CHUNK);
            let [ks, ds] = out.next(part.len());
            let (high, low) = (&mut high[..part.len()], &mut low[..part.len()]);
            self.high.scan(part.highs(), high, &mut work);
            self.low.scan(part.lows(), low, &mut work);
            for (((k, close), high), low) in ks.iter_mut().zip(part.closes()).zip(high).zip(low) {
                *k = available(100.0 * (close - *low) / (*high - *low));
            }
            self.smooth.scan_means(ks, ds, &mut work);
        }
    }
}

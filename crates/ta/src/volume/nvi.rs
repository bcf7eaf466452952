//! Negative volume index: from 1000, multiplied by the relative close on candles whose volume is
//! below that of the candle before.

use crate::block::CHUNK;
use crate::indicator::{OutputSink, erase, finite_or_nan};
use crate::spec::{Entry, Memory};
use crate::{Candle, Candles, Indicator};

pub(crate) const ENTRY: Entry = Entry {
    name: "nvi",
    params: &[],
    outputs: &["nvi"],
    memory: |_| Memory::Cumulative,
    build: |_| Ok(erase(Nvi::default())),
};

/// Negative volume index.
#[derive(Clone, Debug)]
pub struct Nvi {
    index: f64,
    close: f64,
    volume: f64,
}

impl Default for Nvi {
    fn default() -> Nvi {
        Nvi { index: 1000.0, close: f64::NAN, volume: f64::NAN }
    }
}

impl Indicator<1> for Nvi {
    type Update = (f64, f64, f64);

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], Self::Update) {
        let moved = self.index * (candle.c / self.close);
        let counts = self.volume > candle.v && moved.is_finite();
        let index_next = if counts { moved } else { self.index };
        let (close_next, volume_next) = (candle.c, candle.v);
        ([index_next], (index_next, close_next, volume_next))
    }

    #[inline(always)]
    fn commit(&mut self, (index, close, volume): Self::Update) {
        self.index = index;
        self.close = close;
        self.volume = volume;
    }

    fn warmup(&self) -> usize {
        0
    }

    const HAS_BATCH: bool = true;

    #[inline(always)]
    fn run_batch(&mut self, candles: &Candles<'_>, out: &mut impl OutputSink<1>) {
        let mut factors = [1.0; CHUNK];
        for from in (0..candles.len()).step_by(CHUNK) {
            let part = candles.slice(from, from + CHUNK);
            let (c, v) = (part.closes(), part.volumes());
            let ([out], factors) = (out.next(part.len()), &mut factors[..part.len()]);
            factors[0] = factor(v[0], self.volume, c[0], self.close);
            let pairs = v.windows(2).zip(c.windows(2));
            for (slot, (v, c)) in factors[1..].iter_mut().zip(pairs) {
                *slot = factor(v[1], v[0], c[1], c[0]);
            }
            if !(SAFE_INDEX.contains(&self.index) && factors_in_range(factors)) {
                for (slot, candle) in out.iter_mut().zip(part.iter()) {
                    let [index] = self.update(&candle);
                    *slot = finite_or_nan(index);
                }
                continue;
            }
            self.index = products(self.index, factors, out);
            (self.close, self.volume) = (c[c.len() - 1], v[v.len() - 1]);
        }
    }
}

/// Within this range a chunk of factors from 0.5 to 2 keeps the index finite and normal.
const SAFE_INDEX: std::ops::RangeInclusive<f64> = 1e-200..=1e200;

/// The factor of one candle. A factor that is NaN, infinite or 0 also fails `factors_in_range`.
#[inline(always)]
fn factor(v: f64, v_before: f64, c: f64, c_before: f64) -> f64 {
    if v_before > v { c / c_before } else { 1.0 }
}

/// Whether all factors are from 0.5 to 2.
#[inline(always)]
fn factors_in_range(factors: &[f64]) -> bool {
    let odd: u64 = factors.iter().map(|x| u64::from(!(0.5..=2.0).contains(x))).sum();
    odd == 0
}

/// Writes running products of `factors` from `start` into `out`, of the same length, four steps per
/// iteration to shorten the dependency chain; returns the last product.
#[inline(always)]
fn products(start: f64, factors: &[f64], out: &mut [f64]) -> f64 {
    let mut index = start;
    let (factors_four, factors_rest) = factors.as_chunks::<4>();
    let (out_four, out_rest) = out.as_chunks_mut::<4>();
    for (f, slot) in factors_four.iter().zip(out_four) {
        let two = f[0] * f[1];
        let (three, four) = (two * f[2], two * (f[2] * f[3]));
        *slot = [index * f[0], index * two, index * three, index * four];
        index = slot[3];
    }
    for (f, slot) in factors_rest.iter().zip(out_rest) {
        index *= f;
        *slot = index;
    }
    index
}

//! On-balance volume: the running sum of the volume, taken negative where the close fell. As in
//! `ta`, a close that did not move counts as a rise.

use crate::block::{Block, CHUNK, Of, Total};
use crate::indicator::{Room, erase};
use crate::spec::Entry;
use crate::{Candle, Candles, Indicator};

pub(crate) const ENTRY: Entry =
    Entry { name: "obv", params: &[], outputs: &["obv"], build: |_| Ok(erase(Obv::default())) };

#[derive(Clone, Debug)]
pub struct Obv {
    sum: Total,
    close: f64,
}

impl Default for Obv {
    fn default() -> Obv {
        Obv { sum: Total::default(), close: f64::NAN }
    }
}

impl Indicator<1> for Obv {
    type Next = (Of<Total>, f64);

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], Self::Next) {
        let (obv, sum_next) = self.sum.step(change(candle.c, candle.v, self.close));
        let close_next = candle.c;
        ([obv], (sum_next, close_next))
    }

    #[inline(always)]
    fn commit(&mut self, (sum, close): Self::Next) {
        self.sum.commit(sum);
        self.close = close;
    }

    fn warmup(&self) -> usize {
        0
    }

    const POURS: bool = true;

    #[inline(always)]
    fn pour(&mut self, candles: &Candles<'_>, out: &mut impl Room<1>) {
        let mut changes = [0.0; CHUNK];
        for (c, v) in candles.closes().chunks(CHUNK).zip(candles.volumes().chunks(CHUNK)) {
            let ([out], changes) = (out.next(c.len()), &mut changes[..c.len()]);
            changes[0] = change(c[0], v[0], self.close);
            for (slot, (pair, v)) in changes[1..].iter_mut().zip(c.windows(2).zip(&v[1..])) {
                *slot = change(pair[1], *v, pair[0]);
            }
            self.close = c[c.len() - 1];
            self.sum.scan(changes, out);
        }
    }
}

#[inline(always)]
fn change(c: f64, v: f64, before: f64) -> f64 {
    if c < before { -v } else { v }
}

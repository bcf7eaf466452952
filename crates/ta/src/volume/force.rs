//! Force index: an exponential average of the change of the close times the volume.
//!
//! `ta` starts at the first product, TA-Lib at the mean of the first `period` products.

use crate::block::{Block, CHUNK, Ewm, UpdateOf, check_period};
use crate::indicator::erase;
use crate::spec::{Entry, Memory, Param};
use crate::{Candle, Candles, Error, Indicator, OutputSink, Parity};

pub(crate) const ENTRY: Entry = Entry {
    name: "force",
    params: &[Param::period("period", 13), Param::parity()],
    outputs: &["fi"],
    memory: |_| Memory::Decaying,
    build: |v| Ok(erase(Force::new(v.period(0), v.parity(1))?)),
};

/// Force index.
#[derive(Clone, Debug)]
pub struct Force {
    average: Ewm,
    close: f64,
    warmup: usize,
}

impl Force {
    /// A window of `period` candles.
    pub fn new(period: usize, parity: Parity) -> Result<Force, Error> {
        check_period("period", period)?;
        Ok(Force { average: Ewm::span(period, parity), close: f64::NAN, warmup: period })
    }
}

impl Indicator<1> for Force {
    type Update = (UpdateOf<Ewm>, f64);

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], Self::Update) {
        let (fi, average_next) = self.average.step(force(candle.c, candle.v, self.close));
        let close_next = candle.c;
        ([fi], (average_next, close_next))
    }

    #[inline(always)]
    fn commit(&mut self, (average, close): Self::Update) {
        self.average.commit(average);
        self.close = close;
    }

    fn warmup(&self) -> usize {
        self.warmup
    }

    const HAS_BATCH: bool = true;

    #[inline(always)]
    fn run_batch(&mut self, candles: &Candles<'_>, out: &mut impl OutputSink<1>) {
        let mut forces = [0.0; CHUNK];
        for (c, v) in candles.closes().chunks(CHUNK).zip(candles.volumes().chunks(CHUNK)) {
            let ([out], forces) = (out.next(c.len()), &mut forces[..c.len()]);
            forces[0] = force(c[0], v[0], self.close);
            for (slot, (pair, v)) in forces[1..].iter_mut().zip(c.windows(2).zip(&v[1..])) {
                *slot = force(pair[1], *v, pair[0]);
            }
            self.close = c[c.len() - 1];
            self.average.scan(forces, out);
        }
    }
}

#[inline(always)]
fn force(c: f64, v: f64, before: f64) -> f64 {
    (c - before) * v
}

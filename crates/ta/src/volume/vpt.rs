//! Volume-price trend: the running sum of the volume times the relative change of the close; with
//! `smoothing`, the plain mean of so many sums.

use super::running::{Flow, Running};
use crate::block::{Block, Of, Sum, check_period};
use crate::indicator::erase;
use crate::spec::{Entry, Memory, Param};
use crate::{Candle, Error, Indicator};

pub(crate) const ENTRY: Entry = Entry {
    name: "vpt",
    params: &[Param::optional("smoothing")],
    outputs: &["vpt"],
    memory: |_| Memory::Cumulative,
    build: |v| match v.optional(0) {
        None => Ok(erase(Vpt::default())),
        Some(smoothing) => Ok(erase(SmoothVpt::new(smoothing)?)),
    },
};

pub type Vpt = Running<Trend>;

/// The volume times the relative change of the close.
#[derive(Clone, Debug)]
pub struct Trend;

impl Flow for Trend {
    const WARMUP: usize = 1;

    #[inline(always)]
    fn change(close: f64, volume: f64, before: f64) -> f64 {
        (close / before - 1.0) * volume
    }
}

/// Its mean over the last candles.
#[derive(Clone, Debug)]
pub struct SmoothVpt {
    vpt: Vpt,
    mean: Sum,
    warmup: usize,
}

impl SmoothVpt {
    pub fn new(smoothing: usize) -> Result<SmoothVpt, Error> {
        let n = check_period("smoothing", smoothing)?;
        Ok(SmoothVpt { vpt: Vpt::default(), mean: Sum::new(n), warmup: n })
    }
}

impl Indicator<1> for SmoothVpt {
    type Next = (<Vpt as Indicator<1>>::Next, Of<Sum>);

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], Self::Next) {
        let ([sum], vpt_next) = self.vpt.step(candle);
        let (mean, mean_next) = self.mean.mean(sum);
        ([mean], (vpt_next, mean_next))
    }

    #[inline(always)]
    fn commit(&mut self, (vpt, mean): Self::Next) {
        self.vpt.commit(vpt);
        self.mean.commit(mean);
    }

    fn warmup(&self) -> usize {
        self.warmup
    }
}

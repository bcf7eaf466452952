//! Volume-price trend: the running sum of the volume times the relative change of the close; with
//! `smoothing`, the plain mean of the last `smoothing` sums.

use super::flow_total::{Flow, FlowTotal};
use crate::block::{Block, UpdateOf, WindowSum, check_period};
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

/// Volume-price trend.
pub type Vpt = FlowTotal<PriceTrendVolume>;

/// The volume times the relative change of the close.
#[derive(Clone, Debug)]
pub struct PriceTrendVolume;

impl Flow for PriceTrendVolume {
    const WARMUP: usize = 1;

    #[inline(always)]
    fn change(close: f64, volume: f64, before: f64) -> f64 {
        (close / before - 1.0) * volume
    }
}

/// The plain mean of the last `smoothing` values of [`Vpt`].
#[derive(Clone, Debug)]
pub struct SmoothVpt {
    vpt: Vpt,
    mean: WindowSum,
    warmup: usize,
}

impl SmoothVpt {
    /// A mean over `smoothing` sums.
    pub fn new(smoothing: usize) -> Result<SmoothVpt, Error> {
        let n = check_period("smoothing", smoothing)?;
        Ok(SmoothVpt { vpt: Vpt::default(), mean: WindowSum::new(n), warmup: n })
    }
}

impl Indicator<1> for SmoothVpt {
    type Update = (<Vpt as Indicator<1>>::Update, UpdateOf<WindowSum>);

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], Self::Update) {
        let ([sum], vpt_next) = self.vpt.step(candle);
        let (mean, mean_next) = self.mean.mean(sum);
        ([mean], (vpt_next, mean_next))
    }

    #[inline(always)]
    fn commit(&mut self, (vpt, mean): Self::Update) {
        self.vpt.commit(vpt);
        self.mean.commit(mean);
    }

    fn warmup(&self) -> usize {
        self.warmup
    }
}

//! Chaikin money flow: over `period` candles, the sum of the volume times where the close lies in
//! its range, over the sum of the volume.

use crate::block::rolling::{SumIndicator, run_batch};
use crate::block::{RatioBuffers, Ratios, RatiosUpdate, check_period};
use crate::indicator::{erase, finite_or_nan};
use crate::spec::{Entry, Memory, Param};
use crate::{Candle, Candles, Error, Indicator, OutputSink};

pub(crate) const ENTRY: Entry = Entry {
    name: "cmf",
    params: &[Param::period("period", 20)],
    outputs: &["cmf"],
    memory: |_| Memory::Windowed,
    build: |v| Ok(erase(Cmf::new(v.period(0))?)),
};

/// Chaikin money flow.
#[derive(Clone, Debug)]
pub struct Cmf {
    flow: Ratios<1>,
    warmup: usize,
}

impl Cmf {
    /// A window of `period` candles.
    pub fn new(period: usize) -> Result<Cmf, Error> {
        check_period("period", period)?;
        Ok(Cmf { flow: Ratios::new([period]), warmup: period - 1 })
    }
}

impl Indicator<1> for Cmf {
    type Update = RatiosUpdate<1>;

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], Self::Update) {
        self.flow.step(candle.location() * candle.v, candle.v)
    }

    #[inline(always)]
    fn commit(&mut self, flow: Self::Update) {
        self.flow.commit(flow);
    }

    fn warmup(&self) -> usize {
        self.warmup
    }

    const HAS_BATCH: bool = true;

    #[inline(always)]
    fn run_batch(&mut self, candles: &Candles<'_>, out: &mut impl OutputSink<1>) {
        run_batch(self, candles, out);
    }
}

impl SumIndicator<2, 1> for Cmf {
    type Buffers = RatioBuffers<1>;

    fn buffers(&self) -> RatioBuffers<1> {
        RatioBuffers::new()
    }

    fn periods(&self) -> [usize; 2] {
        [self.warmup + 1; 2]
    }

    /// Writes flows and volumes.
    #[inline(always)]
    fn fill(
        &mut self,
        candles: &Candles<'_>,
        from: usize,
        [flows, volumes]: [&mut [f64]; 2],
        _: &mut RatioBuffers<1>,
    ) {
        let part = candles.slice(from, from + flows.len());
        part.flows(flows);
        volumes.copy_from_slice(part.volumes());
    }

    #[inline(always)]
    fn show(&self) -> impl Fn([f64; 2]) -> [f64; 1] {
        |[flow, volume]| [flow / volume]
    }

    fn restart(&mut self, windows: [&[f64]; 2]) {
        self.flow.restart(windows);
    }

    #[inline(always)]
    fn scan(&mut self, part: [&[f64]; 2], [out]: [&mut [f64]; 1], buffers: &mut RatioBuffers<1>) {
        self.flow.scan(part.into(), out, buffers, |[ratio]| finite_or_nan(ratio));
    }
}

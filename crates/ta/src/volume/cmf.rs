//! Chaikin money flow: over `period` candles, the sum of the volume times where the close lies in
//! its range, over the sum of the volume.

use crate::block::rolling::{Rolls, run_batch};
use crate::block::{RatioWork, Ratios, RatiosNext, check_period};
use crate::indicator::{available, erase};
use crate::spec::{Entry, Memory, Param};
use crate::{Candle, Candles, Error, Indicator, OutputSink};

pub(crate) const ENTRY: Entry = Entry {
    name: "cmf",
    params: &[Param::period("period", 20)],
    outputs: &["cmf"],
    memory: |_| Memory::Windowed,
    build: |v| Ok(erase(Cmf::new(v.period(0))?)),
};

#[derive(Clone, Debug)]
pub struct Cmf {
    flow: Ratios<1>,
    warmup: usize,
}

impl Cmf {
    pub fn new(period: usize) -> Result<Cmf, Error> {
        check_period("period", period)?;
        Ok(Cmf { flow: Ratios::new([period]), warmup: period - 1 })
    }
}

impl Indicator<1> for Cmf {
    type Next = RatiosNext<1>;

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], Self::Next) {
        self.flow.step(candle.location() * candle.v, candle.v)
    }

    #[inline(always)]
    fn commit(&mut self, flow: Self::Next) {
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

impl Rolls<2, 1> for Cmf {
    type Spare = RatioWork<1>;

    fn spare(&self) -> RatioWork<1> {
        RatioWork::new()
    }

    fn periods(&self) -> [usize; 2] {
        [self.warmup + 1; 2]
    }

    /// Flows and volumes.
    #[inline(always)]
    fn fill(
        &mut self,
        candles: &Candles<'_>,
        from: usize,
        [flows, volumes]: [&mut [f64]; 2],
        _: &mut RatioWork<1>,
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
    fn scan(&mut self, part: [&[f64]; 2], [out]: [&mut [f64]; 1], work: &mut RatioWork<1>) {
        self.flow.scan(part.into(), out, work, |[ratio]| available(ratio));
    }
}

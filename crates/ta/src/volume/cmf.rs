//! Chaikin money flow: over `period` candles, the sum of the volume times where the close lies in
//! its range, over the sum of the volume.

use crate::block::{Block, Of, Sum, check_period};
use crate::indicator::erase;
use crate::spec::{Entry, Param};
use crate::{Candle, Error, Indicator};

pub(crate) const ENTRY: Entry = Entry {
    name: "cmf",
    params: &[Param::period("period", 20)],
    outputs: &["cmf"],
    build: |v| Ok(erase(Cmf::new(v.period(0))?)),
};

#[derive(Clone, Debug)]
pub struct Cmf {
    flow: Sum,
    volume: Sum,
    warmup: usize,
}

impl Cmf {
    pub fn new(period: usize) -> Result<Cmf, Error> {
        check_period("period", period)?;
        Ok(Cmf { flow: Sum::new(period), volume: Sum::new(period), warmup: period - 1 })
    }
}

impl Indicator<1> for Cmf {
    type Next = (Of<Sum>, Of<Sum>);

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], Self::Next) {
        let (flow, flow_next) = self.flow.step(candle.location() * candle.v);
        let (volume, volume_next) = self.volume.step(candle.v);
        ([flow / volume], (flow_next, volume_next))
    }

    #[inline(always)]
    fn commit(&mut self, (flow, volume): Self::Next) {
        self.flow.commit(flow);
        self.volume.commit(volume);
    }

    fn warmup(&self) -> usize {
        self.warmup
    }
}

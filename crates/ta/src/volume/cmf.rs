//! Chaikin money flow: over `period` candles, the sum of the volume times where the close lies in
//! its range, over the sum of the volume.

use crate::block::slide::{CHUNK, Work};
use crate::block::{Block, Of, Sum, check_period};
use crate::indicator::{available, erase};
use crate::spec::{Entry, Param};
use crate::{Candle, Candles, Error, Indicator, Room};

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

    const POURS: bool = true;

    #[inline(always)]
    fn pour(&mut self, candles: &Candles<'_>, out: &mut impl Room<1>) {
        let mut work = Work::new();
        let (mut flow, mut sums) = ([0.0; CHUNK], [0.0; CHUNK]);
        for from in (0..candles.len()).step_by(CHUNK) {
            let part = candles.slice(from, from + CHUNK);
            let n = part.len();
            let (flow, sums) = (&mut flow[..n], &mut sums[..n]);
            for (slot, candle) in flow.iter_mut().zip(part.iter()) {
                *slot = candle.location() * candle.v;
            }
            let [out] = out.next(n);
            self.flow.scan(flow, out, &mut work);
            self.volume.scan(part.volumes(), sums, &mut work);
            for (slot, volume) in out.iter_mut().zip(sums) {
                *slot = available(*slot / *volume);
            }
        }
    }
}

//! Chaikin money flow: over `period` candles, the sum of the volume times where the close lies in
//! its range, over the sum of the volume.

use crate::block::{CHUNK, RatioWork, Ratios, RatiosNext, Rolling, check_period};
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

    const POURS: bool = true;

    #[inline(always)]
    fn pour(&mut self, candles: &Candles<'_>, out: &mut impl Room<1>) {
        let (mut rolling, mut work) = (Rolling::new([self.warmup + 1; 2]), RatioWork::new());
        // Whether the sums know the last window.
        let mut known = true;
        for from in (0..candles.len()).step_by(CHUNK) {
            let part = candles.slice(from, from + CHUNK);
            let [flows, volumes] = rolling.next(part.len());
            part.flows(flows);
            volumes.copy_from_slice(part.volumes());
            let [out] = out.next(part.len());
            if rolling.show([&mut *out], |[flow, volume]| [flow / volume]) {
                known = false;
                continue;
            }
            if !known {
                self.flow.restart(rolling.windows());
            }
            known = true;
            let ([flows, volumes], show) = (rolling.part(), |[ratio]: [f64; 1]| available(ratio));
            self.flow.scan((flows, volumes), out, &mut work, show);
        }
        if !known {
            rolling.next(0);
            self.flow.restart(rolling.windows());
        }
    }
}

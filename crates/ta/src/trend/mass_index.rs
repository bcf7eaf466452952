//! Mass index: the sum over `slow` candles of E(r) / E(E(r)), where r is H - L and E an exponential
//! average over `fast` candles.
//!
//! `ta` starts averages at their first value, TA-Lib at the mean of their first window.

use crate::block::slide::Work;
use crate::block::{Block, CHUNK, Ewm, Of, Rolling, Sum, check_period};
use crate::indicator::{divisor, erase};
use crate::spec::{Entry, Param};
use crate::{Candle, Candles, Error, Indicator, Parity, Room};

pub(crate) const ENTRY: Entry = Entry {
    name: "massIndex",
    params: &[Param::period("fast", 9), Param::period("slow", 25), Param::parity()],
    outputs: &["mass_index"],
    build: |v| Ok(erase(MassIndex::new(v.period(0), v.period(1), v.parity(2))?)),
};

#[derive(Clone, Debug)]
pub struct MassIndex {
    once: Ewm,
    twice: Ewm,
    sum: Sum,
    warmup: usize,
}

impl MassIndex {
    pub fn new(fast: usize, slow: usize, parity: Parity) -> Result<MassIndex, Error> {
        check_period("fast", fast)?;
        check_period("slow", slow)?;
        Ok(MassIndex {
            once: Ewm::span(fast, parity),
            twice: Ewm::span(fast, parity),
            sum: Sum::new(slow),
            warmup: 2 * (fast - 1) + slow - 1,
        })
    }
}

impl Indicator<1> for MassIndex {
    type Next = (Of<Ewm>, Of<Ewm>, Of<Sum>);

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], Self::Next) {
        let (once, once_next) = self.once.step(candle.h - candle.l);
        let (twice, twice_next) = self.twice.step(once);
        let (mass_index, sum_next) = self.sum.step(once / divisor(twice));
        ([mass_index], (once_next, twice_next, sum_next))
    }

    #[inline(always)]
    fn commit(&mut self, (once, twice, sum): Self::Next) {
        self.once.commit(once);
        self.twice.commit(twice);
        self.sum.commit(sum);
    }

    fn warmup(&self) -> usize {
        self.warmup
    }

    const POURS: bool = true;

    #[inline(always)]
    fn pour(&mut self, candles: &Candles<'_>, out: &mut impl Room<1>) {
        let [mut ranges, mut onces] = [[0.0; CHUNK]; 2];
        let period = self.sum.period();
        let (mut rolling, mut work) = (Rolling::new([period]), Work::new());
        // Whether the sum knows the last window.
        let mut known = true;
        for (h, l) in candles.highs().chunks(CHUNK).zip(candles.lows().chunks(CHUNK)) {
            let (ranges, onces) = (&mut ranges[..h.len()], &mut onces[..h.len()]);
            for (slot, (h, l)) in ranges.iter_mut().zip(h.iter().zip(l)) {
                *slot = h - l;
            }
            let fades = self.twice.fades();
            self.once.scan(ranges, onces);
            self.twice.scan(onces, ranges);
            let [ratios] = rolling.next(h.len());
            for (slot, (once, twice)) in ratios.iter_mut().zip(onces.iter().zip(&*ranges)) {
                *slot = once / if fades { divisor(*twice) } else { *twice };
            }
            let [out] = out.next(h.len());
            if rolling.show([&mut *out], |sums| sums) {
                known = false;
                continue;
            }
            if !known {
                self.restart(rolling.windows());
            }
            known = true;
            let [ratios] = rolling.part();
            self.sum.scan_means(ratios, out, &mut work);
            out.iter_mut().for_each(|slot| *slot *= period as f64);
        }
        if !known {
            rolling.next(0);
            self.restart(rolling.windows());
        }
    }
}

impl MassIndex {
    /// Goes on from a window that is known.
    fn restart(&mut self, [window]: [&[f64]; 1]) {
        self.sum.restart(window);
    }
}

//! Chaikin oscillator: the accumulation/distribution line averaged exponentially over `fast` candles
//! less the same over `slow`.

use crate::block::{Block, CHUNK, Ewm, Of, Total, fast_slow};
use crate::indicator::{Room, available, erase};
use crate::spec::{Entry, Param};
use crate::{Candle, Candles, Error, Indicator, Parity};

pub(crate) const ENTRY: Entry = Entry {
    name: "chaikin",
    params: &[Param::period("fast", 3), Param::period("slow", 10)],
    outputs: &["chaikin"],
    build: |v| Ok(erase(Chaikin::new(v.period(0), v.period(1))?)),
};

#[derive(Clone, Debug)]
pub struct Chaikin {
    sum: Total,
    fast: Ewm,
    slow: Ewm,
    warmup: usize,
}

impl Chaikin {
    pub fn new(fast: usize, slow: usize) -> Result<Chaikin, Error> {
        fast_slow(fast, slow)?;
        Ok(Chaikin {
            sum: Total::default(),
            fast: Ewm::span(fast, Parity::Ta),
            slow: Ewm::span(slow, Parity::Ta),
            warmup: slow - 1,
        })
    }
}

impl Indicator<1> for Chaikin {
    type Next = (Of<Total>, Of<Ewm>, Of<Ewm>);

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], Self::Next) {
        let (line, sum_next) = self.sum.step(candle.location() * candle.v);
        let (fast, fast_next) = self.fast.step(line);
        let (slow, slow_next) = self.slow.step(line);
        ([fast - slow], (sum_next, fast_next, slow_next))
    }

    #[inline(always)]
    fn commit(&mut self, (sum, fast, slow): Self::Next) {
        self.sum.commit(sum);
        self.fast.commit(fast);
        self.slow.commit(slow);
    }

    fn warmup(&self) -> usize {
        self.warmup
    }

    const POURS: bool = true;

    #[inline(always)]
    fn pour(&mut self, candles: &Candles<'_>, out: &mut impl Room<1>) {
        let (mut lines, mut slow) = ([0.0; CHUNK], [0.0; CHUNK]);
        for from in (0..candles.len()).step_by(CHUNK) {
            let part = candles.slice(from, from + CHUNK);
            let [out] = out.next(part.len());
            let (lines, slow) = (&mut lines[..part.len()], &mut slow[..part.len()]);
            part.flows(slow);
            self.sum.scan(slow, lines);
            self.fast.scan(lines, out);
            self.slow.scan(lines, slow);
            for (slot, slow) in out.iter_mut().zip(&*slow) {
                *slot = available(*slot - slow);
            }
        }
    }
}

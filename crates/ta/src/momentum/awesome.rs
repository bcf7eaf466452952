//! Awesome oscillator: the plain mean of (H + L) / 2 over `fast` candles less that over `slow`.

use crate::block::slide::Work;
use crate::block::{Block, CHUNK, Of, Rolling, Sum, fast_slow};
use crate::indicator::erase;
use crate::spec::{Entry, Param};
use crate::{Candle, Candles, Error, Indicator, Room};

pub(crate) const ENTRY: Entry = Entry {
    name: "awesome",
    params: &[Param::period("fast", 5), Param::period("slow", 34)],
    outputs: &["ao"],
    build: |v| Ok(erase(Awesome::new(v.period(0), v.period(1))?)),
};

#[derive(Clone, Debug)]
pub struct Awesome {
    fast: Sum,
    slow: Sum,
    warmup: usize,
}

impl Awesome {
    pub fn new(fast: usize, slow: usize) -> Result<Awesome, Error> {
        fast_slow(fast, slow)?;
        Ok(Awesome { fast: Sum::new(fast), slow: Sum::new(slow), warmup: slow - 1 })
    }
}

impl Indicator<1> for Awesome {
    type Next = (Of<Sum>, Of<Sum>);

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], Self::Next) {
        let middle = middle(candle.h, candle.l);
        let (fast, fast_next) = self.fast.mean(middle);
        let (slow, slow_next) = self.slow.mean(middle);
        ([fast - slow], (fast_next, slow_next))
    }

    #[inline(always)]
    fn commit(&mut self, (fast, slow): Self::Next) {
        self.fast.commit(fast);
        self.slow.commit(slow);
    }

    fn warmup(&self) -> usize {
        self.warmup
    }

    const POURS: bool = true;

    #[inline(always)]
    fn pour(&mut self, candles: &Candles<'_>, out: &mut impl Room<1>) {
        let (mut work, mut fasts) = (Work::new(), [0.0; CHUNK]);
        let periods = [self.fast.period(), self.slow.period()];
        let mut rolling = Rolling::new(periods);
        let [fast_share, slow_share] = periods.map(|period| 1.0 / period as f64);
        // Whether the sums know the last window.
        let mut known = true;
        for (h, l) in candles.highs().chunks(CHUNK).zip(candles.lows().chunks(CHUNK)) {
            let [firsts, seconds] = rolling.next(h.len());
            for ((first, second), (h, l)) in firsts.iter_mut().zip(seconds).zip(h.iter().zip(l)) {
                let middle = middle(*h, *l);
                (*first, *second) = (middle, middle);
            }
            let [out] = out.next(h.len());
            let sound =
                rolling.show([&mut *out], |[fast, slow]| [fast * fast_share - slow * slow_share]);
            if sound {
                known = false;
                continue;
            }
            if !known {
                self.restart(rolling.windows());
            }
            known = true;
            let ([middles, _], fasts) = (rolling.part(), &mut fasts[..h.len()]);
            self.fast.scan_means(middles, fasts, &mut work);
            self.slow.scan_means(middles, out, &mut work);
            for (slot, fast) in out.iter_mut().zip(fasts) {
                *slot = *fast - *slot;
            }
        }
        if !known {
            rolling.next(0);
            self.restart(rolling.windows());
        }
    }
}

impl Awesome {
    /// Goes on from windows that are known.
    fn restart(&mut self, [fast, slow]: [&[f64]; 2]) {
        self.fast.restart(fast);
        self.slow.restart(slow);
    }
}

#[inline(always)]
fn middle(h: f64, l: f64) -> f64 {
    0.5 * (h + l)
}

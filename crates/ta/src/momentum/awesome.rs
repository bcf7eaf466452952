//! Awesome oscillator: the plain mean of (H + L) / 2 over `fast` candles less that over `slow`.

use crate::block::doubling::WindowBuffers;
use crate::block::rolling::{SumIndicator, run_batch};
use crate::block::{Block, CHUNK, UpdateOf, WindowSum, check_fast_slow};
use crate::indicator::erase;
use crate::spec::{Entry, Memory, Param};
use crate::{Candle, Candles, Error, Indicator, OutputSink};

pub(crate) const ENTRY: Entry = Entry {
    name: "awesome",
    params: &[Param::period("fast", 5), Param::period("slow", 34)],
    outputs: &["ao"],
    memory: |_| Memory::Windowed,
    build: |v| Ok(erase(Awesome::new(v.period(0), v.period(1))?)),
};

/// Awesome oscillator.
#[derive(Clone, Debug)]
pub struct Awesome {
    fast: WindowSum,
    slow: WindowSum,
    warmup: usize,
}

impl Awesome {
    /// Means over `fast` and `slow` candles; `fast` must be below `slow`.
    pub fn new(fast: usize, slow: usize) -> Result<Awesome, Error> {
        check_fast_slow(fast, slow)?;
        Ok(Awesome { fast: WindowSum::new(fast), slow: WindowSum::new(slow), warmup: slow - 1 })
    }
}

impl Indicator<1> for Awesome {
    type Update = (UpdateOf<WindowSum>, UpdateOf<WindowSum>);

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], Self::Update) {
        let middle = middle(candle.h, candle.l);
        let (fast, fast_next) = self.fast.mean(middle);
        let (slow, slow_next) = self.slow.mean(middle);
        ([fast - slow], (fast_next, slow_next))
    }

    #[inline(always)]
    fn commit(&mut self, (fast, slow): Self::Update) {
        self.fast.commit(fast);
        self.slow.commit(slow);
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

impl SumIndicator<2, 1> for Awesome {
    type Buffers = ([f64; CHUNK], WindowBuffers);

    fn buffers(&self) -> Self::Buffers {
        ([0.0; CHUNK], WindowBuffers::new())
    }

    fn periods(&self) -> [usize; 2] {
        [self.fast.period(), self.slow.period()]
    }

    /// Writes (H + L) / 2 into both rows.
    #[inline(always)]
    fn fill(
        &mut self,
        candles: &Candles<'_>,
        from: usize,
        rows: [&mut [f64]; 2],
        _: &mut Self::Buffers,
    ) {
        let [firsts, seconds] = rows;
        let prices = candles.highs()[from..].iter().zip(&candles.lows()[from..]);
        for ((first, second), (h, l)) in firsts.iter_mut().zip(seconds).zip(prices) {
            let middle = middle(*h, *l);
            (*first, *second) = (middle, middle);
        }
    }

    #[inline(always)]
    fn show(&self) -> impl Fn([f64; 2]) -> [f64; 1] {
        let [fast_share, slow_share] = self.periods().map(|period| 1.0 / period as f64);
        move |[fast, slow]| [fast * fast_share - slow * slow_share]
    }

    fn restart(&mut self, [fast, slow]: [&[f64]; 2]) {
        self.fast.restart(fast);
        self.slow.restart(slow);
    }

    #[inline(always)]
    fn scan(
        &mut self,
        [middles, _]: [&[f64]; 2],
        [out]: [&mut [f64]; 1],
        (fasts, buffers): &mut Self::Buffers,
    ) {
        let fasts = &mut fasts[..middles.len()];
        self.fast.scan_means(middles, fasts, buffers);
        self.slow.scan_means(middles, out, buffers);
        for (slot, fast) in out.iter_mut().zip(fasts) {
            *slot = *fast - *slot;
        }
    }
}

#[inline(always)]
fn middle(h: f64, l: f64) -> f64 {
    0.5 * (h + l)
}

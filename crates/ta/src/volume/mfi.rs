//! Money flow index: 100 - 100 / (1 + P / N), where P and N are the sums over `period` candles of
//! typical price times volume on candles whose typical price rose and fell.

use crate::block::doubling::CHUNK;
use crate::block::{RatioBuffers, Ratios, RatiosUpdate, check_period};
use crate::indicator::{erase, finite_or_nan};
use crate::spec::{Entry, Memory, Param};
use crate::{Candle, Candles, Error, Indicator, OutputSink};

pub(crate) const ENTRY: Entry = Entry {
    name: "mfi",
    params: &[Param::period("period", 14)],
    outputs: &["mfi"],
    memory: |_| Memory::Windowed,
    build: |v| Ok(erase(Mfi::new(v.period(0))?)),
};

/// Money flow index.
#[derive(Clone, Debug)]
pub struct Mfi {
    flow: Ratios<1>,
    price: f64,
    warmup: usize,
}

impl Mfi {
    /// A window of `period` candles.
    pub fn new(period: usize) -> Result<Mfi, Error> {
        check_period("period", period)?;
        // The first candle has no change, so a window of 1 also needs a second candle.
        let warmup = (period - 1).max(1);
        Ok(Mfi { flow: Ratios::new([period]), price: f64::NAN, warmup })
    }
}

/// Positive and negative flow. NaN gives NaN in both; an unchanged price gives 0 in both.
#[inline(always)]
fn flows(price: f64, before: f64, volume: f64) -> (f64, f64) {
    let flow = price * volume;
    let none = flow * 0.0;
    (if price > before { flow } else { none }, if price < before { flow } else { none })
}

#[inline(always)]
fn index(ratio: f64) -> f64 {
    100.0 - 100.0 / (1.0 + ratio)
}

impl Indicator<1> for Mfi {
    type Update = (RatiosUpdate<1>, f64);

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], Self::Update) {
        let price_next = candle.typical();
        let (up, down) = flows(price_next, self.price, candle.v);
        let ([ratio], flow_next) = self.flow.step(up, down);
        ([index(ratio)], (flow_next, price_next))
    }

    #[inline(always)]
    fn commit(&mut self, (flow, price): Self::Update) {
        self.flow.commit(flow);
        self.price = price;
    }

    fn warmup(&self) -> usize {
        self.warmup
    }

    const HAS_BATCH: bool = true;

    #[inline(always)]
    fn run_batch(&mut self, candles: &Candles<'_>, out: &mut impl OutputSink<1>) {
        let (mut buffers, mut price) = (RatioBuffers::new(), [0.0; CHUNK + 1]);
        let (mut up, mut down) = ([0.0; CHUNK], [0.0; CHUNK]);
        for from in (0..candles.len()).step_by(CHUNK) {
            let part = candles.slice(from, from + CHUNK);
            let n = part.len();
            price[0] = self.price;
            let prices = part.highs().iter().zip(part.lows()).zip(part.closes());
            for (slot, ((high, low), close)) in price[1..].iter_mut().zip(prices) {
                *slot = (high + low + close) / 3.0;
            }
            self.price = price[n];
            let (up, down) = (&mut up[..n], &mut down[..n]);
            let (before, now, volume) = (&price[..n], &price[1..=n], part.volumes());
            for index in 0..n {
                (up[index], down[index]) = flows(now[index], before[index], volume[index]);
            }
            let [out] = out.next(n);
            let show = |[ratio]: [f64; 1]| finite_or_nan(index(ratio));
            self.flow.scan((up, down), out, &mut buffers, show);
        }
    }
}

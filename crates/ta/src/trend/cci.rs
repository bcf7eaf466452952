//! Commodity channel index: (P - M) / (constant D), where P is the typical price, M its plain mean
//! over `period` candles and D its mean absolute deviation from M.

use crate::block::doubling::{CHUNK, WindowBuffers};
use crate::block::{Deviation, DeviationUpdate, check_positive, check_window};
use crate::indicator::{erase, finite_or_nan};
use crate::spec::{Entry, Memory, Param};
use crate::{Candle, Candles, Error, Indicator, OutputSink};

pub(crate) const ENTRY: Entry = Entry {
    name: "cci",
    params: &[Param::period("period", 20), Param::real("constant", 0.015)],
    outputs: &["cci"],
    memory: |_| Memory::Windowed,
    build: |v| Ok(erase(Cci::new(v.period(0), v.real(1))?)),
};

/// Commodity channel index.
#[derive(Clone, Debug)]
pub struct Cci {
    deviation: Deviation,
    constant: f64,
    warmup: usize,
}

impl Cci {
    /// A window of `period` candles; `constant` scales the deviation (0.015 by default).
    pub fn new(period: usize, constant: f64) -> Result<Cci, Error> {
        check_window("period", period)?;
        check_positive("constant", constant)?;
        Ok(Cci { deviation: Deviation::new(period), constant, warmup: period - 1 })
    }
}

impl Indicator<1> for Cci {
    type Update = DeviationUpdate;

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], Self::Update) {
        let price = candle.typical();
        let ((mean, deviation), deviation_next) = self.deviation.step(price);
        ([(price - mean) / (self.constant * deviation)], deviation_next)
    }

    #[inline(always)]
    fn commit(&mut self, deviation: Self::Update) {
        self.deviation.commit(deviation);
    }

    fn warmup(&self) -> usize {
        self.warmup
    }

    const HAS_BATCH: bool = true;

    #[inline(always)]
    fn run_batch(&mut self, candles: &Candles<'_>, out: &mut impl OutputSink<1>) {
        let (mut buffers, mut prices) = (WindowBuffers::new(), [0.0; CHUNK]);
        let (mut means, mut deviations) = ([0.0; CHUNK], [0.0; CHUNK]);
        let constant = self.constant;
        for from in (0..candles.len()).step_by(CHUNK) {
            let part = candles.slice(from, from + CHUNK);
            let [out] = out.next(part.len());
            let prices = &mut prices[..part.len()];
            let columns = part.highs().iter().zip(part.lows()).zip(part.closes());
            for (price, ((high, low), close)) in prices.iter_mut().zip(columns) {
                *price = (high + low + close) / 3.0;
            }
            self.deviation.scan(prices, &mut means, &mut deviations, &mut buffers);
            let spread = means.iter().zip(&deviations);
            for ((slot, price), (mean, deviation)) in out.iter_mut().zip(prices).zip(spread) {
                *slot = finite_or_nan((*price - mean) / (constant * deviation));
            }
        }
    }
}

//! Aroon: how recent the highest high (up) and lowest low (down) of the last `period` + 1 candles
//! are, from 0 (the oldest) to 100 (now). The indicator is up - down.
//!
//! Of equal highs or lows the oldest counts in `ta`, the newest in TA-Lib.

use crate::block::doubling::{CHUNK, WindowBuffers};
use crate::block::{Block, ExtremeAge, UpdateOf, check_period};
use crate::indicator::erase;
use crate::spec::{Entry, Memory, Param};
use crate::{Candle, Candles, Error, Indicator, OutputSink, Parity};

pub(crate) const ENTRY: Entry = Entry {
    name: "aroon",
    params: &[Param::period("period", 25), Param::parity()],
    outputs: &["aroon_up", "aroon_down", "aroon_ind"],
    memory: |_| Memory::Windowed,
    build: |v| match v.parity(1) {
        Parity::Ta => Ok(erase(Aroon::<false>::new(v.period(0))?)),
        Parity::TaLib => Ok(erase(Aroon::<true>::new(v.period(0))?)),
    },
};

/// Aroon; with `NEWEST`, the newest of equal extremes counts.
#[derive(Clone, Debug)]
pub struct Aroon<const NEWEST: bool = false> {
    high: ExtremeAge<true, NEWEST>,
    low: ExtremeAge<false, NEWEST>,
    period: f64,
    warmup: usize,
}

impl<const NEWEST: bool> Aroon<NEWEST> {
    /// Extremes of the last `period` + 1 candles.
    pub fn new(period: usize) -> Result<Aroon<NEWEST>, Error> {
        check_period("period", period)?;
        Ok(Aroon {
            high: ExtremeAge::new(period + 1),
            low: ExtremeAge::new(period + 1),
            period: period as f64,
            warmup: period,
        })
    }
}

impl<const NEWEST: bool> Indicator<3> for Aroon<NEWEST> {
    type Update = (UpdateOf<ExtremeAge<true, NEWEST>>, UpdateOf<ExtremeAge<false, NEWEST>>);

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 3], Self::Update) {
        let (high, high_next) = self.high.step(candle.h);
        let (low, low_next) = self.low.step(candle.l);
        let up = (self.period - high) / self.period * 100.0;
        let down = (self.period - low) / self.period * 100.0;
        ([up, down, up - down], (high_next, low_next))
    }

    #[inline(always)]
    fn commit(&mut self, (high, low): Self::Update) {
        self.high.commit(high);
        self.low.commit(low);
    }

    fn warmup(&self) -> usize {
        self.warmup
    }

    const HAS_BATCH: bool = true;

    #[inline(always)]
    fn run_batch(&mut self, candles: &Candles<'_>, out: &mut impl OutputSink<3>) {
        let (mut buffers, period) = (WindowBuffers::new(), self.period);
        for from in (0..candles.len()).step_by(CHUNK) {
            let part = candles.slice(from, from + CHUNK);
            let [ups, downs, both] = out.next(part.len());
            self.high.scan(part.highs(), ups, &mut buffers);
            self.low.scan(part.lows(), downs, &mut buffers);
            for ((up, down), both) in ups.iter_mut().zip(downs).zip(both) {
                *up = (period - *up) / period * 100.0;
                *down = (period - *down) / period * 100.0;
                *both = *up - *down;
            }
        }
    }
}

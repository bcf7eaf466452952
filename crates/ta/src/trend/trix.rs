//! TRIX: the change in percent of an exponential average of an exponential average of an
//! exponential average of the close.

use crate::block::{Block, CHUNK, Ewm, UpdateOf, check_period};
use crate::indicator::{OutputSink, erase, finite_or_nan};
use crate::spec::{Entry, Memory, Param};
use crate::{Candle, Candles, Error, Indicator, Parity};

pub(crate) const ENTRY: Entry = Entry {
    name: "trix",
    params: &[Param::period("period", 15), Param::parity()],
    outputs: &["trix"],
    memory: |_| Memory::Decaying,
    build: |v| Ok(erase(Trix::new(v.period(0), v.parity(1))?)),
};

/// TRIX.
#[derive(Clone, Debug)]
pub struct Trix {
    first: Ewm,
    second: Ewm,
    third: Ewm,
    before: f64,
    warmup: usize,
}

impl Trix {
    /// A window of `period` candles.
    pub fn new(period: usize, parity: Parity) -> Result<Trix, Error> {
        check_period("period", period)?;
        Ok(Trix {
            first: Ewm::span(period, parity),
            second: Ewm::span(period, parity),
            third: Ewm::span(period, parity),
            before: f64::NAN,
            warmup: 3 * (period - 1) + 1,
        })
    }
}

impl Indicator<1> for Trix {
    type Update = (UpdateOf<Ewm>, UpdateOf<Ewm>, UpdateOf<Ewm>, f64);

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], Self::Update) {
        let (first, first_next) = self.first.step(candle.c);
        let (second, second_next) = self.second.step(first);
        let (before_next, third_next) = self.third.step(second);
        let before = self.before;
        (
            [(before_next - before) / before * 100.0],
            (first_next, second_next, third_next, before_next),
        )
    }

    #[inline(always)]
    fn commit(&mut self, (first, second, third, before): Self::Update) {
        self.first.commit(first);
        self.second.commit(second);
        self.third.commit(third);
        self.before = before;
    }

    fn warmup(&self) -> usize {
        self.warmup
    }

    const HAS_BATCH: bool = true;

    #[inline(always)]
    fn run_batch(&mut self, candles: &Candles<'_>, out: &mut impl OutputSink<1>) {
        let mut buffers = [0.0; CHUNK];
        for closes in candles.closes().chunks(CHUNK) {
            let ([out], buffers) = (out.next(closes.len()), &mut buffers[..closes.len()]);
            self.first.scan(closes, buffers);
            self.second.scan(buffers, out);
            self.third.scan(out, buffers);
            out[0] = change(buffers[0], self.before);
            for (slot, pair) in out[1..].iter_mut().zip(buffers.windows(2)) {
                *slot = change(pair[1], pair[0]);
            }
            self.before = buffers[buffers.len() - 1];
        }
    }
}

#[inline(always)]
fn change(now: f64, before: f64) -> f64 {
    finite_or_nan((now - before) / before * 100.0)
}

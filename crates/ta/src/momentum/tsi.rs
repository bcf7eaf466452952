//! True strength index: 100 E(E(d)) / E(E(|d|)), where d is the change of the close and E(E()) an
//! exponential average over `slow` candles averaged again over `fast`.
//!
//! `ta` starts averages at their first value, TA-Lib at the mean of their first window.

use std::array;

use crate::block::{Block, CHUNK, Ewm, UpdateOf, check_period};
use crate::indicator::{erase, finite, finite_or_nan, safe_divisor};
use crate::spec::{Entry, Memory, Param};
use crate::{Candle, Candles, Error, Indicator, OutputSink, Parity};

pub(crate) const ENTRY: Entry = Entry {
    name: "tsi",
    params: &[Param::period("slow", 25), Param::period("fast", 13), Param::parity()],
    outputs: &["tsi"],
    memory: |_| Memory::Decaying,
    build: |v| Ok(erase(Tsi::new(v.period(0), v.period(1), v.parity(2))?)),
};

/// True strength index.
#[derive(Clone, Debug)]
pub struct Tsi {
    change: Ewm,
    change_again: Ewm,
    size: Ewm,
    size_again: Ewm,
    close: f64,
    warmup: usize,
}

impl Tsi {
    /// Averages over `slow` and then `fast` candles.
    pub fn new(slow: usize, fast: usize, parity: Parity) -> Result<Tsi, Error> {
        check_period("slow", slow)?;
        check_period("fast", fast)?;
        Ok(Tsi {
            change: Ewm::span(slow, parity),
            change_again: Ewm::span(fast, parity),
            size: Ewm::span(slow, parity),
            size_again: Ewm::span(fast, parity),
            close: f64::NAN,
            warmup: slow + fast - 1,
        })
    }
}

impl Indicator<1> for Tsi {
    type Update = (UpdateOf<Ewm>, UpdateOf<Ewm>, UpdateOf<Ewm>, UpdateOf<Ewm>, f64);

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], Self::Update) {
        let difference = candle.c - self.close;
        let (change, change_next) = self.change.step(difference);
        let (change, change_again_next) = self.change_again.step(change);
        let (size, size_next) = self.size.step(difference.abs());
        let (size, size_again_next) = self.size_again.step(size);
        let close_next = candle.c;
        (
            [100.0 * change / safe_divisor(size)],
            (change_next, change_again_next, size_next, size_again_next, close_next),
        )
    }

    #[inline(always)]
    fn commit(&mut self, (change, change_again, size, size_again, close): Self::Update) {
        self.change.commit(change);
        self.change_again.commit(change_again);
        self.size.commit(size);
        self.size_again.commit(size_again);
        self.close = close;
    }

    fn warmup(&self) -> usize {
        self.warmup
    }

    const HAS_BATCH: bool = true;

    #[inline(always)]
    fn run_batch(&mut self, candles: &Candles<'_>, out: &mut impl OutputSink<1>) {
        let mut row = [0.0; 2 * CHUNK];
        for closes in candles.closes().chunks(CHUNK) {
            let row = &mut row[..2 * closes.len()];
            let pairs = row.as_chunks_mut::<2>().0;
            pairs[0] = change(closes[0], self.close);
            for (slot, close) in pairs[1..].iter_mut().zip(closes.windows(2)) {
                *slot = change(close[1], close[0]);
            }
            if self.scan(row) {
                self.close = closes[closes.len() - 1];
                let [out] = out.next(closes.len());
                for (slot, [change, size]) in out.iter_mut().zip(row.as_chunks::<2>().0) {
                    *slot = finite_or_nan(100.0 * change / safe_divisor(*size));
                }
                continue;
            }
            for close in closes {
                let candle = Candle { t: 0, o: 0.0, h: 0.0, l: 0.0, c: *close, v: 0.0 };
                let values = self.update(&candle);
                out.next(1).into_iter().zip(values).for_each(|(slot, value)| slot.fill(value));
            }
        }
    }
}

/// The change and its absolute value.
#[inline(always)]
fn change(close: f64, before: f64) -> [f64; 2] {
    [close - before, (close - before).abs()]
}

impl Tsi {
    /// Averages pairs of change and absolute change twice, in place. Returns false, with the state
    /// unchanged, when an average is not steady or a value is not finite.
    ///
    /// One register holds two pairs and one loop computes both averages, so that a step of two
    /// candles waits for one multiplication and one addition.
    #[inline(always)]
    fn scan(&mut self, row: &mut [f64]) -> bool {
        let all = [&self.change, &self.size, &self.change_again, &self.size_again];
        if !all.iter().all(|average| average.is_steady()) || !row.len().is_multiple_of(4) {
            return false;
        }
        let (first, second) = (PairStep::new(&self.change), PairStep::new(&self.change_again));
        let [change, size, change_again, size_again] = all.map(Ewm::mean);
        // A pair before the row that alone produces the current means.
        let mut before = [change / first.a, size / first.a];
        let mut between = [change_again / second.a, size_again / second.a];
        let mut once = [0.0, 0.0, change, size];
        let mut twice = [0.0, 0.0, change_again, size_again];
        for pairs in row.as_chunks_mut::<4>().0 {
            let now = *pairs;
            once = first.next(now, [before[0], before[1], now[0], now[1]], once);
            before = [now[2], now[3]];
            twice = second.next(once, [between[0], between[1], once[0], once[1]], twice);
            between = [once[2], once[3]];
            *pairs = twice;
        }
        if !finite(twice.iter().chain(&once).sum()) {
            return false;
        }
        self.change.set(once[2]);
        self.size.set(once[3]);
        self.change_again.set(twice[2]);
        self.size_again.set(twice[3]);
        true
    }
}

/// An average that advances two steps at a time over two pairs: m = b (b m + a y) + a x.
#[derive(Clone, Copy)]
struct PairStep {
    a: f64,
    ab: f64,
    b2: f64,
}

impl PairStep {
    #[inline(always)]
    fn new(average: &Ewm) -> PairStep {
        let (a, b) = (average.alpha(), average.beta());
        PairStep { a, ab: a * b, b2: b * b }
    }

    #[inline(always)]
    fn next(self, x: [f64; 4], y: [f64; 4], means: [f64; 4]) -> [f64; 4] {
        array::from_fn(|j| (self.a * x[j] + self.ab * y[j]) + self.b2 * means[j])
    }
}

//! Keltner channel. The form `original` is the plain mean of the typical price with bands at the
//! mean of H - L; the form `atr` is the exponential average of the close with bands at `multiplier`
//! average true ranges. Further outputs: the width in percent of the middle, the position of the
//! close from low (0) to high (1), and flags for a close above the high band and below the low one.
//!
//! TA-Lib has only the form `atr`, with the typical price instead of the close. Both averages start
//! with means, the shorter one delayed so that both have their first value at the same candle.

use super::Atr;
use crate::block::doubling::WindowBuffers;
use crate::block::{Block, CHUNK, Ewm, UpdateOf, WindowSum, check_period, check_positive};
use crate::indicator::{Slices, erase, exceeds, finite_or_nan};
use crate::spec::{Entry, Memory, Param};
use crate::{Candle, Candles, Error, Indicator, OutputSink, Parity};

pub(crate) const ENTRY: Entry = Entry {
    name: "keltner",
    params: &[
        Param::period("period", 20),
        Param::period("atr", 10),
        Param::real("multiplier", 2.0),
        Param::choice("bands", &["original", "atr"]),
        Param::parity(),
    ],
    outputs: &["kc_mband", "kc_hband", "kc_lband", "kc_wband", "kc_pband", "kc_hind", "kc_lind"],
    memory: |_| Memory::Decaying,
    build: |v| match (v.chosen(3), v.parity(4)) {
        (false, Parity::Ta) => Ok(erase(Keltner::new(v.period(0))?)),
        (false, Parity::TaLib) => {
            Err(Error::parameter("bands", "must be atr with parity talib: TA-Lib has no others"))
        }
        (true, parity) => Ok(erase(KeltnerAtr::new(v.period(0), v.period(1), v.real(2), parity)?)),
    },
};

#[inline(always)]
fn bands(middle: f64, half: f64, close: f64) -> [f64; 7] {
    let (high, low, width) = (middle + half, middle - half, 2.0 * half);
    let position = (close - low) / width;
    let (above, below) = (exceeds(close - high, high), exceeds(low - close, low));
    [middle, high, low, width / middle * 100.0, position, above, below]
}

/// Writes `bands` of each row entry; of the last four outputs only the wanted ones.
#[inline(always)]
fn show(rows: [&[f64]; 3], out: [&mut [f64]; 7], wanted: [bool; 4]) {
    let [middles, halves, closes] = rows;
    let len = middles.len().min(halves.len()).min(closes.len());
    let (middles, halves, closes) = (&middles[..len], &halves[..len], &closes[..len]);
    let [middle, high, low, rest @ ..] = out.map(|row| &mut row[..len]);
    for index in 0..len {
        let (mean, half) = (middles[index], halves[index]);
        middle[index] = finite_or_nan(mean);
        high[index] = finite_or_nan(mean + half);
        low[index] = finite_or_nan(mean - half);
    }
    for (which, (slots, wanted)) in rest.into_iter().zip(wanted).enumerate() {
        for index in if wanted { 0..len } else { 0..0 } {
            let values = bands(middles[index], halves[index], closes[index]);
            slots[index] = finite_or_nan(values[3 + which]);
        }
    }
}

/// Which of the last four outputs the caller wants.
#[inline(always)]
fn wanted(out: &impl OutputSink<7>) -> [bool; 4] {
    [3, 4, 5, 6].map(|output| out.wants(output))
}

/// Keltner channel of the form `original`.
#[derive(Clone, Debug)]
pub struct Keltner {
    middle: WindowSum,
    range: WindowSum,
    warmup: usize,
}

impl Keltner {
    /// A window of `period` candles.
    pub fn new(period: usize) -> Result<Keltner, Error> {
        let sum = WindowSum::new(check_period("period", period)?);
        Ok(Keltner { middle: sum.clone(), range: sum, warmup: period - 1 })
    }
}

impl Indicator<7> for Keltner {
    type Update = (UpdateOf<WindowSum>, UpdateOf<WindowSum>);

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 7], Self::Update) {
        let (middle, middle_next) = self.middle.mean(candle.typical());
        // `ta` averages (4H - 2L + C) / 3 and (4L - 2H + C) / 3, which equal the typical price plus
        // and minus the range. Two separate sums make the width of a flat stretch exactly 0.
        let (range, range_next) = self.range.mean(candle.h - candle.l);
        (bands(middle, range, candle.c), (middle_next, range_next))
    }

    #[inline(always)]
    fn commit(&mut self, (middle, range): Self::Update) {
        self.middle.commit(middle);
        self.range.commit(range);
    }

    fn warmup(&self) -> usize {
        self.warmup
    }

    const HAS_BATCH: bool = true;

    #[inline(always)]
    fn run_batch(&mut self, candles: &Candles<'_>, out: &mut impl OutputSink<7>) {
        let (mut buffers, wanted) = (WindowBuffers::new(), wanted(out));
        let [mut row, mut middles, mut ranges] = [[0.0; CHUNK]; 3];
        for from in (0..candles.len()).step_by(CHUNK) {
            let part = candles.slice(from, from + CHUNK);
            let len = part.len();
            let [row, middles, ranges] =
                [&mut row, &mut middles, &mut ranges].map(|row| &mut row[..len]);
            typical(&part, row);
            self.middle.scan_means(row, middles, &mut buffers);
            for (slot, (h, l)) in row.iter_mut().zip(part.highs().iter().zip(part.lows())) {
                *slot = h - l;
            }
            self.range.scan_means(row, ranges, &mut buffers);
            show([middles, ranges, part.closes()], out.next(len), wanted);
        }
    }
}

/// Keltner channel of the form `atr`.
#[derive(Clone, Debug)]
pub struct KeltnerAtr {
    middle: Ewm,
    range: Atr,
    multiplier: f64,
    parity: Parity,
    /// How many candles the middle still skips.
    skip: usize,
    warmup: usize,
}

impl KeltnerAtr {
    /// An average over `period` candles and bands `multiplier` average true ranges from it.
    pub fn new(
        period: usize,
        atr: usize,
        multiplier: f64,
        parity: Parity,
    ) -> Result<KeltnerAtr, Error> {
        check_period("period", period)?;
        check_period("atr", atr)?;
        let (warmup, skip, skips) = match parity {
            Parity::Ta => (period.max(atr) - 1, 0, 0),
            Parity::TaLib => {
                let warmup = (period - 1).max(atr);
                (warmup, warmup + 1 - period, warmup + 1 - atr)
            }
        };
        Ok(KeltnerAtr {
            middle: Ewm::span(period, parity),
            range: Atr::next_slot(skips, atr),
            multiplier: check_positive("multiplier", multiplier)?,
            parity,
            skip,
            warmup,
        })
    }

    #[inline(always)]
    fn price(&self, candle: &Candle) -> f64 {
        match self.parity {
            Parity::Ta => candle.c,
            Parity::TaLib if self.skip > 0 => f64::NAN,
            Parity::TaLib => candle.typical(),
        }
    }
}

impl Indicator<7> for KeltnerAtr {
    type Update = (UpdateOf<Ewm>, <Atr as Indicator<1>>::Update);

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 7], Self::Update) {
        let (middle, middle_next) = self.middle.step(self.price(candle));
        let ([range], range_next) = self.range.step(candle);
        let half = self.multiplier * range;
        (bands(middle, half, candle.c), (middle_next, range_next))
    }

    #[inline(always)]
    fn commit(&mut self, (middle, range): Self::Update) {
        self.middle.commit(middle);
        self.range.commit(range);
        self.skip = self.skip.saturating_sub(1);
    }

    fn warmup(&self) -> usize {
        self.warmup
    }

    const HAS_BATCH: bool = true;

    #[inline(always)]
    fn run_batch(&mut self, candles: &Candles<'_>, out: &mut impl OutputSink<7>) {
        let wanted = wanted(out);
        let [mut row, mut middles, mut halves] = [[0.0; CHUNK]; 3];
        for from in (0..candles.len()).step_by(CHUNK) {
            let part = candles.slice(from, from + CHUNK);
            let len = part.len();
            let [row, middles, halves] =
                [&mut row, &mut middles, &mut halves].map(|row| &mut row[..len]);
            let before = self.clone();
            match self.parity {
                Parity::Ta => self.middle.scan(part.closes(), middles),
                Parity::TaLib => {
                    typical(&part, row);
                    row.iter_mut().take(self.skip).for_each(|price| *price = f64::NAN);
                    self.skip = self.skip.saturating_sub(len);
                    self.middle.scan(row, middles);
                }
            }
            self.range.run_batch(&part, &mut Slices([&mut *halves]));
            halves.iter_mut().for_each(|half| *half *= self.multiplier);
            let out = out.next(len);
            if has_narrow_bands(middles, halves) {
                *self = before;
                self.each(&part, out);
            } else {
                show([middles, halves, part.closes()], out, wanted);
            }
        }
    }
}

impl KeltnerAtr {
    #[inline(never)]
    fn each(&mut self, candles: &Candles<'_>, mut out: [&mut [f64]; 7]) {
        for (index, candle) in candles.iter().enumerate() {
            for (slots, value) in out.iter_mut().zip(self.update(&candle)) {
                slots[index] = value;
            }
        }
    }
}

/// Whether a band is within 1e-5 of the middle, where rounding decides the position of the close,
/// or is NaN. A count instead of an early exit lets the compiler vectorize the loop.
#[inline(always)]
fn has_narrow_bands(middles: &[f64], halves: &[f64]) -> bool {
    let pairs = middles.iter().zip(halves);
    let wide = |(middle, half): (&f64, &f64)| *half >= 1e-5 * middle.abs();
    pairs.map(|pair| u64::from(!wide(pair))).sum::<u64>() > 0
}

/// Writes typical prices for as many candles as `out` has slots.
#[inline(always)]
fn typical(candles: &Candles<'_>, out: &mut [f64]) {
    let columns = candles.highs().iter().zip(candles.lows()).zip(candles.closes());
    for (slot, ((h, l), c)) in out.iter_mut().zip(columns) {
        *slot = (h + l + c) / 3.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounding left in the sums by prices thousands of times as high must not set a flag.
    #[test]
    fn a_constant_price_is_within_its_bands() {
        for still in [86.03, 860.3, 6624.31] {
            let mut keltner = Keltner::new(20).unwrap();
            for i in 0..120 {
                let c = if i < 60 { 1e6 + f64::from(i * i % 17) * 1e3 / 7.0 } else { still };
                let values = keltner.update(&Candle { t: 0, o: c, h: c, l: c, c, v: 1.0 });
                if i >= 80 {
                    assert_eq!(values[5..], [0.0, 0.0], "candle {i} at {still}: {values:?}");
                }
            }
        }
    }
}

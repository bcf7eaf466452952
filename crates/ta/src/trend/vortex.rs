//! Vortex: over `period` candles, the sums of |H - L'| and of |L - H'|, each over the sum of true
//! ranges; L' and H' are those of the candle before.

use crate::block::doubling::WindowBuffers;
use crate::block::rolling::{SumIndicator, run_batch};
use crate::block::{Block, CHUNK, UpdateOf, WindowSum, check_period};
use crate::candle::true_range;
use crate::indicator::{erase, finite_or_nan};
use crate::spec::{Entry, Memory, Param};
use crate::{Candle, Candles, Error, Indicator, OutputSink};

pub(crate) const ENTRY: Entry = Entry {
    name: "vortex",
    params: &[Param::period("period", 14)],
    outputs: &["vip", "vin", "vid"],
    memory: |_| Memory::Windowed,
    build: |v| Ok(erase(Vortex::new(v.period(0))?)),
};

/// Vortex.
#[derive(Clone, Debug)]
pub struct Vortex {
    up: WindowSum,
    down: WindowSum,
    range: WindowSum,
    high: f64,
    low: f64,
    close: f64,
    warmup: usize,
}

impl Vortex {
    /// A window of `period` candles.
    pub fn new(period: usize) -> Result<Vortex, Error> {
        check_period("period", period)?;
        Ok(Vortex {
            up: WindowSum::new(period),
            down: WindowSum::new(period),
            range: WindowSum::new(period),
            high: f64::NAN,
            low: f64::NAN,
            close: f64::NAN,
            warmup: period,
        })
    }
}

impl Indicator<3> for Vortex {
    type Update = (UpdateOf<WindowSum>, UpdateOf<WindowSum>, UpdateOf<WindowSum>, f64, f64, f64);

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 3], Self::Update) {
        let (up, up_next) = self.up.step((candle.h - self.low).abs());
        let (down, down_next) = self.down.step((candle.l - self.high).abs());
        let (range, range_next) = self.range.step(candle.true_range(self.close));
        let (high_next, low_next, close_next) = (candle.h, candle.l, candle.c);
        // A range that overflows gives NaN instead of ratios of 0.
        (
            show([up, down, finite_or_nan(range)]),
            (up_next, down_next, range_next, high_next, low_next, close_next),
        )
    }

    #[inline(always)]
    fn commit(&mut self, (up, down, range, high, low, close): Self::Update) {
        self.up.commit(up);
        self.down.commit(down);
        self.range.commit(range);
        self.high = high;
        self.low = low;
        self.close = close;
    }

    fn warmup(&self) -> usize {
        self.warmup
    }

    const HAS_BATCH: bool = true;

    #[inline(always)]
    fn run_batch(&mut self, candles: &Candles<'_>, out: &mut impl OutputSink<3>) {
        run_batch(self, candles, out);
    }
}

#[inline(always)]
fn show([up, down, range]: [f64; 3]) -> [f64; 3] {
    [up / range, down / range, up / range - down / range]
}

impl SumIndicator<3, 3> for Vortex {
    type Buffers = WindowBuffers;

    fn buffers(&self) -> WindowBuffers {
        WindowBuffers::new()
    }

    fn periods(&self) -> [usize; 3] {
        [self.warmup; 3]
    }

    /// Writes |H - L'|, |L - H'| and the true ranges.
    #[inline(always)]
    fn fill(
        &mut self,
        candles: &Candles<'_>,
        from: usize,
        rows: [&mut [f64]; 3],
        _: &mut WindowBuffers,
    ) {
        let [ups, downs, ranges] = rows;
        let len = ups.len();
        let now = [candles.highs(), candles.lows(), candles.closes()];
        let [h, l, c] = now.map(|column| &column[from..from + len]);
        let first: [[f64; CHUNK]; 3];
        let before = match from.checked_sub(1) {
            Some(from) => now.map(|column| &column[from..from + len]),
            None => {
                first = [behind(self.high, h), behind(self.low, l), behind(self.close, c)];
                first.each_ref().map(|row| &row[..len])
            }
        };
        let [high, low, close] = before;
        let (downs, ranges) = (&mut downs[..len], &mut ranges[..len]);
        for i in 0..len {
            ups[i] = (h[i] - low[i]).abs();
            downs[i] = (l[i] - high[i]).abs();
            ranges[i] = true_range(h[i], l[i], close[i]);
        }
        (self.high, self.low, self.close) = (h[len - 1], l[len - 1], c[len - 1]);
    }

    /// One division serves both ratios.
    #[inline(always)]
    fn show(&self) -> impl Fn([f64; 3]) -> [f64; 3] {
        |[up, down, range]| {
            let share = 1.0 / range;
            [up * share, down * share, up * share - down * share]
        }
    }

    fn restart(&mut self, [ups, downs, ranges]: [&[f64]; 3]) {
        self.up.restart(ups);
        self.down.restart(downs);
        self.range.restart(ranges);
    }

    /// Means replace sums: the ratios are the same.
    #[inline(never)]
    fn scan(&mut self, part: [&[f64]; 3], out: [&mut [f64]; 3], buffers: &mut WindowBuffers) {
        let [ups, downs, ranges] = part;
        let [plus, minus, apart] = out;
        self.up.scan_means(ups, plus, buffers);
        self.down.scan_means(downs, minus, buffers);
        self.range.scan_means(ranges, apart, buffers);
        for ((plus, minus), apart) in plus.iter_mut().zip(minus).zip(apart) {
            [*plus, *minus, *apart] = show([*plus, *minus, *apart]).map(finite_or_nan);
        }
    }
}

/// A column delayed by one candle, with the previous value first; at most a chunk.
fn behind(before: f64, column: &[f64]) -> [f64; CHUNK] {
    let mut row = [before; CHUNK];
    row[1..].iter_mut().zip(column).for_each(|(slot, x)| *slot = *x);
    row
}

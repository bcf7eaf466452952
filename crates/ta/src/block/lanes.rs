//! Exponential averages of many finite numbers without one long dependency chain: the part from the
//! last eight numbers depends on no earlier mean, and the remainder of the mean eight steps ago
//! runs in eight independent chains.

use std::array;

#[cfg(not(target_feature = "avx"))]
use multiversion::{multiversion, target::match_target};

/// The AVX loop takes a multiple of this many numbers.
pub(crate) const PART: usize = 16;

type F64x8 = [[f64; 4]; 2];

/// An average that continues from `mean`: m = b m + a x.
#[derive(Clone, Copy)]
pub(crate) struct Lanes {
    pub(crate) a: f64,
    pub(crate) b: f64,
    pub(crate) mean: f64,
}

impl Lanes {
    /// Averages `xs` into `out`, of the same length, and returns the last mean.
    #[inline(always)]
    pub(crate) fn scan(self, xs: &[f64], out: &mut [f64]) -> f64 {
        self.first(xs, out);
        let four = self.four();
        for (slot, x) in out.iter_mut().skip(4).zip(xs.windows(4).skip(1)) {
            *slot = four(x);
        }
        let (mut chain, mut mean) = (self.chain(), self.mean);
        for eight in eights_mut(out) {
            *eight = chain.next(eight);
            mean = eight[1][3];
        }
        for (slot, x) in out.iter_mut().zip(xs).skip(xs.len() & !7) {
            mean = self.a * x + self.b * mean;
            *slot = mean;
        }
        mean
    }

    /// The weighted sum of a number and the three before it, oldest first.
    #[inline(always)]
    fn four(self) -> impl Fn(&[f64]) -> f64 {
        let Lanes { a, b, .. } = self;
        let (ab, ab2, ab3) = (a * b, a * b * b, a * b * b * b);
        move |x| (a * x[3] + ab * x[2]) + (ab2 * x[1] + ab3 * x[0])
    }

    /// The means at the first four numbers, which include the starting mean.
    #[inline(always)]
    fn first(self, xs: &[f64], out: &mut [f64]) {
        let mut mean = self.mean;
        for (slot, x) in out.iter_mut().zip(xs).take(4) {
            mean = self.a * x + self.b * mean;
            *slot = mean;
        }
    }

    #[inline(always)]
    fn chain(self) -> Chain {
        let b2 = self.b * self.b;
        let b4 = b2 * b2;
        Chain { b4, b8: b4 * b4, before: [0.0; 4], means: [[0.0; 4]; 2] }
    }
}

/// Turns the output of `first` and `four` into means.
struct Chain {
    b4: f64,
    b8: f64,
    before: [f64; 4],
    means: F64x8,
}

impl Chain {
    #[inline(always)]
    fn next(&mut self, [low, high]: &F64x8) -> F64x8 {
        let (b4, b8, [near, far]) = (self.b4, self.b8, self.means);
        let eight_low: [f64; 4] = array::from_fn(|i| low[i] + b4 * self.before[i]);
        let eight_high: [f64; 4] = array::from_fn(|i| high[i] + b4 * low[i]);
        self.before = *high;
        self.means = [
            array::from_fn(|i| eight_low[i] + b8 * near[i]),
            array::from_fn(|i| eight_high[i] + b8 * far[i]),
        ];
        self.means
    }
}

#[inline(always)]
fn eights(row: &[f64]) -> &[F64x8] {
    row.as_chunks().0.as_chunks().0
}

#[inline(always)]
fn eights_mut(row: &mut [f64]) -> &mut [F64x8] {
    row.as_chunks_mut().0.as_chunks_mut().0
}

#[inline(always)]
fn both(a: F64x8, b: F64x8, of: impl Fn(f64, f64) -> f64) -> F64x8 {
    array::from_fn(|j| array::from_fn(|i| of(a[j][i], b[j][i])))
}

/// Writes the line from a fast and a slow average, the signal (its average) and the histogram
/// (their difference) into outputs as long as `xs`. Returns the last means.
#[inline(always)]
pub(crate) fn line_signal_hist(
    [fast, slow, signal]: [Lanes; 3],
    line: impl Fn(f64, f64) -> f64,
    xs: &[f64],
    [lines, signals, hists]: [&mut [f64]; 3],
) -> [f64; 3] {
    let [fast_mean, slow_mean] = ewm_line([fast, slow], line, xs, lines, [signals, hists]);
    let (whole, mut mean) = (xs.len() & !7, signal.mean);
    signal.first(&lines[..whole], signals);
    let four = signal.four();
    for (slot, line) in signals[..whole].iter_mut().skip(4).zip(lines.windows(4).skip(1)) {
        *slot = four(line);
    }
    let mut chain = signal.chain();
    let slots = eights_mut(signals).iter_mut().zip(eights_mut(hists));
    for ((signal, hist), line) in slots.zip(eights(lines)) {
        *signal = chain.next(signal);
        *hist = both(*line, *signal, |line, signal| line - signal);
        mean = signal[1][3];
    }
    for ((line, slot), hist) in lines.iter().zip(signals).zip(hists).skip(whole) {
        mean = signal.a * line + signal.b * mean;
        (*slot, *hist) = (mean, line - mean);
    }
    [fast_mean, slow_mean, mean]
}

/// Appends what `line_signal_hist` computes, for whole parts. Returns `None` on a CPU without AVX2
/// and FMA, and when a value is not finite; the caller then discards what was appended.
#[cfg(not(target_feature = "avx"))]
#[multiversion(targets("x86_64+avx+avx2+fma"))]
pub(crate) fn line_signal_hist_avx<const PERCENT: bool>(
    averages: [Lanes; 3],
    xs: &[f64],
    out: [&mut Vec<f64>; 3],
) -> Option<[f64; 3]> {
    match_target! {
        "x86_64+avx+avx2+fma" => super::avx::line_signal_hist::<PERCENT>(averages, xs, out),
        _ => {
            _ = (averages, xs, out);
            None
        }
    }
}

/// A binary compiled for AVX does no dispatch at run time, and without that dispatch the AVX loop
/// cannot be called from safe code: `line_signal_hist` does the whole job.
#[cfg(target_feature = "avx")]
pub(crate) fn line_signal_hist_avx<const PERCENT: bool>(
    _averages: [Lanes; 3],
    _xs: &[f64],
    _out: [&mut Vec<f64>; 3],
) -> Option<[f64; 3]> {
    None
}

/// Writes the line from a fast and a slow average into `out`, as long as `xs`; the last argument is
/// two scratch rows of that length. Returns the last means.
#[inline(always)]
pub(crate) fn ewm_line(
    [fast, slow]: [Lanes; 2],
    line: impl Fn(f64, f64) -> f64,
    xs: &[f64],
    out: &mut [f64],
    [fasts, slows]: [&mut [f64]; 2],
) -> [f64; 2] {
    let (fast_four, slow_four) = (fast.four(), slow.four());
    fast.first(xs, fasts);
    slow.first(xs, slows);
    let pairs = fasts.iter_mut().zip(&mut *slows).skip(4);
    for ((fast, slow), x) in pairs.zip(xs.windows(4).skip(1)) {
        (*fast, *slow) = (fast_four(x), slow_four(x));
    }
    let (mut fast_chain, mut slow_chain) = (fast.chain(), slow.chain());
    let (mut fast_mean, mut slow_mean) = (fast.mean, slow.mean);
    let parts = eights(fasts).iter().zip(eights(slows));
    for (slot, (fast, slow)) in eights_mut(out).iter_mut().zip(parts) {
        let (fast, slow) = (fast_chain.next(fast), slow_chain.next(slow));
        *slot = both(fast, slow, &line);
        (fast_mean, slow_mean) = (fast[1][3], slow[1][3]);
    }
    for (slot, x) in out.iter_mut().zip(xs).skip(xs.len() & !7) {
        fast_mean = fast.a * x + fast.b * fast_mean;
        slow_mean = slow.a * x + slow.b * slow_mean;
        *slot = line(fast_mean, slow_mean);
    }
    [fast_mean, slow_mean]
}

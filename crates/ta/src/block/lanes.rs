//! Exponential averages of many finite numbers in two parts: what the last eight numbers give
//! without any before them, which waits for nothing, and what remains of the mean eight steps ago,
//! which makes eight chains that do not wait for one another.

use std::array;

type Eight = [[f64; 4]; 2];

/// An average that goes on from `mean`: m = b m + a x.
#[derive(Clone, Copy)]
pub(crate) struct Lanes {
    pub(crate) a: f64,
    pub(crate) b: f64,
    pub(crate) mean: f64,
}

impl Lanes {
    /// Averages `xs` into `out`, which is as long, and gives the last mean.
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

    /// What a number gives with the three before it, the oldest first.
    #[inline(always)]
    fn four(self) -> impl Fn(&[f64]) -> f64 {
        let Lanes { a, b, .. } = self;
        let (ab, ab2, ab3) = (a * b, a * b * b, a * b * b * b);
        move |x| (a * x[3] + ab * x[2]) + (ab2 * x[1] + ab3 * x[0])
    }

    /// The means at the first four numbers, which have the mean before them.
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

/// Makes means of what `first` and `four` gave.
struct Chain {
    b4: f64,
    b8: f64,
    before: [f64; 4],
    means: Eight,
}

impl Chain {
    #[inline(always)]
    fn next(&mut self, [low, high]: &Eight) -> Eight {
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
fn eights(row: &[f64]) -> &[Eight] {
    row.as_chunks().0.as_chunks().0
}

#[inline(always)]
fn eights_mut(row: &mut [f64]) -> &mut [Eight] {
    row.as_chunks_mut().0.as_chunks_mut().0
}

#[inline(always)]
fn both(a: Eight, b: Eight, of: impl Fn(f64, f64) -> f64) -> Eight {
    array::from_fn(|j| array::from_fn(|i| of(a[j][i], b[j][i])))
}

/// What `line` makes of a fast and a slow average, the average of that, and their difference, into
/// outputs that are as long as `xs`. Gives the last means.
#[inline(always)]
pub(crate) fn crossing(
    [fast, slow, signal]: [Lanes; 3],
    line: impl Fn(f64, f64) -> f64,
    xs: &[f64],
    [lines, signals, hists]: [&mut [f64]; 3],
) -> [f64; 3] {
    between([fast, slow], &line, xs, lines, [signals, hists]);
    let mut last = [fast.mean, slow.mean, signal.mean];
    // The two averages are no longer needed, but for their last means.
    let whole = xs.len() & !7;
    if whole > 0 {
        (last[0], last[1]) = (signals[whole - 1], hists[whole - 1]);
    }
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
        last[2] = signal[1][3];
    }
    let slots = lines.iter_mut().zip(signals).zip(hists).skip(whole);
    for (((line_slot, signal_slot), hist), x) in slots.zip(&xs[whole..]) {
        last[0] = fast.a * x + fast.b * last[0];
        last[1] = slow.a * x + slow.b * last[1];
        *line_slot = line(last[0], last[1]);
        last[2] = signal.a * *line_slot + signal.b * last[2];
        (*signal_slot, *hist) = (last[2], *line_slot - last[2]);
    }
    last
}

/// What `line` makes of a fast and a slow average, for as many numbers as make whole eights. The
/// last means are left at the end of `work`, whose rows are as long as `xs`.
#[inline(always)]
pub(crate) fn between(
    [fast, slow]: [Lanes; 2],
    line: impl Fn(f64, f64) -> f64,
    xs: &[f64],
    lines: &mut [f64],
    [fasts, slows]: [&mut [f64]; 2],
) {
    let (fast_four, slow_four) = (fast.four(), slow.four());
    fast.first(xs, fasts);
    slow.first(xs, slows);
    let pairs = fasts.iter_mut().zip(&mut *slows).skip(4);
    for ((fast, slow), x) in pairs.zip(xs.windows(4).skip(1)) {
        (*fast, *slow) = (fast_four(x), slow_four(x));
    }
    let (mut fast, mut slow) = (fast.chain(), slow.chain());
    let (fasts, slows) = (eights_mut(fasts), eights_mut(slows));
    let mut last = None;
    for ((slot, f), s) in eights_mut(lines).iter_mut().zip(&*fasts).zip(&*slows) {
        let (f, s) = (fast.next(f), slow.next(s));
        *slot = both(f, s, &line);
        last = Some((f, s));
    }
    if let (Some((f, s)), Some(fast), Some(slow)) = (last, fasts.last_mut(), slows.last_mut()) {
        (*fast, *slow) = (f, s);
    }
}

//! The averages of an oscillator with AVX2 and FMA, four candles per register: the part from the
//! last four numbers, built from pairs, plus the remainder of the mean four steps ago. `lanes` is
//! the portable form.
//!
//! The loop is software-pipelined: few instructions depend on others of the same iteration, and
//! only outputs are stored.

use std::arch::x86_64::*;
use std::array;
use std::cell::Cell;
use std::mem::take;

use super::lanes::Lanes;
use crate::indicator::finite;

type F64x4 = __m256d;

/// A mean above this has overflowed or started from invalid input.
const LARGE: f64 = 1e100;
/// A signal with beta of at least 0.792 still carries more than `LARGE` of an overflow (1.8e308) at
/// the end of 2,048 numbers.
const SLOW_BETA: f64 = 0.792;

/// A factor in four lanes. The cell keeps it in memory, from where a multiplication reads it as
/// fast as from a register: there are more factors than the 16 registers, and the compiler would
/// otherwise spill the means.
type Factor = Cell<[f64; 4]>;

#[repr(align(32))]
struct Factors {
    fast: [Factor; 3],
    slow: [Factor; 3],
    signal: [Factor; 3],
    line: [Factor; 2],
    shown: Factor,
}

impl Factors {
    fn new(percent: bool, [fast, slow, signal]: [Lanes; 3]) -> Factors {
        let four = |factor| Cell::new([factor; 4]);
        let powers = |Lanes { b, .. }| [b, b * b, b * b * (b * b)].map(four);
        let line = if percent { [100.0 * fast.a / slow.a, 100.0] } else { [fast.a, slow.a] };
        Factors {
            fast: powers(fast),
            slow: powers(slow),
            signal: powers(signal),
            line: line.map(four),
            shown: four(signal.a),
        }
    }
}

#[inline]
#[target_feature(enable = "avx,avx2,fma")]
fn factor(factor: &Factor) -> F64x4 {
    let [a, b, c, d] = factor.get();
    _mm256_setr_pd(a, b, c, d)
}

/// An average in four lanes, one per candle of four consecutive ones, before the multiplication by
/// `a`.
struct AvxEwm<'a> {
    /// beta, beta^2 and beta^4.
    powers: &'a [Factor; 3],
    /// The weighted sums of pairs.
    pairs: F64x4,
    /// The weighted sums of a number and the three before it.
    fours: F64x4,
    means: F64x4,
}

impl AvxEwm<'_> {
    /// Starts from a mean as if it came from earlier numbers.
    #[inline]
    #[target_feature(enable = "avx,avx2,fma")]
    fn new(powers: &[Factor; 3], Lanes { a, b, mean }: Lanes) -> AvxEwm<'_> {
        let (zero, now) = (_mm256_setzero_pd(), mean / a);
        let (once, twice) = (now / b, now / (b * b));
        let means = _mm256_setr_pd(twice / b, twice, once, now);
        AvxEwm { powers, pairs: zero, fours: zero, means }
    }

    /// Takes four numbers, and the four that start one number earlier.
    #[inline]
    #[target_feature(enable = "avx,avx2,fma")]
    fn take(&mut self, xs: F64x4, before: F64x4) {
        let pairs = _mm256_fmadd_pd(factor(&self.powers[0]), before, xs);
        let older = _mm256_permute2f128_pd::<0x21>(self.pairs, pairs);
        self.pairs = pairs;
        self.fours = _mm256_fmadd_pd(factor(&self.powers[1]), older, pairs);
    }

    /// The means at the numbers taken last.
    #[inline]
    #[target_feature(enable = "avx,avx2,fma")]
    fn next(&mut self) -> F64x4 {
        self.means = _mm256_fmadd_pd(factor(&self.powers[2]), self.means, self.fours);
        self.means
    }
}

/// Adding 0 leaves the value unchanged; without it the compiler tracks the four scalars and
/// shuffles them one by one.
#[inline]
#[target_feature(enable = "avx,avx2,fma")]
fn load(x: &[f64; 4]) -> F64x4 {
    let xs = _mm256_setr_pd(x[0], x[1], x[2], x[3]);
    _mm256_add_pd(xs, _mm256_setzero_pd())
}

#[inline]
#[target_feature(enable = "avx,avx2,fma")]
fn store(values: F64x4) -> [f64; 4] {
    let (low, high) = (_mm256_castpd256_pd128(values), _mm256_extractf128_pd::<1>(values));
    let second = |pair| _mm_cvtsd_f64(_mm_unpackhi_pd(pair, pair));
    [_mm_cvtsd_f64(low), second(low), _mm_cvtsd_f64(high), second(high)]
}

/// The last lane of `before` and the first three of `xs`.
#[inline]
#[target_feature(enable = "avx,avx2,fma")]
fn behind(before: F64x4, xs: F64x4) -> F64x4 {
    let between = _mm256_permute2f128_pd::<0x21>(before, xs);
    _mm256_shuffle_pd::<0b0101>(between, xs)
}

#[inline]
#[target_feature(enable = "avx,avx2,fma")]
fn line<const PERCENT: bool>([first, second]: &[Factor; 2], fast: F64x4, slow: F64x4) -> F64x4 {
    let (first, second) = (factor(first), factor(second));
    if PERCENT {
        return _mm256_sub_pd(_mm256_div_pd(_mm256_mul_pd(first, fast), slow), second);
    }
    _mm256_fmsub_pd(first, fast, _mm256_mul_pd(second, slow))
}

#[inline]
#[target_feature(enable = "avx,avx2,fma")]
fn has_room(column: &Vec<f64>) -> bool {
    column.capacity() - column.len() >= 4
}

/// Appends line, signal and histogram of whole groups of four, at least three groups. Returns the
/// last means, or `None` when a value is not finite or capacity ran out.
///
/// A value that is not finite makes every later mean not finite, so the last means show it.
/// Exception: a histogram can overflow between a finite line and a finite signal. A signal with
/// beta of at least 0.792 still shows such sizes at the end of a run; below that, every histogram
/// value is tested.
#[target_feature(enable = "avx,avx2,fma")]
pub(crate) fn line_signal_hist<const PERCENT: bool>(
    averages: [Lanes; 3],
    xs: &[f64],
    out: [&mut Vec<f64>; 3],
) -> Option<[f64; 3]> {
    let [lines, signals, hists] = out;
    let (from, forgets) = (hists.len(), averages[2].b < SLOW_BETA);
    let factors = Factors::new(PERCENT, averages);
    let means = run_pipelined::<PERCENT>(&factors, averages, xs, [lines, signals, &mut *hists])?;
    let small = means.iter().all(|mean| mean.abs() < LARGE);
    let whole = small && (!forgets || hists.get(from..)?.iter().all(|value| finite(*value)));
    whole.then_some(means)
}

/// Each iteration stores four candles, feeds the next four lines to the signal, computes the four
/// lines after those, and loads four more numbers. Twelve zeros flush the pipeline at the end.
///
/// Not inlined: the compiler would otherwise see that the cells are private and keep the factors in
/// registers.
#[inline(never)]
#[target_feature(enable = "avx,avx2,fma")]
fn run_pipelined<const PERCENT: bool>(
    factors: &Factors,
    averages: [Lanes; 3],
    xs: &[f64],
    out: [&mut Vec<f64>; 3],
) -> Option<[f64; 3]> {
    let [x0, x1, x2, now @ ..] = xs.as_chunks::<4>().0 else { return None };
    let [before1, before2, before @ ..] = xs.get(3..)?.as_chunks::<4>().0 else { return None };
    let end = [[0.0; 4]; 3];
    let before_end = [[*xs.last()?, 0.0, 0.0, 0.0], [0.0; 4], [0.0; 4]];
    let zero = _mm256_setzero_pd();
    let mut fast = AvxEwm::new(&factors.fast, averages[0]);
    let mut slow = AvxEwm::new(&factors.slow, averages[1]);
    let mut signal = AvxEwm::new(&factors.signal, averages[2]);
    let (x0, x1, x2) = (load(x0), load(x1), load(x2));
    fast.take(x0, behind(zero, x0));
    slow.take(x0, behind(zero, x0));
    let mut shown = line::<PERCENT>(&factors.line, fast.next(), slow.next());
    fast.take(x1, load(before1));
    slow.take(x1, load(before1));
    signal.take(shown, behind(zero, shown));
    let mut next = line::<PERCENT>(&factors.line, fast.next(), slow.next());
    fast.take(x2, load(before2));
    slow.take(x2, load(before2));
    // Local vectors let the compiler keep their lengths in registers.
    let [lines, signals, hists] = out;
    let mut columns = (take(lines), take(signals), take(hists));
    let mut room = true;
    'all: for (now, before) in [(now, before), (&end, &before_end)] {
        for (xs, before) in now.iter().zip(before) {
            let mean = _mm256_mul_pd(factor(&factors.shown), signal.next());
            let hist = _mm256_sub_pd(shown, mean);
            room = has_room(&columns.0) && has_room(&columns.1) && has_room(&columns.2);
            if !room {
                break 'all;
            }
            columns.0.extend_from_slice(&store(shown));
            columns.1.extend_from_slice(&store(mean));
            columns.2.extend_from_slice(&store(hist));
            signal.take(next, behind(shown, next));
            shown = next;
            next = line::<PERCENT>(&factors.line, fast.next(), slow.next());
            let (xs, before) = (load(xs), load(before));
            fast.take(xs, before);
            slow.take(xs, before);
        }
    }
    (*lines, *signals, *hists) = columns;
    // The fast and the slow average took eight zeros too many; dividing by beta^8 reverses that.
    let means = [fast.means, slow.means, signal.means];
    let left = [averages[0].b.powi(8), averages[1].b.powi(8), 1.0];
    room.then(|| array::from_fn(|i| averages[i].a * (store(means[i])[3] / left[i])))
}

//! The averages of an oscillator, four candles in a register: what the last four numbers give, made
//! of pairs, and what remains of the mean four steps ago. For machines with wide registers only;
//! the others have `lanes`.
//!
//! Outputs grow by what is in registers, so that nothing is written twice.

use std::arch::x86_64::*;

use super::lanes::{Lanes, PART};
use crate::indicator::finite;

type Four = __m256d;

/// No mean is as large unless something went wrong.
const LARGE: f64 = 1e100;
/// An average that keeps this much of its mean at each step keeps more than `LARGE` of the largest
/// numbers there are over a run of 1,024.
const REMEMBERS: f64 = 0.64;

/// An average in four lanes, one for each of four candles in a row.
struct Average {
    a: Four,
    ab: Four,
    b2: Four,
    b4: Four,
    /// The numbers before.
    xs: Four,
    /// What they gave in pairs.
    pairs: Four,
    means: Four,
}

impl Average {
    /// Goes on from a mean as if it had come from numbers longer ago.
    #[inline]
    #[target_feature(enable = "avx,avx2,fma")]
    fn new(Lanes { a, b, mean }: Lanes) -> Average {
        let zero = _mm256_setzero_pd();
        let (once, twice) = (mean / b, mean / (b * b));
        Average {
            a: _mm256_set1_pd(a),
            ab: _mm256_set1_pd(a * b),
            b2: _mm256_set1_pd(b * b),
            b4: _mm256_set1_pd(b * b * (b * b)),
            xs: zero,
            pairs: zero,
            means: _mm256_setr_pd(twice / b, twice, once, mean),
        }
    }

    #[inline]
    #[target_feature(enable = "avx,avx2,fma")]
    fn push(&mut self, xs: Four) -> Four {
        let between = _mm256_permute2f128_pd::<0x21>(self.xs, xs);
        let before = _mm256_shuffle_pd::<0b0101>(between, xs);
        self.xs = xs;
        let pairs = _mm256_fmadd_pd(self.ab, before, _mm256_mul_pd(self.a, xs));
        let older = _mm256_permute2f128_pd::<0x21>(self.pairs, pairs);
        self.pairs = pairs;
        let fours = _mm256_fmadd_pd(self.b2, older, pairs);
        self.means = _mm256_fmadd_pd(self.b4, self.means, fours);
        self.means
    }

    #[inline]
    #[target_feature(enable = "avx,avx2,fma")]
    fn last(&self) -> f64 {
        store(self.means)[3]
    }
}

/// Adding nothing leaves a number as it is. Without it the compiler sees through to the four it was
/// made of, and takes them one by one wherever they are moved about.
#[inline]
#[target_feature(enable = "avx,avx2,fma")]
fn load(x: &[f64; 4]) -> Four {
    let xs = _mm256_setr_pd(x[0], x[1], x[2], x[3]);
    _mm256_add_pd(xs, _mm256_setzero_pd())
}

#[inline]
#[target_feature(enable = "avx,avx2,fma")]
fn store(values: Four) -> [f64; 4] {
    let (low, high) = (_mm256_castpd256_pd128(values), _mm256_extractf128_pd::<1>(values));
    let second = |pair| _mm_cvtsd_f64(_mm_unpackhi_pd(pair, pair));
    [_mm_cvtsd_f64(low), second(low), _mm_cvtsd_f64(high), second(high)]
}

/// Nothing is appended where there is no room: a call to make some would take all registers.
#[inline]
#[target_feature(enable = "avx,avx2,fma")]
fn append(column: &mut Vec<f64>, values: [Four; 4]) -> Option<()> {
    if column.capacity() - column.len() < 16 {
        return None;
    }
    let [w, x, y, z] = values;
    let [[a, b, c, d], [e, f, g, h]] = [store(w), store(x)];
    let [[i, j, k, l], [m, n, o, p]] = [store(y), store(z)];
    column.extend_from_slice(&[a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]);
    Some(())
}

/// Appends line, signal and histogram of as many whole parts as there are. Gives the last means, or
/// nothing where not all was finite or there was no room.
///
/// What is not finite makes every mean after it so. A histogram can be infinite between a line and
/// a signal that are not, if they are so large that the signal shows it to the end of a run, unless
/// it forgets at once: then all are looked at.
#[target_feature(enable = "avx,avx2,fma")]
pub(crate) fn crossing<const PERCENT: bool>(
    [fast, slow, signal]: [Lanes; 3],
    xs: &[f64],
    [lines, signals, hists]: [&mut Vec<f64>; 3],
) -> Option<[f64; 3]> {
    let (from, forgets) = (hists.len(), signal.b < REMEMBERS);
    let (mut fast, mut slow) = (Average::new(fast), Average::new(slow));
    let mut signal = Average::new(signal);
    let zero = _mm256_setzero_pd();
    let hundred = _mm256_set1_pd(100.0);
    for xs in xs.as_chunks::<PART>().0 {
        let from = lines.len();
        for xs in xs.as_chunks::<16>().0 {
            let mut now = [zero; 4];
            for (line, xs) in now.iter_mut().zip(xs.as_chunks().0) {
                let xs = load(xs);
                let (fast, slow) = (fast.push(xs), slow.push(xs));
                *line = _mm256_sub_pd(fast, slow);
                if PERCENT {
                    *line = _mm256_mul_pd(_mm256_div_pd(*line, slow), hundred);
                }
            }
            append(lines, now)?;
        }
        for xs in lines.get(from..)?.as_chunks::<16>().0 {
            let (mut now, mut apart) = ([zero; 4], [zero; 4]);
            for ((now, apart), xs) in now.iter_mut().zip(&mut apart).zip(xs.as_chunks().0) {
                let line = load(xs);
                *now = signal.push(line);
                *apart = _mm256_sub_pd(line, *now);
            }
            append(signals, now)?;
            append(hists, apart)?;
        }
    }
    let means = [fast.last(), slow.last(), signal.last()];
    let small = means.iter().all(|mean| mean.abs() < LARGE);
    let whole = small && (!forgets || hists.get(from..)?.iter().all(|value| finite(*value)));
    whole.then_some(means)
}

//! Mean absolute deviation of the last n numbers from their mean.

use super::{Block, Sum, after};

#[derive(Clone, Debug)]
pub struct Deviation {
    ring: Box<[f64]>,
    at: usize,
    sum: Sum,
    /// How many of the last numbers are the same, no further than n.
    same: usize,
    last: f64,
}

#[derive(Clone, Copy)]
pub struct Next {
    x: f64,
    same: usize,
    sum: <Sum as Block>::Next,
}

impl Deviation {
    pub(crate) fn new(period: usize) -> Deviation {
        let ring = vec![0.0; period].into_boxed_slice();
        Deviation { ring, at: 0, sum: Sum::new(period), same: 0, last: f64::NAN }
    }

    /// The mean and the mean absolute deviation from it, with `x` as the newest number.
    #[inline(always)]
    pub(crate) fn step(&self, x: f64) -> ((f64, f64), Next) {
        let (mean, sum) = self.sum.mean(x);
        let period = self.ring.len();
        let same = if x == self.last { (self.same + 1).min(period) } else { 1 };
        let next = Next { x, same, sum };
        if mean.is_nan() {
            return ((f64::NAN, f64::NAN), next);
        }
        if same >= period {
            return ((x, 0.0), next);
        }
        let old = self.ring[self.at];
        // Four sums at once: the order of addition is free here, and one chain would be slow.
        let (four, rest) = self.ring.as_chunks::<4>();
        let mut sums = [0.0; 4];
        for chunk in four {
            for (sum, x) in sums.iter_mut().zip(chunk) {
                *sum += (x - mean).abs();
            }
        }
        let rest: f64 = rest.iter().map(|x| (x - mean).abs()).sum();
        let all = (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest;
        let all = all - (old - mean).abs() + (x - mean).abs();
        ((mean, all / period as f64), next)
    }

    #[inline(always)]
    pub(crate) fn commit(&mut self, next: Next) {
        self.ring[self.at] = next.x;
        self.at = after(self.at, self.ring.len());
        self.same = next.same;
        self.last = next.x;
        self.sum.commit(next.sum);
    }
}

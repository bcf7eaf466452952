//! Sum over the last n numbers, kept by adding the new and taking away the old.

use super::{Block, after};

/// How many steps rounding errors may gather before the sum is made anew.
const REFRESH: usize = 256;

#[derive(Clone, Debug)]
pub struct Sum {
    /// The last n numbers, 0 for what is missing.
    ring: Box<[f64]>,
    at: usize,
    sum: f64,
    /// Observations since the last that was missing, no further than n.
    run: usize,
    /// Steps until the sum is made anew.
    left: usize,
}

#[derive(Clone, Copy)]
pub struct Next {
    x: f64,
    sum: f64,
    run: usize,
    left: usize,
}

impl Sum {
    pub(crate) fn new(period: usize) -> Sum {
        let ring = vec![0.0; period].into_boxed_slice();
        let left = REFRESH.max(period);
        Sum { ring, at: 0, sum: 0.0, run: 0, left }
    }

    /// The sum divided by n.
    #[inline]
    pub(crate) fn mean(&self, x: f64) -> (f64, Next) {
        let (sum, next) = self.step(x);
        (sum / self.ring.len() as f64, next)
    }

    #[cold]
    fn anew(&self, x: f64) -> f64 {
        let (newer, older) = self.ring.split_at(self.at);
        let older = older.get(1..).unwrap_or_default();
        older.iter().sum::<f64>() + newer.iter().sum::<f64>() + x
    }
}

impl Block for Sum {
    type Next = Next;

    #[inline]
    fn step(&self, x: f64) -> (f64, Next) {
        let period = self.ring.len();
        let here = x.is_finite();
        let x = if here { x } else { 0.0 };
        let run = if here { (self.run + 1).min(period) } else { 0 };
        let old = self.ring[self.at];
        let mut sum = self.sum + (x - old);
        let mut left = self.left.wrapping_sub(1);
        // What left the window was so much larger than what stays that its rounding is all that
        // can be seen; this also keeps a sum of zeros at zero.
        let drowned = old.abs() > sum.abs() * 1024.0;
        if left == 0 || drowned {
            sum = self.anew(x);
            left = REFRESH.max(period);
        }
        (if run >= period { sum } else { f64::NAN }, Next { x, sum, run, left })
    }

    #[inline]
    fn commit(&mut self, next: Next) {
        self.ring[self.at] = next.x;
        self.at = after(self.at, self.ring.len());
        self.sum = next.sum;
        self.run = next.run;
        self.left = next.left;
    }
}

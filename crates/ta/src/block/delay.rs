//! The number n steps ago, `NaN` before there is one.

use super::{Block, after};

#[derive(Clone, Debug)]
pub struct Delay {
    ring: Box<[f64]>,
    at: usize,
}

impl Delay {
    pub(crate) fn new(period: usize) -> Delay {
        Delay { ring: vec![f64::NAN; period].into_boxed_slice(), at: 0 }
    }

    /// What was there n steps before each of `xs`, into `out`, which is as long.
    pub(crate) fn scan(&mut self, xs: &[f64], out: &mut [f64]) {
        let period = self.ring.len();
        let len = xs.len().min(out.len());
        let (newer, older) = self.ring.split_at(self.at);
        let (from_ring, from_xs) = out[..len].split_at_mut(period.min(len));
        for (slot, old) in from_ring.iter_mut().zip(older.iter().chain(newer)) {
            *slot = *old;
        }
        let kept = from_xs.len();
        from_xs.copy_from_slice(&xs[..kept]);
        for x in &xs[len.saturating_sub(period)..len] {
            self.ring[self.at] = *x;
            self.at = after(self.at, period);
        }
    }
}

impl Block for Delay {
    type Next = f64;

    #[inline(always)]
    fn step(&self, x: f64) -> (f64, f64) {
        (self.ring[self.at], x)
    }

    #[inline(always)]
    fn commit(&mut self, x: f64) {
        self.ring[self.at] = x;
        self.at = after(self.at, self.ring.len());
    }
}

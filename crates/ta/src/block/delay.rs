//! The number n steps ago; NaN for the first n steps.

use super::{Block, next_slot};

#[derive(Clone, Debug)]
pub struct Delay {
    ring: Box<[f64]>,
    at: usize,
}

impl Delay {
    pub(crate) fn new(period: usize) -> Delay {
        Delay { ring: vec![f64::NAN; period].into_boxed_slice(), at: 0 }
    }

    pub(crate) fn period(&self) -> usize {
        self.ring.len()
    }

    /// Continues from the last `period` numbers.
    pub(crate) fn restart(&mut self, last: &[f64]) {
        self.ring.copy_from_slice(last);
        self.at = 0;
    }
}

impl Block for Delay {
    type Update = f64;

    #[inline(always)]
    fn step(&self, x: f64) -> (f64, f64) {
        (self.ring[self.at], x)
    }

    #[inline(always)]
    fn commit(&mut self, x: f64) {
        self.ring[self.at] = x;
        self.at = next_slot(self.at, self.ring.len());
    }
}

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
}

impl Block for Delay {
    type Next = f64;

    #[inline]
    fn step(&self, x: f64) -> (f64, f64) {
        (self.ring[self.at], x)
    }

    #[inline]
    fn commit(&mut self, x: f64) {
        self.ring[self.at] = x;
        self.at = after(self.at, self.ring.len());
    }
}

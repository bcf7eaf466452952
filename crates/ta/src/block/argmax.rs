//! How many steps ago the highest (or lowest) of the last n numbers was; the oldest of equals.

use super::Block;

#[derive(Clone, Debug)]
pub struct Age<const HIGH: bool> {
    /// Those that may yet be the extreme, best first, with the steps at which they came.
    queue: Box<[(u64, f64)]>,
    head: usize,
    len: usize,
    now: u64,
    run: usize,
}

impl<const HIGH: bool> Age<HIGH> {
    pub(crate) fn new(period: usize) -> Age<HIGH> {
        Age { queue: vec![(0, 0.0); period].into(), head: 0, len: 0, now: 0, run: 0 }
    }

    #[inline(always)]
    fn beats(a: f64, b: f64) -> bool {
        if HIGH { a > b } else { a < b }
    }

    /// The slot that is `offset` behind the head.
    #[inline(always)]
    fn slot(&self, offset: usize) -> usize {
        let slot = self.head + offset;
        if slot >= self.queue.len() { slot - self.queue.len() } else { slot }
    }

    #[inline(always)]
    fn expired(&self) -> usize {
        let period = self.queue.len() as u64;
        usize::from(self.len > 0 && self.queue[self.head].0 + period <= self.now)
    }
}

impl<const HIGH: bool> Block for Age<HIGH> {
    type Next = f64;

    #[inline(always)]
    fn step(&self, x: f64) -> (f64, f64) {
        if !x.is_finite() || self.run + 1 < self.queue.len() {
            return (f64::NAN, x);
        }
        let expired = self.expired();
        if self.len <= expired {
            return (0.0, x);
        }
        let (when, best) = self.queue[self.slot(expired)];
        (if Self::beats(x, best) { 0.0 } else { (self.now - when) as f64 }, x)
    }

    #[inline(always)]
    fn commit(&mut self, x: f64) {
        let expired = self.expired();
        self.head = self.slot(expired);
        self.len -= expired;
        if x.is_finite() {
            while self.len > 0 && Self::beats(x, self.queue[self.slot(self.len - 1)].1) {
                self.len -= 1;
            }
            let slot = self.slot(self.len);
            self.queue[slot] = (self.now, x);
            self.len += 1;
            self.run = (self.run + 1).min(self.queue.len());
        } else {
            self.run = 0;
        }
        self.now += 1;
    }
}

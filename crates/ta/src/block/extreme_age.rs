//! How many steps ago the highest (or lowest) of the last n numbers was; of equal numbers the
//! oldest, or with `NEWEST` the newest.

use super::Block;
use super::doubling::{Pair, WindowBuffers, fits};

#[derive(Clone, Debug)]
pub struct ExtremeAge<const HIGH: bool, const NEWEST: bool = false> {
    /// Monotonic queue: the numbers that may still become the extreme, best first, with the steps
    /// at which they came.
    queue: Box<[(u64, f64)]>,
    head: usize,
    len: usize,
    now: u64,
    run: usize,
}

impl<const HIGH: bool, const NEWEST: bool> ExtremeAge<HIGH, NEWEST> {
    pub(crate) fn new(period: usize) -> ExtremeAge<HIGH, NEWEST> {
        ExtremeAge { queue: vec![(0, 0.0); period].into(), head: 0, len: 0, now: 0, run: 0 }
    }

    /// Worse than every finite number.
    const EMPTY: f64 = if HIGH { f64::NEG_INFINITY } else { f64::INFINITY };

    /// Writes the ages at each of `xs` into `out`, of the same length; they equal those of `step`.
    #[inline(always)]
    pub(crate) fn scan(&mut self, xs: &[f64], out: &mut [f64], buffers: &mut WindowBuffers<2>) {
        let period = self.queue.len();
        let len = xs.len().min(out.len());
        let steady = fits(period, &xs[..len]);
        // The numbers that complete the first window go one by one.
        let head = if steady { (period - self.run).min(len) } else { len };
        for (x, slot) in xs[..head].iter().zip(&mut out[..head]) {
            *slot = self.push(*x);
        }
        let (xs, out) = (&xs[head..len], &mut out[head..len]);
        if xs.is_empty() {
            return;
        }
        let row = self.fill_first_row(xs, buffers);
        buffers.slide(period, 0..row, [&mut *out], Self::older_or_better, |[_, index]| [index]);
        for (index, slot) in out.iter_mut().enumerate() {
            *slot = (period - 1 + index) as f64 - *slot;
        }
        self.now += xs.len() as u64;
        self.restart(&buffers.rows[0][row - period..row]);
    }

    /// Fills the row with the queue and `xs`. A number that left the queue is followed by a better
    /// one, so no window selects it: `EMPTY` stands for it.
    #[inline(always)]
    fn fill_first_row(&self, xs: &[f64], buffers: &mut WindowBuffers<2>) -> usize {
        let before = self.queue.len() - 1;
        let [row, indices] = &mut buffers.rows;
        row[..before].fill(Self::EMPTY);
        for offset in 0..self.len {
            let (when, x) = self.queue[self.slot(offset)];
            let steps = (self.now - when) as usize;
            if steps <= before {
                row[before - steps] = x;
            }
        }
        row[before..before + xs.len()].copy_from_slice(xs);
        let row = before + xs.len();
        indices[..row].iter_mut().enumerate().for_each(|(index, slot)| *slot = index as f64);
        row
    }

    /// Rebuilds the queue from the last window.
    #[inline(never)]
    fn restart(&mut self, window: &[f64]) {
        let mut best = Self::EMPTY;
        (self.head, self.len) = (window.len(), 0);
        for (x, when) in window.iter().rev().zip((0..self.now).rev()) {
            if !Self::beats(best, *x) {
                best = *x;
                self.head -= 1;
                self.len += 1;
                self.queue[self.head] = (when, best);
            }
        }
    }

    #[inline(always)]
    fn older_or_better(Pair { older, newer, .. }: Pair<2>) -> [f64; 2] {
        if Self::beats(newer[0], older[0]) { newer } else { older }
    }

    /// Whether the newer number replaces the older one.
    #[inline(always)]
    fn beats(newer: f64, older: f64) -> bool {
        let better = if HIGH { newer > older } else { newer < older };
        better || NEWEST && newer == older
    }

    /// The slot `offset` indices behind the head.
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

impl<const HIGH: bool, const NEWEST: bool> Block for ExtremeAge<HIGH, NEWEST> {
    type Update = f64;

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

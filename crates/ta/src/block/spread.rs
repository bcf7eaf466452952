//! Mean and population standard deviation of the last n numbers, from sums of distances to an
//! anchor inside the window, so that nothing large is subtracted from something as large.

use super::{CHUNK, after, all_finite, leaving, running};

/// How many steps the anchor may stay where it is.
const REFRESH: usize = 256;

#[derive(Clone, Debug)]
pub struct Spread {
    ring: Box<[f64]>,
    at: usize,
    /// Observations since the last that was missing, no further than n.
    run: usize,
    /// How many of the last numbers are the same, no further than n.
    same: usize,
    last: f64,
    sums: Sums,
    /// 1 / n: the means are taken by multiplying.
    share: f64,
}

#[derive(Clone, Copy, Debug)]
struct Sums {
    anchor: f64,
    /// Of the distances to the anchor.
    first: f64,
    /// Of their squares.
    second: f64,
    /// Steps until the anchor is set anew; 0 before it is set at all.
    left: usize,
}

#[derive(Clone, Copy)]
pub struct Next {
    x: f64,
    run: usize,
    same: usize,
    sums: Sums,
}

impl Spread {
    pub(crate) fn new(period: usize) -> Spread {
        let sums = Sums { anchor: 0.0, first: 0.0, second: 0.0, left: 0 };
        let ring = vec![0.0; period].into_boxed_slice();
        Spread { ring, at: 0, run: 0, same: 0, last: f64::NAN, sums, share: 1.0 / period as f64 }
    }

    /// The mean and the deviation with `x` as the newest number.
    #[inline(always)]
    pub(crate) fn step(&self, x: f64) -> ((f64, f64), Next) {
        let period = self.ring.len();
        let mut next = Next { x, run: 0, same: 0, sums: Sums { left: 0, ..self.sums } };
        if !x.is_finite() {
            next.x = 0.0;
            return ((f64::NAN, f64::NAN), next);
        }
        next.run = (self.run + 1).min(period);
        next.same = if x == self.last { (self.same + 1).min(period) } else { 1 };
        if next.run < period {
            return ((f64::NAN, f64::NAN), next);
        }
        let Sums { anchor, first, second, left } = self.sums;
        let (new, old) = (x - anchor, self.ring[self.at] - anchor);
        let first = first + (new - old);
        let second = second + (new - old) * (new + old);
        let distance = first * self.share;
        let (square, variance) = (second * self.share, second * self.share - distance * distance);
        next.sums = Sums { anchor, first, second, left: left.wrapping_sub(1) };
        // Far from the anchor the sums cancel, and a large number that left drowns them.
        let sound = variance > square * 1e-4 && old * old < square * 1024.0;
        if left <= 1 || !sound {
            next.sums = self.anew(x);
        } else {
            return ((anchor + distance, variance.sqrt()), next);
        }
        if next.same >= period {
            return ((x, 0.0), next);
        }
        let Sums { anchor, first, second, .. } = next.sums;
        let distance = first * self.share;
        let variance = (second * self.share - distance * distance).max(0.0);
        ((anchor + distance, variance.sqrt()), next)
    }

    #[inline(always)]
    pub(crate) fn commit(&mut self, next: Next) {
        self.ring[self.at] = next.x;
        self.at = after(self.at, self.ring.len());
        self.run = next.run;
        self.same = next.same;
        self.last = if next.run == 0 { f64::NAN } else { next.x };
        self.sums = next.sums;
    }

    /// Means and deviations at each of `xs`, into outputs that are as long and no longer than a
    /// chunk; the values are those of `step` up to rounding.
    pub(crate) fn scan(&mut self, xs: &[f64], means: &mut [f64], deviations: &mut [f64]) {
        let period = self.ring.len();
        if self.run < period || !all_finite(xs) || !self.scan_steady(xs, means, deviations) {
            for ((x, mean), deviation) in xs.iter().zip(means).zip(deviations) {
                let (values, next) = self.step(*x);
                self.commit(next);
                (*mean, *deviation) = values;
            }
        }
    }

    /// The same for a chunk without gaps; changes nothing and says so if the sums are not sound.
    fn scan_steady(&mut self, xs: &[f64], means: &mut [f64], deviations: &mut [f64]) -> bool {
        let (len, period) = (xs.len(), self.ring.len());
        let Some(last) = xs.last().filter(|_| len <= CHUNK) else { return false };
        let mut sums = self.sums;
        if sums.left <= len {
            sums = around(|| self.ring.iter().copied(), period);
        }
        let (mut olds, mut steps, mut squares) = ([0.0; CHUNK], [0.0; CHUNK], [0.0; CHUNK]);
        let (olds, steps) = (&mut olds[..len], &mut steps[..len]);
        let squares = &mut squares[..len];
        leaving(&self.ring, self.at, xs, olds);
        for index in 0..len {
            let (new, old) = (xs[index] - sums.anchor, olds[index] - sums.anchor);
            (olds[index], steps[index]) = (old, new - old);
            squares[index] = (new - old) * (new + old);
        }
        running(sums.first, steps, means);
        running(sums.second, squares, deviations);
        (sums.first, sums.second) = (means[len - 1], deviations[len - 1]);
        let mut sound = true;
        for ((mean, deviation), old) in means.iter_mut().zip(deviations).zip(&*olds) {
            let (distance, square) = (*mean * self.share, *deviation * self.share);
            let variance = square - distance * distance;
            sound &= (variance > square * 1e-4) & (old * old < square * 1024.0);
            *mean = sums.anchor + distance;
            *deviation = variance.sqrt();
        }
        if !sound {
            return false;
        }
        for x in &xs[len.saturating_sub(period)..] {
            self.ring[self.at] = *x;
            self.at = after(self.at, period);
        }
        let equal = xs.iter().rev().take_while(|x| *x == last).count();
        let before = if equal == len && *last == self.last { self.same } else { 0 };
        self.same = (equal + before).min(period);
        self.last = *last;
        sums.left -= len.min(sums.left);
        self.sums = sums;
        true
    }

    /// Sums around the mean of the window that ends with `x`.
    #[inline(never)]
    fn anew(&self, x: f64) -> Sums {
        let (newer, older) = self.ring.split_at(self.at);
        let older = older.get(1..).unwrap_or_default();
        around(|| older.iter().chain(newer).copied().chain([x]), self.ring.len())
    }
}

/// Sums around the mean of the numbers of a window.
fn around<I: Iterator<Item = f64>>(window: impl Fn() -> I, period: usize) -> Sums {
    let anchor = window().sum::<f64>() / period as f64;
    let (first, second) = window().fold((0.0, 0.0), |(first, second), x| {
        let distance = x - anchor;
        (first + distance, second + distance * distance)
    });
    Sums { anchor, first, second, left: REFRESH.max(period) }
}

//! The sum of some numbers over the sum of others, in several windows at once.

use super::slide::{CHUNK, Pair, Work, fits, modest};
use super::{Block, Of, Sum};

#[derive(Clone, Debug)]
pub struct Ratios<const R: usize> {
    above: [Sum; R],
    below: [Sum; R],
}

#[derive(Clone, Copy)]
pub struct Next<const R: usize> {
    above: [Of<Sum>; R],
    below: [Of<Sum>; R],
}

impl<const R: usize> Ratios<R> {
    pub(crate) fn new(periods: [usize; R]) -> Ratios<R> {
        Ratios { above: periods.map(Sum::new), below: periods.map(Sum::new) }
    }

    #[inline(always)]
    pub(crate) fn step(&self, above: f64, below: f64) -> ([f64; R], Next<R>) {
        let above = self.above.each_ref().map(|sum| sum.step(above));
        let below = self.below.each_ref().map(|sum| sum.step(below));
        let ratios = std::array::from_fn(|r| above[r].0 / below[r].0);
        (ratios, Next { above: above.map(|(_, next)| next), below: below.map(|(_, next)| next) })
    }

    #[inline(always)]
    pub(crate) fn commit(&mut self, next: Next<R>) {
        self.above.iter_mut().zip(next.above).for_each(|(sum, next)| sum.commit(next));
        self.below.iter_mut().zip(next.below).for_each(|(sum, next)| sum.commit(next));
    }

    /// What `show` makes of the ratios at each pair of numbers, into `out`, which is as long and
    /// no longer than a chunk; the values are those of `step` up to rounding.
    #[inline(always)]
    pub(crate) fn scan(
        &mut self,
        (above, below): (&[f64], &[f64]),
        out: &mut [f64],
        work: &mut Work<2>,
        show: impl Fn([f64; R]) -> f64,
    ) {
        let len = above.len().min(below.len()).min(out.len()).min(CHUNK);
        let (above, below, out) = (&above[..len], &below[..len], &mut out[..len]);
        let longest = (0..R).max_by_key(|r| self.above[*r].period()).unwrap_or(0);
        let period = self.above[longest].period();
        let steady = fits(period, above)
            && fits(period, below)
            && modest(self.above[longest].ring())
            && modest(self.below[longest].ring())
            && self.above.iter().chain(&self.below).all(|sum| sum.missing() == 0);
        if !steady {
            for (slot, (above, below)) in out.iter_mut().zip(above.iter().zip(below)) {
                *slot = show(self.push(*above, *below));
            }
            return;
        }
        self.above[longest].line_up(0, above, work);
        let row = self.below[longest].line_up(1, below, work);
        let mut ratios = [[0.0; CHUNK]; R];
        for ((ratios, above), below) in ratios.iter_mut().zip(&mut self.above).zip(&mut self.below)
        {
            let shorter = above.period();
            let stretch = period - shorter..row;
            work.slide(shorter, stretch, [&mut ratios[..len]], add, |[above, below]| {
                [above / below]
            });
            above.restart(&work.rows[0][row - shorter..row]);
            below.restart(&work.rows[1][row - shorter..row]);
        }
        for (index, slot) in out.iter_mut().enumerate() {
            *slot = show(ratios.each_ref().map(|ratios| ratios[index]));
        }
    }

    #[inline(never)]
    fn push(&mut self, above: f64, below: f64) -> [f64; R] {
        let (ratios, next) = self.step(above, below);
        self.commit(next);
        ratios
    }
}

#[inline(always)]
fn add(Pair { older, newer, .. }: Pair<2>) -> [f64; 2] {
    [older[0] + newer[0], older[1] + newer[1]]
}

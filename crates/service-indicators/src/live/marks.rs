//! The states of what adds up that a channel keeps, as far back as anybody may resume from.

use std::collections::VecDeque;
use std::sync::Arc;

use clock::Millis;

use super::calculators::{Calculators, Checkpoint};
use super::limits::MARKED_EVERY;

pub(crate) struct Checkpoints {
    /// Oldest first.
    kept: VecDeque<Arc<Checkpoint>>,
    /// Candles since the last one.
    since: usize,
    /// How many are kept.
    max: usize,
}

impl Checkpoints {
    /// The first mark is where everything begins.
    pub(crate) fn new(calculators: &Calculators, base: Millis, max: usize) -> Self {
        let first = calculators.mark(Millis(base.0 - 1));
        Self { kept: first.map(Arc::new).into_iter().collect(), since: 0, max }
    }

    /// Called for every closed candle, once it was taken.
    pub(crate) fn closed(&mut self, calculators: &Calculators, at: Millis) {
        // Where nothing adds up there is nothing to keep.
        if self.kept.back().is_none_or(|last| last.after >= at) {
            return;
        }
        self.since += 1;
        if self.since < MARKED_EVERY {
            return;
        }
        self.since = 0;
        if self.kept.len() >= self.max {
            self.kept.pop_front();
        }
        self.kept.extend(calculators.mark(at).map(Arc::new));
    }

    /// The newest state that has nothing in it of what comes after this candle.
    pub(crate) fn before(&self, after: Millis) -> Option<Arc<Checkpoint>> {
        self.kept.iter().rev().find(|mark| mark.after <= after).cloned()
    }
}

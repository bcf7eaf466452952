//! The states of what adds up that a channel keeps, as far back as anybody may resume from.

use std::collections::VecDeque;
use std::sync::Arc;

use market::Millis;

use super::REPLAY_MAX;
use super::calculators::{Calculators, Mark};

/// Candles between two marks: as many are computed again for one who resumes.
const EVERY: usize = 512;
/// One more than reach over all that can be told again, on either side.
const MARKS_MAX: usize = REPLAY_MAX as usize / EVERY + 3;

#[derive(Default)]
pub(crate) struct Marks {
    /// Oldest first.
    kept: VecDeque<Arc<Mark>>,
    /// Candles since the last one.
    since: usize,
}

impl Marks {
    /// The first mark is where everything begins.
    pub(crate) fn new(calculators: &Calculators, base: Millis) -> Self {
        let first = calculators.mark(Millis(base.0 - 1));
        Self { kept: first.map(Arc::new).into_iter().collect(), since: 0 }
    }

    /// Told of every closed candle, once it was taken.
    pub(crate) fn closed(&mut self, calculators: &Calculators, at: Millis) {
        // Where nothing adds up there is nothing to keep.
        if self.kept.back().is_none_or(|last| last.after >= at) {
            return;
        }
        self.since += 1;
        if self.since < EVERY {
            return;
        }
        self.since = 0;
        if self.kept.len() >= MARKS_MAX {
            self.kept.pop_front();
        }
        self.kept.extend(calculators.mark(at).map(Arc::new));
    }

    /// The newest state that has nothing in it of what comes after this candle.
    pub(crate) fn before(&self, after: Millis) -> Option<Arc<Mark>> {
        self.kept.iter().rev().find(|mark| mark.after <= after).cloned()
    }
}

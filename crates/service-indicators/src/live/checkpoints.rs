//! Saved states of a channel's cumulative indicators, as far back as a subscriber may resume.

use std::collections::VecDeque;
use std::sync::Arc;

use clock::Millis;

use super::calculators::{Calculators, Checkpoint};
use super::limits::CHECKPOINT_EVERY;

pub(crate) struct Checkpoints {
    /// Oldest first.
    checkpoints: VecDeque<Arc<Checkpoint>>,
    /// Number of closed candles since the last checkpoint.
    since: usize,
    /// Maximum number of checkpoints.
    max: usize,
}

impl Checkpoints {
    /// The first checkpoint is the empty state before `base`.
    pub(crate) fn new(calculators: &Calculators, base: Millis, max: usize) -> Self {
        let first = calculators.checkpoint(Millis(base.0 - 1));
        Self { checkpoints: first.map(Arc::new).into_iter().collect(), since: 0, max }
    }

    /// Call this for every closed candle, after the calculators have processed it.
    pub(crate) fn closed(&mut self, calculators: &Calculators, at: Millis) {
        // Without a cumulative indicator there is no first checkpoint, and none follows.
        if self.checkpoints.back().is_none_or(|last| last.after >= at) {
            return;
        }
        self.since += 1;
        if self.since < CHECKPOINT_EVERY {
            return;
        }
        self.since = 0;
        if self.checkpoints.len() >= self.max {
            self.checkpoints.pop_front();
        }
        self.checkpoints.extend(calculators.checkpoint(at).map(Arc::new));
    }

    /// The newest checkpoint at or before the candle `after`.
    pub(crate) fn before(&self, after: Millis) -> Option<Arc<Checkpoint>> {
        self.checkpoints.iter().rev().find(|checkpoint| checkpoint.after <= after).cloned()
    }
}

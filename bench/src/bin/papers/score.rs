//! Counts of right, wrong and missed findings, and of how often a stated confidence held.

use std::collections::BTreeMap;

#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Score {
    pub(crate) right: usize,
    pub(crate) wrong: usize,
    pub(crate) missed: usize,
    /// A second finding of what was found before; it counts as wrong too.
    pub(crate) repeated: usize,
}

impl Score {
    pub(crate) fn precision(self) -> f64 {
        share(self.right, self.right + self.wrong)
    }

    pub(crate) fn recall(self) -> f64 {
        share(self.right, self.right + self.missed)
    }
}

/// The share of a count; 1 of nothing.
pub(crate) fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

/// For each kind and stated confidence in hundredths: how many were right, and of how many.
#[derive(Debug, Default)]
pub(crate) struct Reliability(BTreeMap<(&'static str, u32), (usize, usize)>);

impl Reliability {
    pub(crate) fn add(&mut self, kind: &'static str, confidence: f64, is_right: bool) {
        // Between 0 and 100.
        let stated = (confidence.clamp(0.0, 1.0) * 100.0).round() as u32;
        let cell = self.0.entry((kind, stated)).or_default();
        cell.0 += usize::from(is_right);
        cell.1 += 1;
    }

    /// Kind, stated confidence, right, all.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (&'static str, f64, usize, usize)> {
        self.0.iter().map(|(key, cell)| (key.0, f64::from(key.1) / 100.0, cell.0, cell.1))
    }

    /// Right and all of the findings of every kind that state this confidence or more.
    pub(crate) fn from(&self, least: f64) -> (usize, usize) {
        let rows = self.rows().filter(|it| it.1 >= least);
        rows.fold((0, 0), |sum, it| (sum.0 + it.2, sum.1 + it.3))
    }
}

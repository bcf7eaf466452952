//! Recall and precision of words, each file counting the same.

use std::collections::HashMap;

/// How often each word occurs.
pub(crate) type Words = HashMap<String, usize>;

pub(crate) fn words(text: &str) -> Words {
    let mut words = Words::new();
    let lower = text.to_lowercase();
    let runs = lower.split(|it: char| !it.is_alphanumeric() && it != '_');
    for word in runs.filter(|it| !it.is_empty()) {
        *words.entry(word.to_owned()).or_default() += 1;
    }
    words
}

#[derive(Default)]
pub(crate) struct Scores {
    /// Whether the file is of the second half, its recall and its precision.
    rows: Vec<(bool, f64, f64)>,
    /// Files without words.
    pub(crate) empty: usize,
    /// Files without any text that have no problem that says why.
    pub(crate) silent: usize,
}

impl Scores {
    pub(crate) fn add(&mut self, second_half: bool, reference: &Words, found: &Words) {
        let common: usize = reference
            .iter()
            .map(|(word, count)| found.get(word).map_or(0, |it| *it.min(count)))
            .sum();
        let share = |of: &Words| common as f64 / of.values().sum::<usize>().max(1) as f64;
        self.rows.push((second_half, share(reference), share(found)));
    }

    pub(crate) fn files(&self) -> usize {
        self.rows.len()
    }

    /// Mean recall and precision of the first half, the second half and all.
    pub(crate) fn means(&self) -> [(f64, f64); 3] {
        let mean = |wanted: &dyn Fn(bool) -> bool| {
            let rows: Vec<_> = self.rows.iter().filter(|it| wanted(it.0)).collect();
            let count = rows.len().max(1) as f64;
            let sum = |of: fn(&(bool, f64, f64)) -> f64| rows.iter().map(|it| of(it)).sum::<f64>();
            (sum(|it| it.1) / count, sum(|it| it.2) / count)
        };
        [mean(&|it| !it), mean(&|it| it), mean(&|_| true)]
    }
}

//! The smallest time of each indicator for each contender, and how it is shown.

use std::collections::BTreeMap;
use std::fmt::Write;

#[derive(Default)]
pub(crate) struct Table {
    /// In the order in which they were first seen.
    indicators: Vec<String>,
    smallest: BTreeMap<(String, String), f64>,
}

impl Table {
    pub(crate) fn add(&mut self, who: &str, indicator: &str, ns: f64) {
        if !self.indicators.iter().any(|it| it == indicator) {
            self.indicators.push(indicator.to_owned());
        }
        let slot = self.smallest.entry((who.to_owned(), indicator.to_owned())).or_insert(ns);
        *slot = slot.min(ns);
    }

    fn get(&self, who: &str, indicator: &str) -> Option<f64> {
        self.smallest.get(&(who.to_owned(), indicator.to_owned())).copied()
    }

    /// How many times as fast as the best of `peers` ours is, where both are known.
    pub(crate) fn ratios(&self, peers: &[&str]) -> Vec<(String, f64)> {
        let ratio = |indicator: &String| {
            let best = peers.iter().filter_map(|who| self.get(who, indicator));
            let best = best.min_by(f64::total_cmp)?;
            Some((indicator.clone(), best / self.get("ours", indicator)?))
        };
        self.indicators.iter().filter_map(ratio).collect()
    }

    /// A table in Markdown, with the ratio to the best of `peers` at the end.
    pub(crate) fn show(&self, columns: &[&str], peers: &[&str]) -> String {
        let ratios: BTreeMap<_, _> = self.ratios(peers).into_iter().collect();
        let mut text = format!("| | {} | best / ours |\n|-|", columns.join(" | "));
        text += &"-:|".repeat(columns.len() + 1);
        text.push('\n');
        for indicator in &self.indicators {
            _ = write!(text, "| {indicator} |");
            for who in columns {
                match self.get(who, indicator) {
                    Some(ns) => _ = write!(text, " {ns:.2} |"),
                    None => text += " |",
                }
            }
            match ratios.get(indicator) {
                Some(ratio) => _ = writeln!(text, " {ratio:.2} |"),
                None => text += " |\n",
            }
        }
        text
    }
}

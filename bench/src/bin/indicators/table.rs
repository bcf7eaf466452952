//! The smallest time of each indicator and contender, and the table of results.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

#[derive(Default)]
pub(crate) struct Table {
    /// In the order in which they first occurred.
    indicators: Vec<String>,
    smallest: BTreeMap<(String, String), f64>,
    /// Names that were measured over fewer candles.
    short: BTreeSet<(String, String)>,
}

impl Table {
    pub(crate) fn add(&mut self, who: &str, indicator: &str, ns: f64) {
        if !self.indicators.iter().any(|it| it == indicator) {
            self.indicators.push(indicator.to_owned());
        }
        let slot = self.smallest.entry((who.to_owned(), indicator.to_owned())).or_insert(ns);
        *slot = slot.min(ns);
    }

    /// Like [`Table::add`], for a name that may end in a star, which marks a measurement over fewer
    /// candles.
    pub(crate) fn add_starred(&mut self, who: &str, name: &str, ns: f64) {
        let indicator = name.trim_end_matches('*');
        if indicator != name {
            self.short.insert((who.to_owned(), indicator.to_owned()));
        }
        self.add(who, indicator, ns);
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
    pub(crate) fn show(&self, columns: &[&str], peers: &[&str], last: &str) -> String {
        let ratios: BTreeMap<_, _> = self.ratios(peers).into_iter().collect();
        let mut text = format!("| | {} | {last} |\n|-|", columns.join(" | "));
        text += &"-:|".repeat(columns.len() + 1);
        text.push('\n');
        for indicator in &self.indicators {
            _ = write!(text, "| {indicator} |");
            for who in columns {
                text += &self.cell(who, indicator);
            }
            match ratios.get(indicator) {
                Some(ratio) => _ = writeln!(text, " {ratio:.2} |"),
                None => text += " |\n",
            }
        }
        text
    }

    fn cell(&self, who: &str, indicator: &str) -> String {
        let star =
            if self.short.contains(&(who.to_owned(), indicator.to_owned())) { "*" } else { "" };
        match self.get(who, indicator) {
            Some(ns) if ns >= 1000.0 => format!(" {ns:.0}{star} |"),
            Some(ns) if ns >= 100.0 => format!(" {ns:.1}{star} |"),
            Some(ns) => format!(" {ns:.2}{star} |"),
            None => " |".to_owned(),
        }
    }
}

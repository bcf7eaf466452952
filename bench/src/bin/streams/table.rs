//! Turns rounds into rows, ratios and verdicts.

use std::fmt::{self, Display};

use crate::round::Round;

const KB: f64 = 1024.0;

/// Every round of one server.
pub(crate) struct Row {
    name: &'static str,
    rounds: Vec<Round>,
}

impl Row {
    pub(crate) fn new(name: &'static str) -> Self {
        Self { name, rounds: Vec::new() }
    }

    pub(crate) fn add(&mut self, round: Round) {
        self.rounds.push(round);
    }

    /// The median of all rounds.
    fn median(&self, what: impl Fn(&Round) -> f64) -> f64 {
        let mut all: Vec<f64> = self.rounds.iter().map(what).collect();
        all.sort_by(f64::total_cmp);
        all.get(all.len() / 2).copied().unwrap_or_default()
    }

    fn least(&self, what: impl Fn(&Round) -> f64) -> f64 {
        self.rounds.iter().map(what).fold(f64::INFINITY, f64::min)
    }

    fn most(&self, what: impl Fn(&Round) -> f64) -> f64 {
        self.rounds.iter().map(what).fold(0.0, f64::max)
    }
}

/// Prints Stoa, the naive server and the tuned server.
pub(crate) fn print(readers: usize, [stoa, naive, tuned]: &[Row; 3]) {
    println!("\n{readers} subscribers");
    println!(
        "{:<7} {:>12} {:>12} {:>9} {:>7} {:>7} {:>9} {:>8} {:>8} {:>8}",
        "server",
        "events/s",
        "least",
        "ratio",
        "CPU us",
        "busy",
        "left out",
        "idle KB",
        "whole KB",
        "after KB"
    );
    let per_second = |round: &Round| round.per_second;
    for row in [stoa, naive, tuned] {
        println!(
            "{:<7} {:>12.0} {:>12.0} {:>8.2}x {:>7.3} {:>6.0}% {:>8.3}% {:>8.1} {:>8.1} {:>8.1}",
            row.name,
            row.median(per_second),
            row.least(per_second),
            row.median(per_second) / naive.median(per_second),
            row.least(|round| round.cpu_us),
            row.median(|round| round.busy) * 100.0,
            row.most(|round| round.left_out) * 100.0,
            row.most(|round| round.idle) / KB,
            row.most(|round| round.whole) / KB,
            row.most(|round| round.after) / KB,
        );
    }
}

pub(crate) fn delivered(readers: usize, [stoa, naive, _]: &[Row; 3]) -> Target {
    let ratio = stoa.median(|round| round.per_second) / naive.median(|round| round.per_second);
    let name = format!("events delivered to {readers} subscribers, times the naive server");
    Target { name, measured: ratio, bound: Bound::AtLeast(5.0) }
}

pub(crate) fn delivered_against_tuned(readers: usize, [stoa, _, tuned]: &[Row; 3]) -> Target {
    let ratio = stoa.median(|round| round.per_second) / tuned.median(|round| round.per_second);
    let name = format!("events delivered to {readers} subscribers, times the tuned server");
    Target { name, measured: ratio, bound: Bound::AtLeast(1.0) }
}

pub(crate) fn memory(readers: usize, [stoa, ..]: &[Row; 3]) -> Target {
    let name = format!("KB of memory for each of {readers} idle subscribers");
    let worst = stoa.most(|round| round.idle.max(round.whole).max(round.after));
    Target { name, measured: worst / KB, bound: Bound::Below(24.0) }
}

pub(crate) fn idle_sse(readers: usize, bytes: f64) -> Target {
    let name = format!("KB of memory for each of {readers} idle readers of server-sent events");
    Target { name, measured: bytes / KB, bound: Bound::Below(24.0) }
}

/// A target with the measured value.
pub(crate) struct Target {
    name: String,
    measured: f64,
    bound: Bound,
}

enum Bound {
    Below(f64),
    AtLeast(f64),
}

impl Target {
    pub(crate) fn is_met(&self) -> bool {
        match self.bound {
            Bound::Below(limit) => self.measured < limit,
            Bound::AtLeast(limit) => self.measured >= limit,
        }
    }
}

impl Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.is_met() { "met   " } else { "MISSED" };
        let Self { name, measured, .. } = self;
        let (word, limit) = match self.bound {
            Bound::Below(limit) => ("less than", limit),
            Bound::AtLeast(limit) => ("at least", limit),
        };
        write!(f, "{verdict} {name}: {measured:.2}, {word} {limit} promised")
    }
}

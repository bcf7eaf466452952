//! Turns rounds into rows, ratios and verdicts.

use std::fmt::{self, Display};
use std::time::Duration;

use crate::load::Round;

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

    /// The best round, because other load on the machine can only slow a server down.
    fn best(&self) -> Option<&Round> {
        self.rounds.iter().max_by(|a, b| a.per_second.total_cmp(&b.per_second))
    }

    fn per_second(&self) -> f64 {
        self.best().map_or(0.0, |round| round.per_second)
    }

    fn cpu_us(&self) -> f64 {
        self.rounds.iter().map(|round| round.cpu_us).fold(f64::INFINITY, f64::min)
    }
}

/// `rows` are Stoa, the bare server and FastMCP.
pub(crate) fn print_calls(rows: &[Row; 3]) {
    let [_, bare, fastmcp] = rows;
    println!(
        "{:<10} {:>9} {:>9} {:>9} {:>11} {:>12} {:>15}",
        "server", "req/s", "p50 ms", "p99 ms", "CPU us/req", "CPU vs bare", "req/s vs Fast"
    );
    for row in rows {
        let [p50, p99] = row.best().map_or([0, 0], |it| [it.p50_us, it.p99_us]);
        println!(
            "{:<10} {:>9.0} {:>9} {:>9} {:>11.1} {:>11.2}x {:>14.1}x",
            row.name,
            row.per_second(),
            milliseconds(p50),
            milliseconds(p99),
            row.cpu_us(),
            row.cpu_us() / bare.cpu_us(),
            row.per_second() / fastmcp.per_second(),
        );
    }
}

fn milliseconds(us: u128) -> String {
    format!("{}.{:02}", us / 1_000, us % 1_000 / 10)
}

pub(crate) fn call_targets([stoa, bare, fastmcp]: &[Row; 3], wire: &str) -> [Target; 2] {
    [
        Target::at_most(
            &format!("CPU of a cached call, times bare rmcp ({wire})"),
            stoa.cpu_us() / bare.cpu_us(),
            1.5,
        ),
        Target::at_least(
            &format!("requests served, times FastMCP ({wire})"),
            stoa.per_second() / fastmcp.per_second(),
            25.0,
        ),
    ]
}

pub(crate) fn print_starts(rows: &[(&str, &[Duration])]) {
    println!("{:<10} {:>11} {:>11}", "server", "least ms", "median ms");
    for (name, times) in rows {
        let least = times.iter().min().copied().unwrap_or_default();
        let [least, median] = [least, median(times)].map(|it| milliseconds(it.as_micros()));
        println!("{name:<10} {least:>11} {median:>11}");
    }
}

pub(crate) fn median(times: &[Duration]) -> Duration {
    let mut times = times.to_vec();
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// A target with the measured value.
pub(crate) struct Target {
    name: String,
    measured: f64,
    bound: Bound,
}

enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

impl Target {
    fn at_most(name: &str, measured: f64, limit: f64) -> Self {
        Self { name: name.to_owned(), measured, bound: Bound::AtMost(limit) }
    }

    pub(crate) fn at_least(name: &str, measured: f64, limit: f64) -> Self {
        Self { name: name.to_owned(), measured, bound: Bound::AtLeast(limit) }
    }

    pub(crate) fn is_met(&self) -> bool {
        match self.bound {
            Bound::AtMost(limit) => self.measured <= limit,
            Bound::AtLeast(limit) => self.measured >= limit,
        }
    }
}

impl Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.is_met() { "met   " } else { "MISSED" };
        let Self { name, measured, .. } = self;
        match self.bound {
            Bound::AtMost(limit) => {
                write!(f, "{verdict} {name}: {measured:.2}, at most {limit} promised")
            }
            Bound::AtLeast(limit) => {
                write!(f, "{verdict} {name}: {measured:.1}, at least {limit} promised")
            }
        }
    }
}

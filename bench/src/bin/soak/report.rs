//! Prints the figures of a run and decides whether it met its goals.

use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::clients::Shared;
use crate::lives::LifeRecord;
use crate::observations::{FAILURE_KINDS, FailureKind, value_of};
use crate::stream_check::Delivered;
use crate::verify::Findings;

/// Lives that are printed one by one; of more, evenly chosen ones.
const LIVES_PRINTED: usize = 40;
/// Lines of one list.
const LISTED_MAX: usize = 20;
/// Answers that are printed of those that name a fault of the exchange.
const EXCHANGE_FAILURES_MAX: usize = 4;

pub(crate) struct Report<'a> {
    pub(crate) shared: &'a Shared,
    pub(crate) lives: &'a [LifeRecord],
    pub(crate) findings: &'a Findings,
    pub(crate) delivered: &'a Delivered,
    /// Idle connections that the limit of open files allows.
    pub(crate) idle_possible: usize,
    pub(crate) idle_asked: usize,
}

impl Report<'_> {
    /// Prints everything; returns whether all goals are met.
    pub(crate) fn print(&self) -> bool {
        self.print_lives();
        self.print_latencies();
        self.print_load();
        self.print_goals()
    }

    fn print_lives(&self) {
        println!("\nLives of the server; memory is resident memory in MB");
        let columns = ["life", "start s", "lasted s", "at start", "peak", "at end", "idle open"];
        println!("{}", columns.map(|it| format!("{it:>10}")).join(""));
        let step = self.lives.len().div_ceil(LIVES_PRINTED).max(1);
        for (at, life) in self.lives.iter().enumerate().step_by(step) {
            let LifeRecord { start, lasted, start_mb, peak_mb, end_mb, idle_open } = life;
            println!(
                "{:>10}{:>10.2}{:>10.1}{start_mb:>10.0}{peak_mb:>10.0}{end_mb:>10.0}{idle_open:>10}",
                at + 1,
                start.as_secs_f64(),
                lasted.as_secs_f64(),
            );
        }
        let highest =
            |figure: fn(&LifeRecord) -> f64| self.lives.iter().map(figure).fold(0.0, f64::max);
        println!(
            "{:>10}{:>10.2}{:>10.1}{:>10.0}{:>10.0}{:>10.0}",
            "highest",
            highest(|it| it.start.as_secs_f64()),
            highest(|it| it.lasted.as_secs_f64()),
            highest(|it| it.start_mb),
            highest(|it| it.peak_mb),
            highest(|it| it.end_mb),
        );
    }

    fn print_latencies(&self) {
        println!("\nRequests outside kill windows, in ms");
        let columns = ["count", "p50", "p99", "max"];
        println!("{:<18}{}", "", columns.map(|it| format!("{it:>10}")).join(""));
        for (kind, times) in self.shared.observations.latencies() {
            let [p50, p99, max] = [50, 99, 100].map(|percent| percentile_ms(&times, percent));
            println!("{kind:<18}{:>10}{p50:>10.1}{p99:>10.1}{max:>10.1}", times.len());
        }
    }

    fn print_load(&self) {
        let (counts, idle) = (&self.shared.observations.counts, &self.shared.idle);
        let open_max = idle.open_max.load(Ordering::Relaxed);
        println!();
        line("idle connections asked for", self.idle_asked);
        if self.idle_possible < self.idle_asked {
            line("  that the limit of open files allows", self.idle_possible);
        }
        line("  open at once at most", open_max);
        line("  opened in all", idle.opened.load(Ordering::Relaxed));
        line("kills", self.lives.len().saturating_sub(1));
        line("faults injected into the exchange", value_of(&counts.faults_injected));
        line("requests answered", value_of(&counts.requests));
        line("malformed requests", value_of(&counts.malformed));
        line("requests that a kill interrupted", value_of(&counts.interrupted));
        line("answers 429", value_of(&counts.throttled));
        line("connections of stream readers", value_of(&counts.stream_connections));
        line("streams that the server ended", value_of(&counts.streams_ended));
        let passed_on = self.shared.observations.failures(FailureKind::ExchangeFailure);
        line(&FailureKind::ExchangeFailure.to_string(), passed_on.count);
        list(passed_on.listed.get(..EXCHANGE_FAILURES_MAX).unwrap_or(&passed_on.listed));
        let written = self.shared.acknowledged.counts();
        line("acknowledged writes", written.total());
        line("  users", written.users);
        line("  files", written.files);
        line("  jobs", written.jobs);
        line("  insights", written.insights);
        line("  ticks", written.ticks);
        line("  proposals", written.proposals);
        line("  applied prices", written.applied);
        line("checks of files, products and users", value_of(&counts.checks));
        line("closed candles delivered", self.delivered.tally.candles);
    }

    fn print_goals(&self) -> bool {
        println!("\nGoals: each of these is 0");
        let mut met = true;
        let mut goal = |name: &str, count: usize, texts: &[String]| {
            line(name, count);
            list(texts);
            met &= count == 0;
        };
        let findings = self.findings;
        goal("acknowledged writes lost", findings.lost.len(), &findings.lost);
        goal("jobs that never ended", findings.unfinished_jobs.len(), &findings.unfinished_jobs);
        goal("jobs that failed", findings.failed_jobs.len(), &findings.failed_jobs);
        let Delivered { readers, tally: candles, wrong } = self.delivered;
        goal(&format!("of {readers} stream readers with wrong candles"), wrong.len(), wrong);
        goal("  candles lost", candles.lost, &[]);
        goal("  candles duplicated", candles.duplicated, &[]);
        goal("  candles out of order", candles.out_of_order, &[]);
        goal("  candles different", candles.different, &[]);
        for kind in FAILURE_KINDS {
            let failures = self.shared.observations.failures(kind);
            goal(&kind.to_string(), failures.count, &failures.listed);
        }
        met
    }
}

fn line(name: &str, value: impl std::fmt::Display) {
    println!("{name:<44}{value:>10}");
}

fn list(texts: &[String]) {
    for text in texts.iter().take(LISTED_MAX) {
        println!("    {text}");
    }
    if let Some(more) = texts.len().checked_sub(LISTED_MAX).filter(|more| *more > 0) {
        println!("    and {more} more");
    }
}

fn percentile_ms(sorted: &[Duration], percent: usize) -> f64 {
    let at = (sorted.len() * percent / 100).min(sorted.len().saturating_sub(1));
    sorted.get(at).map_or(0.0, |time| time.as_secs_f64() * 1_000.0)
}

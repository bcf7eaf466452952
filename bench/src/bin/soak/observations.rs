//! Collects what the clients observe: latencies by kind of request, failures with their texts, and
//! counts.

use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use crate::kill_windows::KillWindows;

/// Failures of one sort that are kept with their text; the others are only counted.
const LISTED_MAX: usize = 40;

/// The kinds of failures that must not happen outside a kill window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FailureKind {
    /// A status from 500, or a tool's error with such a meaning.
    ServerError,
    /// No answer within the time of a request.
    Timeout,
    /// A connection that could not be opened, or ended before the answer.
    Disconnected,
    /// A valid request that was answered with an error below 500, except 429.
    Refused,
    /// Malformed input that was not answered as its contract says.
    MalformedAccepted,
    /// The server process ended although it was not killed.
    ServerExited,
    /// An answer that passes on a fault of the exchange; it is listed and not counted as missed.
    ExchangeFailure,
}

impl Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ServerError => "5xx outside kill windows",
            Self::Timeout => "requests without an answer in time",
            Self::Disconnected => "connections cut outside kill windows",
            Self::Refused => "valid requests answered 4xx",
            Self::MalformedAccepted => "malformed requests answered wrongly",
            Self::ServerExited => "exits of the server by itself",
            Self::ExchangeFailure => "answers that name a fault of the exchange",
        })
    }
}

/// The failures that must not happen.
pub(crate) const FAILURE_KINDS: [FailureKind; 6] = [
    FailureKind::ServerError,
    FailureKind::Timeout,
    FailureKind::Disconnected,
    FailureKind::Refused,
    FailureKind::MalformedAccepted,
    FailureKind::ServerExited,
];

#[derive(Debug, Default, Clone)]
pub(crate) struct FailureList {
    pub(crate) count: usize,
    pub(crate) listed: Vec<String>,
}

/// When a request began and ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestTimes {
    pub(crate) began: Instant,
    pub(crate) ended: Instant,
}

impl RequestTimes {
    pub(crate) fn since(began: Instant) -> Self {
        Self { began, ended: Instant::now() }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) requests: AtomicU64,
    pub(crate) malformed: AtomicU64,
    /// Requests that a kill interrupted.
    pub(crate) interrupted: AtomicU64,
    /// Answers 429, after which the client waits.
    pub(crate) throttled: AtomicU64,
    pub(crate) faults_injected: AtomicU64,
    pub(crate) stream_connections: AtomicU64,
    /// Streams that the server ended with `ended`.
    pub(crate) streams_ended: AtomicU64,
    pub(crate) checks: AtomicU64,
}

pub(crate) fn increment(count: &AtomicU64) {
    count.fetch_add(1, Ordering::Relaxed);
}

pub(crate) fn value_of(count: &AtomicU64) -> u64 {
    count.load(Ordering::Relaxed)
}

pub(crate) struct Observations {
    began: Instant,
    pub(crate) windows: KillWindows,
    pub(crate) counts: Counts,
    latencies: Mutex<BTreeMap<&'static str, Vec<Duration>>>,
    failures: Mutex<BTreeMap<FailureKind, FailureList>>,
}

impl Observations {
    pub(crate) fn new() -> Self {
        Self {
            began: Instant::now(),
            windows: KillWindows::default(),
            counts: Counts::default(),
            latencies: Mutex::default(),
            failures: Mutex::default(),
        }
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// Records the time of an answered request, unless it was under way in a kill window.
    pub(crate) fn record_answer(&self, kind: &'static str, times: RequestTimes) {
        increment(&self.counts.requests);
        if !self.windows.overlap(times.began, times.ended) {
            self.latencies.lock().entry(kind).or_default().push(times.ended - times.began);
        }
    }

    /// Records a failure, unless it was in a kill window.
    pub(crate) fn record_failure(&self, kind: FailureKind, times: RequestTimes, text: &str) {
        if self.windows.overlap(times.began, times.ended) {
            increment(&self.counts.interrupted);
            return;
        }
        let (at, lasted) = (times.ended - self.began, times.ended - times.began);
        let text =
            format!("{:.1} s, after {:.3} s: {text}", at.as_secs_f64(), lasted.as_secs_f64());
        self.record_failure_at_any_time(kind, text);
    }

    /// Records a failure that no kill window excuses.
    pub(crate) fn record_failure_at_any_time(&self, kind: FailureKind, text: String) {
        let mut failures = self.failures.lock();
        let list = failures.entry(kind).or_default();
        list.count += 1;
        if list.listed.len() < LISTED_MAX {
            list.listed.push(text);
        }
    }

    pub(crate) fn failures(&self, kind: FailureKind) -> FailureList {
        self.failures.lock().get(&kind).cloned().unwrap_or_default()
    }

    pub(crate) fn failure_count(&self) -> usize {
        FAILURE_KINDS.iter().map(|kind| self.failures(*kind).count).sum()
    }

    /// The sorted latencies of each kind of request.
    pub(crate) fn latencies(&self) -> Vec<(&'static str, Vec<Duration>)> {
        let latencies = self.latencies.lock();
        let sorted = latencies.iter().map(|(kind, times)| {
            let mut times = times.clone();
            times.sort_unstable();
            (*kind, times)
        });
        sorted.collect()
    }
}

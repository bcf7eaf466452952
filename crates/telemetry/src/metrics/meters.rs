//! Meters: handles that callers keep, with resolved counters.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;

use super::families::{BoundedFamily, OTHER};

/// The outcomes of a call: `ok`, `error`, or the kind of its fault.
const OUTCOMES: [&str; 13] = [
    "ok",
    "error",
    "invalid",
    "unauthenticated",
    "forbidden",
    "not_found",
    "conflict",
    "rate_limited",
    "unavailable",
    "timeout",
    "cancelled",
    "internal",
    OTHER,
];
/// Other methods are counted as `other`, because clients can invent them.
const METHODS: [&str; 8] = ["GET", "POST", "DELETE", "OPTIONS", "HEAD", "PUT", "PATCH", OTHER];
/// Statuses with a cached counter; others are looked up.
const STATUSES: [u16; 16] =
    [200, 202, 204, 206, 304, 400, 401, 403, 404, 405, 408, 413, 429, 500, 502, 503];

/// Counts and times the calls of one tool.
#[derive(Clone)]
pub struct ToolMeter(pub(super) Arc<ToolCells>);

pub(super) struct ToolCells {
    pub(super) labels: [String; 3],
    pub(super) calls: BoundedFamily<4, Counter>,
    /// Created when first needed, so that `/metrics` lists only outcomes that happened.
    pub(super) outcomes: [OnceLock<Counter>; OUTCOMES.len()],
    pub(super) seconds: Histogram,
}

/// The meter of a service and transport among those of one tool.
pub(super) fn find_meter(
    meters: &[ToolMeter],
    service: &str,
    transport: &str,
) -> Option<ToolMeter> {
    let wanted = |meter: &&ToolMeter| {
        let [of, _, on] = &meter.0.labels;
        of == service && on == transport
    };
    meters.iter().find(wanted).cloned()
}

impl ToolMeter {
    /// `outcome` is `ok`, `error` or the word of a fault's kind.
    pub fn record(&self, outcome: &str, elapsed: Duration) {
        let cells = &self.0;
        let at = OUTCOMES.iter().position(|it| *it == outcome).unwrap_or(OUTCOMES.len() - 1);
        let make = || {
            let [service, tool, transport] = &cells.labels;
            cells.calls.get([service, tool, transport, OUTCOMES[at]])
        };
        cells.outcomes[at].get_or_init(make).inc();
        cells.seconds.observe(elapsed.as_secs_f64());
    }
}

/// A route and its meters, one per method.
pub(super) struct Route {
    pub(super) name: String,
    meters: [OnceLock<RouteMeter>; METHODS.len()],
}

impl Route {
    pub(super) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), meters: Default::default() }
    }

    /// The meter of this method, created at its first request.
    pub(super) fn meter(&self, method: &str, make: impl FnOnce(&str) -> RouteCells) -> RouteMeter {
        let at = METHODS.iter().position(|it| *it == method).unwrap_or(METHODS.len() - 1);
        self.meters[at].get_or_init(|| RouteMeter(Arc::new(make(METHODS[at])))).clone()
    }
}

/// Counts and times the requests of one route and method.
#[derive(Clone)]
pub struct RouteMeter(Arc<RouteCells>);

pub(super) struct RouteCells {
    pub(super) labels: [String; 2],
    pub(super) requests: BoundedFamily<3, Counter>,
    pub(super) statuses: [OnceLock<Counter>; STATUSES.len()],
    pub(super) seconds: Histogram,
}

impl RouteMeter {
    pub fn record(&self, status: u16, elapsed: Duration) {
        let cells = &self.0;
        let [route, method] = &cells.labels;
        let make = || cells.requests.get([route, method, &status.to_string()]);
        match STATUSES.iter().position(|it| *it == status) {
            Some(at) => cells.statuses[at].get_or_init(make).inc(),
            None => make().inc(),
        };
        cells.seconds.observe(elapsed.as_secs_f64());
    }
}

/// Counts and times the requests to one endpoint of a venue.
#[derive(Clone)]
pub struct UpstreamMeter {
    pub(super) labels: [String; 2],
    pub(super) requests: BoundedFamily<3, Counter>,
    pub(super) seconds: Histogram,
}

impl UpstreamMeter {
    pub fn record(&self, outcome: &str, elapsed: Duration) {
        let [venue, endpoint] = &self.labels;
        self.requests.get([venue, endpoint, outcome]).inc();
        self.seconds.observe(elapsed.as_secs_f64());
    }
}

/// A gauge with resolved labels.
#[derive(Clone, Debug)]
pub struct GaugeHandle(pub(super) Gauge);

impl GaugeHandle {
    pub fn set(&self, value: i64) {
        self.0.set(value);
    }

    /// Adds one until the guard is dropped.
    pub fn increment(&self) -> GaugeGuard {
        self.0.inc();
        GaugeGuard(self.0.clone())
    }
}

/// One unit of a [`GaugeHandle`].
#[must_use = "dropping it lowers the gauge at once"]
#[derive(Debug)]
pub struct GaugeGuard(Gauge);

impl Drop for GaugeGuard {
    fn drop(&mut self) {
        self.0.dec();
    }
}

/// An open stream; dropping it counts the stream as closed.
#[must_use = "dropping it counts the stream as closed"]
#[derive(Debug)]
pub struct OpenStreamGuard {
    pub(super) _open: GaugeGuard,
    pub(super) closed: Counter,
}

impl Drop for OpenStreamGuard {
    fn drop(&mut self) {
        self.closed.inc();
    }
}

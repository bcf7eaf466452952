//! All metrics, named `stoa_*`, in one struct.
//!
//! A caller resolves a meter once for its labels and keeps it; recording is then a counter and a
//! histogram without a lookup. Every family is bounded; further labels become `other`.

use parking_lot::RwLock;
use std::collections::HashMap;
use std::sync::Arc;

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};

use crate::process::ProcessCollector;

mod families;
mod meters;
mod prometheus_text;
use families::{BoundedFamily, Buckets, OTHER};
pub use meters::{GaugeGuard, GaugeHandle, OpenStreamGuard, RouteMeter, ToolMeter, UpstreamMeter};
use meters::{Route, RouteCells, ToolCells, find_meter};

/// Histogram buckets in seconds, from a cached answer to a slow upstream.
const BUCKETS: [f64; 17] = [
    0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5,
    1.0, 2.5, 5.0, 10.0,
];

/// How many routes have their own meters.
const ROUTES_MAX: usize = 128;
/// How many tools have cached meters.
const TOOLS_MAX: usize = 256;

type GaugeReading = dyn Fn() -> i64 + Send + Sync;

#[derive(Debug, Clone)]
pub struct BuildInfo {
    pub version: String,
    pub commit: String,
}

pub struct Metrics {
    registry: Registry,
    http_requests: BoundedFamily<3, Counter>,
    http_seconds: BoundedFamily<1, Histogram, Buckets>,
    tool_calls: BoundedFamily<4, Counter>,
    tool_seconds: BoundedFamily<2, Histogram, Buckets>,
    errors: BoundedFamily<2, Counter>,
    rate_limited: Counter,
    upstream_requests: BoundedFamily<3, Counter>,
    upstream_seconds: BoundedFamily<2, Histogram, Buckets>,
    upstream_weight: BoundedFamily<1, Gauge>,
    upstream_streams: BoundedFamily<2, Counter>,
    queue_depth: BoundedFamily<1, Gauge>,
    streams_open: BoundedFamily<2, Gauge>,
    streams_opened: BoundedFamily<2, Counter>,
    streams_closed: BoundedFamily<2, Counter>,
    connections: Gauge,
    pending_connections: Gauge,
    body_bytes: Gauge,
    answer_bytes: Gauge,
    stream_bytes: Gauge,
    connections_refused: BoundedFamily<1, Counter>,
    /// Gauges that are computed at each scrape.
    on_scrape: RwLock<Vec<(GaugeHandle, Box<GaugeReading>)>>,
    /// Meters by tool; a tool has one for each service and transport.
    tools: RwLock<HashMap<String, Vec<ToolMeter>>>,
    /// Meters by route and then by method, so that a request costs one lookup.
    routes: RwLock<HashMap<String, Arc<Route>>>,
}

impl Metrics {
    /// `started_at` is the start of the process in Unix seconds.
    pub fn new(build: BuildInfo, started_at: i64) -> Self {
        let mut registry = Registry::with_prefix("stoa");
        let start_time: Gauge = Gauge::default();
        start_time.set(started_at);
        let metrics = Self {
            http_requests: BoundedFamily::new(["route", "method", "status"], 2048),
            http_seconds: BoundedFamily::histograms(["route"], &BUCKETS, ROUTES_MAX),
            tool_calls: BoundedFamily::new(["service", "tool", "transport", "outcome"], 2048),
            tool_seconds: BoundedFamily::histograms(["service", "tool"], &BUCKETS, 256),
            errors: BoundedFamily::new(["service", "code"], 1024),
            rate_limited: Counter::default(),
            upstream_requests: BoundedFamily::new(["venue", "endpoint", "outcome"], 512),
            upstream_seconds: BoundedFamily::histograms(["venue", "endpoint"], &BUCKETS, 128),
            upstream_weight: BoundedFamily::new(["venue"], 32),
            upstream_streams: BoundedFamily::new(["venue", "what"], 64),
            queue_depth: BoundedFamily::new(["queue"], 256),
            streams_open: BoundedFamily::new(["stream", "transport"], 64),
            streams_opened: BoundedFamily::new(["stream", "transport"], 64),
            streams_closed: BoundedFamily::new(["stream", "transport"], 64),
            connections: Gauge::default(),
            pending_connections: Gauge::default(),
            body_bytes: Gauge::default(),
            answer_bytes: Gauge::default(),
            stream_bytes: Gauge::default(),
            connections_refused: BoundedFamily::new(["limit"], 8),
            on_scrape: RwLock::default(),
            tools: RwLock::default(),
            routes: RwLock::default(),
            registry: Registry::default(),
        };
        metrics.register_calls(&mut registry);
        metrics.register_gauges(&mut registry);
        let labels = [("version", build.version), ("commit", build.commit)];
        registry.register("build", "What is running", Info::new(labels));
        let about = "When the process started, in Unix time";
        registry.register_with_unit("start_time", about, Unit::Seconds, start_time);
        registry.register_collector(Box::new(ProcessCollector));
        Self { registry, ..metrics }
    }

    fn register_calls(&self, to: &mut Registry) {
        let seconds = || Unit::Seconds;
        to.register("http_requests", "HTTP requests answered", self.http_requests.family());
        let about = "Time to answer an HTTP request";
        to.register_with_unit("http_request", about, seconds(), self.http_seconds.family());
        to.register("tool_calls", "Tool calls finished", self.tool_calls.family());
        let about = "Time to finish a tool call";
        to.register_with_unit("tool_call", about, seconds(), self.tool_seconds.family());
        to.register("errors", "Faults sent to callers", self.errors.family());
        let about = "Requests refused by a rate limit";
        to.register("rate_limited", about, self.rate_limited.clone());
        let about = "Connections refused by a limit";
        to.register("connections_turned_away", about, self.connections_refused.family());
        to.register("streams_opened", "Streams opened", self.streams_opened.family());
        to.register("streams_closed", "Streams that ended", self.streams_closed.family());
        let about = "Requests sent to venues";
        to.register("upstream_requests", about, self.upstream_requests.family());
        let about = "Time a venue took to answer";
        to.register_with_unit("upstream_request", about, seconds(), self.upstream_seconds.family());
        let about = "What happened to the live streams of venues";
        to.register("upstream_stream_events", about, self.upstream_streams.family());
    }

    fn register_gauges(&self, to: &mut Registry) {
        let about = "Request weight used at a venue in its current window";
        to.register("upstream_weight_used", about, self.upstream_weight.family());
        to.register("queue_depth", "Items waiting in a queue", self.queue_depth.family());
        to.register("streams_open", "Open streams", self.streams_open.family());
        to.register("connections", "Open connections", self.connections.clone());
        let about = "Open connections without a request yet";
        to.register("connections_pending", about, self.pending_connections.clone());
        to.register("body_bytes", "Bytes of request bodies held", self.body_bytes.clone());
        to.register("answer_bytes", "Bytes of answers not yet read", self.answer_bytes.clone());
        to.register("stream_bytes", "Bytes of live streams held", self.stream_bytes.clone());
    }

    /// The meter of one tool on one transport. It is cached here; keep it where possible.
    pub fn tool(&self, service: &str, tool: &str, transport: &str) -> ToolMeter {
        let known = {
            let tools = self.tools.read();
            tools.get(tool).and_then(|meters| find_meter(meters, service, transport))
        };
        known.unwrap_or_else(|| self.add_tool(service, tool, transport))
    }

    fn add_tool(&self, service: &str, tool: &str, transport: &str) -> ToolMeter {
        let meter = ToolMeter(Arc::new(ToolCells {
            labels: [service, tool, transport].map(str::to_owned),
            calls: self.tool_calls.clone(),
            outcomes: Default::default(),
            seconds: self.tool_seconds.get([service, tool]),
        }));
        let mut tools = self.tools.write();
        if tools.len() < TOOLS_MAX || tools.contains_key(tool) {
            let meters = tools.entry(tool.to_owned()).or_default();
            // Services and transports are few; more than 32 is a caller's mistake.
            if meters.len() < 32 && find_meter(meters, service, transport).is_none() {
                meters.push(meter.clone());
            }
        }
        meter
    }

    /// The meter of one route, cached here. `route` is the router's pattern, never the path that a
    /// client sent; requests that match no route belong to `other`.
    pub fn route(&self, route: &str, method: &str) -> RouteMeter {
        let known = self.routes.read().get(route).cloned();
        let route = known.unwrap_or_else(|| self.add_route(route));
        route.meter(method, |method| RouteCells {
            labels: [route.name.clone(), method.to_owned()],
            requests: self.http_requests.clone(),
            statuses: Default::default(),
            seconds: self.http_seconds.get([&route.name]),
        })
    }

    fn add_route(&self, route: &str) -> Arc<Route> {
        let mut routes = self.routes.write();
        let full = routes.len() >= ROUTES_MAX && !routes.contains_key(route);
        let name = if full { OTHER } else { route };
        Arc::clone(routes.entry(name.to_owned()).or_insert_with(|| Arc::new(Route::new(name))))
    }

    /// The meter of one endpoint of a venue. Resolve it once and keep it.
    pub fn upstream(&self, venue: &str, endpoint: &str) -> UpstreamMeter {
        UpstreamMeter {
            labels: [venue, endpoint].map(str::to_owned),
            requests: self.upstream_requests.clone(),
            seconds: self.upstream_seconds.get([venue, endpoint]),
        }
    }

    pub fn error(&self, service: &str, code: &str) {
        self.errors.get([service, code]).inc();
    }

    pub fn rate_limited(&self) {
        self.rate_limited.inc();
    }

    pub fn upstream_weight_used(&self, venue: &str) -> GaugeHandle {
        GaugeHandle(self.upstream_weight.get([venue]))
    }

    /// Counts an event of a venue's live stream, such as `reconnecting`.
    pub fn upstream_stream(&self, venue: &str, what: &str) {
        self.upstream_streams.get([venue, what]).inc();
    }

    pub fn queue_depth(&self, queue: &str) -> GaugeHandle {
        GaugeHandle(self.queue_depth.get([queue]))
    }

    /// Counts a stream as opened, and as open until the guard is dropped.
    pub fn stream(&self, stream: &str, transport: &str) -> OpenStreamGuard {
        let labels = [stream, transport];
        self.streams_opened.get(labels).inc();
        OpenStreamGuard {
            _open: GaugeHandle(self.streams_open.get(labels)).increment(),
            closed: self.streams_closed.get(labels),
        }
    }

    /// Computes a gauge at each scrape, where keeping it up to date would cost more.
    pub fn set_on_scrape(
        &self,
        gauge: GaugeHandle,
        reading: impl Fn() -> i64 + Send + Sync + 'static,
    ) {
        let mut on_scrape = self.on_scrape.write();
        on_scrape.push((gauge, Box::new(reading)));
    }

    pub fn connections(&self) -> GaugeHandle {
        GaugeHandle(self.connections.clone())
    }

    /// The connections whose first request has not come.
    pub fn pending_connections(&self) -> GaugeHandle {
        GaugeHandle(self.pending_connections.clone())
    }

    /// The bytes of request bodies that are held.
    pub fn body_bytes(&self) -> GaugeHandle {
        GaugeHandle(self.body_bytes.clone())
    }

    /// The bytes of large answers that clients have not read.
    pub fn answer_bytes(&self) -> GaugeHandle {
        GaugeHandle(self.answer_bytes.clone())
    }

    /// The bytes that live streams hold.
    pub fn stream_bytes(&self) -> GaugeHandle {
        GaugeHandle(self.stream_bytes.clone())
    }

    /// Counts a connection that this limit refused.
    pub fn connection_refused(&self, limit: &str) {
        self.connections_refused.get([limit]).inc();
    }

    /// All metrics in the Prometheus text format 0.0.4.
    pub fn render_prometheus(&self) -> String {
        prometheus_text::prometheus_text(&self.render())
    }

    /// All metrics as `OpenMetrics` text 1.0.0.
    pub fn render(&self) -> String {
        for (gauge, reading) in &*self.on_scrape.read() {
            gauge.set(reading());
        }
        let mut text = String::new();
        if encode(&mut text, &self.registry).is_err() {
            tracing::error!("the metrics could not be encoded");
        }
        text
    }
}

#[cfg(test)]
mod tests;

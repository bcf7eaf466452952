//! The simulated exchange: its state, its routes, and the control endpoints.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, put};
use clock::Clock;
use serde::Deserialize;
use serde_json::json;
use tokio::io::DuplexStream;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::binance::{self, Endpoint, Limits, StreamRules, Streams};
use crate::faults::{Faults, InjectedFault};
use crate::instruments::Instruments;
use crate::moex::{self, Moex};
use crate::server;

/// How many bytes a connection in memory buffers in each direction.
const MEMORY_BUFFER_BYTES: usize = 64 << 10;

/// The settings of a simulated exchange.
#[derive(Clone)]
pub struct SimConfig {
    /// The same seed gives the same market.
    pub seed: u64,
    pub clock: Arc<dyn Clock>,
    /// Request weight a minute; Binance's own is 6,000.
    pub weight_limit: u32,
    /// Requests a minute that ISS allows.
    pub iss_limit: u32,
    pub streams: StreamRules,
}

impl SimConfig {
    pub const WEIGHT_LIMIT: u32 = 6_000;
    pub const ISS_LIMIT: u32 = 6_000;

    pub fn new(seed: u64, clock: Arc<dyn Clock>) -> Self {
        let streams = StreamRules::default();
        let (weight_limit, iss_limit) = (Self::WEIGHT_LIMIT, Self::ISS_LIMIT);
        Self { seed, clock, weight_limit, iss_limit, streams }
    }
}

/// Counts of WebSocket connections, streams and frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StreamCounts {
    /// Connections accepted since the beginning.
    pub opened: u64,
    pub connections: u64,
    /// Streams subscribed to right now, over all connections.
    pub streams: u64,
    /// Frames with candles sent since the beginning.
    pub frames: u64,
}

/// The state that all handlers share.
pub(crate) struct Shared {
    pub(crate) seed: u64,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) instruments: Instruments,
    pub(crate) limits: Limits,
    pub(crate) moex: Moex,
    pub(crate) faults: Faults,
    pub(crate) streams: Streams,
    requests: [AtomicU64; Endpoint::ALL.len()],
}

impl Shared {
    /// Counts a request and returns the number of earlier ones.
    pub(crate) fn count(&self, endpoint: Endpoint) -> u64 {
        self.requests[endpoint as usize].fetch_add(1, Ordering::Relaxed);
        self.requests.iter().map(|count| count.load(Ordering::Relaxed)).sum()
    }
}

/// A seeded market behind the wire protocol of a real exchange. Clones are handles to the same one.
#[derive(Clone)]
pub struct Sim {
    shared: Arc<Shared>,
}

impl Sim {
    pub fn new(config: SimConfig) -> Self {
        let shared = Shared {
            seed: config.seed,
            clock: config.clock,
            instruments: Instruments::new(),
            limits: Limits::new(config.weight_limit),
            moex: Moex::new(config.iss_limit),
            faults: Faults::default(),
            streams: Streams::new(config.streams),
            requests: std::array::from_fn(|_| AtomicU64::new(0)),
        };
        Self { shared: Arc::new(shared) }
    }

    pub fn router(&self) -> Router {
        binance::router()
            .merge(moex::router())
            .merge(control())
            .with_state(Arc::clone(&self.shared))
    }

    /// Serves until cancelled. Connections that are open then are closed.
    pub async fn serve(self, listener: TcpListener, cancel: CancellationToken) {
        let router = self.router().layer(axum::Extension(cancel.clone()));
        server::serve(listener, router, cancel).await;
        self.shared.streams.ended().await;
    }

    /// Serves connections in memory, without a socket, until `cancel` is cancelled.
    pub fn serve_in_memory(&self, cancel: CancellationToken) -> InMemoryServer {
        let router = self.router().layer(axum::Extension(cancel.clone()));
        InMemoryServer { router, connections: TaskTracker::new(), cancel }
    }

    pub fn faults(&self) -> &Faults {
        &self.shared.faults
    }

    /// How many requests this endpoint has had, refused ones included.
    pub fn requests(&self, endpoint: Endpoint) -> u64 {
        self.shared.requests[endpoint as usize].load(Ordering::Relaxed)
    }

    /// How many requests ISS has had, refused ones included.
    pub fn iss_requests(&self) -> u64 {
        self.shared.moex.limits.requests()
    }

    pub fn stream_counts(&self) -> StreamCounts {
        self.shared.streams.counts()
    }

    pub fn set_weight_limit(&self, weight_per_minute: u32) {
        self.shared.limits.set_limit(weight_per_minute);
    }

    pub fn set_iss_limit(&self, requests_per_minute: u32) {
        self.shared.moex.limits.set_limit(requests_per_minute);
    }
}

/// A simulated exchange that is reached in memory; tests with paused time need it, because time
/// jumps ahead while a socket is waited for.
#[derive(Clone)]
pub struct InMemoryServer {
    router: Router,
    connections: TaskTracker,
    cancel: CancellationToken,
}

impl InMemoryServer {
    /// Opens a connection for HTTP/1.1 or WebSocket. Call it inside a tokio runtime.
    pub fn connect(&self) -> DuplexStream {
        let (client, server) = tokio::io::duplex(MEMORY_BUFFER_BYTES);
        let (router, cancel) = (self.router.clone(), self.cancel.clone());
        self.connections.spawn(server::serve_connection(server, router, cancel));
        client
    }
}

fn control() -> Router<Arc<Shared>> {
    let faults = get(list_faults).post(add_fault).delete(clear_faults);
    Router::new().route("/sim/faults", faults).route("/sim/limits", put(set_limits))
}

async fn list_faults(State(shared): State<Arc<Shared>>) -> Response {
    axum::Json(json!({"faults": shared.faults.list()})).into_response()
}

async fn add_fault(State(shared): State<Arc<Shared>>, body: Bytes) -> Response {
    let added = serde_json::from_slice::<InjectedFault>(&body)
        .map_err(|error| error.to_string())
        .and_then(|fault| shared.faults.add(fault));
    match added {
        Ok(()) => (StatusCode::CREATED, axum::Json(json!({"faults": shared.faults.list()})))
            .into_response(),
        Err(reason) => refuse(&reason),
    }
}

async fn clear_faults(State(shared): State<Arc<Shared>>) -> StatusCode {
    shared.faults.clear();
    StatusCode::NO_CONTENT
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitsBody {
    request_weight_per_minute: Option<u32>,
    iss_requests_per_minute: Option<u32>,
}

async fn set_limits(State(shared): State<Arc<Shared>>, body: Bytes) -> Response {
    match serde_json::from_slice::<LimitsBody>(&body) {
        Ok(limits) => {
            if let Some(limit) = limits.request_weight_per_minute {
                shared.limits.set_limit(limit);
            }
            if let Some(limit) = limits.iss_requests_per_minute {
                shared.moex.limits.set_limit(limit);
            }
            StatusCode::NO_CONTENT.into_response()
        }
        Err(error) => refuse(&error.to_string()),
    }
}

fn refuse(reason: &str) -> Response {
    (StatusCode::BAD_REQUEST, axum::Json(json!({"error": reason}))).into_response()
}

//! Binance's market streams over WebSocket: accepts connections and has their rules. `session` runs a
//! connection, `feed` a stream. Prices follow the exchange's clock; pings, lifetimes and limits follow
//! tokio's time.

mod feed;
mod frame;
mod requests;
mod session;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Router};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::session::{Opening, Session};
use crate::sim::{Shared, StreamCounts};

const CONNECTIONS_MAX: usize = 4_096;
const MESSAGE_BYTES_MAX: usize = 64 << 10;

/// The rules of the streams. The defaults are Binance's own.
#[derive(Debug, Clone)]
pub struct StreamRules {
    /// How many times faster than real time the exchange's clock runs.
    pub time_scale: f64,
    pub ping_every: Duration,
    /// The connection of a client that does not answer a ping for this long is closed.
    pub pong_within: Duration,
    /// How long a connection may last.
    pub life: Duration,
    /// From the announcement of a shutdown to the end of the connection.
    pub shutdown_notice: Duration,
    /// Pings, pongs and requests that a client may send in a second.
    pub messages_per_second: usize,
    /// Streams of one connection.
    pub streams_max: usize,
}

impl Default for StreamRules {
    fn default() -> Self {
        Self {
            time_scale: 1.0,
            ping_every: Duration::from_secs(20),
            pong_within: Duration::from_mins(1),
            life: Duration::from_hours(24),
            shutdown_notice: Duration::from_mins(10),
            messages_per_second: 5,
            streams_max: 1_024,
        }
    }
}

/// All connections of one exchange.
#[derive(Debug)]
pub(crate) struct Streams {
    pub(crate) rules: StreamRules,
    permits: Arc<Semaphore>,
    sessions: TaskTracker,
    opened: AtomicU64,
    pub(crate) streams: AtomicU64,
    pub(crate) frames: AtomicU64,
}

impl Streams {
    pub(crate) fn new(rules: StreamRules) -> Self {
        Self {
            rules,
            permits: Arc::new(Semaphore::new(CONNECTIONS_MAX)),
            sessions: TaskTracker::new(),
            opened: AtomicU64::new(0),
            streams: AtomicU64::new(0),
            frames: AtomicU64::new(0),
        }
    }

    pub(crate) fn counts(&self) -> StreamCounts {
        StreamCounts {
            opened: self.opened.load(Ordering::Relaxed),
            connections: self.sessions.len() as u64,
            streams: self.streams.load(Ordering::Relaxed),
            frames: self.frames.load(Ordering::Relaxed),
        }
    }

    /// Waits for the connections, which end when the server is cancelled.
    pub(crate) async fn ended(&self) {
        self.sessions.close();
        self.sessions.wait().await;
        self.sessions.reopen();
    }
}

pub(crate) fn router() -> Router<Arc<Shared>> {
    Router::new()
        .route("/ws", get(raw_bare))
        .route("/ws/{*streams}", get(raw))
        .route("/stream", get(combined))
}

type Stop = Option<Extension<CancellationToken>>;

async fn raw_bare(State(shared): State<Arc<Shared>>, stop: Stop, up: WebSocketUpgrade) -> Response {
    accept(shared, stop, up, Opening { combined: false, streams: Vec::new() })
}

async fn raw(
    State(shared): State<Arc<Shared>>,
    stop: Stop,
    Path(streams): Path<String>,
    up: WebSocketUpgrade,
) -> Response {
    accept(shared, stop, up, Opening { combined: false, streams: names(&streams) })
}

async fn combined(
    State(shared): State<Arc<Shared>>,
    stop: Stop,
    Query(query): Query<Vec<(String, String)>>,
    up: WebSocketUpgrade,
) -> Response {
    let named = query.iter().find(|(key, _)| key == "streams");
    let streams = named.map(|(_, streams)| names(streams)).unwrap_or_default();
    accept(shared, stop, up, Opening { combined: true, streams })
}

fn names(joined: &str) -> Vec<String> {
    joined.split('/').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

fn accept(shared: Arc<Shared>, stop: Stop, up: WebSocketUpgrade, opening: Opening) -> Response {
    if opening.streams.len() > shared.streams.rules.streams_max {
        return StatusCode::BAD_REQUEST.into_response();
    }
    let Ok(permit) = Arc::clone(&shared.streams.permits).try_acquire_owned() else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    let stop = stop.map(|Extension(stop)| stop).unwrap_or_default();
    let sessions = shared.streams.sessions.clone();
    up.max_message_size(MESSAGE_BYTES_MAX)
        .max_frame_size(MESSAGE_BYTES_MAX)
        .on_upgrade(move |socket| {
            shared.streams.opened.fetch_add(1, Ordering::Relaxed);
            sessions.track_future(async move {
                let mut session = Session::new(socket, shared, opening);
                tokio::select! {
                    () = stop.cancelled() => {}
                    () = session.run() => {}
                }
                drop((session, permit));
            })
        })
        .into_response()
}

#[cfg(test)]
mod tests;

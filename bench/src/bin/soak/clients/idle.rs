//! Connections that are held open and send next to nothing: kept HTTP connections, server-sent
//! events and WebSocket connections whose candles close once an hour.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bench::frames::{self, CLOSE, PING, PONG, TEXT};
use tokio::io::AsyncWriteExt as _;
use tokio::time::{Instant, timeout};

use crate::clients::streams::upgrade;
use crate::clients::{REQUEST_TIMEOUT, Shared, failure_kind, refusal_kind};
use crate::http::{Connection, Request, Response, status};
use crate::observations::RequestTimes;
use crate::pace::Pace;

/// Connections of all idle clients that are opened in a second.
const OPENED_PER_SECOND: f64 = 1_000.0;
const RETRY_WAIT: Duration = Duration::from_millis(500);
/// An end that was noticed at most this long after it happened belongs to the kill before it.
const NOTICED_WITHIN: Duration = Duration::from_secs(3);
const SUBSCRIPTION: &str =
    r#"{"type":"subscribe","symbol":"BTCUSDT","interval":"1h","heartbeatMs":60000}"#;

#[derive(Debug, Clone, Copy)]
enum IdleKind {
    KeptHttp,
    ServerSentEvents,
    WebSocket,
}

/// Why a connection is not open, or no longer.
enum OpenError {
    Refused(Response),
    Broken(io::Error),
}

impl From<io::Error> for OpenError {
    fn from(error: io::Error) -> Self {
        Self::Broken(error)
    }
}

pub(crate) struct IdleCounts {
    pace: Pace,
    pub(crate) open: AtomicUsize,
    pub(crate) open_max: AtomicUsize,
    pub(crate) opened: AtomicUsize,
}

impl IdleCounts {
    pub(crate) fn new() -> Self {
        Self {
            pace: Pace::per_second(OPENED_PER_SECOND),
            open: AtomicUsize::new(0),
            open_max: AtomicUsize::new(0),
            opened: AtomicUsize::new(0),
        }
    }

    fn opened(&self) {
        let open = self.open.fetch_add(1, Ordering::Relaxed) + 1;
        self.open_max.fetch_max(open, Ordering::Relaxed);
        self.opened.fetch_add(1, Ordering::Relaxed);
    }

    fn closed(&self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Holds one connection open until the load ends, and opens it again after every kill.
pub(crate) async fn run(shared: Arc<Shared>, number: usize) {
    let kind = match number % 4 {
        0 | 1 => IdleKind::KeptHttp,
        2 => IdleKind::ServerSentEvents,
        _ => IdleKind::WebSocket,
    };
    let held = async {
        loop {
            shared.wait_until_up().await;
            shared.idle.pace.wait().await;
            let began = Instant::now();
            let opened = timeout(REQUEST_TIMEOUT, open(&shared, kind, number)).await;
            let timed_out = || Err(OpenError::Broken(io::ErrorKind::TimedOut.into()));
            let (error, times) = match opened.unwrap_or_else(|_| timed_out()) {
                Ok(connection) => {
                    shared.idle.opened();
                    let error = hold(connection, kind).await;
                    shared.idle.closed();
                    let ended = Instant::now();
                    let noticed = ended.checked_sub(NOTICED_WITHIN).unwrap_or(began);
                    (OpenError::Broken(error), RequestTimes { began: noticed.max(began), ended })
                }
                Err(error) => (error, RequestTimes::since(began)),
            };
            let (failure, said) = match error {
                OpenError::Refused(it) => {
                    (refusal_kind(&it), format!("{} {}", it.status, it.excerpt()))
                }
                OpenError::Broken(error) => (failure_kind(&error), error.to_string()),
            };
            shared.observations.record_failure(failure, times, &format!("idle {kind:?}: {said}"));
            tokio::time::sleep(RETRY_WAIT).await;
        }
    };
    shared.stop.run_until_cancelled(held).await;
}

async fn open(shared: &Shared, kind: IdleKind, number: usize) -> Result<Connection, OpenError> {
    let mut connection = Connection::open_from(shared.address, number).await?;
    let (request, expected) = match kind {
        IdleKind::KeptHttp => (Request::get("/v1/metadata"), 200),
        IdleKind::ServerSentEvents => {
            (Request::get("/stream/klines?symbol=BTCUSDT&interval=1h&heartbeatMs=60000"), 200)
        }
        IdleKind::WebSocket => (upgrade(), 101),
    };
    connection.stream.write_all(&request.bytes(shared.address)).await?;
    let head = connection.read_head().await?;
    if status(&head)? != expected {
        return Err(OpenError::Refused(connection.read_response(head).await?));
    }
    if let IdleKind::KeptHttp = kind {
        connection.read_response(head).await?;
    }
    if let IdleKind::WebSocket = kind {
        let hello = frames::from_client(TEXT, SUBSCRIPTION.as_bytes());
        connection.stream.write_all(&hello).await?;
    }
    Ok(connection)
}

/// Reads and drops what comes, answers pings, and returns how the connection ended.
async fn hold(mut connection: Connection, kind: IdleKind) -> io::Error {
    loop {
        if let IdleKind::WebSocket = kind {
            let bytes = std::mem::take(&mut connection.buffer);
            let mut at = 0;
            while let Ok(Some((frame, length))) = frames::first(&bytes[at..]) {
                if frame.opcode == CLOSE {
                    return io::Error::other("closed");
                }
                let pong = frames::from_client(PONG, frame.payload);
                if frame.opcode == PING && connection.stream.write_all(&pong).await.is_err() {
                    return io::ErrorKind::BrokenPipe.into();
                }
                at += length;
            }
            connection.buffer = bytes[at..].to_vec();
        } else {
            connection.buffer.clear();
        }
        // Memory for idle connections is small until something comes.
        connection.buffer.shrink_to_fit();
        if let Err(error) = connection.stream.readable().await {
            return error;
        }
        if let Err(error) = connection.read_more().await {
            return error;
        }
    }
}

//! Accepts connections within `connections_max`, bounds the time for request headers, sends small
//! writes at once, and shuts down in order.

use parking_lot::Mutex;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use crate::connection_slots::{ConnectionCount, ConnectionSlot, ConnectionSlots};
use crate::overload::OverloadResponder;
use crate::socket_handoff::{self, ChunkedWriter, SocketHandoff, WriteTimeout};

/// How long a client may take nothing of what is written to it.
const WRITE_PATIENCE: Duration = Duration::from_secs(30);

#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Further connections get 503 with `Retry-After` and are closed.
    pub connections_max: usize,
    /// How many of them one address may have; 0 is no limit.
    pub connections_per_client_max: usize,
    /// How long a client may take to send its request's head, and to think between requests.
    pub header_timeout: Duration,
    /// How long open connections may go on once the server has been told to stop.
    pub shutdown_timeout: Duration,
}

/// Serves until told to stop, then lets the requests under way end. `watch` counts connections
/// as they open and close.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    limits: Limits,
    stop: CancellationToken,
    watch: impl Fn(ConnectionCount) + Send + Sync + 'static,
) {
    let per_client = limits.connections_per_client_max;
    let slots =
        ConnectionSlots::new(limits.connections_max, per_client, Arc::new(watch), stop.clone());
    let overload = OverloadResponder::default();
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(limits.header_timeout);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(limits.header_timeout)
        .max_concurrent_streams(256);
    let builder = Arc::new(builder);
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Out of file descriptors, most likely: wait for some to come back.
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let slot = match slots.take(peer.ip()) {
            Ok(slot) => slot,
            Err(full) => {
                overload.respond(stream, full, slots.tasks());
                continue;
            }
        };
        let connection =
            Connection { stream, peer, router: router.clone(), builder: Arc::clone(&builder) };
        slots.tasks().spawn(connection.run(slot));
    }
    drop(listener);
    let connections = slots.tasks();
    connections.close();
    if tokio::time::timeout(limits.shutdown_timeout, connections.wait()).await.is_err() {
        tracing::warn!(open = connections.len(), "connections were cut at shutdown");
    }
}

struct Connection {
    stream: TcpStream,
    peer: SocketAddr,
    router: Router,
    builder: Arc<auto::Builder<TokioExecutor>>,
}

impl Connection {
    async fn run(self, slot: Arc<ConnectionSlot>) {
        let Self { stream, peer, router, builder } = self;
        let stop = slot.stop.clone();
        let (tasks, held) = (slot.tasks.clone(), Arc::clone(&slot));
        let handoff = Arc::new(SocketHandoff::default());
        let (begin, begun) = oneshot::channel();
        let begin = Mutex::new(Some(begin));
        // Otherwise every small write waits for the client's delayed acknowledgement.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "TCP_NODELAY could not be set");
        }
        let service = hyper::service::service_fn(move |mut request: hyper::Request<Incoming>| {
            request.extensions_mut().insert(ConnectInfo(peer));
            request.extensions_mut().insert(Arc::clone(&slot));
            let version = request.version();
            // Only of the first response can it be said that nothing is under way before it.
            let begin = begin.lock().take();
            let answer = router.clone().oneshot(request.map(axum::body::Body::new));
            async move {
                let mut response = answer.await?;
                *response.version_mut() = version;
                match begin {
                    Some(begin) if socket_handoff::is_long_lived(&response) => {
                        // The connection is dropped over it, and this with it.
                        drop(begin.send(response));
                        std::future::pending().await
                    }
                    _ => Ok::<_, Infallible>(response),
                }
            }
        });
        let stream = TokioIo::new(WriteTimeout::new(stream, WRITE_PATIENCE, Arc::clone(&handoff)));
        let connection = builder.serve_connection_with_upgrades(stream, service);
        let mut connection = Box::pin(connection);
        let ended = tokio::select! {
            biased;
            Ok(response) = begun => {
                handoff.request();
                drop(connection);
                if let Some(socket) = handoff.take() {
                    // A task of its own, which is as small as what is left to do.
                    tasks.spawn(ChunkedWriter::new(socket, response, WRITE_PATIENCE, held));
                }
                return;
            }
            ended = connection.as_mut() => ended,
            () = stop.cancelled() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        // A client that hangs up or talks nonsense is not our error.
        if let Err(error) = ended {
            tracing::debug!(%peer, error = %error, "a connection ended badly");
        }
    }
}

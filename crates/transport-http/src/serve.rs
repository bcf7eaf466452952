//! Accepts connections within `connections_max`, closes connections whose request head is late or
//! that are idle for too long, turns on `TCP_NODELAY`, and shuts down gracefully.

use parking_lot::Mutex;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::response::Response;
use bytes::Bytes;
use http::Version;
use http_body::{Frame, SizeHint};
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use crate::client_address::TrustedProxies;
use crate::connection_slots::{ConnectionCount, ConnectionSlot, ConnectionSlots};
use crate::overload::OverloadResponder;
use crate::socket_handoff::{self, ChunkedWriter, SocketHandoff, WriteTimeout};

/// A connection is closed when the client takes none of the written bytes for this long.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
/// An HTTP/2 connection without a request for this many times the header timeout is closed.
const IDLE_TIMEOUTS: u32 = 4;
/// The read buffer of an HTTP/1 connection, which bounds a request's head and one chunk of its
/// body.
const HTTP1_BUFFER_BYTES: usize = 32 * 1024;
/// The HTTP/2 flow-control windows: how many unread bytes a client may send on one stream and on
/// one connection.
const HTTP2_STREAM_BYTES: u32 = 128 * 1024;
const HTTP2_CONNECTION_BYTES: u32 = 256 * 1024;
const HTTP2_STREAMS_MAX: u32 = 256;

#[derive(Debug, Clone)]
pub struct Limits {
    /// A further connection takes the slot of the oldest one without a request; if there is none,
    /// it gets 503 with `Retry-After` and is closed.
    pub connections_max: usize,
    /// How many connections one address may have; 0 is no limit.
    pub connections_per_client_max: usize,
    /// The proxies, whose own addresses `connections_per_client_max` does not limit.
    pub trusted_proxies: TrustedProxies,
    /// How long a client may take to send a request's head, and how long it may pause between two
    /// requests.
    pub header_timeout: Duration,
    /// How long open connections may go on after the server was asked to stop.
    pub shutdown_timeout: Duration,
}

/// Serves until `stop` is cancelled, then lets the running requests end. `watch` is called with the
/// number of connections whenever one opens or closes.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    limits: Limits,
    stop: CancellationToken,
    watch: impl Fn(ConnectionCount) + Send + Sync + 'static,
) {
    let slots = ConnectionSlots::new(
        limits.connections_max,
        limits.connections_per_client_max,
        limits.trusted_proxies,
        Arc::new(watch),
        stop.clone(),
    );
    let overload = OverloadResponder::default();
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.header_timeout)
        .max_buf_size(HTTP1_BUFFER_BYTES);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(limits.header_timeout)
        .initial_stream_window_size(HTTP2_STREAM_BYTES)
        .initial_connection_window_size(HTTP2_CONNECTION_BYTES)
        .max_concurrent_streams(HTTP2_STREAMS_MAX);
    let builder = Arc::new(builder);
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // The process is probably out of file descriptors, so wait until some are closed.
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
        let connection = Connection {
            stream,
            peer,
            router: router.clone(),
            builder: Arc::clone(&builder),
            header_timeout: limits.header_timeout,
        };
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
    header_timeout: Duration,
}

impl Connection {
    async fn run(self, slot: Arc<ConnectionSlot>) {
        let Self { stream, peer, router, builder, header_timeout } = self;
        let (tasks, held) = (slot.tasks.clone(), Arc::clone(&slot));
        let handoff = Arc::new(SocketHandoff::default());
        let (begin, begun) = oneshot::channel();
        let begin = Mutex::new(Some(begin));
        // Without `TCP_NODELAY` a small write waits for the client's delayed acknowledgement.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "TCP_NODELAY could not be set");
        }
        let service = hyper::service::service_fn(move |mut request: hyper::Request<Incoming>| {
            slot.mark_used();
            request.extensions_mut().insert(ConnectInfo(peer));
            request.extensions_mut().insert(Arc::clone(&slot));
            let version = request.version();
            let counted = (version == Version::HTTP_2).then(|| OpenRequest::new(&slot));
            // Only the first response may take the socket: an earlier response could still have
            // bytes in hyper's buffers.
            let begin = begin.lock().take();
            let answer = router.clone().oneshot(request.map(Body::new));
            async move {
                let mut response = answer.await?;
                *response.version_mut() = version;
                match begin {
                    Some(begin) if socket_handoff::is_long_lived(&response) => {
                        // The receiver drops hyper's connection, and this future with it.
                        drop(begin.send(response));
                        std::future::pending().await
                    }
                    _ => Ok::<_, Infallible>(match counted {
                        Some(counted) => counted.until_sent(response),
                        None => response,
                    }),
                }
            }
        });
        let stream = TokioIo::new(WriteTimeout::new(stream, WRITE_TIMEOUT, Arc::clone(&handoff)));
        let connection = builder.serve_connection_with_upgrades(stream, service);
        let mut connection = Box::pin(connection);
        let ended = tokio::select! {
            biased;
            Ok(response) = begun => {
                handoff.request();
                drop(connection);
                if let Some(socket) = handoff.take() {
                    // A separate task, so that the large state of this one is freed.
                    tasks.spawn(ChunkedWriter::new(socket, response, WRITE_TIMEOUT, held));
                }
                return;
            }
            ended = connection.as_mut() => ended,
            () = held.stop.cancelled() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
            idle = idle(&held, header_timeout) => match idle {
                Idle::WithoutRequest => return,
                Idle::BetweenRequests => {
                    connection.as_mut().graceful_shutdown();
                    // The client may not answer the graceful shutdown.
                    let closed = tokio::time::timeout(header_timeout, connection).await;
                    closed.unwrap_or(Ok(()))
                }
            },
        };
        // A client that disconnects or breaks the protocol is not an error of the server.
        if let Err(error) = ended {
            tracing::debug!(%peer, error = %error, "a connection ended badly");
        }
    }
}

/// Why a silent connection is closed.
enum Idle {
    /// No request head came in time, or another connection needs the slot.
    WithoutRequest,
    /// No request of HTTP/2 is being answered, and none came for the idle timeout.
    BetweenRequests,
}

/// Returns when the connection has been idle for too long. It never returns for an HTTP/1
/// connection after its first request: hyper's own timer closes that, and its requests are not
/// counted here.
async fn idle(slot: &ConnectionSlot, header_timeout: Duration) -> Idle {
    tokio::select! {
        () = slot.evicted() => return Idle::WithoutRequest,
        () = tokio::time::sleep(header_timeout) => {}
    }
    if slot.is_pending() {
        return Idle::WithoutRequest;
    }
    let mut before = slot.requests.idle_since();
    if before == Some(0) {
        return std::future::pending().await;
    }
    loop {
        tokio::time::sleep(header_timeout * IDLE_TIMEOUTS).await;
        let now = slot.requests.idle_since();
        if now.is_some() && now == before {
            return Idle::BetweenRequests;
        }
        before = now;
    }
}

/// Counts one request of HTTP/2 until its response is sent.
struct OpenRequest(Arc<ConnectionSlot>);

impl OpenRequest {
    fn new(slot: &Arc<ConnectionSlot>) -> Self {
        slot.requests.begin();
        Self(Arc::clone(slot))
    }

    fn until_sent(self, response: Response) -> Response {
        response.map(|body| Body::new(CountedBody { body, _request: self }))
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        self.0.requests.end();
    }
}

/// A response's body that counts its request until it is sent.
struct CountedBody {
    body: Body,
    _request: OpenRequest,
}

impl http_body::Body for CountedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

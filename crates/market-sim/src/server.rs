//! Serves connections, from a socket or in memory. Not left to axum, because a simulated exchange must
//! be able to close a connection without a response.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;

use crate::binance::DropConnection;

const CONNECTIONS_MAX: usize = 1_024;
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) async fn serve(listener: TcpListener, router: Router, cancel: CancellationToken) {
    let connections = TaskTracker::new();
    let permits = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let Ok(permit) = Arc::clone(&permits).acquire_owned().await else { break };
        let accepted = tokio::select! {
            () = cancel.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Out of file descriptors, or the client is gone already: neither ends the server.
                tracing::debug!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(10)).await;
                continue;
            }
        };
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "TCP_NODELAY could not be set");
        }
        let (router, cancel) = (router.clone(), cancel.clone());
        connections.spawn(async move {
            serve_connection(stream, router, cancel).await;
            drop(permit);
        });
    }
    connections.close();
    connections.wait().await;
}

/// Serves one connection until it ends or `cancel` is cancelled.
pub(crate) async fn serve_connection(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    router: Router,
    cancel: CancellationToken,
) {
    tokio::select! {
        () = cancel.cancelled() => {}
        () = serve_requests(stream, router) => {}
    }
}

async fn serve_requests(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    router: Router,
) {
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let router = router.clone();
        async move {
            let answered: Result<Response, Infallible> =
                router.oneshot(request.map(Body::new)).await;
            let response = answered.unwrap_or_else(|never| match never {});
            match response.extensions().get::<DropConnection>() {
                Some(DropConnection) => Err(io::Error::from(io::ErrorKind::ConnectionAborted)),
                None => Ok(response),
            }
        }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades()
        .await;
    if let Err(error) = served {
        tracing::debug!(%error, "a connection ended early");
    }
}

//! The simulated exchange in memory: HTTP and WebSocket connections without sockets.

use std::io;

use http_body_util::{BodyExt, Empty};
use http_client::{FetchFuture, HttpResponse, RequestFailure};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use market_sim::InMemoryServer;
use tokio::io::DuplexStream;
use tokio_util::sync::DropGuard;

use super::*;
use crate::stream::dial::{ByteStream, DialFuture};

/// An exchange that can be stopped and started again.
pub(super) struct InMemoryExchange {
    sim: Sim,
    running: Mutex<Option<(InMemoryServer, DropGuard)>>,
}

impl InMemoryExchange {
    pub(super) fn new(sim: &Sim) -> Arc<Self> {
        let exchange = Self { sim: sim.clone(), running: Mutex::new(None) };
        exchange.start();
        Arc::new(exchange)
    }

    pub(super) fn start(&self) {
        let cancel = CancellationToken::new();
        let server = self.sim.serve_in_memory(cancel.clone());
        *self.running.lock() = Some((server, cancel.drop_guard()));
    }

    /// Ends every connection and refuses new ones.
    pub(super) fn stop(&self) {
        *self.running.lock() = None;
    }

    pub(super) fn network(self: &Arc<Self>) -> Network {
        Network { fetch: Some(Arc::clone(self) as _), dial: Arc::clone(self) as _ }
    }

    fn connect(&self) -> io::Result<DuplexStream> {
        let running = self.running.lock();
        let (server, _) = running.as_ref().ok_or(io::ErrorKind::ConnectionRefused)?;
        Ok(server.connect())
    }
}

impl Dial for InMemoryExchange {
    fn dial<'a>(&'a self, _url: &'a str) -> DialFuture<'a> {
        Box::pin(async { Ok(Box::new(self.connect()?) as Box<dyn ByteStream>) })
    }
}

impl Fetch for InMemoryExchange {
    fn get<'a>(
        &'a self,
        path: &'a str,
        query: &'a [(&'a str, String)],
        body_bytes_max: usize,
    ) -> FetchFuture<'a> {
        Box::pin(async move {
            let stream = self.connect().map_err(RequestFailure::unreachable)?;
            let handshake = http1::handshake(TokioIo::new(stream)).await;
            let (mut sender, connection) = handshake.map_err(RequestFailure::unreachable)?;
            // Ends the connection when the request is over or given up.
            let mut driver = JoinSet::new();
            driver.spawn(connection);
            let url = reqwest::Url::parse_with_params(&format!("{URL}/{path}"), query).unwrap();
            let target = format!("{}?{}", url.path(), url.query().unwrap_or_default());
            let request = hyper::Request::get(target).header("host", "exchange.test");
            let request = request.body(Empty::<Bytes>::new()).unwrap();
            let sent = sender.send_request(request).await;
            let (head, mut body) = sent.map_err(RequestFailure::unreachable)?.into_parts();
            let mut bytes = Vec::new();
            while let Some(frame) = body.frame().await {
                let frame = frame.map_err(RequestFailure::truncated)?;
                bytes.extend_from_slice(frame.data_ref().map_or(&[][..], |data| data));
                if bytes.len() > body_bytes_max {
                    return Err(RequestFailure::too_large(body_bytes_max));
                }
            }
            Ok(HttpResponse { status: head.status, headers: head.headers, body: bytes })
        })
    }
}

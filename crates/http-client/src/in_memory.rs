//! Sends requests over connections in memory, so that tests of an adapter need no socket and run on
//! paused time.

use std::io;

use http_body_util::{BodyExt as _, Empty};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::DuplexStream;
use tokio::task::JoinSet;

use crate::{Fetch, FetchFuture, HttpResponse, RequestFailure};

/// [`Fetch`] with one new HTTP/1.1 connection for each request.
pub struct InMemoryFetch<C> {
    base: String,
    connect: C,
}

impl<C: Fn() -> io::Result<DuplexStream>> InMemoryFetch<C> {
    /// `base` stands before every path; `connect` opens a connection to the server.
    pub fn new(base: impl Into<String>, connect: C) -> Self {
        Self { base: base.into(), connect }
    }
}

impl<C: Fn() -> io::Result<DuplexStream> + Send + Sync> Fetch for InMemoryFetch<C> {
    fn get<'a>(
        &'a self,
        path: &'a str,
        query: &'a [(&'a str, String)],
        body_bytes_max: usize,
    ) -> FetchFuture<'a> {
        Box::pin(async move {
            let url = reqwest::Url::parse_with_params(&format!("{}/{path}", self.base), query);
            let url = url.map_err(RequestFailure::unreachable)?;
            let stream = (self.connect)().map_err(RequestFailure::unreachable)?;
            let handshake = http1::handshake(TokioIo::new(stream)).await;
            let (mut sender, connection) = handshake.map_err(RequestFailure::unreachable)?;
            // Dropping the set ends the connection, also when the caller drops this future.
            let mut driver = JoinSet::new();
            driver.spawn(connection);
            let target = format!("{}?{}", url.path(), url.query().unwrap_or_default());
            let request = hyper::Request::get(target).header("host", url.authority());
            let request = request.body(Empty::<Bytes>::new());
            let sent = sender.send_request(request.map_err(RequestFailure::unreachable)?).await;
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

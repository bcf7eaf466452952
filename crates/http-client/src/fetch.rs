//! Sends one GET request and reads the complete response; separates the client's policy from the network.
//! Production uses `reqwest`; tests serve a simulated exchange in memory.

use std::pin::Pin;
use std::time::Duration;

use fault::Fault;
use reqwest::StatusCode;
use reqwest::header::HeaderMap;

use crate::RequestFailure;

/// A response whose body was read to its end.
#[derive(Debug)]
pub struct HttpResponse {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

/// The future of [`Fetch::get`].
pub type FetchFuture<'a> =
    Pin<Box<dyn Future<Output = Result<HttpResponse, RequestFailure>> + Send + 'a>>;

/// Sends one GET request to `path` below the base URL and reads at most `body_bytes_max` bytes.
pub trait Fetch: Send + Sync {
    fn get<'a>(
        &'a self,
        path: &'a str,
        query: &'a [(&'a str, String)],
        body_bytes_max: usize,
    ) -> FetchFuture<'a>;
}

/// [`Fetch`] over TCP and TLS.
pub(crate) struct ReqwestFetch {
    http: reqwest::Client,
    base: String,
}

impl ReqwestFetch {
    /// The headers are sent with every request.
    pub(crate) fn new(
        base: String,
        connect_timeout: Duration,
        headers: HeaderMap,
    ) -> Result<Self, Fault> {
        let http = crate::builder("stoa")
            .connect_timeout(connect_timeout)
            .default_headers(headers)
            .tcp_nodelay(true);
        let http = http.build().map_err(|error| {
            Fault::unavailable("upstream_unreachable", "the HTTP client could not be set up")
                .caused_by(error)
        })?;
        Ok(Self { http, base })
    }
}

/// The cause leaves out the URL, because it may contain a password.
fn body_failure(error: reqwest::Error) -> RequestFailure {
    RequestFailure::truncated(error.without_url())
}

impl Fetch for ReqwestFetch {
    fn get<'a>(
        &'a self,
        path: &'a str,
        query: &'a [(&'a str, String)],
        body_bytes_max: usize,
    ) -> FetchFuture<'a> {
        Box::pin(async move {
            let url = format!("{}/{path}", self.base);
            let sent = self.http.get(url).query(query).send().await;
            let mut response = sent.map_err(RequestFailure::transport)?;
            let (status, headers) = (response.status(), response.headers().clone());
            let mut body = Vec::new();
            while let Some(chunk) = response.chunk().await.map_err(body_failure)? {
                if body.len() + chunk.len() > body_bytes_max {
                    return Err(RequestFailure::too_large(body_bytes_max));
                }
                body.extend_from_slice(&chunk);
            }
            Ok(HttpResponse { status, headers, body })
        })
    }
}

//! One HTTP request: sends it, checks the status, and reads the body in pieces under the timeouts.

use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use reqwest::{RequestBuilder, Response};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use crate::client::ModelConnection;
use crate::failure::{AttemptFailure, refused};

/// The most bytes of an error body that are read.
const REFUSAL_BYTES_MAX: usize = 64 << 10;

/// A deadline, and the message of the fault when it passes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestTimeout {
    until: Instant,
    after: Duration,
    doing: &'static str,
}

impl RequestTimeout {
    /// Ends after `wait` or at the end of the whole call, whichever comes first.
    pub(crate) fn new(doing: &'static str, wait: Duration, end: Instant) -> Self {
        let now = Instant::now();
        let after = wait.min(end.saturating_duration_since(now));
        Self { until: now + after, after, doing }
    }

    pub(crate) async fn over<T>(self, work: impl Future<Output = T>) -> Result<T, AttemptFailure> {
        let late = |_| AttemptFailure::timeout(self.doing, self.after);
        timeout_at(self.until, work).await.map_err(late)
    }
}

/// A response with a success status whose body is being read.
#[derive(Debug)]
pub(crate) struct SuccessResponse {
    response: Response,
    bytes: usize,
    bytes_max: usize,
}

impl SuccessResponse {
    pub(crate) async fn begin(
        shared: &ModelConnection,
        body: &Value,
        timeout: RequestTimeout,
    ) -> Result<Self, AttemptFailure> {
        Self::of(shared, shared.http.post(shared.endpoint.clone()).json(body), timeout).await
    }

    pub(crate) async fn of(
        shared: &ModelConnection,
        request: RequestBuilder,
        timeout: RequestTimeout,
    ) -> Result<Self, AttemptFailure> {
        let response = timeout.over(request.send()).await?.map_err(AttemptFailure::transport)?;
        let (status, headers) = (response.status(), response.headers().clone());
        let mut answer =
            Self { response, bytes: 0, bytes_max: shared.config.bounds.body_bytes_max };
        if status.is_success() {
            return Ok(answer);
        }
        answer.bytes_max = REFUSAL_BYTES_MAX;
        // Where the body cannot be read, the status alone is used.
        let body = answer.whole(timeout).await.unwrap_or_default();
        Err(refused(status, &headers, &body, shared.config.key.as_ref()))
    }

    fn headers(&self) -> &HeaderMap {
        self.response.headers()
    }

    /// The content type without its parameters.
    pub(crate) fn content_type(&self) -> String {
        let value = self.headers().get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
        let kind = value.unwrap_or_default().split(';').next().unwrap_or_default();
        kind.trim().to_ascii_lowercase()
    }

    pub(crate) async fn chunk(
        &mut self,
        timeout: RequestTimeout,
    ) -> Result<Option<Bytes>, AttemptFailure> {
        let chunk = timeout.over(self.response.chunk()).await?;
        let Some(chunk) = chunk.map_err(|_| AttemptFailure::cut_short())? else { return Ok(None) };
        self.bytes += chunk.len();
        if self.bytes > self.bytes_max {
            return Err(AttemptFailure::too_large("bytes", self.bytes_max));
        }
        Ok(Some(chunk))
    }

    pub(crate) async fn whole(
        &mut self,
        timeout: RequestTimeout,
    ) -> Result<Vec<u8>, AttemptFailure> {
        let mut body = Vec::new();
        while let Some(chunk) = self.chunk(timeout).await? {
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }
}

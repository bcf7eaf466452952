//! Reads a request's body whole, within a size limit and a timeout. A client that sends a byte a
//! second is refused with 408.

use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use bytes::{Bytes, BytesMut};
use http::StatusCode;
use http::header::CONTENT_LENGTH;
use http_body_util::BodyExt;
use tokio::time::timeout;

use crate::refusal::Refusal;

/// How large a body may be, and how long it may take to arrive.
#[derive(Debug, Clone, Copy)]
pub struct BodyLimits {
    /// The largest body, in bytes.
    pub bytes_max: usize,
    /// How long the body may take to arrive.
    pub timeout: Duration,
}

impl BodyLimits {
    /// Replaces the request's body by its bytes; fails with 413, 408 or 400.
    pub async fn read(self, request: Request) -> Result<Request, Refusal> {
        let announced = request.headers().get(CONTENT_LENGTH).and_then(|it| it.to_str().ok());
        let announced: Option<usize> = announced.and_then(|it| it.parse().ok());
        if announced.is_some_and(|length| length > self.bytes_max) {
            return Err(self.too_large());
        }
        if http_body::Body::is_end_stream(request.body()) {
            return Ok(request);
        }
        let (parts, body) = request.into_parts();
        let bytes =
            timeout(self.timeout, self.collect(body)).await.map_err(|_| self.too_slow())??;
        Ok(Request::from_parts(parts, Body::from(bytes)))
    }

    /// A body of one chunk, as most are, is not copied.
    async fn collect(self, mut body: Body) -> Result<Bytes, Refusal> {
        let mut first: Option<Bytes> = None;
        let mut bytes = BytesMut::new();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|_| {
                Refusal::new(StatusCode::BAD_REQUEST, "BAD_REQUEST", "the body ended too early")
            })?;
            let Ok(data) = frame.into_data() else { continue };
            let held = bytes.len() + first.as_ref().map_or(0, Bytes::len);
            if held + data.len() > self.bytes_max {
                return Err(self.too_large());
            }
            match first.take() {
                None if bytes.is_empty() => first = Some(data),
                before => {
                    bytes.extend_from_slice(&before.unwrap_or_default());
                    bytes.extend_from_slice(&data);
                }
            }
        }
        Ok(first.unwrap_or_else(|| bytes.freeze()))
    }

    fn too_large(self) -> Refusal {
        let message = format!("the body is larger than {} bytes", self.bytes_max);
        Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, "PAYLOAD_TOO_LARGE", message)
    }

    fn too_slow(self) -> Refusal {
        let message = format!("the body did not arrive within {} s", self.timeout.as_secs_f32());
        Refusal::new(StatusCode::REQUEST_TIMEOUT, "REQUEST_TIMEOUT", message)
    }
}

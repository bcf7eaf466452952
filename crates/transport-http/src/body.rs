//! Reads a request's body within a size limit, a timeout and the memory budget of all bodies. A
//! client that sends a byte a second is refused with 408. The rest of a refused body is discarded
//! while the answer is sent.

use std::net::IpAddr;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use bytes::{Bytes, BytesMut};
use fault::{Fault, Kind};
use http::header::CONTENT_LENGTH;
use http::request::Parts;
use http::{HeaderMap, StatusCode};
use http_body_util::BodyExt;
use tokio::time::{Instant, timeout_at};

use crate::drain::Drain;
use crate::refusal::Refusal;
use crate::request_memory::{HeldMemory, RequestMemory, body_refused};
use crate::upload::paced_body::PacedBody;

/// A body that comes whole in a first chunk of at most this size is not counted in the budget: the
/// request itself costs more.
const UNCOUNTED_BYTES: usize = 4 * 1024;

/// How large a body may be, and how long it may take to arrive.
#[derive(Debug, Clone, Copy)]
pub struct BodyLimits {
    /// The largest body, in bytes.
    pub bytes_max: usize,
    /// How long the body may take to arrive.
    pub timeout: Duration,
}

/// A body while it arrives.
pub struct IncomingBody {
    body: Body,
    announced: Option<usize>,
    /// The first chunk: a body of one chunk, as most are, is not copied.
    first: Option<Bytes>,
    bytes: BytesMut,
    is_whole: bool,
    limits: BodyLimits,
    deadline: Instant,
    memory: RequestMemory,
    client: Option<IpAddr>,
    held: HeldMemory,
    drain: Drain,
}

impl IncomingBody {
    /// Takes the body from its request. Fails with 413 if it announces more than the limit.
    pub fn new(
        request: Request,
        limits: BodyLimits,
        memory: &RequestMemory,
        client: Option<IpAddr>,
    ) -> Result<(Parts, Self), Refusal> {
        let (parts, body) = request.into_parts();
        let (announced, drain) = (announced(&parts.headers), Drain::new(&parts));
        if announced.is_some_and(|length| length > limits.bytes_max) {
            drain.discard(PacedBody::new(body, u64::MAX));
            return Err(too_large(limits.bytes_max));
        }
        let is_whole = http_body::Body::is_end_stream(&body);
        let incoming = Self {
            body,
            announced,
            first: None,
            bytes: BytesMut::new(),
            is_whole,
            limits,
            deadline: Instant::now() + limits.timeout,
            memory: memory.clone(),
            client,
            held: HeldMemory::default(),
            drain,
        };
        Ok((parts, incoming))
    }

    /// The length that the client announced.
    pub fn announced(&self) -> Option<usize> {
        self.announced
    }

    /// The bytes that have arrived so far.
    pub fn arrived(&self) -> &[u8] {
        self.first.as_deref().unwrap_or(&self.bytes)
    }

    /// Reads until the body ends, or more than `bytes_max` have arrived; whether it has ended.
    pub async fn read(&mut self, bytes_max: usize) -> Result<bool, Refusal> {
        if self.is_whole {
            return Ok(self.arrived().len() <= bytes_max);
        }
        let timeout = self.limits.timeout;
        let read = timeout_at(self.deadline, self.collect(bytes_max)).await;
        read.map_err(|_| too_slow(timeout))?
    }

    /// Reads the whole body; fails with 413 if it is larger than `bytes_max`.
    pub async fn read_whole(&mut self, bytes_max: usize) -> Result<(), Refusal> {
        if self.announced.is_some_and(|length| length > bytes_max) || !self.read(bytes_max).await? {
            return Err(too_large(bytes_max));
        }
        Ok(())
    }

    /// The body, and the memory that it holds.
    pub fn finish(mut self) -> (Bytes, HeldMemory) {
        let bytes = self.first.take().unwrap_or_else(|| std::mem::take(&mut self.bytes).freeze());
        (bytes, std::mem::take(&mut self.held))
    }

    async fn collect(&mut self, bytes_max: usize) -> Result<bool, Refusal> {
        while self.arrived().len() <= bytes_max {
            let Some(frame) = self.body.frame().await else {
                self.is_whole = true;
                return Ok(true);
            };
            let frame = frame.map_err(|_| cut_off())?;
            if let Ok(data) = frame.into_data() {
                self.add(data)?;
            }
        }
        Ok(false)
    }

    fn add(&mut self, data: Bytes) -> Result<(), Refusal> {
        if data.is_empty() {
            return Ok(());
        }
        if self.first.is_none() && self.bytes.is_empty() {
            let is_last = http_body::Body::is_end_stream(&self.body);
            if !is_last || data.len() > UNCOUNTED_BYTES {
                self.reserve(data.len())?;
            }
            self.first = Some(data);
            return Ok(());
        }
        let length = self.arrived().len() + data.len();
        self.reserve(length)?;
        if let Some(first) = self.first.take() {
            // A body that announces its length is allocated once; the pages are taken as it comes.
            let capacity = self.announced.unwrap_or_default().min(self.limits.bytes_max);
            self.bytes.reserve(capacity.max(length));
            self.bytes.extend_from_slice(&first);
        }
        self.bytes.extend_from_slice(&data);
        // Without an announced length the buffer doubles, and its capacity is what it costs.
        match self.announced {
            Some(_) => Ok(()),
            None => self.reserve(self.bytes.capacity()),
        }
    }

    fn reserve(&mut self, bytes: usize) -> Result<(), Refusal> {
        let reservation =
            self.held.body.get_or_insert_with(|| self.memory.body_reservation(self.client));
        reservation.grow_to(bytes).map_err(body_refused)
    }
}

impl Drop for IncomingBody {
    fn drop(&mut self) {
        if self.is_whole {
            return;
        }
        let is_started = !self.arrived().is_empty();
        let body = std::mem::take(&mut self.body);
        self.drain.discard(match is_started {
            true => PacedBody::resumed(body),
            false => PacedBody::new(body, u64::MAX),
        });
    }
}

/// The length of the body that the client announced.
pub(crate) fn announced(headers: &HeaderMap) -> Option<usize> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

pub(crate) fn too_large(bytes_max: usize) -> Refusal {
    let message = format!("the body is larger than {bytes_max} bytes");
    Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, Fault::invalid("body_too_large", message))
}

fn too_slow(timeout: Duration) -> Refusal {
    let message = format!("the body did not arrive within {} s", timeout.as_secs_f32());
    let fault = Fault::new(Kind::Timeout, "body_too_slow", message);
    Refusal::new(StatusCode::REQUEST_TIMEOUT, fault)
}

fn cut_off() -> Refusal {
    let fault = Fault::new(Kind::Cancelled, "body_cut_off", "the body ended too early");
    Refusal::new(StatusCode::BAD_REQUEST, fault)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures_util::stream;
    use tokio::time::sleep;

    use super::*;

    const MEMORY: usize = 100 * 1024;

    fn memory() -> RequestMemory {
        RequestMemory::new(MEMORY, MEMORY, Duration::from_secs(1))
    }

    fn incoming(
        chunks: &[usize],
        announced: Option<usize>,
        memory: &RequestMemory,
    ) -> IncomingBody {
        let chunks: Vec<_> =
            chunks.iter().map(|&size| Ok::<_, Infallible>(vec![7; size])).collect();
        let mut request = http::Request::new(Body::from_stream(stream::iter(chunks)));
        if let Some(length) = announced {
            request.headers_mut().insert(CONTENT_LENGTH, length.into());
        }
        let limits = BodyLimits { bytes_max: MEMORY, timeout: Duration::from_secs(1) };
        IncomingBody::new(request, limits, memory, None).ok().unwrap().1
    }

    #[tokio::test]
    async fn a_body_is_read_in_two_steps_and_its_memory_is_given_back() {
        let memory = memory();
        let mut body = incoming(&[10, 10, 10], Some(30), &memory);
        assert!(!body.read(15).await.unwrap());
        assert_eq!((body.arrived().len(), memory.body_bytes_held()), (20, 20));
        assert!(body.read(30).await.unwrap());
        let (bytes, held) = body.finish();
        assert_eq!((bytes.len(), memory.body_bytes_held()), (30, 30));
        drop(held);
        assert_eq!(memory.body_bytes_held(), 0);
    }

    #[tokio::test]
    async fn a_body_beyond_the_budget_is_refused_with_a_time_to_wait() {
        let memory = memory();
        let mut one = incoming(&[40_000], None, &memory);
        assert!(one.read(MEMORY).await.unwrap());
        let refused = incoming(&[20_000], None, &memory).read(MEMORY).await.unwrap_err();
        assert_eq!((refused.status.as_u16(), refused.fault.code()), (503, "overloaded"));
        assert!(refused.fault.retry_wait().is_some());
        drop(one);
        assert!(incoming(&[20_000], None, &memory).read(MEMORY).await.unwrap());
        assert_eq!(memory.body_bytes_held(), 0);
    }

    #[tokio::test]
    async fn a_body_above_the_limit_is_refused() {
        let memory = memory();
        for (announced, chunks) in [(Some(11), &[11][..]), (None, &[11]), (None, &[4, 4, 4])] {
            let refused = incoming(chunks, announced, &memory).read_whole(10).await.unwrap_err();
            assert_eq!(refused.status, 413, "{announced:?} {chunks:?}");
        }
        assert!(incoming(&[4, 4, 2], Some(10), &memory).read_whole(10).await.is_ok());
        assert!(incoming(&[], None, &memory).read_whole(0).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_stops_is_refused_with_408() {
        let memory = memory();
        let slow = stream::once(async {
            sleep(Duration::from_secs(2)).await;
            Ok::<_, Infallible>(Bytes::from_static(b"x"))
        });
        let limits = BodyLimits { bytes_max: 9, timeout: Duration::from_secs(1) };
        let request = http::Request::new(Body::from_stream(slow));
        let (_, mut body) = IncomingBody::new(request, limits, &memory, None).ok().unwrap();
        assert_eq!(body.read_whole(9).await.unwrap_err().status, 408);
    }
}

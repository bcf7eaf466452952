//! A request body with a size limit and a minimum speed: 16 KiB per 20 s. Only time spent waiting for
//! the client counts, so a slow handler does not matter.

use parking_lot::Mutex;
use std::future::Future as _;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use fault::{Fault, Kind};
use http_body::Body as _;
use tokio::time::{Instant, Sleep, sleep};

/// A client must send this many bytes per `PACE_WAIT`.
const PACE_BYTES: usize = 16 * 1024;
const PACE_WAIT: Duration = Duration::from_secs(20);
/// How many bytes of an unwanted body are read, so that the client can read the answer.
const DRAINED_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Receives the body that a dropped form did not read to its end.
#[derive(Clone, Default)]
pub(crate) struct UnreadBody(Arc<Mutex<Option<PacedBody>>>);

impl UnreadBody {
    pub(crate) fn take(&self) -> Option<PacedBody> {
        self.0.lock().take()
    }

    pub(crate) fn leave(&self, body: PacedBody) {
        *self.0.lock() = Some(body);
    }
}

pub(crate) struct PacedBody {
    body: Body,
    bytes: u64,
    bytes_max: u64,
    /// Whether the body was polled, which makes hyper send `100 Continue`.
    started: bool,
    /// Bytes since the speed was last sufficient, and the time spent waiting for them.
    recent_bytes: usize,
    waited: Duration,
    waiting: Option<(Instant, Pin<Box<Sleep>>)>,
}

impl PacedBody {
    pub(crate) fn new(body: Body, bytes_max: u64) -> Self {
        Self {
            body,
            bytes: 0,
            bytes_max,
            started: false,
            recent_bytes: 0,
            waited: Duration::ZERO,
            waiting: None,
        }
    }

    /// A body without a size limit of which some bytes were read before.
    pub(crate) fn resumed(body: Body) -> Self {
        Self { started: true, ..Self::new(body, u64::MAX) }
    }

    /// The next bytes of the body; `None` at its end.
    pub(crate) fn poll_data(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Option<Bytes>, Fault>> {
        self.started = true;
        loop {
            let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) else {
                ready!(self.poll_timeout(context));
                return Poll::Ready(Err(too_slow()));
            };
            let data = match frame.map(|frame| frame.map(http_body::Frame::into_data)) {
                None => return Poll::Ready(Ok(None)),
                Some(Err(error)) => return Poll::Ready(Err(cut_off().caused_by(error))),
                Some(Ok(Err(_trailers))) => continue,
                Some(Ok(Ok(data))) => data,
            };
            if data.is_empty() {
                continue;
            }
            self.arrived(data.len());
            self.bytes += data.len() as u64;
            return Poll::Ready(match self.bytes > self.bytes_max {
                true => Err(too_large(self.bytes_max)),
                false => Ok(Some(data)),
            });
        }
    }

    fn arrived(&mut self, length: usize) {
        if let Some((since, _)) = self.waiting.take() {
            self.waited += since.elapsed();
        }
        self.recent_bytes = self.recent_bytes.saturating_add(length);
        if self.recent_bytes >= PACE_BYTES {
            (self.recent_bytes, self.waited) = (0, Duration::ZERO);
        }
    }

    /// Ready when the client was too slow.
    fn poll_timeout(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let left = PACE_WAIT.saturating_sub(self.waited);
        let waiting = || (Instant::now(), Box::pin(sleep(left)));
        let (_, sleep) = self.waiting.get_or_insert_with(waiting);
        sleep.as_mut().poll(context)
    }

    /// Whether the client may be sending already.
    pub(crate) fn is_started(&self) -> bool {
        self.started
    }

    /// Reads and discards the rest of the body, at most `DRAINED_BYTES_MAX`.
    pub(crate) async fn drain(mut self) {
        self.bytes_max = self.bytes.saturating_add(DRAINED_BYTES_MAX);
        while let Ok(Some(_)) = std::future::poll_fn(|context| self.poll_data(context)).await {}
    }
}

pub(crate) fn too_large(bytes_max: u64) -> Fault {
    let message = format!("the body is larger than {bytes_max} bytes");
    Fault::invalid("body_too_large", message)
}

fn too_slow() -> Fault {
    let (bytes, seconds) = (PACE_BYTES, PACE_WAIT.as_secs());
    let message = format!("less than {bytes} bytes of the body came within {seconds} s");
    Fault::new(Kind::Timeout, "body_too_slow", message)
}

fn cut_off() -> Fault {
    Fault::new(Kind::Cancelled, "body_cut_off", "the body ended too early")
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::future::poll_fn;

    use futures_util::stream::{self, StreamExt as _};

    use super::*;

    /// A body of `pieces` chunks of `length` bytes, each after a wait.
    fn body(pieces: usize, length: usize, wait: Duration) -> Body {
        let piece = Bytes::from(vec![1; length]);
        Body::from_stream(stream::iter(0..pieces).then(move |_| {
            let piece = piece.clone();
            async move {
                sleep(wait).await;
                Ok::<_, Infallible>(piece)
            }
        }))
    }

    async fn read(body: Body, bytes_max: u64, between: Duration) -> Result<usize, &'static str> {
        let mut body = PacedBody::new(body, bytes_max);
        let mut read = 0;
        while let Some(data) =
            poll_fn(|context| body.poll_data(context)).await.map_err(|fault| fault.code())?
        {
            read += data.len();
            sleep(between).await;
        }
        Ok(read)
    }

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn a_client_slower_than_the_pace_is_refused() {
        for (pieces, length, wait, expected) in [
            (100, 1_024, SECOND, Ok(102_400)),
            (30, 512, SECOND, Err("body_too_slow")),
            (3, 16_384, SECOND * 19, Ok(49_152)),
            (1, 1, SECOND * 21, Err("body_too_slow")),
            (19, 1, SECOND, Ok(19)),
            (21, 1, SECOND, Err("body_too_slow")),
        ] {
            let outcome = read(body(pieces, length, wait), u64::MAX, Duration::ZERO).await;
            assert_eq!(outcome, expected, "{pieces} of {length}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn time_spent_by_the_handler_does_not_count() {
        let slowly = read(body(10, 1, SECOND), u64::MAX, SECOND * 60).await;
        assert_eq!(slowly, Ok(10));
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_above_the_limit_is_refused() {
        assert_eq!(read(body(3, 10, Duration::ZERO), 30, Duration::ZERO).await, Ok(30));
        let more = read(body(3, 10, Duration::ZERO), 29, Duration::ZERO).await;
        assert_eq!(more, Err("body_too_large"));
    }
}

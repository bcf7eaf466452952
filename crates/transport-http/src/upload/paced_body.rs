//! A body that is read while it comes: at most so many bytes, and never slower than a pace. Only
//! the time that is spent waiting for the client counts, so a handler may take its own.

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

/// How little a client may send while it is waited for so long.
const PACE_BYTES: usize = 16 * 1024;
const PACE_WAIT: Duration = Duration::from_secs(20);
/// How much of a body that nobody wants is read, so that its sender gets to read the answer.
const DRAINED_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Where a body is left that was not read to its end.
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
    /// Whether anything was asked of the client; one that waits to be asked is not made to send.
    begun: bool,
    /// What came since the pace was last kept, and how long it was waited for.
    lately: usize,
    waited: Duration,
    waiting: Option<(Instant, Pin<Box<Sleep>>)>,
}

impl PacedBody {
    pub(crate) fn new(body: Body, bytes_max: u64) -> Self {
        Self {
            body,
            bytes: 0,
            bytes_max,
            begun: false,
            lately: 0,
            waited: Duration::ZERO,
            waiting: None,
        }
    }

    /// More of the body; `None` at its end.
    pub(crate) fn poll_data(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Option<Bytes>, Fault>> {
        self.begun = true;
        loop {
            let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) else {
                ready!(self.poll_patience(context));
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
        self.lately = self.lately.saturating_add(length);
        if self.lately >= PACE_BYTES {
            (self.lately, self.waited) = (0, Duration::ZERO);
        }
    }

    /// Ready when the client was waited for too long.
    fn poll_patience(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let left = PACE_WAIT.saturating_sub(self.waited);
        let waiting = || (Instant::now(), Box::pin(sleep(left)));
        let (_, sleep) = self.waiting.get_or_insert_with(waiting);
        sleep.as_mut().poll(context)
    }

    /// Whether the client sends without being asked, or was asked already.
    pub(crate) fn is_begun(&self) -> bool {
        self.begun
    }

    /// Reads what still comes, within bounds, and throws it away.
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

    /// So many pieces of a size, each after a wait.
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
    async fn a_client_must_keep_up() {
        for (pieces, length, wait, expected) in [
            (100, 1_024, SECOND, Ok(102_400)),
            (30, 512, SECOND, Err("body_too_slow")),
            (3, 16_384, SECOND * 19, Ok(49_152)),
            (1, 1, SECOND * 21, Err("body_too_slow")),
            (19, 1, SECOND, Ok(19)),
            (21, 1, SECOND, Err("body_too_slow")),
        ] {
            let told = read(body(pieces, length, wait), u64::MAX, Duration::ZERO).await;
            assert_eq!(told, expected, "{pieces} of {length}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_time_of_the_reader_is_its_own() {
        let slowly = read(body(10, 1, SECOND), u64::MAX, SECOND * 60).await;
        assert_eq!(slowly, Ok(10));
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_too_much_is_refused() {
        assert_eq!(read(body(3, 10, Duration::ZERO), 30, Duration::ZERO).await, Ok(30));
        let more = read(body(3, 10, Duration::ZERO), 29, Duration::ZERO).await;
        assert_eq!(more, Err("body_too_large"));
    }
}

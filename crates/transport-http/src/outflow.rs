//! A response that goes on for long, written by ourselves. The library keeps two buffers of 8 KiB
//! for every connection, which is most of what an idle reader costs; once such a response begins,
//! the socket is taken from it, and nothing is kept that is not waiting to be written.
//!
//! Only the first response of an HTTP/1.1 connection is taken over, so that nothing of an earlier
//! one can still be under way; the connection ends with it.

use parking_lot::Mutex;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::{Buf as _, BufMut as _, BytesMut};
use http::header::{CONNECTION, TRANSFER_ENCODING};
use http::{HeaderValue, Version};
use http_body::Body as _;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

use crate::place::Place;

/// Marks a response as one that goes on for long; told when its reader takes nothing for too long.
#[derive(Clone)]
pub(crate) struct Long(pub(crate) Arc<dyn Fn() + Send + Sync>);

/// Where a socket is left by whoever gives it up.
pub(crate) struct Handover<T> {
    left: Mutex<Left<T>>,
}

enum Left<T> {
    Unwanted,
    Wanted,
    Here(T),
}

impl<T> Default for Handover<T> {
    fn default() -> Self {
        Self { left: Mutex::new(Left::Unwanted) }
    }
}

impl<T> Handover<T> {
    pub(crate) fn want(&self) {
        *self.left.lock() = Left::Wanted;
    }

    /// Leaves the socket for whoever wants it; drops it where nobody does.
    pub(crate) fn leave(&self, socket: T) {
        let mut left = self.left.lock();
        if matches!(*left, Left::Wanted) {
            *left = Left::Here(socket);
        }
    }

    pub(crate) fn take(&self) -> Option<T> {
        let mut left = self.left.lock();
        match std::mem::replace(&mut *left, Left::Unwanted) {
            Left::Here(socket) => Some(socket),
            _ => None,
        }
    }
}

/// Whether a response is to be taken over.
pub(crate) fn takes(response: &Response) -> bool {
    response.extensions().get::<Long>().is_some() && response.version() == Version::HTTP_11
}

pub(crate) struct Outflow<T> {
    socket: T,
    body: Body,
    /// What the socket has not taken yet.
    waiting: BytesMut,
    long: Option<Long>,
    patience: Duration,
    /// Runs while a write waits.
    stalled: Option<Pin<Box<Sleep>>>,
    over: bool,
    _place: Arc<Place>,
}

impl<T: AsyncRead + AsyncWrite + Unpin> Outflow<T> {
    pub(crate) fn new(
        socket: T,
        response: Response,
        patience: Duration,
        place: Arc<Place>,
    ) -> Self {
        let (mut parts, body) = response.into_parts();
        parts.headers.insert(CONNECTION, HeaderValue::from_static("close"));
        parts.headers.insert(TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
        let mut waiting = BytesMut::with_capacity(1024);
        waiting.put_slice(format!("HTTP/1.1 {}\r\n", parts.status).as_bytes());
        for (name, value) in &parts.headers {
            waiting.put_slice(name.as_str().as_bytes());
            waiting.put_slice(b": ");
            waiting.put_slice(value.as_bytes());
            waiting.put_slice(b"\r\n");
        }
        waiting.put_slice(b"\r\n");
        let long = parts.extensions.remove::<Long>();
        Self { socket, body, waiting, long, patience, stalled: None, over: false, _place: place }
    }

    /// Writes what waits; `false` when the reader is gone or takes nothing.
    fn poll_drain(&mut self, context: &mut Context<'_>) -> Poll<bool> {
        while self.waiting.has_remaining() {
            match Pin::new(&mut self.socket).poll_write(context, &self.waiting) {
                Poll::Ready(Ok(taken)) if taken > 0 => {
                    self.stalled = None;
                    self.waiting.advance(taken);
                }
                Poll::Ready(_) => return Poll::Ready(false),
                Poll::Pending => {
                    let patience = self.patience;
                    let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(patience)));
                    ready!(stalled.as_mut().poll(context));
                    if let Some(Long(tell)) = &self.long {
                        tell();
                    }
                    return Poll::Ready(false);
                }
            }
        }
        // Given back: the next piece may be long in coming.
        self.waiting = BytesMut::new();
        Poll::Ready(true)
    }

    /// Whether the reader is still there. What it says is not listened to.
    fn poll_gone(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let mut space = [0; 256];
        loop {
            let mut bytes = ReadBuf::new(&mut space);
            match ready!(Pin::new(&mut self.socket).poll_read(context, &mut bytes)) {
                Ok(()) if !bytes.filled().is_empty() => {}
                _ => return Poll::Ready(()),
            }
        }
    }

    fn put_chunk(&mut self, data: &[u8]) {
        if data.is_empty() {
            return;
        }
        self.waiting.reserve(data.len() + 16);
        self.waiting.put_slice(format!("{:x}\r\n", data.len()).as_bytes());
        self.waiting.put_slice(data);
        self.waiting.put_slice(b"\r\n");
    }
}

impl<T: AsyncRead + AsyncWrite + Unpin> Future for Outflow<T> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        loop {
            if !ready!(this.poll_drain(context)) {
                return Poll::Ready(());
            }
            if this.over {
                return Pin::new(&mut this.socket).poll_shutdown(context).map(|_| ());
            }
            match Pin::new(&mut this.body).poll_frame(context) {
                Poll::Ready(Some(Ok(frame))) => {
                    if let Ok(data) = frame.into_data() {
                        this.put_chunk(&data);
                    }
                }
                Poll::Ready(Some(Err(_))) => return Poll::Ready(()),
                Poll::Ready(None) => {
                    this.over = true;
                    this.waiting.put_slice(b"0\r\n\r\n");
                }
                Poll::Pending => return this.poll_gone(context),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten thousand idle readers cost this ten thousand times, beside their sockets and feeds.
    #[test]
    fn an_outflow_is_small() {
        assert!(size_of::<Outflow<tokio::net::TcpStream>>() <= 192);
    }

    #[test]
    fn a_socket_is_left_only_for_those_who_want_it() {
        let unwanted = Handover::default();
        unwanted.leave(1);
        assert_eq!(unwanted.take(), None);
        let wanted = Handover::default();
        wanted.want();
        assert_eq!(wanted.take(), None);
        wanted.want();
        wanted.leave(2);
        assert_eq!((wanted.take(), wanted.take()), (Some(2), None));
    }
}

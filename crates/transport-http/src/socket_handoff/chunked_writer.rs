//! Writes a long-lived response to a raw socket with chunked transfer encoding, and keeps only the
//! bytes that the socket has not taken yet. The connection closes after the response.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::{Buf as _, BufMut as _, BytesMut};
use http::HeaderValue;
use http::header::{CONNECTION, TRANSFER_ENCODING};
use http_body::Body as _;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

use super::LongLived;
use crate::connection_slots::ConnectionSlot;

/// Writes one long-lived response to its socket until the body ends or the reader goes away.
pub(crate) struct ChunkedWriter<T> {
    socket: T,
    body: Body,
    /// Bytes the socket has not taken yet.
    waiting: BytesMut,
    long_lived: Option<LongLived>,
    timeout: Duration,
    /// Times out a write that the socket does not take.
    stalled: Option<Pin<Box<Sleep>>>,
    over: bool,
    _slot: Arc<ConnectionSlot>,
}

impl<T: AsyncRead + AsyncWrite + Unpin> ChunkedWriter<T> {
    pub(crate) fn new(
        socket: T,
        response: Response,
        timeout: Duration,
        slot: Arc<ConnectionSlot>,
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
        let long_lived = parts.extensions.remove::<LongLived>();
        Self { socket, body, waiting, long_lived, timeout, stalled: None, over: false, _slot: slot }
    }

    /// Writes the waiting bytes; `false` when the reader is gone or its timeout passed.
    fn poll_drain(&mut self, context: &mut Context<'_>) -> Poll<bool> {
        while self.waiting.has_remaining() {
            match Pin::new(&mut self.socket).poll_write(context, &self.waiting) {
                Poll::Ready(Ok(taken)) if taken > 0 => {
                    self.stalled = None;
                    self.waiting.advance(taken);
                }
                Poll::Ready(_) => return Poll::Ready(false),
                Poll::Pending => {
                    let timeout = self.timeout;
                    let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(timeout)));
                    ready!(stalled.as_mut().poll(context));
                    if let Some(LongLived(on_stall)) = &self.long_lived {
                        on_stall();
                    }
                    return Poll::Ready(false);
                }
            }
        }
        // Frees the buffer: the next event may be minutes away.
        self.waiting = BytesMut::new();
        Poll::Ready(true)
    }

    /// Ready when the reader closed the connection; bytes it sends are discarded.
    fn poll_closed(&mut self, context: &mut Context<'_>) -> Poll<()> {
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

impl<T: AsyncRead + AsyncWrite + Unpin> Future for ChunkedWriter<T> {
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
                Poll::Pending => return this.poll_closed(context),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every idle stream reader holds one, beside its socket and its subscription.
    #[test]
    fn a_chunked_writer_is_at_most_192_bytes() {
        assert!(size_of::<ChunkedWriter<tokio::net::TcpStream>>() <= 192);
    }
}

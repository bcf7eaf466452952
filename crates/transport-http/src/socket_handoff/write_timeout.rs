//! Fails a write that the client does not take within the timeout, whatever protocol wrote it. When
//! dropped, leaves its socket in the [`SocketHandoff`].

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

use super::SocketHandoff;

pub(crate) struct WriteTimeout<T> {
    /// `None` once the socket was given away.
    inner: Option<T>,
    handoff: Arc<SocketHandoff<T>>,
    timeout: Duration,
    /// The running timeout of a pending write.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl<T> WriteTimeout<T> {
    pub(crate) fn new(inner: T, timeout: Duration, handoff: Arc<SocketHandoff<T>>) -> Self {
        Self { inner: Some(inner), handoff, timeout, waiting: None }
    }

    pub(crate) fn into_inner(mut self) -> Option<T> {
        self.inner.take()
    }

    fn inner(&mut self) -> io::Result<Pin<&mut T>>
    where
        T: Unpin,
    {
        self.inner.as_mut().map(Pin::new).ok_or_else(|| io::ErrorKind::NotConnected.into())
    }

    fn limit(
        &mut self,
        context: &mut Context<'_>,
        wrote: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if wrote.is_ready() {
            self.waiting = None;
            return wrote;
        }
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep(self.timeout)));
        match waiting.as_mut().poll(context) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
        }
    }
}

impl<T> Drop for WriteTimeout<T> {
    fn drop(&mut self) {
        if let Some(inner) = self.inner.take() {
            self.handoff.leave(inner);
        }
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for WriteTimeout<T> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.get_mut().inner()?.poll_read(context, bytes)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for WriteTimeout<T> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let wrote = this.inner()?.poll_write(context, bytes);
        this.limit(context, wrote)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let wrote = this.inner()?.poll_write_vectored(context, slices);
        this.limit(context, wrote)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.as_ref().is_some_and(AsyncWrite::is_write_vectored)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().inner()?.poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().inner()?.poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(30);

    #[tokio::test(start_paused = true)]
    async fn a_write_times_out_when_the_client_reads_nothing() {
        let (ours, _theirs) = duplex(8);
        let error =
            WriteTimeout::new(ours, TIMEOUT, Arc::default()).write_all(&[0; 9]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test(start_paused = true)]
    async fn a_write_goes_on_while_the_client_reads_a_little() {
        let (ours, mut theirs) = duplex(8);
        let mut ours = WriteTimeout::new(ours, TIMEOUT, Arc::default());
        let reads = async {
            for _ in 0..10 {
                sleep(TIMEOUT - Duration::from_secs(1)).await;
                theirs.read_exact(&mut [0; 8]).await.unwrap();
            }
        };
        let (wrote, ()) = tokio::join!(ours.write_all(&[0; 80]), reads);
        wrote.unwrap();
    }
}

//! Takes the socket from hyper when a long-lived response begins, because hyper keeps two buffers of
//! 8 KiB per connection, which is most of what an idle stream reader costs.
//! See `docs/decisions/0003-socket-handoff.md`.

mod chunked_writer;
mod write_timeout;

use std::sync::Arc;

use axum::response::Response;
use http::Version;
use parking_lot::Mutex;

pub(crate) use self::chunked_writer::ChunkedWriter;
pub(crate) use self::write_timeout::WriteTimeout;

/// Response extension: the response stays open for long. The function is called when its reader
/// stalls for longer than the write timeout.
#[derive(Clone)]
pub(crate) struct LongLived(pub(crate) Arc<dyn Fn() + Send + Sync>);

/// Whether the response is marked [`LongLived`] and its connection speaks HTTP/1.1.
pub(crate) fn is_long_lived(response: &Response) -> bool {
    response.extensions().get::<LongLived>().is_some() && response.version() == Version::HTTP_11
}

/// Passes a socket from hyper's dropped connection to the [`ChunkedWriter`].
pub(crate) struct SocketHandoff<T> {
    state: Mutex<HandoffState<T>>,
}

enum HandoffState<T> {
    NotRequested,
    Requested,
    Left(T),
}

impl<T> Default for SocketHandoff<T> {
    fn default() -> Self {
        Self { state: Mutex::new(HandoffState::NotRequested) }
    }
}

impl<T> SocketHandoff<T> {
    /// Asks for the socket; call it before hyper's connection is dropped.
    pub(crate) fn request(&self) {
        *self.state.lock() = HandoffState::Requested;
    }

    /// Keeps the socket if it was requested, else drops it.
    pub(crate) fn leave(&self, socket: T) {
        let mut state = self.state.lock();
        if matches!(*state, HandoffState::Requested) {
            *state = HandoffState::Left(socket);
        }
    }

    /// The socket, once, if it was left.
    pub(crate) fn take(&self) -> Option<T> {
        let mut state = self.state.lock();
        match std::mem::replace(&mut *state, HandoffState::NotRequested) {
            HandoffState::Left(socket) => Some(socket),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_is_kept_only_when_it_was_requested() {
        let not_requested = SocketHandoff::default();
        not_requested.leave(1);
        assert_eq!(not_requested.take(), None);
        let requested = SocketHandoff::default();
        requested.request();
        assert_eq!(requested.take(), None);
        requested.request();
        requested.leave(2);
        assert_eq!((requested.take(), requested.take()), (Some(2), None));
    }
}

//! Reads what is left of a refused request's body while the answer is sent: closing a socket with
//! unread bytes resets the connection, and the client loses the answer.

use std::sync::Arc;

use http::header::EXPECT;
use http::request::Parts;

use crate::connection_slots::ConnectionSlot;
use crate::upload::paced_body::PacedBody;

/// Discards the unread rest of one request's body.
#[derive(Clone, Default)]
pub(crate) struct Drain {
    slot: Option<Arc<ConnectionSlot>>,
    awaits_continue: bool,
}

impl Drain {
    pub(crate) fn new(parts: &Parts) -> Self {
        Self {
            slot: parts.extensions.get::<Arc<ConnectionSlot>>().cloned(),
            awaits_continue: parts.headers.contains_key(EXPECT),
        }
    }

    /// Reads the rest in a task of the connection. A client that still waits for `100 Continue` is
    /// left waiting: it has sent nothing.
    pub(crate) fn discard(&self, body: PacedBody) {
        if self.awaits_continue && !body.is_started() {
            return;
        }
        if let Some(slot) = &self.slot {
            let stop = slot.stop.clone();
            slot.tasks.spawn(async move { stop.run_until_cancelled(body.drain()).await });
        }
    }
}

//! Calls in a session of the older protocol that are answered in the task of their HTTP request. The
//! library passes a message of a session through four tasks, which costs more than a cached call.
//!
//! Every other message, and every call that may talk to its client before the answer, is the library's.

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::Poll;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::{self, Stream};
use parking_lot::Mutex;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, GetExtensions as _, GetMeta as _, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::service::{Peer, RequestContext};
use rmcp::transport::streamable_http_server::session::ServerSseMessage;
use rmcp::{RoleServer, Service as _};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::server::McpServer;

/// The events of a late call: the one that begins the stream, and the answer.
const EVENTS_MAX: usize = 2;

/// The direct calls of one session.
#[derive(Default)]
pub(crate) struct SessionCalls {
    /// Set by the handshake.
    handler: OnceLock<SessionHandler>,
    next_number: AtomicU64,
    /// The calls whose answer did not come at once, by their number.
    late: Mutex<HashMap<u64, LateCall>>,
    /// The tasks of the late calls, which end with the session.
    tasks: TaskTracker,
}

/// The handler of a session, and the connection to its client.
struct SessionHandler {
    server: McpServer,
    peer: Peer<RoleServer>,
}

struct LateCall {
    id: RequestId,
    cancel: CancellationToken,
    /// Replaced when the client resumes the stream.
    events: mpsc::Sender<ServerSseMessage>,
}

/// How a direct call is answered.
pub(crate) enum DirectAnswer<S> {
    Now(Vec<ServerSseMessage>),
    Late(S),
}

impl SessionCalls {
    /// Gives the direct calls of a session its handler; `cx` is the context of its handshake. Over
    /// stdio there are none.
    pub(crate) fn attach(server: &McpServer, cx: &RequestContext<RoleServer>) {
        if let Some(calls) = cx.extensions.get::<Arc<Self>>() {
            let handler = SessionHandler { server: server.clone(), peer: cx.peer.clone() };
            calls.handler.get_or_init(|| handler);
        }
    }

    /// Runs a call until `end`; gives back a message that is the library's. An event without data
    /// begins the stream where there is a `retry`.
    pub(crate) async fn begin(
        self: &Arc<Self>,
        message: ClientJsonRpcMessage,
        end: CancellationToken,
        retry: Option<Duration>,
    ) -> Result<
        DirectAnswer<impl Stream<Item = ServerSseMessage> + Send + Sync + use<>>,
        ClientJsonRpcMessage,
    > {
        let (id, mut request, handler) = match (message, self.handler.get()) {
            (ClientJsonRpcMessage::Request(it), Some(handler)) if handler.answers(&it.request) => {
                (it.id, it.request, handler)
            }
            (message, _) => return Err(message),
        };
        let mut cx = RequestContext::new(id.clone(), handler.peer.clone());
        cx.meta = std::mem::take(request.get_meta_mut());
        cx.extensions = std::mem::take(request.extensions_mut());
        let cancel = cx.ct.clone();
        let (server, answered) = (handler.server.clone(), id.clone());
        let mut call: BoxFuture<'static, ServerJsonRpcMessage> = Box::pin(async move {
            match server.handle_request(request, cx).await {
                Ok(result) => ServerJsonRpcMessage::response(result, answered),
                Err(error) => ServerJsonRpcMessage::error(error, Some(answered)),
            }
        });
        let number = self.next_number.fetch_add(1, Ordering::Relaxed);
        let first = retry.map(|retry| ServerSseMessage::priming(event_id(0, number), retry));
        // A cached call is answered by its first poll.
        if let Poll::Ready(answer) = poll_fn(|cx| Poll::Ready(call.as_mut().poll(cx))).await {
            let answer = ServerSseMessage::new(event_id(1, number), answer);
            return Ok(DirectAnswer::Now(first.into_iter().chain([answer]).collect()));
        }
        let (events, reader) = channel();
        if let Some(first) = first {
            // The channel is empty and has room for both events.
            drop(events.try_send(first));
        }
        self.late.lock().insert(number, LateCall { id, cancel, events });
        self.tasks.spawn(finish(Arc::clone(self), number, call, end));
        Ok(DirectAnswer::Late(reader))
    }

    /// Cancels the late call with this id; its stream ends without an answer.
    pub(crate) fn cancel(&self, id: &RequestId) {
        self.late.lock().retain(|_, call| {
            if call.id == *id {
                call.cancel.cancel();
            }
            call.id != *id
        });
    }

    /// The rest of a late call's stream; `None` if the call has ended.
    pub(crate) fn resume(
        &self,
        number: u64,
    ) -> Option<impl Stream<Item = ServerSseMessage> + Send + Sync + use<>> {
        let mut late = self.late.lock();
        let call = late.get_mut(&number)?;
        let (events, reader) = channel();
        call.events = events;
        Some(reader)
    }
}

impl SessionHandler {
    /// Whether a request is a call that sends nothing before its answer: no progress, no log message
    /// and no question to the user.
    fn answers(&self, request: &ClientRequest) -> bool {
        let ClientRequest::CallToolRequest(call) = request else { return false };
        let state = &self.server.state;
        let tool = state.listing.find(&call.params.name);
        request.get_meta().get_progress_token().is_none()
            && state.extension.is_none()
            && self.server.log_level.lock().is_none()
            && tool.is_none_or(|tool| tool.tool_ref.row().spec.host.confirm.is_none())
    }
}

/// Sends the answer of a late call, unless it was cancelled or the session ends before.
async fn finish(
    calls: Arc<SessionCalls>,
    number: u64,
    call: BoxFuture<'static, ServerJsonRpcMessage>,
    end: CancellationToken,
) {
    // The end comes first, because the call ends with an error when its session does.
    let answer = tokio::select! {
        biased;
        () = end.cancelled() => None,
        answer = call => Some(answer),
    };
    let ended = calls.late.lock().remove(&number);
    if let (Some(answer), Some(ended)) = (answer, ended) {
        let answer = ServerSseMessage::new(event_id(1, number), answer);
        if ended.events.try_send(answer).is_err() {
            tracing::trace!("the client of a call did not wait for its answer");
        }
    }
}

fn channel()
-> (mpsc::Sender<ServerSseMessage>, impl Stream<Item = ServerSseMessage> + Send + Sync + use<>) {
    let (events, mut reader) = mpsc::channel(EVENTS_MAX);
    (events, stream::poll_fn(move |cx| reader.poll_recv(cx)))
}

/// The id of an event of a call. The library's own ids have only digits after the slash.
fn event_id(index: u8, number: u64) -> String {
    format!("{index}/c{number}")
}

/// The number of the call that an event belongs to; `None` for an event of the library.
pub(crate) fn call_number(event_id: &str) -> Option<u64> {
    event_id.split_once("/c")?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_names_its_call() {
        assert_eq!(call_number(&event_id(1, 7)), Some(7));
        for other in ["0", "0/7", "1/", "", "c7", "1/c", "1/cx"] {
            assert_eq!(call_number(other), None, "{other}");
        }
    }
}

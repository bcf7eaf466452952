//! Bounds the sessions of the older protocol: idle sessions end, and a new session evicts the least
//! recently used one of the same client. A session with an open stream counts as used.

mod direct_calls;
mod use_order;

use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::Either;
use futures_util::stream::{self, Stream, StreamExt, unfold};
use http::HeaderMap;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, GetExtensions as _, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionHandle, LocalSessionManager, LocalSessionManagerError, SessionError,
};
use rmcp::transport::streamable_http_server::session::{
    ServerSseMessage, SessionId, SessionManager,
};
use tokio_util::sync::CancellationToken;

use direct_calls::DirectAnswer;
pub(crate) use direct_calls::SessionCalls;
use use_order::{NoRoom, UseOrder};
pub(crate) use use_order::{SessionLimits, SessionOwner};

tokio::task_local! {
    /// The client whose request is being answered: the library creates a session without saying for
    /// which request.
    static CLIENT: SessionOwner;
}

/// How long an evicted session may take to close.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// How long answers are kept for clients whose connection broke. At thousands of calls a second a
/// longer time would dominate memory.
const ANSWERS_KEPT_FOR: Duration = Duration::from_secs(10);

pub(crate) struct BoundedSessions {
    inner: LocalSessionManager,
    idle: Duration,
    retry: Duration,
    used: Arc<Mutex<UseOrder>>,
}

/// Cancelled when the session of a request has ended. rmcp lets running calls continue for seconds,
/// although their answer has no receiver.
#[derive(Clone)]
pub(crate) struct SessionEnd(pub(crate) CancellationToken);

impl BoundedSessions {
    pub(crate) fn new(limits: SessionLimits, idle: Duration, retry: Duration) -> Self {
        let mut inner = LocalSessionManager::default();
        inner.session_config.keep_alive = Some(idle);
        inner.session_config.sse_retry = Some(retry);
        inner.session_config.completed_cache_ttl = ANSWERS_KEPT_FOR;
        Self { inner, idle, retry, used: Arc::new(Mutex::new(UseOrder::new(limits))) }
    }

    fn order(&self) -> parking_lot::MutexGuard<'_, UseOrder> {
        self.used.lock()
    }

    /// The end token of the session that a request names.
    pub(crate) fn end_of(&self, headers: &HeaderMap) -> Option<SessionEnd> {
        self.order().end_of(session_id(headers)?).map(SessionEnd)
    }

    /// Whether a request names a session that another subject has opened.
    pub(crate) fn is_of_another(&self, headers: &HeaderMap, owner: &SessionOwner) -> bool {
        session_id(headers).is_some_and(|id| self.order().is_of_another(id, owner))
    }

    /// Whether this client may open another session, if need be in place of one of its own.
    pub(crate) fn has_room(&self, owner: &SessionOwner) -> bool {
        self.order().has_room(owner)
    }

    /// Answers a request of this client; the sessions that it opens belong to the client.
    pub(crate) async fn for_client<T>(owner: SessionOwner, answer: impl Future<Output = T>) -> T {
        CLIENT.scope(owner, answer).await
    }

    /// The direct calls of a session, and its end. Tells the library at times that the session is in
    /// use, because it would end a session whose calls it does not see.
    async fn direct_calls(&self, id: &SessionId) -> Option<(Arc<SessionCalls>, CancellationToken)> {
        let (calls, end, is_due) = self.order().calls(id, self.idle / 3)?;
        if is_due {
            let session = self.inner.sessions.read().await.get(id).cloned();
            touch(&session?, &self.used).await;
        }
        Some((calls, end))
    }

    /// A stream that marks its session as used while it is read: a call may run for an hour, and a
    /// subscribed resource may change once a day.
    async fn keep_in_use<S>(
        &self,
        id: &SessionId,
        stream: S,
    ) -> impl Stream<Item = S::Item> + use<S>
    where
        S: Stream + Send + Sync + 'static,
    {
        let session = self.inner.sessions.read().await.get(id).cloned();
        let (order, every) = (Arc::clone(&self.used), self.idle / 3);
        unfold((Box::pin(stream), session), move |(mut stream, session)| {
            let order = Arc::clone(&order);
            async move {
                loop {
                    let used = async {
                        tokio::time::sleep(every).await;
                        match &session {
                            Some(session) => touch(session, &order).await,
                            None => std::future::pending().await,
                        }
                    };
                    // Keeps reading, because the session may wait for its reader before it handles
                    // the touch.
                    tokio::select! {
                        biased;
                        item = stream.next() => return item.map(|item| (item, (stream, session))),
                        () = used => {}
                    }
                }
            }
        })
    }
}

/// The id of the request that a message cancels.
fn cancelled_id(message: &ClientJsonRpcMessage) -> Option<&RequestId> {
    let ClientJsonRpcMessage::Notification(message) = message else { return None };
    match &message.notification {
        ClientNotification::CancelledNotification(it) => it.params.request_id.as_ref(),
        _ => None,
    }
}

/// The first protocol version whose clients expect an event without data at the start of a stream.
/// Older clients report it as an invalid message.
const PRIMING_SINCE: &str = "2025-11-25";

/// Whether the client of a message knows events without data. Clients older than 2025-06-18 do not
/// name their version.
fn knows_priming(message: &ClientJsonRpcMessage) -> bool {
    let ClientJsonRpcMessage::Request(message) = message else { return false };
    let parts = message.request.extensions().get::<http::request::Parts>();
    let version = parts.and_then(|parts| parts.headers.get("mcp-protocol-version"));
    version.and_then(|version| version.to_str().ok()).is_some_and(|it| it >= PRIMING_SINCE)
}

/// The session that a request names.
fn session_id(headers: &HeaderMap) -> Option<&str> {
    headers.get("mcp-session-id")?.to_str().ok()
}

/// Marks a session as used. Closing a channel that does not exist only resets its idle timer.
async fn touch(session: &LocalSessionHandle, order: &Mutex<UseOrder>) {
    order.lock().touch(session.id());
    if session.close_request_wise_channel(u64::MAX).await.is_err() {
        tracing::trace!("a session ended while its stream was read");
    }
}

impl SessionManager for BoundedSessions {
    type Error = LocalSessionManagerError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        let owner = CLIENT.try_with(Clone::clone).unwrap_or(SessionOwner::Anonymous(None));
        let (id, transport) = self.inner.create_session().await?;
        let admitted = self.order().admit(&id, owner);
        let evicted = match admitted {
            Ok(evicted) => evicted,
            // Another request has taken the slot since this one was checked.
            Err(NoRoom) => {
                self.inner.close_session(&id).await?;
                return Err(SessionError::SessionServiceTerminated.into());
            }
        };
        if let Some(evicted) = evicted {
            tracing::debug!("the client's least recently used session is evicted");
            let closed =
                tokio::time::timeout(CLOSE_TIMEOUT, self.inner.close_session(&evicted)).await;
            if !matches!(closed, Ok(Ok(()))) {
                tracing::debug!("an evicted session did not close in time");
            }
        }
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        mut message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        if let ClientJsonRpcMessage::Request(message) = &mut message {
            let calls = Arc::new(SessionCalls::default());
            // The handshake gives them the handler of the session.
            message.request.extensions_mut().insert(Arc::clone(&calls));
            self.order().set_calls(id, calls);
        }
        self.inner.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        self.order().touch(id);
        self.inner.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        self.order().remove(id);
        self.inner.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let knows_priming = knows_priming(&message);
        let retry = knows_priming.then_some(self.retry);
        let message = match self.direct_calls(id).await {
            None => message,
            Some((calls, end)) => match calls.begin(message, end, retry).await {
                Err(message) => message,
                Ok(DirectAnswer::Now(events)) => return Ok(Either::Left(stream::iter(events))),
                Ok(DirectAnswer::Late(events)) => {
                    let events = self.keep_in_use(id, events).await;
                    return Ok(Either::Right(Either::Left(events)));
                }
            },
        };
        let stream = self.inner.create_stream(id, message).await?;
        let stream = stream
            .filter(move |event| std::future::ready(knows_priming || event.message.is_some()));
        Ok(Either::Right(Either::Right(self.keep_in_use(id, stream).await)))
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), Self::Error> {
        if let Some(cancelled) = cancelled_id(&message)
            && let Some((calls, _)) = self.direct_calls(id).await
        {
            calls.cancel(cancelled);
        }
        self.inner.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let stream = self.inner.create_standalone_stream(id).await?;
        Ok(self.keep_in_use(id, stream).await)
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        if let Some(number) = direct_calls::call_number(&last_event_id) {
            let calls = self.direct_calls(id).await;
            let rest = calls.and_then(|(calls, _)| calls.resume(number));
            let rest = rest.ok_or(SessionError::ChannelClosed(Some(number)))?;
            return Ok(Either::Left(self.keep_in_use(id, rest).await));
        }
        let stream = self.inner.resume(id, last_event_id.clone()).await?;
        // The library begins with the event that the client has.
        let stream = stream.filter(move |event| {
            std::future::ready(event.event_id.as_deref() != Some(last_event_id.as_str()))
        });
        Ok(Either::Right(self.keep_in_use(id, stream).await))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[tokio::test]
    async fn the_least_recently_used_session_is_evicted() {
        let minute = Duration::from_secs(60);
        let sessions = BoundedSessions::new(SessionLimits::of_total(8), minute, minute);
        let (first, _kept) = sessions.create_session().await.unwrap();
        let (second, _kept) = sessions.create_session().await.unwrap();
        assert!(sessions.has_session(&first).await.unwrap());
        let (third, _kept) = sessions.create_session().await.unwrap();
        assert!(sessions.has_session(&first).await.unwrap());
        assert!(!sessions.has_session(&second).await.unwrap());
        assert!(sessions.has_session(&third).await.unwrap());
        assert_eq!(sessions.order().len(), 2);
    }

    struct EmptyHandler;

    impl rmcp::ServerHandler for EmptyHandler {}

    fn parse(message: serde_json::Value) -> ClientJsonRpcMessage {
        serde_json::from_value(message).unwrap()
    }

    type Running = rmcp::service::RunningService<rmcp::RoleServer, EmptyHandler>;

    /// A session after its handshake.
    async fn opened(sessions: &BoundedSessions) -> (SessionId, Running) {
        let (id, transport) = sessions.create_session().await.unwrap();
        let initialize =
            parse(json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "test", "version": "0" } } }));
        let initialized = parse(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        let handshake = async {
            sessions.initialize_session(&id, initialize).await.unwrap();
            sessions.accept_message(&id, initialized).await.unwrap();
        };
        let (running, ()) = tokio::join!(rmcp::serve_server(EmptyHandler, transport), handshake);
        (id, running.unwrap())
    }

    /// Sends notifications and returns the ids of their events.
    async fn notified(
        running: &Running,
        count: usize,
        stream: &mut (impl Stream<Item = ServerSseMessage> + Unpin),
    ) -> Vec<String> {
        for _ in 0..count {
            running.peer().notify_tool_list_changed().await.unwrap();
        }
        ids(stream, count).await
    }

    async fn ids(
        stream: &mut (impl Stream<Item = ServerSseMessage> + Unpin),
        count: usize,
    ) -> Vec<String> {
        let events: Vec<ServerSseMessage> = stream.take(count).collect().await;
        events.into_iter().filter_map(|event| event.event_id).collect()
    }

    #[tokio::test]
    async fn each_event_has_an_id_of_its_own_and_is_sent_once() {
        let minute = Duration::from_secs(60);
        let sessions = BoundedSessions::new(SessionLimits::of_total(2), minute, minute);
        let (id, running) = opened(&sessions).await;
        let mut stream = Box::pin(sessions.create_standalone_stream(&id).await.unwrap());
        let read = notified(&running, 3, &mut stream).await;
        assert_eq!(read, ["0", "1", "2"]);
        drop(stream);
        // The client has the event 0 and then missed two.
        let mut resumed = Box::pin(sessions.resume(&id, read[0].clone()).await.unwrap());
        assert_eq!(ids(&mut resumed, 2).await, ["1", "2"]);
        assert_eq!(notified(&running, 1, &mut resumed).await, ["3"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_session_whose_stream_is_read_is_not_idle() {
        let idle = Duration::from_secs(60);
        let sessions = BoundedSessions::new(SessionLimits::of_total(2), idle, idle);
        let (id, running) = opened(&sessions).await;
        let mut ended = std::pin::pin!(running.waiting());
        let mut stream = Box::pin(sessions.create_standalone_stream(&id).await.unwrap());
        tokio::select! {
            _ = &mut ended => panic!("the session ended under its reader"),
            _ = stream.next() => panic!("nothing was said"),
            () = tokio::time::sleep(idle * 10) => {}
        }
        drop(stream);
        let left = tokio::time::Instant::now();
        ended.await.unwrap();
        assert!(left.elapsed() <= idle, "{:?}", left.elapsed());
    }

    #[tokio::test]
    async fn a_closed_session_is_forgotten() {
        let minute = Duration::from_secs(60);
        let sessions = BoundedSessions::new(SessionLimits::of_total(8), minute, minute);
        let (first, _kept) = sessions.create_session().await.unwrap();
        sessions.close_session(&first).await.unwrap();
        assert!(!sessions.has_session(&first).await.unwrap());
        assert_eq!(sessions.order().len(), 0);
    }

    #[tokio::test]
    async fn the_end_of_a_session_reaches_its_requests() {
        let minute = Duration::from_secs(60);
        let sessions = BoundedSessions::new(SessionLimits::of_total(1), minute, minute);
        let of = |id: &SessionId| {
            let mut headers = HeaderMap::new();
            headers.insert("mcp-session-id", id.parse().unwrap());
            sessions.end_of(&headers)
        };
        assert!(sessions.end_of(&HeaderMap::new()).is_none());
        let (first, _kept) = sessions.create_session().await.unwrap();
        let SessionEnd(evicted) = of(&first).unwrap();
        assert!(!evicted.is_cancelled());
        let (second, _kept) = sessions.create_session().await.unwrap();
        assert!(evicted.is_cancelled() && of(&first).is_none());
        let SessionEnd(closed) = of(&second).unwrap();
        sessions.close_session(&second).await.unwrap();
        assert!(closed.is_cancelled());
    }
}

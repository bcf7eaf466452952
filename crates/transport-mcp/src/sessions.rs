//! Sessions of the older protocol, bounded: idle ones end, and the longest unused one makes room.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Duration;

use futures_util::Stream;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError,
};
use rmcp::transport::streamable_http_server::session::{
    ServerSseMessage, SessionId, SessionManager,
};

/// How long an ousted session may take to say goodbye before it is simply dropped.
const GOODBYE: Duration = Duration::from_secs(1);

/// Answers kept for clients whose connection broke. At thousands of calls a second a longer time
/// would be the largest thing in memory.
const ANSWERS_KEPT: Duration = Duration::from_secs(10);

pub(crate) struct BoundedSessions {
    inner: LocalSessionManager,
    max: usize,
    used: Mutex<Order>,
}

/// When each session was last used, counted in uses.
#[derive(Default)]
struct Order {
    uses: u64,
    last: HashMap<SessionId, u64>,
}

impl Order {
    fn touch(&mut self, id: &SessionId) {
        self.uses += 1;
        if let Some(last) = self.last.get_mut(id) {
            *last = self.uses;
        }
    }

    /// Takes a new session in and names the one that has to go for it.
    fn admit(&mut self, id: &SessionId, max: usize) -> Option<SessionId> {
        let full = self.last.len() >= max.max(1);
        let oldest = self.last.iter().min_by_key(|(_, last)| **last).map(|(id, _)| id.clone());
        let ousted = oldest.filter(|_| full);
        if let Some(ousted) = &ousted {
            self.last.remove(ousted);
        }
        self.uses += 1;
        self.last.insert(id.clone(), self.uses);
        ousted
    }
}

impl BoundedSessions {
    pub(crate) fn new(max: usize, idle: Duration, retry: Duration) -> Self {
        let mut inner = LocalSessionManager::default();
        inner.session_config.keep_alive = Some(idle);
        inner.session_config.sse_retry = Some(retry);
        inner.session_config.completed_cache_ttl = ANSWERS_KEPT;
        Self { inner, max, used: Mutex::default() }
    }

    fn order(&self) -> std::sync::MutexGuard<'_, Order> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionManager for BoundedSessions {
    type Error = LocalSessionManagerError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        let (id, transport) = self.inner.create_session().await?;
        let ousted = self.order().admit(&id, self.max);
        if let Some(ousted) = ousted {
            tracing::debug!("the longest unused session makes room for a new one");
            let goodbye = tokio::time::timeout(GOODBYE, self.inner.close_session(&ousted)).await;
            if !matches!(goodbye, Ok(Ok(()))) {
                tracing::debug!("an ousted session did not end by itself");
            }
        }
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        self.inner.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        self.order().touch(id);
        self.inner.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        self.order().last.remove(id);
        self.inner.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.inner.create_stream(id, message).await
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), Self::Error> {
        self.inner.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.inner.create_standalone_stream(id).await
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.inner.resume(id, last_event_id).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_longest_unused_session_makes_room() {
        let minute = Duration::from_secs(60);
        let sessions = BoundedSessions::new(2, minute, minute);
        let (first, _kept) = sessions.create_session().await.unwrap();
        let (second, _kept) = sessions.create_session().await.unwrap();
        assert!(sessions.has_session(&first).await.unwrap());
        let (third, _kept) = sessions.create_session().await.unwrap();
        assert!(sessions.has_session(&first).await.unwrap());
        assert!(!sessions.has_session(&second).await.unwrap());
        assert!(sessions.has_session(&third).await.unwrap());
        assert_eq!(sessions.order().last.len(), 2);
    }

    #[tokio::test]
    async fn a_closed_session_leaves_its_place() {
        let minute = Duration::from_secs(60);
        let sessions = BoundedSessions::new(2, minute, minute);
        let (first, _kept) = sessions.create_session().await.unwrap();
        sessions.close_session(&first).await.unwrap();
        assert!(!sessions.has_session(&first).await.unwrap());
        assert!(sessions.order().last.is_empty());
    }
}

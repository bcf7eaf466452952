//! Who opened each session and when it was last used, and which session makes room for a new one.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use contract::{Credential, RequestMeta};
use limits::ClientAddress;
use rmcp::transport::streamable_http_server::session::SessionId;
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::direct_calls::SessionCalls;

/// The client that opened a session.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum SessionOwner {
    /// The subject of a verified credential.
    Subject(Arc<str>),
    /// A client without a valid credential, by its address if that is known.
    Anonymous(Option<ClientAddress>),
}

impl SessionOwner {
    /// The client that sent a request; its credential counts only if it was verified.
    pub(crate) fn of(meta: Option<&RequestMeta>) -> Self {
        match meta.map(|meta| &meta.credential) {
            Some(Credential::Verified(verified)) => {
                Self::Subject(Arc::clone(&verified.caller.subject))
            }
            _ => Self::Anonymous(meta.and_then(|meta| meta.client).map(ClientAddress::from)),
        }
    }

    /// Whether both have the same subject. An anonymous client may come from another address.
    fn is_same_subject(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Anonymous(_), Self::Anonymous(_)) => true,
            _ => self == other,
        }
    }

    fn is_anonymous(&self) -> bool {
        matches!(self, Self::Anonymous(_))
    }
}

/// How many sessions one endpoint has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SessionLimits {
    total: usize,
    /// Of all anonymous clients together, so that they leave room for clients with a credential.
    anonymous: usize,
    per_client: usize,
}

impl SessionLimits {
    /// A client has a quarter of `total`, and all anonymous clients have half of it.
    pub(crate) fn of_total(total: usize) -> Self {
        let total = total.max(1);
        Self { total, anonymous: total.div_ceil(2), per_client: total.div_ceil(4) }
    }
}

/// The endpoint has no room for another session of this client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NoRoom;

/// The sessions of one endpoint.
pub(crate) struct UseOrder {
    limits: SessionLimits,
    /// Counts uses; a session's last use is the count at that time.
    uses: u64,
    sessions: HashMap<SessionId, OpenSession>,
    /// How many sessions each client has.
    counts: HashMap<SessionOwner, usize>,
    /// How many sessions all anonymous clients have.
    anonymous: usize,
}

struct OpenSession {
    owner: SessionOwner,
    last_use: u64,
    /// Set by the handshake.
    calls: Option<Arc<SessionCalls>>,
    /// When the library was last told that the session is in use.
    reported_at: Instant,
    /// Cancelled when the session ends.
    _end: DropGuard,
    end: CancellationToken,
}

impl UseOrder {
    pub(crate) fn new(limits: SessionLimits) -> Self {
        Self { limits, uses: 0, sessions: HashMap::new(), counts: HashMap::new(), anonymous: 0 }
    }

    pub(crate) fn touch(&mut self, id: &SessionId) {
        self.uses += 1;
        if let Some(session) = self.sessions.get_mut(id) {
            session.last_use = self.uses;
        }
    }

    /// Whether this client may open a session, if need be in place of one of its own.
    pub(crate) fn has_room(&self, owner: &SessionOwner) -> bool {
        !self.is_full_for(owner) || self.counts.contains_key(owner)
    }

    fn is_full_for(&self, owner: &SessionOwner) -> bool {
        let SessionLimits { total, anonymous, per_client } = self.limits;
        self.sessions.len() >= total
            || self.counts.get(owner).is_some_and(|count| *count >= per_client)
            || (owner.is_anonymous() && self.anonymous >= anonymous)
    }

    /// Adds a new session and returns the one that is evicted for it, which is the client's own.
    pub(crate) fn admit(
        &mut self,
        id: &SessionId,
        owner: SessionOwner,
    ) -> Result<Option<SessionId>, NoRoom> {
        let mut evicted = None;
        if self.is_full_for(&owner) {
            let own = self.sessions.iter().filter(|(_, session)| session.owner == owner);
            let oldest = own.min_by_key(|(_, session)| session.last_use).ok_or(NoRoom)?;
            evicted = Some(oldest.0.clone());
        }
        if let Some(evicted) = &evicted {
            self.remove(evicted);
        }
        self.uses += 1;
        self.anonymous += usize::from(owner.is_anonymous());
        *self.counts.entry(owner.clone()).or_default() += 1;
        let end = CancellationToken::new();
        let _end = end.clone().drop_guard();
        let (calls, reported_at) = (None, Instant::now());
        let session = OpenSession { owner, last_use: self.uses, calls, reported_at, _end, end };
        self.sessions.insert(id.clone(), session);
        Ok(evicted)
    }

    pub(crate) fn remove(&mut self, id: &SessionId) {
        let Some(OpenSession { owner, .. }) = self.sessions.remove(id) else { return };
        self.anonymous -= usize::from(owner.is_anonymous());
        if let Some(count) = self.counts.get_mut(&owner) {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(&owner);
            }
        }
    }

    /// Cancelled when the session ends; `None` if there is no such session.
    pub(crate) fn end_of(&self, id: &str) -> Option<CancellationToken> {
        self.sessions.get(id).map(|session| session.end.clone())
    }

    pub(crate) fn set_calls(&mut self, id: &str, calls: Arc<SessionCalls>) {
        if let Some(session) = self.sessions.get_mut(id) {
            session.calls = Some(calls);
        }
    }

    /// The direct calls of a session and its end, and whether the library is to be told that the
    /// session is in use, which is true once in `every`.
    pub(crate) fn calls(
        &mut self,
        id: &str,
        every: Duration,
    ) -> Option<(Arc<SessionCalls>, CancellationToken, bool)> {
        let session = self.sessions.get_mut(id)?;
        let is_due = session.reported_at.elapsed() >= every;
        if is_due {
            session.reported_at = Instant::now();
        }
        Some((session.calls.clone()?, session.end.clone(), is_due))
    }

    /// Whether the session was opened by another subject. An unknown session was not.
    pub(crate) fn is_of_another(&self, id: &str, owner: &SessionOwner) -> bool {
        self.sessions.get(id).is_some_and(|session| !session.owner.is_same_subject(owner))
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.sessions.len()
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    fn address(last: u8) -> SessionOwner {
        SessionOwner::Anonymous(Some(ClientAddress::from(IpAddr::from([192, 0, 2, last]))))
    }

    fn subject(name: &str) -> SessionOwner {
        SessionOwner::Subject(Arc::from(name))
    }

    fn open(
        order: &mut UseOrder,
        id: &str,
        owner: &SessionOwner,
    ) -> Result<Option<String>, NoRoom> {
        let admitted = order.admit(&SessionId::from(id), owner.clone());
        admitted.map(|evicted| evicted.map(|id| id.to_string()))
    }

    #[test]
    fn a_new_session_evicts_the_least_recently_used_one_of_its_own_client() {
        let mut order = UseOrder::new(SessionLimits::of_total(8));
        let (ann, bob) = (subject("ann"), address(1));
        for id in ["a1", "a2"] {
            assert_eq!(open(&mut order, id, &ann), Ok(None));
        }
        assert_eq!(open(&mut order, "b1", &bob), Ok(None));
        order.touch(&SessionId::from("a1"));
        assert_eq!(open(&mut order, "a3", &ann), Ok(Some("a2".to_owned())));
        assert_eq!(open(&mut order, "b2", &bob), Ok(None));
        assert_eq!(open(&mut order, "b3", &bob), Ok(Some("b1".to_owned())));
        assert_eq!(order.len(), 4);
    }

    #[test]
    fn anonymous_clients_neither_evict_others_nor_take_their_room() {
        let mut order = UseOrder::new(SessionLimits::of_total(8));
        assert_eq!(open(&mut order, "ann", &subject("ann")), Ok(None));
        for number in 0..100_u8 {
            let opened = open(&mut order, &format!("s{number}"), &address(number));
            assert_eq!(opened, if number < 4 { Ok(None) } else { Err(NoRoom) });
        }
        for name in ["bob", "cid", "dan"] {
            assert_eq!(open(&mut order, name, &subject(name)), Ok(None));
        }
        assert_eq!(open(&mut order, "eve", &subject("eve")), Err(NoRoom));
        assert_eq!(open(&mut order, "a2", &subject("ann")), Ok(Some("ann".to_owned())));
        order.remove(&SessionId::from("bob"));
        assert_eq!(open(&mut order, "eve", &subject("eve")), Ok(None));
    }

    #[tokio::test(start_paused = true)]
    async fn the_library_is_told_of_direct_calls_once_in_a_while() {
        let minute = Duration::from_secs(60);
        let mut order = UseOrder::new(SessionLimits::of_total(8));
        assert!(order.calls("ann", minute).is_none());
        open(&mut order, "ann", &subject("ann")).unwrap();
        assert!(order.calls("ann", minute).is_none(), "before the handshake");
        order.set_calls("ann", Arc::default());
        let mut is_due = || order.calls("ann", minute).unwrap().2;
        assert!(!is_due());
        tokio::time::advance(minute).await;
        assert!(is_due() && !is_due());
    }

    #[test]
    fn a_session_is_of_the_subject_that_opened_it() {
        let mut order = UseOrder::new(SessionLimits::of_total(8));
        open(&mut order, "ann", &subject("ann")).unwrap();
        open(&mut order, "none", &address(1)).unwrap();
        for (id, owner, other) in [
            ("ann", subject("ann"), false),
            ("ann", subject("bob"), true),
            ("ann", address(1), true),
            ("none", address(1), false),
            ("none", address(2), false),
            ("none", subject("ann"), true),
            ("unknown", subject("ann"), false),
        ] {
            assert_eq!(order.is_of_another(id, &owner), other, "{id} {owner:?}");
        }
    }
}

//! Connection slots: bounds how many connections are open at once, in total and per client address.
//! An upgraded connection keeps its slot, so it still counts and shutdown waits for it.
//!
//! A connection is pending until its first request head has come. A new connection that finds no
//! slot takes that of the oldest pending one, which is closed.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use limits::{ClientAddress, OwnerLimiter, OwnerSlot};
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::client_address::TrustedProxies;

/// Reported whenever a connection opens, closes or is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionCount {
    /// How many connections are open now, upgraded ones included.
    Open(usize),
    /// How many of them are pending: their first request head has not come.
    Pending(usize),
    /// A connection was refused, or a pending one closed to make room; the name of the setting that
    /// was reached.
    Refused(&'static str),
}

pub(crate) type ConnectionObserver = Arc<dyn Fn(ConnectionCount) + Send + Sync>;

/// Hands out the slots of one listener.
#[derive(Clone)]
pub(crate) struct ConnectionSlots {
    limiter: OwnerLimiter<ClientAddress>,
    /// Their own addresses have no limit of connections.
    proxies: Arc<TrustedProxies>,
    pending: Arc<PendingConnections>,
    observer: ConnectionObserver,
    tasks: TaskTracker,
    stop: CancellationToken,
}

/// The pending connections, oldest first.
#[derive(Default)]
struct PendingConnections {
    next_id: AtomicU64,
    by_age: Mutex<BTreeMap<u64, PendingConnection>>,
}

struct PendingConnection {
    client: ClientAddress,
    slot: Arc<HeldSlot>,
}

/// The counted place of a connection, which can be taken away while it is pending.
struct HeldSlot {
    held: Mutex<Option<OwnerSlot<ClientAddress>>>,
    evicted: Notify,
}

/// The limit that refused a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Limit {
    /// The limit of all connections together.
    Global,
    /// The limit of one client address.
    Client,
}

impl Limit {
    const fn setting(self) -> &'static str {
        match self {
            Self::Global => "connections_max",
            Self::Client => "connections_per_client_max",
        }
    }
}

/// The slot of one open connection; dropping it gives the slot back.
pub(crate) struct ConnectionSlot {
    all: ConnectionSlots,
    id: u64,
    is_pending: AtomicBool,
    slot: Arc<HeldSlot>,
    /// Counts requests of HTTP/2, whose connections hyper does not close when they are idle.
    pub(crate) requests: RequestCount,
    /// Runs the connection after an upgrade; shutdown waits for these tasks.
    pub(crate) tasks: TaskTracker,
    /// Cancelled when the server stops.
    pub(crate) stop: CancellationToken,
}

/// The requests of one connection: how many began, and how many are being answered.
#[derive(Debug, Default)]
pub(crate) struct RequestCount {
    begun: AtomicU64,
    open: AtomicUsize,
}

impl RequestCount {
    pub(crate) fn begin(&self) {
        self.begun.fetch_add(1, Ordering::Relaxed);
        self.open.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn end(&self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }

    /// How many requests began so far; `None` while one is being answered.
    pub(crate) fn idle_since(&self) -> Option<u64> {
        let is_idle = self.open.load(Ordering::Relaxed) == 0;
        is_idle.then(|| self.begun.load(Ordering::Relaxed))
    }
}

impl ConnectionSlots {
    /// `per_client` 0 is no limit.
    pub(crate) fn new(
        max: usize,
        per_client: usize,
        proxies: TrustedProxies,
        observer: ConnectionObserver,
        stop: CancellationToken,
    ) -> Self {
        let per_client = if per_client == 0 { usize::MAX } else { per_client };
        Self {
            limiter: OwnerLimiter::new(max, per_client),
            proxies: Arc::new(proxies),
            pending: Arc::default(),
            observer,
            tasks: TaskTracker::new(),
            stop,
        }
    }

    pub(crate) fn tasks(&self) -> &TaskTracker {
        &self.tasks
    }

    /// A slot for a connection from this address, if need be that of the oldest pending connection
    /// that counts in the limit that was reached. When both limits are reached, the global one is
    /// reported.
    pub(crate) fn take(&self, from: IpAddr) -> Result<Arc<ConnectionSlot>, Limit> {
        let held = match self.try_acquire(from) {
            Ok(held) => held,
            Err(limit) => {
                (self.observer)(ConnectionCount::Refused(limit.setting()));
                self.evict(limit, from.into()).then(|| self.try_acquire(from)).ok_or(limit)??
            }
        };
        let id = self.pending.next_id.fetch_add(1, Ordering::Relaxed);
        let slot = Arc::new(HeldSlot { held: Mutex::new(Some(held)), evicted: Notify::new() });
        let pending = PendingConnection { client: from.into(), slot: Arc::clone(&slot) };
        let count = {
            let mut by_age = self.pending.by_age.lock();
            by_age.insert(id, pending);
            by_age.len()
        };
        self.report(Some(count));
        Ok(Arc::new(ConnectionSlot {
            all: self.clone(),
            id,
            is_pending: AtomicBool::new(true),
            slot,
            requests: RequestCount::default(),
            tasks: self.tasks.clone(),
            stop: self.stop.clone(),
        }))
    }

    fn try_acquire(&self, from: IpAddr) -> Result<OwnerSlot<ClientAddress>, Limit> {
        let held = match self.proxies.contains(from) {
            true => self.limiter.try_acquire_unowned(),
            false => self.limiter.try_acquire(from.into()),
        };
        held.map_err(|exceeded| if exceeded.total { Limit::Global } else { Limit::Client })
    }

    /// Closes the oldest pending connection that counts in this limit; whether there was one.
    fn evict(&self, limit: Limit, client: ClientAddress) -> bool {
        let mut by_age = self.pending.by_age.lock();
        let counts = |it: &PendingConnection| limit == Limit::Global || it.client == client;
        let Some(id) = by_age.iter().find(|(_, it)| counts(it)).map(|(id, _)| *id) else {
            return false;
        };
        let Some(PendingConnection { slot, .. }) = by_age.remove(&id) else { return false };
        drop(by_age);
        // The slot is free at once; the connection's task closes the socket a moment later.
        slot.held.lock().take();
        slot.evicted.notify_one();
        true
    }

    fn report(&self, pending: Option<usize>) {
        (self.observer)(ConnectionCount::Open(self.limiter.held()));
        if let Some(pending) = pending {
            (self.observer)(ConnectionCount::Pending(pending));
        }
    }

    /// Forgets a pending connection; how many are left, or `None` if it was evicted before.
    fn forget(&self, id: u64) -> Option<usize> {
        let mut by_age = self.pending.by_age.lock();
        by_age.remove(&id).map(|_| by_age.len())
    }
}

impl ConnectionSlot {
    /// The first request head has come, so the connection keeps its slot.
    pub(crate) fn mark_used(&self) {
        if self.is_pending.load(Ordering::Relaxed)
            && self.is_pending.swap(false, Ordering::Relaxed)
            && let Some(left) = self.all.forget(self.id)
        {
            (self.all.observer)(ConnectionCount::Pending(left));
        }
    }

    /// Whether the first request head has not come.
    pub(crate) fn is_pending(&self) -> bool {
        self.is_pending.load(Ordering::Relaxed)
    }

    /// Waits until the slot is given to another connection.
    pub(crate) async fn evicted(&self) {
        self.slot.evicted.notified().await;
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let left = self.is_pending().then(|| self.all.forget(self.id)).flatten();
        self.slot.held.lock().take();
        self.all.report(left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slots(max: usize, per_client: usize) -> ConnectionSlots {
        with_observer(max, per_client, Arc::new(|_| {}))
    }

    fn with_observer(max: usize, per_client: usize, to: ConnectionObserver) -> ConnectionSlots {
        let proxies = TrustedProxies::parse(&["10.9.0.0/16".to_owned()]).unwrap();
        ConnectionSlots::new(max, per_client, proxies, to, CancellationToken::new())
    }

    /// A slot whose first request head has come.
    fn take(slots: &ConnectionSlots, from: &str) -> Result<Arc<ConnectionSlot>, Limit> {
        let slot = slots.take(from.parse().unwrap())?;
        slot.mark_used();
        Ok(slot)
    }

    fn take_pending(slots: &ConnectionSlots, from: &str) -> Arc<ConnectionSlot> {
        slots.take(from.parse().unwrap()).ok().unwrap()
    }

    async fn is_evicted(slot: &ConnectionSlot) -> bool {
        let now = std::time::Duration::ZERO;
        tokio::time::timeout(now, slot.evicted()).await.is_ok()
    }

    #[tokio::test]
    async fn a_new_connection_takes_the_slot_of_the_oldest_pending_one() {
        let slots = slots(3, 0);
        let used = take(&slots, "10.0.0.1").unwrap();
        let (old, new) = (take_pending(&slots, "10.0.0.2"), take_pending(&slots, "10.0.0.3"));
        let newest = take_pending(&slots, "10.0.0.4");
        assert!(is_evicted(&old).await && !is_evicted(&new).await && !is_evicted(&used).await);
        assert_eq!(slots.limiter.held(), 3);
        drop(old);
        assert_eq!(slots.limiter.held(), 3, "its slot was given away before");
        new.mark_used();
        newest.mark_used();
        assert_eq!(take(&slots, "10.0.0.5").err(), Some(Limit::Global));
        drop((used, new, newest));
        assert_eq!((slots.limiter.held(), slots.pending.by_age.lock().len()), (0, 0));
    }

    #[tokio::test]
    async fn a_client_at_its_limit_gives_up_its_own_pending_connection() {
        let slots = slots(9, 2);
        let other = take_pending(&slots, "10.0.0.1");
        let (old, _new) = (take_pending(&slots, "10.0.0.2"), take_pending(&slots, "10.0.0.2"));
        let _newest = take_pending(&slots, "10.0.0.2");
        assert!(is_evicted(&old).await && !is_evicted(&other).await);
    }

    #[test]
    fn a_trusted_proxy_has_no_limit_of_its_own() {
        let slots = slots(3, 1);
        let held: Vec<_> = (0..3).map(|_| take(&slots, "10.9.1.1").unwrap()).collect();
        assert_eq!(take(&slots, "10.9.1.1").err(), Some(Limit::Global));
        drop(held);
        assert_eq!(slots.limiter.held(), 0);
    }

    #[test]
    fn a_connection_is_idle_between_its_requests() {
        let requests = RequestCount::default();
        assert_eq!(requests.idle_since(), Some(0));
        requests.begin();
        assert_eq!(requests.idle_since(), None);
        requests.begin();
        requests.end();
        assert_eq!(requests.idle_since(), None);
        requests.end();
        assert_eq!(requests.idle_since(), Some(2));
    }

    #[test]
    fn one_client_cannot_take_all_slots() {
        let slots = slots(3, 2);
        let mut held = vec![take(&slots, "10.0.0.1").unwrap(), take(&slots, "10.0.0.1").unwrap()];
        assert_eq!(take(&slots, "10.0.0.1").err(), Some(Limit::Client));
        let other = take(&slots, "10.0.0.2").unwrap();
        assert_eq!(take(&slots, "10.0.0.3").err(), Some(Limit::Global));
        held.pop();
        held.push(take(&slots, "::ffff:10.0.0.1").unwrap());
        drop((held, other));
        assert_eq!((slots.limiter.held(), slots.limiter.owners()), (0, 0));
    }

    #[test]
    fn a_refusal_names_the_setting_that_refused() {
        use ConnectionCount::{Open, Pending, Refused};
        let reported = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&reported);
        let slots = with_observer(2, 1, Arc::new(move |it| log.lock().push(it)));
        let one = take(&slots, "10.0.0.1").unwrap();
        assert!(take(&slots, "10.0.0.1").is_err());
        let other = take(&slots, "10.0.0.2").unwrap();
        assert!(take(&slots, "10.0.0.3").is_err());
        drop(one);
        drop(other);
        let (global, client) = (Refused("connections_max"), Refused("connections_per_client_max"));
        let counts: Vec<_> =
            reported.lock().iter().copied().filter(|it| !matches!(it, Pending(_))).collect();
        assert_eq!(counts, [Open(1), client, Open(2), global, Open(1), Open(0)]);
    }

    #[test]
    fn ipv6_addresses_of_one_network_are_one_client() {
        let slots = slots(9, 1);
        let _one = take(&slots, "2001:db8:0:1::1").unwrap();
        assert_eq!(take(&slots, "2001:db8:0:1::2").err(), Some(Limit::Client));
        assert!(take(&slots, "2001:db8:0:2::1").is_ok());
    }

    #[test]
    fn zero_is_no_limit_per_client() {
        let slots = slots(3, 0);
        let held: Vec<_> = (0..3).map(|_| take(&slots, "10.0.0.1").unwrap()).collect();
        assert_eq!((held.len(), slots.limiter.owners()), (3, 0));
        assert_eq!(take(&slots, "10.0.0.1").err(), Some(Limit::Global));
    }
}

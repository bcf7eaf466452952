//! A connection's slot among those that may be open at once, in all and from one address. Whoever
//! goes on with the connection after an upgrade keeps it, so that it goes on counting and is waited
//! for at shutdown.

use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use auth::ClientId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// What is told of connections to whoever counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionCount {
    /// So many are open, those that were upgraded included.
    Open(usize),
    /// One more found no slot because of this limit, by the name of its setting.
    Refused(&'static str),
}

pub(crate) type Watch = Arc<dyn Fn(ConnectionCount) + Send + Sync>;

/// All slots, shared by the connections that have one.
#[derive(Clone)]
pub(crate) struct ConnectionSlots {
    free: Arc<Semaphore>,
    max: usize,
    /// How many one client may have; 0 is no limit.
    per_client: usize,
    /// How many each has, of those that have any. Not kept where there is no limit.
    taken: Arc<Mutex<HashMap<ClientId, usize>>>,
    watch: Watch,
    tasks: TaskTracker,
    stop: CancellationToken,
}

/// Why there is no slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Limit {
    /// All are taken.
    Global,
    /// This client has as many as it may.
    Client,
}

impl Limit {
    const fn limit(self) -> &'static str {
        match self {
            Self::Global => "connections_max",
            Self::Client => "connections_per_client_max",
        }
    }
}

pub(crate) struct ConnectionSlot {
    all: ConnectionSlots,
    /// Whose it is, where that is counted.
    client: Option<ClientId>,
    /// Given back before the number is told.
    permit: Option<OwnedSemaphorePermit>,
    /// Where to go on after an upgrade: the server waits for what runs here.
    pub(crate) tasks: TaskTracker,
    /// Set when the server is told to stop.
    pub(crate) stop: CancellationToken,
}

impl ConnectionSlots {
    pub(crate) fn new(
        max: usize,
        per_client: usize,
        watch: Watch,
        stop: CancellationToken,
    ) -> Self {
        let free = Arc::new(Semaphore::new(max));
        let (taken, tasks) = (Arc::default(), TaskTracker::new());
        Self { free, max, per_client, taken, watch, tasks, stop }
    }

    pub(crate) fn tasks(&self) -> &TaskTracker {
        &self.tasks
    }

    fn taken(&self) -> MutexGuard<'_, HashMap<ClientId, usize>> {
        self.taken.lock()
    }

    /// A slot for whoever calls from there, if one is free.
    pub(crate) fn take(&self, from: IpAddr) -> Result<Arc<ConnectionSlot>, Limit> {
        self.find(from)
            .inspect(|_| self.tell())
            .inspect_err(|full| (self.watch)(ConnectionCount::Refused(full.limit())))
    }

    fn find(&self, from: IpAddr) -> Result<Arc<ConnectionSlot>, Limit> {
        let permit = Arc::clone(&self.free).try_acquire_owned().map_err(|_| Limit::Global)?;
        let client = (self.per_client > 0).then(|| ClientId::from(from));
        if let Some(client) = &client {
            let mut taken = self.taken();
            let count = taken.entry(client.clone()).or_default();
            if *count >= self.per_client {
                return Err(Limit::Client);
            }
            *count += 1;
        }
        Ok(Arc::new(ConnectionSlot {
            all: self.clone(),
            client,
            permit: Some(permit),
            tasks: self.tasks.clone(),
            stop: self.stop.clone(),
        }))
    }

    fn tell(&self) {
        (self.watch)(ConnectionCount::Open(self.max - self.free.available_permits()));
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.permit = None;
        if let Some(client) = self.client.take() {
            let mut taken = self.all.taken();
            if let Some(count) = taken.get_mut(&client) {
                *count -= 1;
                if *count == 0 {
                    taken.remove(&client);
                }
            }
        }
        self.all.tell();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slots(max: usize, per_client: usize) -> ConnectionSlots {
        ConnectionSlots::new(max, per_client, Arc::new(|_| {}), CancellationToken::new())
    }

    fn take(slots: &ConnectionSlots, from: &str) -> Result<Arc<ConnectionSlot>, Limit> {
        slots.take(from.parse().unwrap())
    }

    #[test]
    fn nobody_can_take_all_places() {
        let slots = slots(3, 2);
        let mut held = vec![take(&slots, "10.0.0.1").unwrap(), take(&slots, "10.0.0.1").unwrap()];
        assert_eq!(take(&slots, "10.0.0.1").err(), Some(Limit::Client));
        let other = take(&slots, "10.0.0.2").unwrap();
        assert_eq!(take(&slots, "10.0.0.3").err(), Some(Limit::Global));
        held.pop();
        held.push(take(&slots, "::ffff:10.0.0.1").unwrap());
        drop((held, other));
        assert!(slots.taken().is_empty(), "what is gone is forgotten");
        assert_eq!(slots.free.available_permits(), 3);
    }

    #[test]
    fn whoever_finds_no_place_is_counted_by_the_limit() {
        use ConnectionCount::{Open, Refused};
        let told = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&told);
        let watch = Arc::new(move |it| log.lock().push(it));
        let slots = ConnectionSlots::new(2, 1, watch, CancellationToken::new());
        let one = take(&slots, "10.0.0.1").unwrap();
        assert!(take(&slots, "10.0.0.1").is_err());
        let other = take(&slots, "10.0.0.2").unwrap();
        assert!(take(&slots, "10.0.0.3").is_err());
        drop(one);
        drop(other);
        let (house, client) = (Refused("connections_max"), Refused("connections_per_client_max"));
        assert_eq!(*told.lock(), [Open(1), client, Open(2), house, Open(1), Open(0)]);
    }

    #[test]
    fn addresses_behind_one_subscriber_are_one_client() {
        let slots = slots(9, 1);
        let _one = take(&slots, "2001:db8:0:1::1").unwrap();
        assert_eq!(take(&slots, "2001:db8:0:1::2").err(), Some(Limit::Client));
        assert!(take(&slots, "2001:db8:0:2::1").is_ok());
    }

    #[test]
    fn zero_is_no_limit() {
        let slots = slots(3, 0);
        let held: Vec<_> = (0..3).map(|_| take(&slots, "10.0.0.1").unwrap()).collect();
        assert!(slots.taken().is_empty() && held.len() == 3);
        assert_eq!(take(&slots, "10.0.0.1").err(), Some(Limit::Global));
    }
}

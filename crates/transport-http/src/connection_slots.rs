//! Connection slots: bounds how many connections are open at once, in total and per client address.
//! An upgraded connection keeps its slot, so it still counts and shutdown waits for it.

use std::net::IpAddr;
use std::sync::Arc;

use limits::{ClientAddress, OwnerLimiter, OwnerSlot};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Reported whenever a connection opens, closes or is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionCount {
    /// How many connections are open now, upgraded ones included.
    Open(usize),
    /// A connection was refused; the name of the setting that refused it.
    Refused(&'static str),
}

pub(crate) type ConnectionObserver = Arc<dyn Fn(ConnectionCount) + Send + Sync>;

/// Hands out the slots of one listener.
#[derive(Clone)]
pub(crate) struct ConnectionSlots {
    limiter: OwnerLimiter<ClientAddress>,
    observer: ConnectionObserver,
    tasks: TaskTracker,
    stop: CancellationToken,
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
    /// Taken before the new count is reported.
    held: Option<OwnerSlot<ClientAddress>>,
    /// Runs the connection after an upgrade; shutdown waits for these tasks.
    pub(crate) tasks: TaskTracker,
    /// Cancelled when the server stops.
    pub(crate) stop: CancellationToken,
}

impl ConnectionSlots {
    /// `per_client` 0 is no limit.
    pub(crate) fn new(
        max: usize,
        per_client: usize,
        observer: ConnectionObserver,
        stop: CancellationToken,
    ) -> Self {
        let per_client = if per_client == 0 { usize::MAX } else { per_client };
        let limiter = OwnerLimiter::new(max, per_client);
        Self { limiter, observer, tasks: TaskTracker::new(), stop }
    }

    pub(crate) fn tasks(&self) -> &TaskTracker {
        &self.tasks
    }

    /// A slot for a connection from this address. When both limits are reached, the global one is
    /// reported.
    pub(crate) fn take(&self, from: IpAddr) -> Result<Arc<ConnectionSlot>, Limit> {
        let held = self.limiter.try_acquire(from.into()).map_err(|exceeded| {
            let limit = if exceeded.total { Limit::Global } else { Limit::Client };
            (self.observer)(ConnectionCount::Refused(limit.setting()));
            limit
        })?;
        self.report();
        Ok(Arc::new(ConnectionSlot {
            all: self.clone(),
            held: Some(held),
            tasks: self.tasks.clone(),
            stop: self.stop.clone(),
        }))
    }

    fn report(&self) {
        (self.observer)(ConnectionCount::Open(self.limiter.held()));
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.held = None;
        self.all.report();
    }
}

#[cfg(test)]
mod tests {
    use parking_lot::Mutex;

    use super::*;

    fn slots(max: usize, per_client: usize) -> ConnectionSlots {
        ConnectionSlots::new(max, per_client, Arc::new(|_| {}), CancellationToken::new())
    }

    fn take(slots: &ConnectionSlots, from: &str) -> Result<Arc<ConnectionSlot>, Limit> {
        slots.take(from.parse().unwrap())
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
        use ConnectionCount::{Open, Refused};
        let reported = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&reported);
        let observer = Arc::new(move |it| log.lock().push(it));
        let slots = ConnectionSlots::new(2, 1, observer, CancellationToken::new());
        let one = take(&slots, "10.0.0.1").unwrap();
        assert!(take(&slots, "10.0.0.1").is_err());
        let other = take(&slots, "10.0.0.2").unwrap();
        assert!(take(&slots, "10.0.0.3").is_err());
        drop(one);
        drop(other);
        let (global, client) = (Refused("connections_max"), Refused("connections_per_client_max"));
        assert_eq!(*reported.lock(), [Open(1), client, Open(2), global, Open(1), Open(0)]);
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

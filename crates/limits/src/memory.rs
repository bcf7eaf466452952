//! A budget of bytes that many holders share, with an upper share for each client. Reservations
//! grow as bytes arrive and give their bytes back when they are dropped; a charge counts bytes that
//! are held already.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::ClientAddress;

/// How many counters the clients share. Clients whose hashes fall on one counter share one limit; the
/// hash is random, so a client cannot choose its counter.
const CLIENT_COUNTERS: usize = 1_024;

/// Bounds how many bytes are held at once, by all clients together and by each.
#[derive(Debug, Clone)]
pub struct MemoryBudget {
    shared: Arc<BudgetState>,
}

#[derive(Debug)]
struct BudgetState {
    bytes_max: usize,
    client_bytes_max: usize,
    held: AtomicUsize,
    by_client: Box<[AtomicUsize]>,
    hasher: RandomState,
}

/// Bytes that one holder, such as a request, has reserved; dropping it gives them back.
#[derive(Debug)]
pub struct MemoryReservation {
    shared: Arc<BudgetState>,
    counter: usize,
    bytes: usize,
}

/// Bytes that belong to no client and count even when they exceed the budget, such as a shared event;
/// dropping the charge gives them back.
#[derive(Debug)]
pub struct MemoryCharge {
    shared: Arc<BudgetState>,
    bytes: usize,
}

/// Which limit had no room for more bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BudgetExceeded {
    /// The share of this client.
    Client,
    /// The budget of all clients together.
    Total,
}

impl MemoryBudget {
    /// `client_bytes_max` is the most of `bytes_max` that one client may hold.
    #[must_use]
    pub fn new(bytes_max: usize, client_bytes_max: usize) -> Self {
        let by_client = (0..CLIENT_COUNTERS).map(|_| AtomicUsize::new(0)).collect();
        let (held, hasher) = (AtomicUsize::new(0), RandomState::new());
        let shared = BudgetState { bytes_max, client_bytes_max, held, by_client, hasher };
        Self { shared: Arc::new(shared) }
    }

    /// An empty reservation of this client; clients without an address count as one.
    #[must_use]
    pub fn reservation(&self, client: Option<ClientAddress>) -> MemoryReservation {
        let hash = self.shared.hasher.hash_one(client);
        let counter = usize::try_from(hash % CLIENT_COUNTERS as u64).unwrap_or_default();
        MemoryReservation { shared: Arc::clone(&self.shared), counter, bytes: 0 }
    }

    /// Counts bytes that are in memory already, even when they exceed the budget.
    #[must_use]
    pub fn charge(&self, bytes: usize) -> MemoryCharge {
        self.shared.held.fetch_add(bytes, Ordering::Relaxed);
        MemoryCharge { shared: Arc::clone(&self.shared), bytes }
    }

    /// Whether more bytes are held than the budget allows, which only charges can cause.
    #[must_use]
    pub fn is_exceeded(&self) -> bool {
        self.shared.is_exceeded()
    }

    /// How many bytes are held by all clients together.
    #[must_use]
    pub fn held(&self) -> usize {
        self.shared.held.load(Ordering::Relaxed)
    }

    /// How many bytes all clients together may hold.
    #[must_use]
    pub fn bytes_max(&self) -> usize {
        self.shared.bytes_max
    }
}

impl BudgetState {
    fn is_exceeded(&self) -> bool {
        self.held.load(Ordering::Relaxed) > self.bytes_max
    }
}

impl MemoryReservation {
    /// Grows to `bytes` and never shrinks. Fails without a change if there is no room.
    pub fn grow_to(&mut self, bytes: usize) -> Result<(), BudgetExceeded> {
        let more = bytes.saturating_sub(self.bytes);
        if more == 0 {
            return Ok(());
        }
        let BudgetState { bytes_max, client_bytes_max, held, by_client, .. } = &*self.shared;
        let own = &by_client[self.counter];
        add_within(own, more, *client_bytes_max).ok_or(BudgetExceeded::Client)?;
        if add_within(held, more, *bytes_max).is_none() {
            own.fetch_sub(more, Ordering::Relaxed);
            return Err(BudgetExceeded::Total);
        }
        self.bytes = bytes;
        Ok(())
    }

    /// Shrinks to `bytes` and never grows.
    pub fn shrink_to(&mut self, bytes: usize) {
        let less = self.bytes.saturating_sub(bytes);
        if less > 0 {
            self.shared.by_client[self.counter].fetch_sub(less, Ordering::Relaxed);
            self.shared.held.fetch_sub(less, Ordering::Relaxed);
            self.bytes = bytes;
        }
    }

    /// Whether all clients together hold more bytes than the budget allows.
    #[must_use]
    pub fn is_budget_exceeded(&self) -> bool {
        self.shared.is_exceeded()
    }

    /// How many bytes are reserved.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

/// Adds to a counter unless that takes it above `max`.
fn add_within(counter: &AtomicUsize, more: usize, max: usize) -> Option<usize> {
    let sum = |held: usize| held.checked_add(more).filter(|sum| *sum <= max);
    counter.fetch_update(Ordering::Relaxed, Ordering::Relaxed, sum).ok()
}

impl Drop for MemoryReservation {
    fn drop(&mut self) {
        self.shrink_to(0);
    }
}

impl Drop for MemoryCharge {
    fn drop(&mut self) {
        self.shared.held.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn client(last: u8) -> Option<ClientAddress> {
        Some(ClientAddress::from(IpAddr::from(Ipv4Addr::new(10, 0, 0, last))))
    }

    /// Two clients that are counted apart.
    fn two_clients(budget: &MemoryBudget) -> [MemoryReservation; 2] {
        let one = budget.reservation(client(0));
        let other = (1..=u8::MAX).map(|last| budget.reservation(client(last)));
        let other = other.into_iter().find(|other| other.counter != one.counter);
        [one, other.unwrap()]
    }

    #[test]
    fn one_client_holds_its_share_and_all_together_the_whole() {
        let budget = MemoryBudget::new(100, 60);
        let [mut one, mut other] = two_clients(&budget);
        assert_eq!(one.grow_to(60), Ok(()));
        assert_eq!(one.grow_to(61), Err(BudgetExceeded::Client));
        assert_eq!(other.grow_to(40), Ok(()));
        assert_eq!(other.grow_to(41), Err(BudgetExceeded::Total));
        assert_eq!((one.bytes(), other.bytes(), budget.held()), (60, 40, 100));
        drop(one);
        assert_eq!(budget.held(), 40);
        assert_eq!(other.grow_to(60), Ok(()));
        drop(other);
        assert_eq!(budget.held(), 0);
    }

    #[test]
    fn a_refused_growth_leaves_nothing_behind() {
        let budget = MemoryBudget::new(10, 100);
        let mut one = budget.reservation(None);
        assert_eq!(one.grow_to(11), Err(BudgetExceeded::Total));
        assert_eq!(one.grow_to(usize::MAX), Err(BudgetExceeded::Client));
        assert_eq!(one.grow_to(10), Ok(()));
        assert_eq!(one.grow_to(3), Ok(()));
        assert_eq!((one.bytes(), budget.held()), (10, 10));
    }

    #[test]
    fn a_charge_may_exceed_the_budget_and_leaves_no_room_until_it_ends() {
        let budget = MemoryBudget::new(100, 100);
        let [mut one, mut other] = two_clients(&budget);
        assert_eq!(one.grow_to(60), Ok(()));
        let charge = budget.charge(40);
        assert!(!budget.is_exceeded() && !one.is_budget_exceeded());
        let more = budget.charge(1);
        assert!(budget.is_exceeded() && one.is_budget_exceeded());
        assert_eq!(other.grow_to(1), Err(BudgetExceeded::Total));
        one.shrink_to(50);
        one.shrink_to(70);
        assert_eq!((one.bytes(), budget.held(), budget.is_exceeded()), (50, 91, false));
        drop((charge, more));
        assert_eq!(other.grow_to(50), Ok(()));
        drop((one, other));
        assert_eq!(budget.held(), 0);
    }

    proptest! {
        #[test]
        fn held_is_the_sum_of_the_reservations(steps in vec((0_usize..6, 0_usize..50), 0..60)) {
            let budget = MemoryBudget::new(120, 70);
            let mut open: Vec<Option<MemoryReservation>> = (0..6).map(|_| None).collect();
            for (at, bytes) in steps {
                let last = u8::try_from(at).unwrap_or_default();
                match &mut open[at] {
                    None => open[at] = Some(budget.reservation(client(last))),
                    Some(_) if bytes == 0 => open[at] = None,
                    Some(held) if bytes % 5 == 0 => held.shrink_to(bytes),
                    Some(held) => drop(held.grow_to(bytes)),
                }
                let sum: usize = open.iter().flatten().map(MemoryReservation::bytes).sum();
                prop_assert_eq!(budget.held(), sum);
                prop_assert!(sum <= 120);
            }
        }
    }
}

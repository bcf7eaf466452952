//! Counts what each owner holds (connections, streams, uploads, running tasks) and bounds it, per
//! owner and in total.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use parking_lot::Mutex;

/// Hands out at most `total_max` slots, of which one owner holds at most `per_owner_max`.
///
/// It remembers only owners that hold a slot, so its memory is bounded by the slots handed out.
/// `usize::MAX` turns a limit off; without a per-owner limit no owner is remembered.
#[derive(Debug)]
pub struct OwnerLimiter<K: Eq + Hash> {
    shared: Arc<LimiterState<K>>,
}

#[derive(Debug)]
struct LimiterState<K> {
    total_max: usize,
    per_owner_max: usize,
    held: Mutex<HeldSlots<K>>,
}

#[derive(Debug)]
struct HeldSlots<K> {
    total: usize,
    by_owner: HashMap<K, usize>,
}

/// One slot; dropping it gives the slot back.
#[derive(Debug)]
pub struct OwnerSlot<K: Eq + Hash> {
    shared: Arc<LimiterState<K>>,
    /// `None` if the slot counts in the total alone.
    owner: Option<K>,
}

/// Which limits a refused owner has reached; both can be true.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitExceeded {
    /// The owner holds `per_owner_max` slots.
    pub per_owner: bool,
    /// All owners together hold `total_max` slots.
    pub total: bool,
}

impl<K: Eq + Hash> Clone for OwnerLimiter<K> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<K: Eq + Hash + Clone> OwnerLimiter<K> {
    /// A limiter with both limits; `usize::MAX` is no limit.
    #[must_use]
    pub fn new(total_max: usize, per_owner_max: usize) -> Self {
        let held = Mutex::new(HeldSlots { total: 0, by_owner: HashMap::new() });
        Self { shared: Arc::new(LimiterState { total_max, per_owner_max, held }) }
    }

    /// A limiter that bounds each owner and not the total.
    #[must_use]
    pub fn per_owner(max: usize) -> Self {
        Self::new(usize::MAX, max)
    }

    /// A slot that counts in the total alone.
    pub fn try_acquire_unowned(&self) -> Result<OwnerSlot<K>, LimitExceeded> {
        let mut held = self.shared.held.lock();
        if held.total >= self.shared.total_max {
            return Err(LimitExceeded { per_owner: false, total: true });
        }
        held.total += 1;
        Ok(OwnerSlot { shared: Arc::clone(&self.shared), owner: None })
    }

    /// A slot for this owner, if neither limit is reached.
    pub fn try_acquire(&self, owner: K) -> Result<OwnerSlot<K>, LimitExceeded> {
        let LimiterState { total_max, per_owner_max, held } = &*self.shared;
        let mut held = held.lock();
        let own = held.by_owner.get(&owner).copied().unwrap_or_default();
        let (per_owner, total) = (own >= *per_owner_max, held.total >= *total_max);
        if per_owner || total {
            return Err(LimitExceeded { per_owner, total });
        }
        held.total += 1;
        let owner = (*per_owner_max != usize::MAX).then_some(owner);
        if let Some(owner) = &owner {
            *held.by_owner.entry(owner.clone()).or_default() += 1;
        }
        Ok(OwnerSlot { shared: Arc::clone(&self.shared), owner })
    }

    /// How many slots are held by all owners together.
    #[must_use]
    pub fn held(&self) -> usize {
        self.shared.held.lock().total
    }

    /// How many owners are remembered.
    #[must_use]
    pub fn owners(&self) -> usize {
        self.shared.held.lock().by_owner.len()
    }
}

impl<K: Eq + Hash> Drop for OwnerSlot<K> {
    fn drop(&mut self) {
        let mut held = self.shared.held.lock();
        held.total -= 1;
        let Some(owner) = &self.owner else { return };
        if let Some(count) = held.by_owner.get_mut(owner) {
            *count -= 1;
            if *count == 0 {
                held.by_owner.remove(owner);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    const OWNER: LimitExceeded = LimitExceeded { per_owner: true, total: false };
    const TOTAL: LimitExceeded = LimitExceeded { per_owner: false, total: true };

    #[test]
    fn an_owner_and_all_owners_together_are_bounded() {
        let limiter = OwnerLimiter::new(3, 2);
        let mut ann =
            vec![limiter.try_acquire("ann").unwrap(), limiter.try_acquire("ann").unwrap()];
        assert_eq!(limiter.try_acquire("ann").err(), Some(OWNER));
        let bob = limiter.try_acquire("bob").unwrap();
        assert_eq!(limiter.try_acquire("cid").err(), Some(TOTAL));
        let both = LimitExceeded { per_owner: true, total: true };
        assert_eq!(limiter.try_acquire("ann").err(), Some(both));
        ann.pop();
        ann.push(limiter.try_acquire("ann").unwrap());
        assert_eq!((limiter.held(), limiter.owners()), (3, 2));
        drop((ann, bob));
        assert_eq!((limiter.held(), limiter.owners()), (0, 0));
    }

    #[test]
    fn an_unowned_slot_counts_in_the_total_alone() {
        let limiter = OwnerLimiter::new(2, 1);
        let held = [limiter.try_acquire_unowned().unwrap(), limiter.try_acquire("ann").unwrap()];
        assert_eq!(limiter.try_acquire_unowned().err(), Some(TOTAL));
        assert_eq!((limiter.held(), limiter.owners()), (2, 1));
        drop(held);
        assert_eq!((limiter.held(), limiter.owners()), (0, 0));
    }

    #[test]
    fn owners_are_not_remembered_without_a_limit_per_owner() {
        let limiter = OwnerLimiter::new(2, usize::MAX);
        let held = [limiter.try_acquire("ann").unwrap(), limiter.try_acquire("ann").unwrap()];
        assert_eq!(limiter.try_acquire("ann").err(), Some(TOTAL));
        assert_eq!((limiter.held(), limiter.owners()), (2, 0));
        drop(held);
        assert_eq!(limiter.held(), 0);
    }

    proptest! {
        #[test]
        fn counts_match_the_slots_that_are_held(steps in vec((0_u8..4, any::<bool>()), 0..100)) {
            let limiter = OwnerLimiter::new(5, 2);
            let mut slots: Vec<(u8, OwnerSlot<u8>)> = Vec::new();
            for (owner, acquire) in steps {
                let own = slots.iter().filter(|(it, _)| *it == owner).count();
                if acquire {
                    let expected = own < 2 && slots.len() < 5;
                    let slot = limiter.try_acquire(owner);
                    prop_assert_eq!(slot.is_ok(), expected);
                    slots.extend(slot.ok().map(|slot| (owner, slot)));
                } else if let Some(at) = slots.iter().position(|(it, _)| *it == owner) {
                    slots.remove(at);
                }
                prop_assert_eq!(limiter.held(), slots.len());
            }
        }
    }
}

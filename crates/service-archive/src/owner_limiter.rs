//! Bounds how many calls of one owner run at once. The concurrency limit of a tool is shared by all
//! callers; this part of it is the most that one owner can hold.

use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::sync::Arc;

/// Counts slots per owner; an owner without slots uses no memory.
#[derive(Clone)]
pub(crate) struct OwnerLimiter {
    slots_per_owner: usize,
    taken: Arc<Mutex<HashMap<String, usize>>>,
}

/// One slot of an owner, released on drop.
pub(crate) struct OwnerSlot {
    owner: String,
    limiter: OwnerLimiter,
}

impl OwnerLimiter {
    pub(crate) fn new(slots_per_owner: usize) -> Self {
        Self { slots_per_owner, taken: Arc::default() }
    }

    /// `None` if the owner holds all slots.
    pub(crate) fn try_acquire(&self, owner: &str) -> Option<OwnerSlot> {
        let mut taken = self.taken();
        let count = taken.entry(owner.to_owned()).or_default();
        if *count >= self.slots_per_owner {
            return None;
        }
        *count += 1;
        Some(OwnerSlot { owner: owner.to_owned(), limiter: self.clone() })
    }

    fn taken(&self) -> MutexGuard<'_, HashMap<String, usize>> {
        self.taken.lock()
    }
}

impl Drop for OwnerSlot {
    fn drop(&mut self) {
        let mut taken = self.limiter.taken();
        if let Some(count) = taken.get_mut(&self.owner) {
            *count -= 1;
            if *count == 0 {
                taken.remove(&self.owner);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_counted_per_owner_and_released_on_drop() {
        let limiter = OwnerLimiter::new(2);
        let first = limiter.try_acquire("ann").unwrap();
        let second = limiter.try_acquire("ann").unwrap();
        assert!(limiter.try_acquire("ann").is_none());
        let other = limiter.try_acquire("bob").unwrap();
        drop(first);
        assert!(limiter.try_acquire("ann").is_some());
        drop((second, other));
        assert!(limiter.taken().is_empty());
    }
}

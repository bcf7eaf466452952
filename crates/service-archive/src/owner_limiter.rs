//! How much one caller may have under way at once, so that the turns of a tool are not all theirs.
//! Who may call at all is decided elsewhere.

use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::sync::Arc;

/// Counted by owner; whoever has nothing under way is not remembered.
#[derive(Clone)]
pub(crate) struct OwnerLimiter {
    each: usize,
    taken: Arc<Mutex<HashMap<String, usize>>>,
}

/// Given back when it is dropped.
pub(crate) struct OwnerSlot {
    owner: String,
    owner_limiter: OwnerLimiter,
}

impl OwnerLimiter {
    pub(crate) fn new(each: usize) -> Self {
        Self { each, taken: Arc::default() }
    }

    /// None where the owner has all of theirs.
    pub(crate) fn take(&self, owner: &str) -> Option<OwnerSlot> {
        let mut taken = self.taken();
        let count = taken.entry(owner.to_owned()).or_default();
        if *count >= self.each {
            return None;
        }
        *count += 1;
        Some(OwnerSlot { owner: owner.to_owned(), owner_limiter: self.clone() })
    }

    fn taken(&self) -> MutexGuard<'_, HashMap<String, usize>> {
        self.taken.lock()
    }
}

impl Drop for OwnerSlot {
    fn drop(&mut self) {
        let mut taken = self.owner_limiter.taken();
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
    fn each_has_so_many_and_gets_them_back() {
        let owner_limiter = OwnerLimiter::new(2);
        let first = owner_limiter.take("ann").unwrap();
        let second = owner_limiter.take("ann").unwrap();
        assert!(owner_limiter.take("ann").is_none());
        let other = owner_limiter.take("bob").unwrap();
        drop(first);
        assert!(owner_limiter.take("ann").is_some());
        drop((second, other));
        assert!(owner_limiter.taken().is_empty());
    }
}

//! How much one caller may have under way at once, so that the turns of a tool are not all theirs.
//! Who may call at all is decided elsewhere.

use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::sync::Arc;

/// Counted by owner; whoever has nothing under way is not remembered.
#[derive(Clone)]
pub(crate) struct Seats {
    each: usize,
    taken: Arc<Mutex<HashMap<String, usize>>>,
}

/// Given back when it is dropped.
pub(crate) struct Seat {
    owner: String,
    seats: Seats,
}

impl Seats {
    pub(crate) fn new(each: usize) -> Self {
        Self { each, taken: Arc::default() }
    }

    /// None where the owner has all of theirs.
    pub(crate) fn take(&self, owner: &str) -> Option<Seat> {
        let mut taken = self.taken();
        let count = taken.entry(owner.to_owned()).or_default();
        if *count >= self.each {
            return None;
        }
        *count += 1;
        Some(Seat { owner: owner.to_owned(), seats: self.clone() })
    }

    fn taken(&self) -> MutexGuard<'_, HashMap<String, usize>> {
        self.taken.lock()
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut taken = self.seats.taken();
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
        let seats = Seats::new(2);
        let first = seats.take("ann").unwrap();
        let second = seats.take("ann").unwrap();
        assert!(seats.take("ann").is_none());
        let other = seats.take("bob").unwrap();
        drop(first);
        assert!(seats.take("ann").is_some());
        drop((second, other));
        assert!(seats.taken().is_empty());
    }
}

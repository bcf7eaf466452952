//! Places for work under way: so many for one owner and so many in all. One is taken before
//! anything is waited for, so that many who come at once cannot all find the same place free.

use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use crate::desk::Limits;
use crate::problem::{Problem, Reason};

/// When it is worth asking again; work takes a few seconds.
const WAIT: Duration = Duration::from_secs(2);

/// Places taken, by owner; an owner without any is not in it.
type Taken = Mutex<HashMap<String, usize>>;

#[derive(Default)]
pub(crate) struct Seats(Arc<Taken>);

/// A place that is free again when this is dropped.
pub(crate) struct Seat {
    taken: Arc<Taken>,
    owner: String,
}

fn lock(taken: &Taken) -> MutexGuard<'_, HashMap<String, usize>> {
    taken.lock()
}

impl Seats {
    pub(crate) fn take(&self, owner: &str, limits: &Limits) -> Result<Seat, Problem> {
        let mut taken = lock(&self.0);
        let own = taken.get(owner).copied().unwrap_or_default();
        let refused = if own >= limits.running_max {
            let message = format!("{own} tasks of yours are under way; wait for one to end");
            Some(Problem::new(Reason::RateLimited, message))
        } else if taken.values().sum::<usize>() >= limits.running_all_max {
            let message = "as many tasks are under way as this server takes; ask again shortly";
            Some(Problem::new(Reason::Unavailable, message))
        } else {
            None
        };
        if let Some(mut problem) = refused {
            problem.retry_after = Some(WAIT);
            return Err(problem);
        }
        *taken.entry(owner.to_owned()).or_default() += 1;
        Ok(Seat { taken: Arc::clone(&self.0), owner: owner.to_owned() })
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut taken = lock(&self.taken);
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
    fn places_are_bounded_for_one_and_for_all() {
        let limits = Limits { running_max: 2, running_all_max: 3, ..Limits::default() };
        let seats = Seats::default();
        let reason = |owner: &str| seats.take(owner, &limits).err().map(|it| it.reason);
        let first = seats.take("ann", &limits).ok();
        let _second = seats.take("ann", &limits).ok();
        assert!(matches!(reason("ann"), Some(Reason::RateLimited)));
        let third = seats.take("bob", &limits).ok();
        assert!(matches!(reason("cid"), Some(Reason::Unavailable)));
        drop(first);
        assert!(reason("cid").is_none(), "it is given back at once");
        drop(third);
        assert!(!lock(&seats.0).contains_key("bob"), "nobody is remembered for nothing");
    }
}

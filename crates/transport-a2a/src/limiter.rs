//! Places for work under way: so many for one owner and so many in all. One is taken before
//! anything is waited for, so that many who come at once cannot all find the same place free.

use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use crate::error::{A2aError, ErrorReason};
use crate::handler::TaskLimits;

/// When it is worth asking again; work takes a few seconds.
const WAIT: Duration = Duration::from_secs(2);

/// Places taken, by owner; an owner without any is not in it.
type Taken = Mutex<HashMap<String, usize>>;

#[derive(Default)]
pub(crate) struct TaskLimiter(Arc<Taken>);

/// A place that is free again when this is dropped.
pub(crate) struct TaskPermit {
    taken: Arc<Taken>,
    owner: String,
}

fn lock(taken: &Taken) -> MutexGuard<'_, HashMap<String, usize>> {
    taken.lock()
}

impl TaskLimiter {
    pub(crate) fn take(&self, owner: &str, limits: &TaskLimits) -> Result<TaskPermit, A2aError> {
        let mut taken = lock(&self.0);
        let own = taken.get(owner).copied().unwrap_or_default();
        let refused = if own >= limits.running_max {
            let message = format!("{own} tasks of yours are under way; wait for one to end");
            Some(A2aError::new(ErrorReason::RateLimited, message))
        } else if taken.values().sum::<usize>() >= limits.running_all_max {
            let message = "as many tasks are under way as this server takes; ask again shortly";
            Some(A2aError::new(ErrorReason::Unavailable, message))
        } else {
            None
        };
        if let Some(mut error) = refused {
            error.retry_after = Some(WAIT);
            return Err(error);
        }
        *taken.entry(owner.to_owned()).or_default() += 1;
        Ok(TaskPermit { taken: Arc::clone(&self.0), owner: owner.to_owned() })
    }
}

impl Drop for TaskPermit {
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
        let limits = TaskLimits { running_max: 2, running_all_max: 3, ..TaskLimits::default() };
        let limiter = TaskLimiter::default();
        let reason = |owner: &str| limiter.take(owner, &limits).err().map(|it| it.reason);
        let first = limiter.take("ann", &limits).ok();
        let _second = limiter.take("ann", &limits).ok();
        assert!(matches!(reason("ann"), Some(ErrorReason::RateLimited)));
        let third = limiter.take("bob", &limits).ok();
        assert!(matches!(reason("cid"), Some(ErrorReason::Unavailable)));
        drop(first);
        assert!(reason("cid").is_none(), "it is given back at once");
        drop(third);
        assert!(!lock(&limiter.0).contains_key("bob"), "nobody is remembered for nothing");
    }
}

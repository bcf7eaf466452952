//! Limits how many tasks run at once, for one owner and in this process. A permit is taken before
//! anything is awaited, so concurrent messages cannot share one free permit.

use std::time::Duration;

use limits::{OwnerLimiter, OwnerSlot};

use crate::error::{A2aError, ErrorReason};
use crate::handler::TaskLimits;

/// When a refused client may try again; a task takes a few seconds.
const RETRY_AFTER: Duration = Duration::from_secs(2);

/// Counts the running tasks of one agent.
pub(crate) struct TaskLimiter {
    slots: OwnerLimiter<String>,
    per_owner_max: usize,
}

/// Counts one task until it is dropped.
pub(crate) type TaskPermit = OwnerSlot<String>;

impl TaskLimiter {
    pub(crate) fn new(limits: &TaskLimits) -> Self {
        let per_owner_max = limits.running_max;
        Self { slots: OwnerLimiter::new(limits.running_all_max, per_owner_max), per_owner_max }
    }

    pub(crate) fn take(&self, owner: &str) -> Result<TaskPermit, A2aError> {
        self.slots.try_acquire(owner.to_owned()).map_err(|exceeded| {
            let mut error = if exceeded.per_owner {
                let own = self.per_owner_max;
                let message = format!("{own} tasks of yours are under way; wait for one to end");
                A2aError::new(ErrorReason::RateLimited, message)
            } else {
                let message = "as many tasks are under way as this server takes; ask again shortly";
                A2aError::new(ErrorReason::Unavailable, message)
            };
            error.retry_after = Some(RETRY_AFTER);
            error
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn running_tasks_are_limited_for_one_owner_and_for_all() {
        let limits = TaskLimits { running_max: 2, running_all_max: 3, ..TaskLimits::default() };
        let limiter = TaskLimiter::new(&limits);
        let reason = |owner: &str| limiter.take(owner).err().map(|error| error.reason);
        let first = limiter.take("ann").ok();
        let _second = limiter.take("ann").ok();
        assert!(matches!(reason("ann"), Some(ErrorReason::RateLimited)));
        let _third = limiter.take("bob").ok();
        assert!(matches!(reason("cid"), Some(ErrorReason::Unavailable)));
        drop(first);
        assert!(reason("cid").is_none(), "a permit is released when it is dropped");
    }
}

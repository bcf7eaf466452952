//! Broadcasts one event to many subscribers. Each subscriber has a bounded queue that drops events by
//! priority when it is full. An event is built once and shared.

mod broadcast;
mod queue;

pub use broadcast::{Broadcast, QueueDepth, Subscriber};
pub use queue::{EndReason, Next, Queue, UNCOUNTED_EVENTS};

/// Which events a full queue drops first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Priority {
    /// Outdated by the next event of its kind, such as a forming candle.
    Droppable,
    /// About the stream itself, such as connected or disconnected.
    Status,
    /// Never dropped, such as a closed candle.
    MustDeliver,
}

//! One event to many subscribers: each has a bounded queue that is choosy about what it gives up when
//! it is full. An event is built once and shared.
//!
//! What an event is, and how it travels, is not known here.

mod broadcast;
mod queue;

pub use broadcast::{Broadcast, QueueDepth, Subscriber};
pub use queue::{EndReason, Next, Queue};

/// How much an event matters, least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Priority {
    /// The next one of its kind says more: a forming candle.
    Droppable,
    /// Good to know, about the stream itself.
    Status,
    /// Never left out: a closed candle.
    MustDeliver,
}

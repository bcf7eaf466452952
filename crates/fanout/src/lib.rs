//! One event to many readers: each has a bounded queue that is choosy about what it gives up when
//! it is full. An event is built once and shared.
//!
//! What an event is, and how it travels, is not known here.

mod fan;
mod queue;

pub use fan::{Broadcast, Depth, Subscriber};
pub use queue::{End, Next, Queue};

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

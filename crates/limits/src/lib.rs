//! Limits that several crates share: how many things one owner may hold, how much memory requests
//! hold together, and how often a client may act. Callers pass the time; nothing here reads a clock.
#![warn(missing_docs)]

mod client;
mod memory;
mod owner;
mod rate;

pub use client::ClientAddress;
pub use memory::{BudgetExceeded, MemoryBudget, MemoryCharge, MemoryReservation};
pub use owner::{LimitExceeded, OwnerLimiter, OwnerSlot};
pub use rate::{Admission, Bucket, Quota, RateLimit, RateLimiter};

//! The HTTP client that adapters share: it bounds, times and retries requests, opens a circuit
//! breaker after repeated failures, and runs identical concurrent requests once.
//!
//! Adapters decide what to ask and what an answer means.

mod backoff;
mod breaker;
mod failure;
mod flight;
mod line;
mod wait;

pub use backoff::{Backoff, random_unit};
pub use breaker::{Breaker, Permit, Resting};
pub use failure::{Failure, Retry};
pub use flight::{Abandoned, SingleFlight};
pub use line::{ClientPolicy, HttpTransport, Response, address};
pub use wait::{is_young, jitter};

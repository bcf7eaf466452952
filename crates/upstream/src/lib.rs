//! What every adapter to a venue needs in order to ask politely: a line that bounds, times and
//! repeats requests, a breaker that leaves a failing venue alone, flights that make identical
//! questions one, random waits between attempts, and the words for what went wrong.
//!
//! What is asked, and what an answer says, is for the adapters.

mod breaker;
mod failure;
mod flight;
mod line;
mod wait;

pub use breaker::{Breaker, Permit, Resting};
pub use failure::{Failure, Retry};
pub use flight::{Abandoned, Flights};
pub use line::{Line, Manners, Response, address};
pub use wait::{is_young, jitter};

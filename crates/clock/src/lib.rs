//! Time for the whole project: the wall clock as a trait, instants in UTC milliseconds, ranges
//! of them, and ids that sort by time.
//!
//! `SystemClock` is the only code that reads the machine's clock; tests pass a clock of their own.

#![warn(missing_docs)]

mod ids;
mod port;
mod time;

pub use ids::IdGenerator;
pub use port::{Clock, SystemClock};
pub use time::{DAY_MS, Millis, TimeRange, parse_date};

//! What every adapter to a venue needs in order to ask politely: a line that bounds, times and
//! repeats requests, a breaker that leaves a failing venue alone, flights that make identical
//! questions one, random waits between attempts, the words for what went wrong, and the rule which
//! addresses of a stranger's choice are asked at all. And what live candles need: the followers of
//! a series, and what each of them reads.
//!
//! What is asked, and what an answer says, is for the adapters.

mod backoff;
mod breaker;
mod failure;
mod feed;
mod flight;
mod hub;
mod line;
mod public;
mod replay;
mod wait;

pub use backoff::{Backoff, chance};
pub use breaker::{Breaker, Permit, Resting};
pub use failure::{Failure, Retry};
pub use feed::{Feed, check_resume};
pub use flight::{Abandoned, Flights};
pub use hub::{Hub, Seat};
pub use line::{Line, Manners, Response, address};
pub use public::{PublicOnly, address_problem, url_problem};
pub use replay::{Page, Replay};
pub use wait::{is_young, jitter};

//! Live candles of one series for many subscribers: a broadcast per series, a replay of the closed
//! candles a subscriber missed, and the feed that joins the two without a gap.
//!
//! Venue adapters fetch the candles; this crate only distributes them.

mod feed;
mod replay;
mod series_broadcast;

pub use feed::{LiveFeed, check_resume_point};
pub use replay::{Replay, ReplayPage};
pub use series_broadcast::{SeriesBroadcast, SeriesSubscriber};

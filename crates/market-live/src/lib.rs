//! Live candles of one series for many subscribers: a broadcast per series, a replay of the closed
//! candles a subscriber missed, and the feed that joins the two without a gap.
//!
//! Venue adapters fetch the candles; this crate only distributes them.

mod feed;
mod hub;
mod replay;

pub use feed::{Feed, check_resume};
pub use hub::{SeriesBroadcast, SeriesSubscriber};
pub use replay::{Page, Replay};

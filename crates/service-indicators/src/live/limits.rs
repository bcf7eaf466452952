//! All bounds of live streams, and their relations to each other and to a venue's bounds.
//!
//! | bound | what it bounds | reason for the value |
//! |---|---|---|
//! | [`StreamLimits::queue_max`] | queued events of one subscriber | the contract's default; configurable |
//! | [`StreamLimits::replay_max`] | replayed closed candles of one subscriber | the maximum of one history request; configurable |
//! | [`StreamLimits::memory_max`] | bytes of all events, long queues and replays together | many readers that do not read must not take the server's memory; configurable |
//! | `RECENT_EVENTS_MAX` | closed candles that a channel holds as events | a short interruption needs no database read; older candles come from history |
//! | `CHECKPOINT_EVERY` | candles between two checkpoints of cumulative indicators | a replay recomputes at most this many |
//! | `FOLLOWED_MAX` | candles that a new channel asks the venue to replay | the gap between history and now; a symbol with a longer gap has stopped trading and starts from now |
//! | `FOLLOWED_MAX_WITH_NIGHTS` | the same for a venue with nights | a night of minutes is longer than `FOLLOWED_MAX` and has no candles |
//! | [`CHANNELS_MAX`] | channels | each is one subscription at a venue |
//! | `READERS_MAX` | subscribers of all channels | each has a queue |
//! | `REMEMBERED_MAX` | candles in the memory of all indicators together | 32 MB of numbers |
//! | `REPLAYS_MAX` | concurrent reads of replays | one warm-up may read a day of one-second candles |
//!
//! A channel, not a subscriber, subscribes to a venue. Up to 100,000 subscribers share up to 2,048
//! channels, so a venue's bound on its subscribers only has to reach [`CHANNELS_MAX`]. A channel
//! asks the venue to replay `FOLLOWED_MAX` candles at its start, and the whole gap after a
//! machine's sleep; a venue's replay bound is therefore larger than [`StreamLimits::replay_max`].
//! Replays to subscribers come from a channel's recent events and from history, never from the
//! venue. A venue that must be polled for every candle may support fewer series than channels and
//! refuses the rest.

use market::{SubscribeOptions, TradingHours};

/// Maximum number of open channels: distinct series with indicators.
pub const CHANNELS_MAX: usize = 2_048;
/// Maximum number of open subscriptions.
pub(super) const READERS_MAX: usize = 100_000;
/// Maximum number of candles that the indicators of all channels hold in memory.
pub(super) const REMEMBERED_MAX: usize = 4_000_000;
/// Maximum number of concurrent replay reads: one warm-up may hold a day of one-second candles.
pub(super) const REPLAYS_MAX: usize = 4;
/// Maximum number of closed candles that a channel holds as events.
pub(super) const RECENT_EVENTS_MAX: usize = 512;
/// Candles between two checkpoints; a replay recomputes at most this many.
pub(super) const CHECKPOINT_EVERY: usize = 512;
/// Maximum candles that a new channel asks a venue to replay; after a longer gap it starts from
/// now.
const FOLLOWED_MAX: u64 = 500;
/// The same for a venue with nights and holidays, when there are no candles.
const FOLLOWED_MAX_WITH_NIGHTS: u64 = 20_000;

/// Maximum gap between the end of history and now, in candles, that the venue is asked to replay.
pub(super) const fn followed_max(calendar: TradingHours) -> u64 {
    match calendar {
        TradingHours::AlwaysOpen => FOLLOWED_MAX,
        TradingHours::Unknown => FOLLOWED_MAX_WITH_NIGHTS,
    }
}

/// The configurable bounds of streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamLimits {
    /// Maximum number of queued events of one subscriber.
    pub queue_max: usize,
    /// Maximum number of closed candles replayed to a resuming subscriber.
    pub replay_max: u64,
    /// Maximum bytes of all events, of queues of more than 32 events and of replays; one client's
    /// queues and replays take at most half.
    pub memory_max: usize,
}

impl Default for StreamLimits {
    fn default() -> Self {
        Self { queue_max: SubscribeOptions::QUEUE_MAX, replay_max: 5_000, memory_max: 256 << 20 }
    }
}

impl StreamLimits {
    /// Allowed `queue_max`: at least 16 events for a short pause of the reader, at most 100,000
    /// events, about 30 MB for one reader.
    pub const QUEUE: std::ops::RangeInclusive<usize> = 16..=100_000;
    /// Allowed `replay_max`: one history read holds at most 50,000 candles in memory.
    pub const REPLAY: std::ops::RangeInclusive<u64> = 1..=50_000;

    /// The smallest `memory_max`: 16 MiB hold the replays of some sixteen subscribers.
    pub const MEMORY_MIN: usize = 16 << 20;

    /// Whether all bounds are in their allowed ranges.
    pub fn are_sound(&self) -> bool {
        Self::QUEUE.contains(&self.queue_max)
            && Self::REPLAY.contains(&self.replay_max)
            && self.memory_max >= Self::MEMORY_MIN
    }

    /// Number of closed candles that a channel holds as events: never more than `replay_max`.
    pub(super) fn recent_events_max(&self) -> usize {
        usize::try_from(self.replay_max).map_or(RECENT_EVENTS_MAX, |all| all.min(RECENT_EVENTS_MAX))
    }

    /// Length in candles of the blocks at whose start cumulative indicators start. A `replay_max`
    /// below the default does not shorten the block, so it does not change any value.
    pub(super) fn block(&self) -> u64 {
        self.replay_max.max(Self::default().replay_max)
    }

    /// Maximum number of checkpoints: enough for `replay_max` candles, plus one on either side.
    pub(super) fn checkpoints_max(&self) -> usize {
        usize::try_from(self.replay_max).unwrap_or(usize::MAX) / CHECKPOINT_EVERY + 3
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bounds_fit_together() {
        let defaults = StreamLimits::default();
        assert!(defaults.are_sound());
        assert_eq!(
            (defaults.queue_max, defaults.replay_max, defaults.recent_events_max()),
            (1_000, 5_000, RECENT_EVENTS_MAX)
        );
        // The venue's replay for a new channel fits into the channel's queue at the venue.
        assert!(FOLLOWED_MAX < SubscribeOptions::QUEUE_MAX as u64);
        for replay_max in [*StreamLimits::REPLAY.start(), 100, 5_000, *StreamLimits::REPLAY.end()] {
            let limits = StreamLimits { replay_max, ..defaults };
            assert!(limits.are_sound() && limits.recent_events_max() as u64 <= replay_max);
            assert!((limits.checkpoints_max() - 2) as u64 * CHECKPOINT_EVERY as u64 >= replay_max);
            assert!(limits.block() >= replay_max);
        }
        assert!(!StreamLimits { replay_max: 0, ..defaults }.are_sound());
        assert!(!StreamLimits { queue_max: 0, ..defaults }.are_sound());
    }
}

//! How far streams reach and how much they may hold: all bounds of this crate's live part, and how
//! they fit together and with a venue's.
//!
//! | bound | what it bounds | why so many |
//! |---|---|---|
//! | [`StreamLimits::queue_max`] | events that wait for one subscriber | the contract's default; can be set |
//! | [`StreamLimits::replay_max`] | closed candles told again to one who resumes | what one request for history gives; can be set |
//! | `KEPT_MAX` | those of them that a channel keeps as events | who comes back soon needs no database; older ones are read from history |
//! | `MARKED_EVERY` | candles between two states of what adds up | no more are computed again for one who resumes |
//! | `FOLLOWED_MAX` | candles that a new channel asks the venue to tell again | from where history ends; a symbol that stopped trading is followed from now |
//! | `FOLLOWED_MAX_SLEEPING` | the same where the venue sleeps | a night of minutes is longer than `FOLLOWED_MAX` and has no candles |
//! | [`CHANNELS_MAX`] | different series with indicators | each is one follower at a venue |
//! | `READERS_MAX` | subscribers of all channels | each has a queue |
//! | `REMEMBERED_MAX` | candles that all indicators remember together | 32 MB of numbers |
//! | `REPLAYS_MAX` | those who resume and are read for at a time | warming up may take a day of seconds |
//!
//! A channel, not a subscriber, follows a venue: so many subscribers share so few channels, and a
//! venue's bound on its followers has to be above [`CHANNELS_MAX`] and no more. It asks the venue
//! for little: `FOLLOWED_MAX` when it begins, and what it missed where the machine slept, which is
//! why a venue may tell many more than any subscriber can ask for. What subscribers resume from comes
//! from a channel's memory and from history, never from the venue's replay. A venue that has to be
//! asked for every candle may bear fewer series than there are channels, and says so itself.

use market::{SubscribeOptions, TradingHours};

/// How many different series with indicators are followed at a time.
pub const CHANNELS_MAX: usize = 2_048;
/// How many subscriptions there are at a time.
pub(super) const READERS_MAX: usize = 100_000;
/// How many candles the indicators of all channels remember together; bounds their memory.
pub(super) const REMEMBERED_MAX: usize = 4_000_000;
/// How many of those who resume are read for at a time: warming indicators may take a day of
/// seconds, which is held for a moment.
pub(super) const REPLAYS_MAX: usize = 4;
/// Closed candles kept ready for those who come back soon.
pub(super) const KEPT_MAX: usize = 512;
/// Candles between two marks: as many are computed again for one who resumes.
pub(super) const MARKED_EVERY: usize = 512;
/// A venue tells candles again only so far back; a symbol that stopped trading is followed anew.
const FOLLOWED_MAX: u64 = 500;
/// The same where the venue has nights and holidays: most of that time has no candles.
const FOLLOWED_MAX_SLEEPING: u64 = 20_000;

/// How many candles' time may lie between the end of history and now for a venue to be followed from
/// there.
pub(super) const fn followed_max(calendar: TradingHours) -> u64 {
    match calendar {
        TradingHours::AlwaysOpen => FOLLOWED_MAX,
        TradingHours::Unknown => FOLLOWED_MAX_SLEEPING,
    }
}

/// The bounds of streams that can be set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamLimits {
    /// How many events wait for a subscriber that reads slowly.
    pub queue_max: usize,
    /// The most closed candles that are told again to one who resumes.
    pub replay_max: u64,
}

impl Default for StreamLimits {
    fn default() -> Self {
        Self { queue_max: SubscribeOptions::QUEUE_MAX, replay_max: 5_000 }
    }
}

impl StreamLimits {
    /// A queue holds at least what closes while a reader takes a breath, and at most what one
    /// reader may cost: some thirty megabytes.
    pub const QUEUE: std::ops::RangeInclusive<usize> = 16..=100_000;
    /// Nobody is told more again than one read of history holds in memory with ease.
    pub const REPLAY: std::ops::RangeInclusive<u64> = 1..=50_000;

    /// Whether both can be held to.
    pub fn are_sound(&self) -> bool {
        Self::QUEUE.contains(&self.queue_max) && Self::REPLAY.contains(&self.replay_max)
    }

    /// The closed candles that a channel keeps as events: none that nobody may ask for.
    pub(super) fn kept(&self) -> usize {
        usize::try_from(self.replay_max).map_or(KEPT_MAX, |all| all.min(KEPT_MAX))
    }

    /// How many candles make a block at whose beginning things begin to add up. The same for small
    /// settings, so that a setting changes no values where it need not.
    pub(super) fn block(&self) -> u64 {
        self.replay_max.max(Self::default().replay_max)
    }

    /// One more mark than reach over all that can be told again, on either side.
    pub(super) fn marks(&self) -> usize {
        usize::try_from(self.replay_max).unwrap_or(usize::MAX) / MARKED_EVERY + 3
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bounds_fit_together() {
        let usual = StreamLimits::default();
        assert!(usual.are_sound());
        assert_eq!((usual.queue_max, usual.replay_max, usual.kept()), (1_000, 5_000, KEPT_MAX));
        // What a new channel is told again fits into the queue it is told through.
        assert!(FOLLOWED_MAX < SubscribeOptions::QUEUE_MAX as u64);
        for replay_max in [*StreamLimits::REPLAY.start(), 100, 5_000, *StreamLimits::REPLAY.end()] {
            let limits = StreamLimits { replay_max, ..usual };
            assert!(limits.are_sound() && limits.kept() as u64 <= replay_max);
            assert!((limits.marks() - 2) as u64 * MARKED_EVERY as u64 >= replay_max);
            assert!(limits.block() >= replay_max);
        }
        assert!(!StreamLimits { replay_max: 0, ..usual }.are_sound());
        assert!(!StreamLimits { queue_max: 0, ..usual }.are_sound());
    }
}

//! Conversion between instants and Moscow's local time, with the offset in force at each date.
//! The exchange writes local times without an offset; the zone data is IANA's, compiled in.

use clock::Millis;
use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};

static MOSCOW: TimeZone = jiff::tz::get!("Europe/Moscow");

/// The instant, cut to whole seconds and clamped to the years that jiff can represent.
fn timestamp(at: Millis) -> Timestamp {
    let limit = if at.0 < 0 { Timestamp::MIN } else { Timestamp::MAX };
    Timestamp::from_second(at.0.div_euclid(1_000)).unwrap_or(limit)
}

fn minutes(offset: Offset) -> i16 {
    i16::try_from(offset.seconds() / 60).unwrap_or_default()
}

/// Minutes that Moscow's local time is ahead of UTC at this instant.
pub(crate) fn utc_offset_min(at: Millis) -> i16 {
    minutes(MOSCOW.to_offset(timestamp(at)))
}

/// Moscow's local time at this instant, cut to whole seconds.
pub(crate) fn to_local(at: Millis) -> DateTime {
    MOSCOW.to_datetime(timestamp(at))
}

/// The instant of a local time and its offset in minutes.
///
/// A local time that occurred twice (clocks set back) is the earlier instant. A local time that was
/// skipped (clocks set forward) gets the offset that was in force before the change.
pub(crate) fn to_instant(local: DateTime) -> (Millis, i16) {
    let offset = match MOSCOW.to_ambiguous_timestamp(local).offset() {
        AmbiguousOffset::Unambiguous { offset } => offset,
        AmbiguousOffset::Gap { before, .. } | AmbiguousOffset::Fold { before, .. } => before,
    };
    let time = local.time();
    let seconds =
        i64::from(time.hour()) * 3_600 + i64::from(time.minute()) * 60 + i64::from(time.second());
    let midnight = Millis::start_of(local.date()).0;
    (Millis(midnight + (seconds - i64::from(offset.seconds())) * 1_000), minutes(offset))
}

/// The date in Moscow at this instant.
pub(crate) fn today(now: Millis) -> Date {
    to_local(now).date()
}

#[cfg(test)]
mod tests {
    use clock::parse_date;
    use proptest::prelude::*;

    use super::*;

    const HOUR_MS: i64 = 3_600_000;

    #[track_caller]
    fn check(local: &str, instant_utc: &str) {
        let local: DateTime = local.parse().unwrap();
        assert_eq!(to_instant(local).0.to_rfc3339(), instant_utc);
    }

    #[test]
    fn each_date_uses_the_offset_in_force_then() {
        check("2026-11-16T10:00:00", "2026-11-16T07:00:00Z");
        check("2014-10-26T10:00:00", "2014-10-26T07:00:00Z");
        check("2014-10-25T10:00:00", "2014-10-25T06:00:00Z");
        check("2011-03-28T10:00:00", "2011-03-28T06:00:00Z");
        check("2011-03-25T10:00:00", "2011-03-25T07:00:00Z");
        check("2008-07-01T10:30:00", "2008-07-01T06:30:00Z");
        check("2008-12-01T10:30:00", "2008-12-01T07:30:00Z");
        check("2008-03-30T12:00:00", "2008-03-30T08:00:00Z");
        check("2008-03-29T12:00:00", "2008-03-29T09:00:00Z");
        check("2008-10-25T12:00:00", "2008-10-25T08:00:00Z");
        check("2008-10-26T12:00:00", "2008-10-26T09:00:00Z");
        check("1995-10-01T12:00:00", "1995-10-01T09:00:00Z");
        check("1993-07-01T12:00:00", "1993-07-01T08:00:00Z");
    }

    #[test]
    fn a_repeated_time_is_the_earlier_instant_and_a_skipped_one_keeps_the_old_offset() {
        check("2010-10-31T02:30:00", "2010-10-30T22:30:00Z");
        check("2014-10-26T01:30:00", "2014-10-25T21:30:00Z");
        check("2008-03-30T02:30:00", "2008-03-29T23:30:00Z");
        assert_eq!(to_instant("2008-03-30T02:30:00".parse().unwrap()).1, 180);
    }

    #[test]
    fn the_date_changes_at_midnight_in_moscow() {
        let midnight = Millis::start_of(parse_date("2026-11-16").unwrap());
        assert_eq!(today(Millis(midnight.0 - 3 * HOUR_MS)).to_string(), "2026-11-16");
        assert_eq!(today(Millis(midnight.0 - 3 * HOUR_MS - 1)).to_string(), "2026-11-15");
    }

    proptest! {
        #[test]
        fn local_time_converts_back(seconds in 700_000_000_i64..4_000_000_000) {
            let at = Millis(seconds * 1_000);
            let back = to_instant(to_local(at)).0;
            // A local time that occurred twice converts back to the earlier instant.
            prop_assert!(back == at || back.0 == at.0 - HOUR_MS);
            prop_assert_eq!(to_local(back), to_local(at));
        }

        #[test]
        fn every_instant_has_a_local_time(at in any::<i64>()) {
            let _ = to_local(Millis(at));
        }
    }
}

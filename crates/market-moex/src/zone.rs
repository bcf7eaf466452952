//! Moscow's clocks, as they were. The exchange writes times without an offset, and old hours need
//! the one that held then.
//!
//! Years before 1993 are taken as three hours ahead: the exchange has no record of them.

use clock::{DAY_MS, Millis};
use jiff::civil::{Date, DateTime, Time, Weekday};

const HOUR_MS: i64 = 3_600_000;
const WINTER_MIN: i16 = 180;
const SUMMER_MIN: i16 = 240;
/// 2011-03-27 02:00 of Moscow: summer time for good.
const PERMANENT_SUMMER: Millis = Millis(1_301_180_400_000);
/// 2014-10-26 02:00 of Moscow: winter time for good.
const PERMANENT_WINTER: Millis = Millis(1_414_274_400_000);

/// How many minutes Moscow's clocks are ahead of UTC.
pub(crate) fn offset_min(at: Millis) -> i16 {
    if at >= PERMANENT_WINTER {
        return WINTER_MIN;
    }
    if at >= PERMANENT_SUMMER {
        return SUMMER_MIN;
    }
    let year = Millis(at.0.saturating_add(3 * HOUR_MS)).date().year();
    if !(1993..=2010).contains(&year) {
        return WINTER_MIN;
    }
    // Both changes came at 02:00 of winter time, which is 23:00 of the Saturday in UTC.
    let change = |month: i8| Millis(Millis::start_of(last_sunday(year, month)).0 - HOUR_MS);
    let end = if year < 1996 { change(9) } else { change(10) };
    if (change(3)..end).contains(&at) { SUMMER_MIN } else { WINTER_MIN }
}

fn last_sunday(year: i16, month: i8) -> Date {
    let first = Date::constant(year, month, 1);
    first.nth_weekday_of_month(-1, Weekday::Sunday).unwrap_or(first)
}

/// What Moscow's clocks show.
pub(crate) fn local(at: Millis) -> DateTime {
    let shown = Millis(at.0.saturating_add(i64::from(offset_min(at)) * 60_000));
    let seconds = shown.0.rem_euclid(DAY_MS) / 1_000;
    let part = |value: i64| i8::try_from(value).unwrap_or(0);
    let time = Time::new(part(seconds / 3_600), part(seconds / 60 % 60), part(seconds % 60), 0);
    shown.date().to_datetime(time.unwrap_or(Time::midnight()))
}

/// The instant at which Moscow's clocks showed this, with the offset that held. A time they showed
/// twice is the first; one they skipped is taken as if they had not.
pub(crate) fn instant(shown: DateTime) -> (Millis, i16) {
    let time = shown.time();
    let seconds =
        i64::from(time.hour()) * 3_600 + i64::from(time.minute()) * 60 + i64::from(time.second());
    let face = Millis::start_of(shown.date()).0 + seconds * 1_000;
    let at = |offset: i16| Millis(face - i64::from(offset) * 60_000);
    let offset = if offset_min(at(SUMMER_MIN)) == SUMMER_MIN { SUMMER_MIN } else { WINTER_MIN };
    (at(offset), offset)
}

/// The day it is in Moscow.
pub(crate) fn today(now: Millis) -> Date {
    local(now).date()
}

#[cfg(test)]
mod tests {
    use clock::parse_date;
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(shown: &str, instant_utc: &str) {
        let shown: DateTime = shown.parse().unwrap();
        assert_eq!(instant(shown).0.to_rfc3339(), instant_utc);
    }

    #[test]
    fn old_hours_have_their_own_offset() {
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
        check("1990-07-01T12:00:00", "1990-07-01T09:00:00Z");
    }

    #[test]
    fn the_day_changes_with_moscow() {
        let midnight = Millis::start_of(parse_date("2026-11-16").unwrap());
        assert_eq!(today(Millis(midnight.0 - 3 * HOUR_MS)).to_string(), "2026-11-16");
        assert_eq!(today(Millis(midnight.0 - 3 * HOUR_MS - 1)).to_string(), "2026-11-15");
    }

    proptest! {
        #[test]
        fn what_the_clocks_show_leads_back(seconds in 700_000_000_i64..4_000_000_000) {
            let at = Millis(seconds * 1_000);
            let back = instant(local(at)).0;
            // An hour that was shown twice leads to the first of them.
            prop_assert!(back == at || back.0 == at.0 - HOUR_MS);
            prop_assert_eq!(local(back), local(at));
        }

        #[test]
        fn no_instant_is_too_far(at in any::<i64>()) {
            let _ = local(Millis(at));
        }
    }
}

//! Instants as files write them: Unix time in any unit, ISO 8601, `20240131`. A time without a zone
//! is UTC.

use clock::{DAY_MS, Millis};

pub(crate) fn parse(text: &[u8]) -> Option<Millis> {
    if text.len() >= 10 && text[4] == b'-' && text[7] == b'-' {
        return parse_iso(text);
    }
    if text.len() == 8
        && let Some(day) = compact_date(text)
    {
        return Some(Millis(day));
    }
    parse_unix(text)
}

/// A date such as `20240131`; as Unix seconds it would be a day of 1970.
fn compact_date(text: &[u8]) -> Option<i64> {
    let (year, month, day) =
        (parse_digits(&text[..4])?, parse_digits(&text[4..6])?, parse_digits(&text[6..])?);
    if (1900..=2199).contains(&year) { midnight_ms(year, month, day) } else { None }
}

/// The size of the number decides its unit: seconds below 10^11 (the year 5138), milliseconds below
/// 10^14, microseconds below 10^17, else nanoseconds.
pub(crate) fn from_unix(value: i64) -> Millis {
    Millis(match value.unsigned_abs() {
        0..100_000_000_000 => value * 1000,
        100_000_000_000..100_000_000_000_000 => value,
        100_000_000_000_000..100_000_000_000_000_000 => value.div_euclid(1000),
        _ => value.div_euclid(1_000_000),
    })
}

fn parse_unix(text: &[u8]) -> Option<Millis> {
    let text = std::str::from_utf8(text).ok()?;
    // Data frames write whole seconds as floats.
    let whole = match text.split_once('.') {
        None => text,
        Some((whole, fraction)) if fraction.bytes().all(|byte| byte == b'0') => whole,
        Some(_) => return None,
    };
    if whole.starts_with('+') { None } else { whole.parse().ok().map(from_unix) }
}

/// `YYYY-MM-DD`, then optionally `T` or a space, `HH:MM`, seconds, a fraction, a zone.
fn parse_iso(text: &[u8]) -> Option<Millis> {
    let day = midnight_ms(
        parse_digits(&text[..4])?,
        parse_digits(&text[5..7])?,
        parse_digits(&text[8..10])?,
    )?;
    let rest = match &text[10..] {
        [] => return Some(Millis(day)),
        [b'T' | b't' | b' ', rest @ ..] if rest.len() >= 5 && rest[2] == b':' => rest,
        _ => return None,
    };
    let (hours, minutes) = (parse_digits(&rest[..2])?, parse_digits(&rest[3..5])?);
    let mut ms = hours * 3_600_000 + minutes * 60_000;
    if hours > 23 || minutes > 59 {
        return None;
    }
    let mut rest = &rest[5..];
    if let [b':', tens, ones, after @ ..] = rest {
        let seconds = parse_digits(&[*tens, *ones])?;
        if seconds > 59 {
            return None;
        }
        ms += seconds * 1000;
        rest = after;
        if let [b'.' | b',', after @ ..] = rest {
            let length = after.iter().take_while(|byte| byte.is_ascii_digit()).count();
            if length == 0 {
                return None;
            }
            // Drops digits beyond milliseconds.
            for (at, unit) in [100, 10, 1].into_iter().enumerate() {
                ms += after[..length].get(at).map_or(0, |byte| i64::from(byte - b'0') * unit);
            }
            rest = &after[length..];
        }
    }
    Some(Millis(day + ms - utc_offset_ms(rest)?))
}

/// The offset of the zone from UTC in milliseconds.
fn utc_offset_ms(text: &[u8]) -> Option<i64> {
    let (sign, rest) = match text {
        [] | [b'Z' | b'z'] | b" UTC" => return Some(0),
        [b'+', rest @ ..] => (1, rest),
        [b'-', rest @ ..] => (-1, rest),
        _ => return None,
    };
    let (hours, minutes) = match rest.len() {
        2 => (parse_digits(rest)?, 0),
        4 => (parse_digits(&rest[..2])?, parse_digits(&rest[2..])?),
        5 if rest[2] == b':' => (parse_digits(&rest[..2])?, parse_digits(&rest[3..])?),
        _ => return None,
    };
    (hours < 19 && minutes < 60).then_some(sign * (hours * 60 + minutes) * 60_000)
}

#[inline]
pub(crate) fn parse_digits(text: &[u8]) -> Option<i64> {
    text.iter().try_fold(0_i64, |value, byte| {
        let digit = byte.wrapping_sub(b'0');
        (digit < 10).then_some(value * 10 + i64::from(digit))
    })
}

/// Midnight of a date in milliseconds since 1970, computed by the 400-year cycle of the calendar.
/// It runs once for every row, and a calendar library takes ten times as long.
#[inline]
pub(crate) fn midnight_ms(year: i64, month: i64, day: i64) -> Option<i64> {
    const LENGTHS: [i64; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = LENGTHS.get(usize::try_from(month - 1).ok()?)? + i64::from(leap && month == 2);
    if day < 1 || day > length {
        return None;
    }
    // `march_year` begins in March, so that the leap day is its last day.
    let march_year = if month <= 2 { year - 1 } else { year };
    let (cycle, year_of_cycle) = (march_year.div_euclid(400), march_year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = cycle * 146_097 + year_of_cycle * 365 + year_of_cycle / 4 - year_of_cycle / 100
        + day_of_year;
    Some((days - 719_468) * DAY_MS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, time: &str) {
        assert_eq!(parse(text.as_bytes()).map(Millis::to_rfc3339).as_deref(), Some(time), "{text}");
    }

    #[test]
    fn common_spellings_are_parsed() {
        for text in [
            "2024-02-29",
            "20240229",
            "2024-02-29T00:00",
            "2024-02-29 00:00:00",
            "1709164800",
            "1709164800000",
            "1709164800000000",
            "1709164800000000000",
            "1709164800.0",
            "2024-02-29T03:00:00+03:00",
            "2024-02-28 20:30:00-0330",
            "2024-02-29T00:00:00.000Z",
            "2024-02-29 00:00:00 UTC",
            "2024-02-29 00:00:00+00",
        ] {
            check(text, "2024-02-29T00:00:00Z");
        }
        check("2024-02-29T13:14:15.6789Z", "2024-02-29T13:14:15.678Z");
        check("1969-12-31T23:59:59Z", "1969-12-31T23:59:59Z");
        check("-1", "1969-12-31T23:59:59Z");
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "",
            "2023-02-29",
            "2024-13-01",
            "2024-00-10",
            "2024-01-01T24:00:00",
            "2024-01-01T10",
            "2024-01-01X10:00",
            "2024-01-01T10:60",
            "2024-01-01T10:00:61",
            "2024-01-01T10:00:00.",
            "2024-01-01T10:00:00+99:00",
            "yesterday",
            "12/31/2024",
            "1.5",
            "99999999999999999999",
        ] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn dates_agree_with_the_calendar_library(day in -100_000_i64..100_000) {
            let at = Millis(day * DAY_MS);
            let text = at.date().to_string();
            proptest::prop_assert_eq!(parse(text.as_bytes()), Some(at));
        }

        #[test]
        fn no_text_panics(text in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..40)) {
            parse(&text);
        }
    }
}

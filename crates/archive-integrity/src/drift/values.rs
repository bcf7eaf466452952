//! Compares the numbers and dates of two statements, and writes an instant as its day.

use crate::Span;
use crate::amount::Amount;
use crate::date::Date;

pub(super) fn other_amount(old: &[(Amount, Span)], new: &[(Amount, Span)]) -> Option<Span> {
    let same =
        |one: &Amount, two: &Amount| one.value.abs_diff(two.value) <= one.slack.max(two.slack);
    let changed = new.iter().find(|it| {
        !old.iter().any(|old| same(&old.0, &it.0)) && old.iter().any(|old| old.0.unit == it.0.unit)
    })?;
    // A part counts as changed only if an old part is gone.
    let gone = old
        .iter()
        .any(|old| old.0.unit == changed.0.unit && !new.iter().any(|it| same(&it.0, &old.0)));
    gone.then_some(changed.1)
}

pub(super) fn other_date(old: &[(Date, Span)], new: &[(Date, Span)]) -> Option<Span> {
    let same = |one: &Date, two: &Date| one.views().contains(two) || two.views().contains(one);
    let changed = new.iter().find(|it| !old.iter().any(|old| same(&old.0, &it.0)))?;
    let gone = old.iter().any(|old| !new.iter().any(|it| same(&it.0, &old.0)));
    gone.then_some(changed.1)
}

/// The day of an instant, `2021-03-04`.
pub(super) fn day(ms: i64) -> String {
    let days = ms.div_euclid(86_400_000);
    // Years start in March, so that the leap day comes last.
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::day;

    #[test]
    fn an_instant_is_converted_to_its_day() {
        assert_eq!(day(0), "1970-01-01");
        assert_eq!(day(1_583_020_799_000), "2020-02-29");
        assert_eq!(day(-1), "1969-12-31");
    }
}

//! Adds days by the rule that a paper stands under: which days are counted, and where a last day
//! moves that falls on a weekend or a holiday. Holidays are computed from the statutes that fix
//! them; days off that a government moves each year are not known.

use jiff::civil::{Date, Weekday, date};
use jiff::{Span, ToSpan};

use crate::chronology::{CountingRule, DeadlineUnit};

/// Days around a Russian holiday to which the government may move a day off.
const MOVED_DAYS: i64 = 3;

/// The end of a count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CountedDay {
    /// The last day, moved by the rule.
    pub(crate) day: Date,
    /// The day at which the count ended.
    pub(crate) counted: Date,
    /// Whether a holiday that may have been moved lies where it matters.
    pub(crate) doubtful: bool,
}

/// Counts from the day after `start`, or back from the day before it; `None` outside the calendar.
pub(crate) fn count(
    start: Date,
    count: u16,
    unit: DeadlineUnit,
    before: bool,
    rule: CountingRule,
) -> Option<CountedDay> {
    let many = i64::from(count);
    let is_working_days = unit == DeadlineUnit::BusinessDays
        || unit == DeadlineUnit::Days && rule == CountingRule::RussianProcedure;
    let length: Span = match unit {
        _ if is_working_days => {
            let day = working_days(start, many, before, rule)?;
            let doubtful = is_russian(rule) && any_holiday(start, day)
                || unit == DeadlineUnit::BusinessDays && any_day_off(start, day, rule);
            return Some(CountedDay { day, counted: day, doubtful });
        }
        DeadlineUnit::Weeks => many.weeks(),
        DeadlineUnit::Months => many.months(),
        DeadlineUnit::Years => many.years(),
        _ => many.days(),
    };
    let counted =
        if before { start.checked_sub(length) } else { start.checked_add(length) }.ok()?;
    if rule == CountingRule::None {
        return Some(CountedDay { day: counted, counted, doubtful: false });
    }
    let mut day = counted;
    while is_day_off(day, rule) {
        day = if before { day.yesterday() } else { day.tomorrow() }.ok()?;
    }
    let near = |day: Date| {
        let from = day.checked_sub(MOVED_DAYS.days()).ok();
        let to = day.checked_add(MOVED_DAYS.days()).ok();
        from.zip(to).is_none_or(|(from, to)| any_holiday(from, to))
    };
    let doubtful = is_russian(rule) && (near(counted) || near(day));
    Some(CountedDay { day, counted, doubtful })
}

fn is_russian(rule: CountingRule) -> bool {
    matches!(
        rule,
        CountingRule::RussianProcedure
            | CountingRule::RussianCalendarDays
            | CountingRule::RussianCivilCode
    )
}

fn working_days(start: Date, count: i64, before: bool, rule: CountingRule) -> Option<Date> {
    let (mut day, mut left) = (start, count);
    while left > 0 {
        day = if before { day.yesterday() } else { day.tomorrow() }.ok()?;
        left -= i64::from(!is_day_off(day, rule));
    }
    Some(day)
}

/// Whether a Russian holiday lies between two days, in either order.
fn any_holiday(one: Date, other: Date) -> bool {
    days(one, other).any(is_russian_holiday)
}

/// Whether a holiday of the United States lies on a weekday between two days, in either order.
fn any_day_off(one: Date, other: Date, rule: CountingRule) -> bool {
    days(one, other).any(|day| !is_weekend(day) && is_day_off(day, rule))
}

fn days(one: Date, other: Date) -> impl Iterator<Item = Date> {
    let (from, to) = if one <= other { (one, other) } else { (other, one) };
    std::iter::successors(Some(from), |day| day.tomorrow().ok()).take_while(move |day| *day <= to)
}

fn is_weekend(day: Date) -> bool {
    matches!(day.weekday(), Weekday::Saturday | Weekday::Sunday)
}

fn is_day_off(day: Date, rule: CountingRule) -> bool {
    is_weekend(day)
        || if is_russian(rule) { is_russian_holiday(day) } else { is_federal_holiday(day) }
}

/// The holidays of Art. 112 of the Labour Code of Russia.
fn is_russian_holiday(day: Date) -> bool {
    matches!(
        (day.month(), day.day()),
        (1, 1..=8) | (2, 23) | (3, 8) | (5, 1 | 9) | (6, 12) | (11, 4)
    )
}

/// The legal public holidays of 5 U.S.C. § 6103, also where they are observed on the Friday before
/// or the Monday after a weekend.
fn is_federal_holiday(day: Date) -> bool {
    let neighbour = match day.weekday() {
        Weekday::Friday => day.tomorrow().ok(),
        Weekday::Monday => day.yesterday().ok(),
        _ => None,
    };
    on_fixed_day(day) || neighbour.is_some_and(on_fixed_day) || on_weekday(day)
}

fn on_fixed_day(day: Date) -> bool {
    match (day.month(), day.day()) {
        (1, 1) | (7, 4) | (11, 11) | (12, 25) => true,
        // Juneteenth became a holiday in 2021.
        (6, 19) => day >= date(2021, 6, 17),
        _ => false,
    }
}

fn on_weekday(day: Date) -> bool {
    let nth = (day.day() - 1) / 7 + 1;
    match (day.month(), day.weekday()) {
        (1 | 2, Weekday::Monday) => nth == 3,
        (5, Weekday::Monday) => day.day() > 24,
        (9, Weekday::Monday) => nth == 1,
        (10, Weekday::Monday) => nth == 2,
        (11, Weekday::Thursday) => nth == 4,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(
        start: Date,
        (many, unit, before): (u16, DeadlineUnit, bool),
        rule: CountingRule,
        expected: (Date, bool),
    ) {
        let found = count(start, many, unit, before, rule).unwrap();
        assert_eq!((found.day, found.doubtful), expected, "{start} {many} {unit:?} {rule:?}");
    }

    #[test]
    fn the_last_day_moves_by_the_rule_of_the_paper() {
        use CountingRule as Rule;
        use DeadlineUnit::{BusinessDays, Days, Months};
        let days = |many| (many, Days, false);
        // A Saturday, and the Monday after it is Memorial Day.
        check(date(2024, 5, 11), days(14), Rule::FederalRules, (date(2024, 5, 28), false));
        check(date(2024, 5, 11), days(14), Rule::None, (date(2024, 5, 25), false));
        // Christmas of 2021 is a Saturday, so its Friday is the day off.
        check(date(2021, 12, 10), days(14), Rule::FederalRules, (date(2021, 12, 27), false));
        check(date(2020, 6, 5), days(14), Rule::FederalRules, (date(2020, 6, 19), false));
        check(date(2023, 6, 5), days(14), Rule::FederalRules, (date(2023, 6, 20), false));
        check(date(2024, 3, 18), (2, Days, true), Rule::StateRules, (date(2024, 3, 15), false));
        check(
            date(2024, 11, 26),
            (1, BusinessDays, false),
            Rule::None,
            (date(2024, 11, 27), false),
        );
        check(date(2024, 11, 26), (2, BusinessDays, false), Rule::None, (date(2024, 11, 29), true));
        // Courts of Russia count working days, and contracts calendar days.
        check(date(2024, 9, 16), days(15), Rule::RussianProcedure, (date(2024, 10, 7), false));
        check(date(2024, 9, 16), days(15), Rule::RussianCivilCode, (date(2024, 10, 1), false));
        check(date(2024, 4, 25), days(15), Rule::RussianProcedure, (date(2024, 5, 20), true));
        let month = (1, Months, false);
        check(date(2024, 8, 15), month, Rule::RussianProcedure, (date(2024, 9, 16), false));
        check(date(2024, 1, 31), month, Rule::RussianProcedure, (date(2024, 2, 29), false));
        check(date(2024, 5, 14), month, Rule::RussianProcedure, (date(2024, 6, 14), true));
        assert_eq!(count(Date::MAX, 9, Days, false, Rule::None), None);
    }
}

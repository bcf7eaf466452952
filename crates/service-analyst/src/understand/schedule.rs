//! Reads questions about trading days, which may be in the future.

use jiff::ToSpan as _;
use jiff::civil::Date;

use super::vocabulary::begins;
use super::{Asked, Mention};
use crate::dates::{Dates, Period};
use crate::words::Word;

/// Most days that the tool returns in one call, minus one.
const DAYS_MAX: i32 = 399;
/// A question without a period covers two weeks.
const DAYS_USUAL: i32 = 13;
/// A question about days off covers 60 days, because the next one may be far away.
const DAYS_FAR: i32 = 60;

fn has(words: &[Word], stems: &str) -> bool {
    begins(words, &stems.split_whitespace().collect::<Vec<_>>())
}

/// Reports whether the question is about trading days. A question that names a security is not.
pub(super) fn is_about_calendar(words: &[Word], mentions: &[Mention], asked: &Asked) -> bool {
    let exchange = |it: &Mention| {
        let lower = it.text.to_lowercase();
        ["мосбирж", "московск", "moex", "moscow"].iter().any(|stem| lower.starts_with(stem))
    };
    let named = mentions.iter().any(|it| it.strong && !exchange(it) || it.index.is_some());
    let venue = has(words, "бирж мосбирж торг рынок рынк exchange market moex trading trade");
    let state = words.iter().any(|it| {
        it.is(&[
            "открыта",
            "открыт",
            "открыто",
            "закрыта",
            "закрыт",
            "закрыто",
            "работает",
            "работать",
            "работают",
            "работала",
            "открыться",
            "open",
            "closed",
            "opens",
            "closes",
            "reopen",
        ])
    }) || has(
        words,
        "откроет закроет выходн праздни празднич расписан календар нерабоч holiday calendar schedule",
    );
    let days = words.windows(2).any(|it| {
        it[0].lower.starts_with("торгов") && it[1].lower.starts_with("дн")
            || it[0].lower.starts_with("торгов") && it[1].is(&["день", "дней"])
            || it[0].is(&["trading"]) && it[1].is(&["day", "days", "hours"])
    });
    let when = words.windows(2).any(|it| {
        it[0].is(&["когда", "when"]) && (it[1].lower.starts_with("торг") || it[1].is(&["trading"]))
    }) || words.windows(3).any(|it| {
        it[0].lower.starts_with("торг") && it[1].is(&["ли"]) && it[2].lower.starts_with("бирж")
            || it[0].is(&["будут", "идут", "есть"]) && it[1].is(&["ли"]) && it[2].is(&["торги"])
    });
    let there = words.windows(2).any(|it| {
        it[0].lower.starts_with("торг") && it[1].is(&["есть", "будут", "идут", "будет"])
            || it[0].is(&["торговались", "торговалась"]) && it[1].is(&["ли"])
    });
    let left = days && has(words, "конец конца end");
    !named
        && (asked.hours
            || there
            || left
            || venue && state
            || days && has(words, "сколько many когда when")
            || when)
}

/// Returns the days that the question is about.
pub(super) fn period(words: &[Word], dates: &Dates, today: Date, asked: &Asked) -> Period {
    let before = has(words, "работала работал была были was were traded");
    let asks_year_end = has(words, "конец конца end") && has(words, "год года year");
    if asks_year_end && has(words, "сколько many") {
        let to = Date::new(today.year(), 12, 31).unwrap_or(today);
        return Period { from: today.saturating_add(1.day()).min(to), to };
    }
    let year_end = |year: i16| Date::new(year, 12, 31).unwrap_or(today);
    let requested = match (dates.future, dates.period) {
        (Some(future), _) => future,
        // A date without a year, or a weekday, means the next such day.
        (None, Some(past)) if past.to < today && !before && dates.guessed => Period {
            from: past.from.saturating_add(1.year()),
            to: past.to.saturating_add(1.year()),
        },
        (None, Some(past)) if past.is_day() && past.to < today && !before && on_weekday(words) => {
            Period::day(past.to.saturating_add(7.days()))
        }
        (None, Some(period)) => period,
        (None, None) if asked.hours => Period::day(today),
        (None, None) if has(words, "праздни празднич новогодн holiday") => {
            let of = if today.month() == 1 { today.year() - 1 } else { today.year() };
            let from = year_end(of);
            Period { from, to: from.saturating_add(10.days()) }
        }
        (None, None) => {
            let far = has(words, "выходн ближайш nearest next off");
            let days = if far { DAYS_FAR } else { DAYS_USUAL };
            Period { from: today, to: today.saturating_add(days.days()) }
        }
    };
    Period {
        from: requested.from,
        to: requested.to.min(requested.from.saturating_add(DAYS_MAX.days())),
    }
}

fn on_weekday(words: &[Word]) -> bool {
    has(
        words,
        "понедельник вторник среду среда четверг пятниц суббот воскресень monday tuesday wednesday \
         thursday friday saturday sunday",
    )
}

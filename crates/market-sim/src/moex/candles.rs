//! Candles, 500 a page, in the order open, close, high, low; and the borders of the history.

use parking_lot::Mutex;
use std::collections::HashMap;

use jiff::civil::{Date, Weekday};

use super::blocks::{Block, Cell, Column, Type};
use super::calendar::{MINUTE_MS, Wall, date_of, day_of, kind_of};
use super::listing::Security;
use super::query::Query;
use super::tape::{Bar, Tape};
use super::{Failure, Iss};

pub(crate) const PAGE: usize = 500;

const COLUMNS: [Column; 8] = [
    ("open", Type::Double),
    ("close", Type::Double),
    ("high", Type::Double),
    ("low", Type::Double),
    ("value", Type::Double),
    ("volume", Type::Double),
    ("begin", Type::DateTime),
    ("end", Type::DateTime),
];

/// The lengths of candles, by the exchange's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interval {
    Minutes(i64),
    Day,
    Week,
    Month,
    Quarter,
}

/// The length that is used if the request names none.
const TEN_MINUTES: Interval = Interval::Minutes(10);

impl Interval {
    pub(crate) const ALL: [(i64, Self); 7] = [
        (1, Self::Minutes(1)),
        (4, Self::Quarter),
        (7, Self::Week),
        (10, TEN_MINUTES),
        (24, Self::Day),
        (31, Self::Month),
        (60, Self::Minutes(60)),
    ];

    /// The first day of the candles that contain this day.
    fn first_day(self, day: i64) -> i64 {
        let date = date_of(day);
        let month = match self {
            Self::Minutes(_) | Self::Day => return day,
            Self::Week => {
                return day - i64::from(date.weekday().since(Weekday::Monday));
            }
            Self::Month => date.month(),
            Self::Quarter => (date.month() - 1) / 3 * 3 + 1,
        };
        day_of(Date::new(date.year(), month, 1).unwrap_or(date))
    }

    /// The first day after the candles that contain this day.
    fn next_day(self, first: i64) -> i64 {
        match self {
            Self::Minutes(_) | Self::Day => first + 1,
            Self::Week => first + 7,
            Self::Month => self.first_day(first + 31),
            Self::Quarter => self.first_day(first + 92),
        }
    }
}

/// The requested candles; both bounds are inclusive and apply to the beginning of a candle.
#[derive(Debug, Clone, Copy)]
struct Selection {
    interval: Interval,
    from: Wall,
    till: Wall,
    reverse: bool,
}

pub(crate) fn answer(
    iss: &Iss<'_>,
    security: Option<Security<'_>>,
    query: &Query,
) -> Result<Vec<Block>, Failure> {
    let failed = |_| Failure::Row("candles");
    let from = query.moment("from").map_err(failed)?.map(|(first, _)| first);
    let till = query.moment("till").map_err(failed)?.map(|(_, last)| last);
    let code_requested = query.get("interval").map_or(Some(10), |text| text.parse().ok());
    let interval = Interval::ALL.iter().find(|(code, _)| Some(*code) == code_requested);
    let (Some(security), Some((_, interval))) = (security, interval) else {
        return Ok(vec![Block::new("candles", &COLUMNS, Vec::new())]);
    };
    let selection = Selection {
        interval: *interval,
        from: from.unwrap_or(Wall(i64::MIN)),
        till: till.unwrap_or(Wall(i64::MAX)),
        reverse: query.get("iss.reverse") == Some("true"),
    };
    let mut tape = iss.tape(security);
    let start = passed(iss, &mut tape, security, &selection, query.start());
    let rows = select(&mut tape, &start.selection, start.skip, PAGE);
    let step = match security {
        Security::Share(share) => share.step,
        Security::Index(_) => 10_000,
    };
    let rows = rows.into_iter().map(|candle| cells(&candle, step)).collect();
    Ok(vec![Block::new("candles", &COLUMNS, rows)])
}

/// The number of candles of each finished day, so that later pages do not generate earlier candles
/// again.
#[derive(Debug, Default)]
pub(crate) struct Counts(Mutex<HashMap<(&'static str, i64, i64), usize>>);

impl Counts {
    const DAYS_MAX: usize = 100_000;

    fn get(&self, of: (&'static str, i64, i64)) -> Option<usize> {
        self.0.lock().get(&of).copied()
    }

    fn put(&self, of: (&'static str, i64, i64), count: usize) {
        let mut counts = self.0.lock();
        if counts.len() >= Self::DAYS_MAX {
            counts.clear();
        }
        counts.insert(of, count);
    }
}

struct Candle {
    begin: Wall,
    end: Wall,
    bar: Bar,
}

/// The start of a page: the remaining range, and how many of its rows are skipped.
struct Start {
    selection: Selection,
    skip: usize,
}

/// Skips whole days whose minute candles all belong to earlier pages.
fn passed(
    iss: &Iss<'_>,
    tape: &mut Tape<'_>,
    security: Security<'_>,
    selection: &Selection,
    mut skip: usize,
) -> Start {
    let mut selection = *selection;
    let Interval::Minutes(length) = selection.interval else { return Start { selection, skip } };
    if selection.reverse {
        return Start { selection, skip };
    }
    let mut day = selection.from.max(Wall::midnight(tape.first_day())).day();
    while skip > 0 && Wall::midnight(day + 1) <= tape.until().min(selection.till) {
        // The request may begin in the middle of the first day; such a count is not cached.
        let from = selection.from;
        let of = (security.secid(), length, day);
        let known = iss.counts.get(of).filter(|_| from <= Wall::midnight(day));
        let count = known.unwrap_or_else(|| {
            let begins =
                spans(selection.interval, day).into_iter().filter(|(begin, _)| *begin >= from);
            begins.filter(|(begin, next)| tape.fold(*begin, *next).is_some()).count()
        });
        if from <= Wall::midnight(day) && known.is_none() {
            iss.counts.put(of, count);
        }
        if count > skip {
            break;
        }
        skip -= count;
        selection.from = Wall::midnight(day + 1);
        day += 1;
    }
    Start { selection, skip }
}

fn select(tape: &mut Tape<'_>, selection: &Selection, skip: usize, limit: usize) -> Vec<Candle> {
    let Selection { interval, from, till, reverse } = *selection;
    let last = Wall(tape.until().0 - 1).min(till).day();
    let mut first = interval.first_day(tape.first_day().max(from.day().min(last)));
    let mut days = Vec::new();
    while first <= last {
        days.push(first);
        first = interval.next_day(first);
    }
    if reverse {
        days.reverse();
    }
    let (mut rows, mut skipped) = (Vec::new(), 0);
    for day in days {
        let mut spans = spans(interval, day);
        if reverse {
            spans.reverse();
        }
        for (begin, next) in spans {
            if begin < from || begin > till {
                continue;
            }
            let Some(bar) = tape.fold(begin, next) else { continue };
            if skipped < skip {
                skipped += 1;
                continue;
            }
            if rows.len() == limit {
                return rows;
            }
            rows.push(Candle { begin, end: end_of(tape, begin, next), bar });
        }
    }
    rows
}

/// The times at which candles may begin on a day, each with the time of the next one.
fn spans(interval: Interval, day: i64) -> Vec<(Wall, Wall)> {
    let midnight = Wall::midnight(day);
    let Interval::Minutes(length) = interval else {
        return vec![(midnight, Wall::midnight(interval.next_day(day)))];
    };
    let mut spans: Vec<(Wall, Wall)> = Vec::new();
    for (first, end) in kind_of(day).sessions() {
        let mut minute = first / length * length;
        while minute < *end {
            let begin = Wall(midnight.0 + minute * MINUTE_MS);
            if spans.last().is_none_or(|(last, _)| *last < begin) {
                spans.push((begin, Wall(begin.0 + length * MINUTE_MS)));
            }
            minute += length;
        }
    }
    spans
}

/// The end of a candle: a second before the next one begins, or the last trade of the current one.
fn end_of(tape: &mut Tape<'_>, begin: Wall, next: Wall) -> Wall {
    let whole = next.minus_ms(1_000);
    if next <= tape.until() { whole } else { tape.last_trade(begin, next).unwrap_or(whole) }
}

fn cells(candle: &Candle, step: i64) -> Vec<Cell> {
    let Candle { begin, end, bar } = candle;
    // Prices are computed in binary, as the exchange seems to do, which leaves rounding errors.
    let price = |micros: i64| {
        if micros % step == 0 {
            Cell::Float((micros / step) as f64 * (step as f64 / 1e6))
        } else {
            Cell::price(micros)
        }
    };
    vec![
        price(bar.open),
        price(bar.close),
        price(bar.high),
        price(bar.low),
        Cell::Micros(bar.value / 10_000 * 10_000),
        Cell::Int(bar.volume),
        Cell::text(begin.text()),
        Cell::text(end.text()),
    ]
}

/// The first and the last candle of each length. The market's form names the group of boards.
pub(crate) fn borders(
    iss: &Iss<'_>,
    security: Option<Security<'_>>,
    group: Option<i64>,
) -> Vec<Block> {
    let mut columns =
        vec![("begin", Type::DateTime), ("end", Type::DateTime), ("interval", Type::Int)];
    columns.extend(group.map(|_| ("board_group_id", Type::Int)));
    let mut rows = Vec::new();
    if let Some(security) = security {
        let mut tape = iss.tape(security);
        for (code, interval) in Interval::ALL {
            let ends = |reverse| Selection {
                interval,
                from: Wall(i64::MIN),
                till: Wall(i64::MAX),
                reverse,
            };
            let first = select(&mut tape, &ends(false), 0, 1).pop();
            let last = select(&mut tape, &ends(true), 0, 1).pop();
            if let (Some(first), Some(last)) = (first, last) {
                let mut row = vec![first.begin.text().into(), last.end.text().into(), code.into()];
                row.extend(group.map(Cell::Int));
                rows.push(row);
            }
        }
    }
    vec![Block::new("borders", &columns, rows)]
}

#[cfg(test)]
mod tests {
    use clock::DAY_MS;

    use super::*;

    #[track_caller]
    fn check(interval: Interval, date: &str, first: &str, next: &str) {
        let day = |text: &str| day_of(clock::parse_date(text).unwrap());
        assert_eq!(interval.first_day(day(date)), day(first), "{date}");
        assert_eq!(interval.next_day(day(first)), day(next), "{date}");
    }

    #[test]
    fn long_candles_begin_at_calendar_boundaries() {
        check(Interval::Day, "2026-11-16", "2026-11-16", "2026-11-17");
        check(Interval::Week, "2026-11-15", "2026-11-09", "2026-11-16");
        check(Interval::Week, "2026-11-16", "2026-11-16", "2026-11-23");
        check(Interval::Month, "2026-02-28", "2026-02-01", "2026-03-01");
        check(Interval::Month, "2026-01-31", "2026-01-01", "2026-02-01");
        check(Interval::Quarter, "2026-12-31", "2026-10-01", "2027-01-01");
        check(Interval::Quarter, "2026-02-01", "2026-01-01", "2026-04-01");
        check(Interval::Quarter, "2026-07-01", "2026-07-01", "2026-10-01");
    }

    #[test]
    fn an_hourly_day_has_fifteen_candles() {
        let day = day_of(Date::constant(2023, 5, 17));
        let hours: Vec<String> =
            spans(Interval::Minutes(60), day).iter().map(|(begin, _)| begin.time_text()).collect();
        assert_eq!(hours.len(), 15);
        assert_eq!((hours[0].as_str(), hours[14].as_str()), ("09:00:00", "23:00:00"));
        assert_eq!(spans(Interval::Minutes(1), day).len(), 811);
        assert_eq!(spans(Interval::Day, day)[0].1.0 - spans(Interval::Day, day)[0].0.0, DAY_MS);
    }
}

//! The daily history: one row for each regular day and security, 100 a page, with a cursor.
//!
//! Trades of a weekend session are in the row of the regular day to which they count. A day is
//! published when its last session has ended.

use clock::DAY_MS;

use super::blocks::{Block, Cell, Column, Type};
use super::calendar::{DAY_ENDS, MAIN_ENDS, MINUTE_MS, Wall, date_text, kind_of, regular_before};
use super::listing::{Index, Security, Share};
use super::query::Query;
use super::tape::{Bar, Tape};
use super::{Failure, Iss};

const PAGE: usize = 100;

const SHARE_COLUMNS: [Column; 24] = [
    ("BOARDID", Type::Text(12)),
    ("TRADEDATE", Type::Date),
    ("SHORTNAME", Type::Text(189)),
    ("SECID", Type::Text(36)),
    ("NUMTRADES", Type::Double),
    ("VALUE", Type::Double),
    ("OPEN", Type::Double),
    ("LOW", Type::Double),
    ("HIGH", Type::Double),
    ("LEGALCLOSEPRICE", Type::Double),
    ("WAPRICE", Type::Double),
    ("CLOSE", Type::Double),
    ("VOLUME", Type::Double),
    ("MARKETPRICE2", Type::Double),
    ("MARKETPRICE3", Type::Double),
    ("ADMITTEDQUOTE", Type::Double),
    ("MP2VALTRD", Type::Double),
    ("MARKETPRICE3TRADESVALUE", Type::Double),
    ("ADMITTEDVALUE", Type::Double),
    ("WAVAL", Type::Double),
    ("TRADINGSESSION", Type::Int),
    ("CURRENCYID", Type::Text(9)),
    ("TRENDCLSPR", Type::Double),
    ("TRADE_SESSION_DATE", Type::Date),
];

const INDEX_COLUMNS: [Column; 19] = [
    ("BOARDID", Type::Text(12)),
    ("SECID", Type::Text(36)),
    ("TRADEDATE", Type::Date),
    ("SHORTNAME", Type::Text(189)),
    ("NAME", Type::Text(765)),
    ("CLOSE", Type::Double),
    ("OPEN", Type::Double),
    ("HIGH", Type::Double),
    ("LOW", Type::Double),
    ("VALUE", Type::Double),
    ("DURATION", Type::Double),
    ("YIELD", Type::Double),
    ("DECIMALS", Type::Int),
    ("CAPITALIZATION", Type::Double),
    ("CURRENCYID", Type::Text(9)),
    ("DIVISOR", Type::Double),
    ("TRADINGSESSION", Type::Int),
    ("VOLUME", Type::Double),
    ("TRADE_SESSION_DATE", Type::Date),
];

const CURSOR: [Column; 3] =
    [("INDEX", Type::Long), ("TOTAL", Type::Long), ("PAGESIZE", Type::Long)];

/// The sessions a row can be about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Session {
    Main,
    Evening,
    Whole,
}

impl Session {
    fn of(query: &Query) -> Self {
        match query.get("tradingsession") {
            Some("1") => Self::Main,
            Some("2") => Self::Evening,
            _ => Self::Whole,
        }
    }

    const fn code(self) -> i64 {
        match self {
            Self::Main => 1,
            Self::Evening => 2,
            Self::Whole => 3,
        }
    }

    fn fold(self, tape: &mut Tape<'_>, day: i64) -> Option<Bar> {
        let (midnight, next) = (Wall::midnight(day), Wall::midnight(day + 1));
        let main_ends = Wall(midnight.0 + MAIN_ENDS * MINUTE_MS);
        match self {
            Self::Main => tape.fold(midnight, main_ends),
            Self::Evening => tape.fold(main_ends, next),
            Self::Whole => tape.fold(Wall::midnight(regular_before(day) + 1), next),
        }
    }
}

/// The last day whose row has been published.
pub(crate) fn last_day(until: Wall) -> i64 {
    let over = until.0.rem_euclid(DAY_MS) >= DAY_ENDS * MINUTE_MS;
    let day = if over { until.day() } else { until.day() - 1 };
    if kind_of(day).is_regular() { day } else { regular_before(day) }
}

/// The close of the last main session, which may be many days ago.
pub(crate) fn legal_close(tape: &mut Tape<'_>, day: i64) -> Option<i64> {
    Session::Main.fold(tape, day).map(|bar| bar.close).or_else(|| close_before(tape, day))
}

/// The last price before a day.
pub(crate) fn close_before(tape: &mut Tape<'_>, day: i64) -> Option<i64> {
    let traded = tape.prices()?.traded_before(day)?;
    tape.fold_day(traded).map(|bar| bar.close)
}

fn has_row(security: Security<'_>, day: i64) -> bool {
    kind_of(day).is_regular()
        && match security {
            Security::Share(share) => share.listed <= day && !share.halted_on(day),
            Security::Index(_) => true,
        }
}

/// The days of one security.
pub(crate) fn of_security(
    iss: &Iss<'_>,
    board: &str,
    security: Option<Security<'_>>,
    query: &Query,
    columns_of_index: bool,
) -> Result<Vec<Block>, Failure> {
    let failed = |_| Failure::Row("history");
    let (from, till) = (query.day("from").map_err(failed)?, query.day("till").map_err(failed)?);
    let session = Session::of(query);
    let Some(security) = security else {
        return Ok(page(columns_of_index, query, Vec::new(), |_: i64| None));
    };
    let mut tape = iss.tape(security);
    let last = last_day(tape.until()).min(till.unwrap_or(i64::MAX));
    let first = tape.first_day().max(from.unwrap_or(i64::MIN));
    let mut days: Vec<i64> = (first..=last).filter(|day| has_row(security, *day)).collect();
    if query.get("sort_order") == Some("desc") {
        days.reverse();
    }
    Ok(page(columns_of_index, query, days, |day| row(&mut tape, security, board, day, session)))
}

/// All securities of a board on one day.
pub(crate) fn of_board(
    iss: &Iss<'_>,
    board: &str,
    securities: Vec<Security<'_>>,
    query: &Query,
    columns_of_index: bool,
) -> Result<Vec<Block>, Failure> {
    let requested = query.day("date").map_err(|_| Failure::Row("history"))?;
    let session = Session::of(query);
    let published = |security: Security<'_>| last_day(iss.until(security));
    let shown = |security: &Security<'_>| {
        let last = published(*security);
        let day = requested.unwrap_or(last);
        day <= last && has_row(*security, day)
    };
    let securities: Vec<Security<'_>> = securities.into_iter().filter(shown).collect();
    Ok(page(columns_of_index, query, securities, |security| {
        let day = requested.unwrap_or_else(|| published(security));
        row(&mut iss.tape(security), security, board, day, session)
    }))
}

/// The rows of the requested page, and its cursor.
fn page<T: Copy>(
    index: bool,
    query: &Query,
    all: Vec<T>,
    row: impl FnMut(T) -> Option<Vec<Cell>>,
) -> Vec<Block> {
    let limit = match query.number("limit") {
        Some(limit @ (1 | 5 | 10 | 20 | 50)) => limit as usize,
        _ => PAGE,
    };
    let start = query.start();
    let rows = all.iter().copied().skip(start).take(limit).filter_map(row).collect();
    let columns: &[Column] = if index { &INDEX_COLUMNS } else { &SHARE_COLUMNS };
    let number = |value: usize| Cell::Int(i64::try_from(value).unwrap_or(i64::MAX));
    let cursor = vec![number(start), number(all.len()), number(limit)];
    vec![Block::new("history", columns, rows), Block::new("history.cursor", &CURSOR, vec![cursor])]
}

fn row(
    tape: &mut Tape<'_>,
    security: Security<'_>,
    board: &str,
    day: i64,
    session: Session,
) -> Option<Vec<Cell>> {
    match security {
        Security::Share(share) => Some(share_row(tape, share, board, day, session)),
        Security::Index(index) => index_row(tape, index, board, day, session),
    }
}

fn share_row(
    tape: &mut Tape<'_>,
    share: &Share,
    board: &str,
    day: i64,
    session: Session,
) -> Vec<Cell> {
    let bar = session.fold(tape, day);
    let price = |of: fn(&Bar) -> i64| bar.as_ref().map_or(Cell::Null, |bar| Cell::price(of(bar)));
    let value = bar.map_or(0, |bar| bar.value / 10_000 * 10_000);
    let average = bar.and_then(|bar| bar.average()).map(|price| price / share.step * share.step);
    let before = close_before(tape, regular_before(day) + 1);
    let trend = bar
        .zip(before)
        .map(|(bar, before)| Cell::rounded((bar.close - before) as f64 / before as f64 * 100.0, 2));
    vec![
        board.into(),
        date_text(day).into(),
        share.short_name.into(),
        share.secid.into(),
        Cell::Int(bar.map_or(0, |bar| bar.trades)),
        Cell::Micros(value),
        price(|bar| bar.open),
        price(|bar| bar.low),
        price(|bar| bar.high),
        Cell::maybe(legal_close(tape, day)),
        Cell::maybe(average),
        price(|bar| bar.close),
        Cell::Int(bar.map_or(0, |bar| bar.volume)),
        Cell::maybe(average),
        Cell::maybe(average),
        Cell::Null,
        Cell::Micros(value),
        Cell::Micros(value),
        Cell::Null,
        Cell::Int(0),
        Cell::Int(session.code()),
        "SUR".into(),
        trend.unwrap_or(Cell::Null),
        date_text(day).into(),
    ]
}

fn index_row(
    tape: &mut Tape<'_>,
    index: &Index,
    board: &str,
    day: i64,
    session: Session,
) -> Option<Vec<Cell>> {
    let bar = session.fold(tape, day)?;
    Some(vec![
        board.into(),
        index.secid.into(),
        date_text(day).into(),
        index.short_name.into(),
        index.name.into(),
        Cell::price(bar.close),
        Cell::price(bar.open),
        Cell::price(bar.high),
        Cell::price(bar.low),
        Cell::Micros(bar.value / 10_000 * 10_000),
        Cell::Int(0),
        Cell::Int(0),
        Cell::Int(2),
        Cell::Null,
        index.currency.into(),
        Cell::Null,
        Cell::Int(session.code()),
        Cell::Null,
        date_text(day).into(),
    ])
}

/// The first and the last day of the history.
pub(crate) fn dates(iss: &Iss<'_>, securities: &[Security<'_>]) -> Vec<Block> {
    let columns = [("from", Type::Date), ("till", Type::Date)];
    let first = securities.iter().map(|security| iss.tape(*security).first_day()).min();
    let last = securities.iter().map(|security| last_day(iss.until(*security))).max();
    let rows =
        first.zip(last).map(|(first, last)| vec![date_text(first).into(), date_text(last).into()]);
    vec![Block::new("dates", &columns, rows.into_iter().collect())]
}

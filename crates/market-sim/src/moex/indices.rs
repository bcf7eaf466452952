//! Current index values. Unlike shares, indices have no delay, and a value instead of a last price.

use super::blocks::{Block, Cell, Column, Type};
use super::calendar::{Wall, date_of, date_text, day_of, kind_of, regular_before};
use super::listing::{Index, Security};
use super::marketdata::{shown_day, version};
use super::tape::Tape;
use super::{Iss, basket::dollar_on};

const SECURITIES: [Column; 9] = [
    ("SECID", Type::Text(36)),
    ("BOARDID", Type::Text(12)),
    ("NAME", Type::Text(765)),
    ("DECIMALS", Type::Int),
    ("SHORTNAME", Type::Text(189)),
    ("ANNUALHIGH", Type::Double),
    ("ANNUALLOW", Type::Double),
    ("CURRENCYID", Type::Text(9)),
    ("CALCMODE", Type::Text(3)),
];

const MARKETDATA: [Column; 26] = [
    ("SECID", Type::Text(36)),
    ("BOARDID", Type::Text(12)),
    ("LASTVALUE", Type::Double),
    ("OPENVALUE", Type::Double),
    ("CURRENTVALUE", Type::Double),
    ("LASTCHANGE", Type::Double),
    ("LASTCHANGETOOPENPRC", Type::Double),
    ("LASTCHANGETOOPEN", Type::Double),
    ("UPDATETIME", Type::Time),
    ("LASTCHANGEPRC", Type::Double),
    ("VALTODAY", Type::Double),
    ("MONTHCHANGEPRC", Type::Double),
    ("YEARCHANGEPRC", Type::Double),
    ("SEQNUM", Type::Long),
    ("SYSTIME", Type::DateTime),
    ("TIME", Type::Time),
    ("VALTODAY_USD", Type::Double),
    ("LASTCHANGEBP", Type::Double),
    ("MONTHCHANGEBP", Type::Double),
    ("YEARCHANGEBP", Type::Double),
    ("CAPITALIZATION", Type::Double),
    ("CAPITALIZATION_USD", Type::Double),
    ("HIGH", Type::Double),
    ("LOW", Type::Double),
    ("TRADEDATE", Type::Date),
    ("TRADE_SESSION_DATE", Type::Date),
];

/// The blocks for some indices.
pub(crate) fn answer(iss: &Iss<'_>, indices: Vec<&'static Index>, english: bool) -> Vec<Block> {
    let (mut securities, mut data) = (Vec::new(), Vec::new());
    let day = shown_day(iss.now, |day| kind_of(day).is_regular());
    for index in indices {
        let mut tape = iss.tape(Security::Index(index));
        securities.push(security(index, english));
        data.push(marketdata(iss, &mut tape, index, day));
    }
    vec![
        Block::new("securities", &SECURITIES, securities),
        Block::new("marketdata", &MARKETDATA, data),
        version(iss.now, day),
    ]
}

fn security(index: &Index, english: bool) -> Vec<Cell> {
    vec![
        index.secid.into(),
        index.board.into(),
        if english { index.latin.into() } else { index.name.into() },
        Cell::Int(2),
        if english { index.latin.into() } else { index.short_name.into() },
        Cell::Null,
        Cell::Null,
        index.currency.into(),
        Cell::Null,
    ]
}

fn marketdata(iss: &Iss<'_>, tape: &mut Tape<'_>, index: &Index, day: i64) -> Vec<Cell> {
    let bar = tape.fold_day(day);
    let mut close_before = |day: i64| tape.fold_day(regular_before(day)).map(|bar| bar.close);
    let previous = close_before(day);
    let date = date_of(day);
    let month = close_before(day_of(date.first_of_month()));
    let year = close_before(day_of(date.first_of_year()));
    // Before the first second of the session the value is that of the previous day.
    let value = bar.map(|bar| bar.close).or(previous);
    let open = bar.map(|bar| bar.open);
    let points = |from: Option<i64>| value.zip(from).map(|(value, from)| value - from);
    let percent = |from: Option<i64>| {
        let part = value.zip(from).map(|(value, from)| (value - from) as f64 / from as f64 * 100.0);
        Cell::rounded(part.unwrap_or(0.0), 2)
    };
    let basis = |from: Option<i64>| Cell::Int(points(from).unwrap_or(0) / 10_000);
    let roubles = bar.map_or(0, |bar| (bar.value / 1_000_000) as i64);
    let seen = tape.last_trade(Wall::midnight(day), Wall::midnight(day + 1));
    let seen = seen.unwrap_or(Wall::midnight(day)).time_text();
    vec![
        index.secid.into(),
        index.board.into(),
        Cell::maybe(previous),
        Cell::maybe(open),
        Cell::maybe(value),
        Cell::price(points(previous).unwrap_or(0)),
        percent(open),
        Cell::price(points(open).unwrap_or(0)),
        seen.as_str().into(),
        percent(previous),
        Cell::Int(roubles),
        percent(month),
        percent(year),
        Cell::Int(iss.now.sequence()),
        iss.now.text().into(),
        seen.into(),
        Cell::Int((roubles as f64 / dollar_on(iss.seed, day)) as i64),
        basis(previous),
        basis(month),
        basis(year),
        Cell::Null,
        Cell::Null,
        Cell::maybe(bar.map(|bar| bar.high)),
        Cell::maybe(bar.map(|bar| bar.low)),
        date_text(day).into(),
        date_text(day).into(),
    ]
}

//! The weights of index members by day, 20 rows a page, or 100 if the request asks for it.

use super::blocks::{Block, Cell, Column, Type};
use super::calendar::{
    MAIN_ENDS, MINUTE_MS, Wall, date_text, day_of, kind_of, regular_before, regular_from,
};
use super::listing::{INDICES, Index, Share};
use super::prices::SharePrices;
use super::query::Query;
use super::{Failure, Iss};

const COLUMNS: [Column; 8] = [
    ("indexid", Type::Text(36)),
    ("tradedate", Type::Date),
    ("ticker", Type::Text(36)),
    ("shortnames", Type::Text(567)),
    ("secids", Type::Text(108)),
    ("weight", Type::Double),
    ("tradingsession", Type::Int),
    ("trade_session_date", Type::Date),
];

const CURSOR: [Column; 5] = [
    ("INDEX", Type::Long),
    ("TOTAL", Type::Long),
    ("PAGESIZE", Type::Long),
    ("PREV_DATE", Type::Date),
    ("NEXT_DATE", Type::Date),
];

const DATES: [Column; 2] = [("from", Type::Date), ("till", Type::Date)];

/// The last day with weights: they are computed when the main session is over.
fn last_day(now: Wall) -> i64 {
    let computed = Wall(Wall::midnight(now.day()).0 + MAIN_ENDS * MINUTE_MS) <= now;
    let day = if computed { now.day() } else { now.day() - 1 };
    if kind_of(day).is_regular() { day } else { regular_before(day) }
}

/// The first day with weights: an index without members has none.
fn first_day(iss: &Iss<'_>, index: &Index) -> i64 {
    let members = iss.listing.shares.iter().filter(|share| index.part_of(share).is_some());
    let listed = members.map(|share| share.listed).min();
    regular_from(listed.unwrap_or_default().max(day_of(index.since)))
}

/// Members of an index on a day, with their weights in percent.
pub(crate) fn weights<'a>(iss: &Iss<'a>, index: &Index, day: i64) -> Vec<(&'a Share, f64)> {
    let members = iss.listing.shares.iter().filter(|share| share.listed <= day);
    let parts: Vec<(&Share, f64)> = members
        .filter_map(|share| {
            let part = index.part_of(share)?;
            let prices = SharePrices::new(iss.seed, share);
            Some((share, part * prices.level_before(day + 1)))
        })
        .collect();
    let whole: f64 = parts.iter().map(|(_, part)| part).sum();
    parts.into_iter().map(|(share, part)| (share, part / whole * 100.0)).collect()
}

pub(crate) fn of_index(
    iss: &Iss<'_>,
    index: Option<&Index>,
    query: &Query,
) -> Result<Vec<Block>, Failure> {
    let day = query.day("date").map_err(|_| Failure::Row("analytics"))?;
    let day = day.unwrap_or_else(|| iss.now.day());
    let limit = if query.get("limit") == Some("100") { 100 } else { 20 };
    let session = match query.get("tradingsession") {
        Some("1") => 1,
        Some("2") => 2,
        _ => 3,
    };
    let last = last_day(iss.now);
    let Some(index) = index else {
        let cursor = vec![0.into(), 0.into(), limit.into(), Cell::Null, Cell::Null];
        return Ok(vec![
            Block::new("analytics", &COLUMNS, Vec::new()),
            Block::new("analytics.cursor", &CURSOR, vec![cursor]),
            Block::new("analytics.dates", &DATES, Vec::new()),
        ]);
    };
    let first = first_day(iss, index);
    let open = (first..=last).contains(&day) && kind_of(day).is_regular();
    let all = if open { weights(iss, index, day) } else { Vec::new() };
    let total = all.len();
    let rows = all
        .into_iter()
        .skip(query.start())
        .take(limit as usize)
        .map(|(share, weight)| row(index, share, weight, day, session))
        .collect();
    let previous = regular_before(day.min(last + 1).max(first));
    let next = (day < last).then(|| regular_from(day.max(first - 1) + 1));
    let cursor = vec![
        Cell::Int(i64::try_from(query.start()).unwrap_or(i64::MAX)),
        Cell::Int(total as i64),
        Cell::Int(limit),
        if day > first { date_text(previous).into() } else { Cell::Null },
        next.map_or(Cell::Null, |next| date_text(next).into()),
    ];
    let dates = vec![date_text(first).into(), date_text(last).into()];
    Ok(vec![
        Block::new("analytics", &COLUMNS, rows),
        Block::new("analytics.cursor", &CURSOR, vec![cursor]),
        Block::new("analytics.dates", &DATES, vec![dates]),
    ])
}

fn row(index: &Index, share: &Share, weight: f64, day: i64, session: i64) -> Vec<Cell> {
    vec![
        index.secid.into(),
        date_text(day).into(),
        share.secid.into(),
        share.short_name.into(),
        share.secid.into(),
        Cell::rounded(weight, 2),
        Cell::Int(session),
        date_text(day).into(),
    ]
}

/// Every index that has weights.
pub(crate) fn list(iss: &Iss<'_>) -> Vec<Block> {
    let columns = [
        ("indexid", Type::Text(36)),
        ("shortname", Type::Text(765)),
        ("from", Type::Date),
        ("till", Type::Date),
    ];
    let till = date_text(last_day(iss.now));
    let row = |index: &Index| {
        vec![
            index.secid.into(),
            index.short_name.into(),
            date_text(first_day(iss, index)).into(),
            till.as_str().into(),
        ]
    };
    vec![Block::new("indices", &columns, INDICES.iter().map(row).collect())]
}

/// The members of an index and the day since which each is one.
pub(crate) fn tickers(iss: &Iss<'_>, index: Option<&Index>) -> Vec<Block> {
    let columns = [
        ("ticker", Type::Text(36)),
        ("from", Type::Date),
        ("till", Type::Date),
        ("tradingsession", Type::Int),
    ];
    let last = last_day(iss.now);
    let mut rows = Vec::new();
    if let Some(index) = index {
        let members = iss.listing.listed(last).filter(|share| index.part_of(share).is_some());
        rows.extend(members.map(|share| {
            let from = regular_from(share.listed.max(day_of(index.since)));
            vec![share.secid.into(), date_text(from).into(), date_text(last).into(), 3.into()]
        }));
    }
    vec![Block::new("tickers", &columns, rows)]
}

/// The indices that contain a share.
pub(crate) fn of_share(iss: &Iss<'_>, share: Option<&Share>) -> Vec<Block> {
    let columns = [
        ("SECID", Type::Text(36)),
        ("SHORTNAME", Type::Text(765)),
        ("FROM", Type::Date),
        ("TILL", Type::Date),
    ];
    let last = last_day(iss.now);
    let mut rows = Vec::new();
    if let Some(share) = share {
        let indices = INDICES.iter().filter(|index| index.part_of(share).is_some());
        rows.extend(indices.map(|index| {
            let from = regular_from(share.listed.max(day_of(index.since)));
            vec![
                index.secid.into(),
                index.short_name.into(),
                date_text(from).into(),
                date_text(last).into(),
            ]
        }));
    }
    vec![Block::new("indices", &columns, rows)]
}

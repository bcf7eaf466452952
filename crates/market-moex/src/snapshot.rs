//! Reads the snapshot of a security from its rows in the blocks `securities` and `marketdata`.
//!
//! `CHANGE` and `LASTTOPREVPRICE` are relative to the previous day. `LASTCHANGE` is relative to the
//! previous trade, except for indices, where it is relative to the previous day, too.

use std::sync::Arc;

use clock::{DAY_MS, Millis};
use jiff::ToSpan;
use jiff::civil::{Date, Time};
use market::{
    Decimal, Delay, Freshness, PriceBasis, Security, SecuritySnapshot, TradingStatus, WithFreshness,
};

use crate::moscow_time;
use crate::number;
use crate::stale_cache::Cached;
use crate::tables::Row;

/// The most decimals of a price.
const DECIMALS_MAX: i64 = 12;
/// How far the exchange's clock may be ahead before a time of day is taken as one of yesterday.
const SKEW_MS: i64 = 60_000;

/// A snapshot with the time and delay of its data.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DatedSnapshot {
    pub(crate) snapshot: Arc<SecuritySnapshot>,
    pub(crate) as_of: Millis,
    pub(crate) delay: Delay,
    /// Why the price is not from a trade of the session, if it is not.
    pub(crate) fallback: Option<String>,
}

impl DatedSnapshot {
    pub(crate) fn freshness(&self, source: &str, received_at: Millis) -> Freshness {
        Freshness {
            source: source.to_owned(),
            as_of: self.as_of,
            received_at,
            delay: self.delay,
            stale: self.fallback.is_some(),
            fallback: self.fallback.clone(),
        }
    }
}

/// Adds freshness to a value, and marks it as stale with the reason when its cache entry is.
pub(crate) fn with_freshness<V, T>(
    cached: Cached<V>,
    value: T,
    mut freshness: Freshness,
) -> WithFreshness<T> {
    if let Some(stale_reason) = cached.stale_reason {
        freshness.stale = true;
        freshness.fallback = Some(match freshness.fallback {
            None => stale_reason,
            Some(before) => format!("{before}; {stale_reason}"),
        });
    }
    WithFreshness { value, freshness }
}

/// The ISO code of a currency; the exchange still writes the rouble's code of before 1998.
pub(crate) fn currency(code: &str) -> String {
    match code {
        "SUR" | "RUR" => "RUB".to_owned(),
        other => other.to_owned(),
    }
}

/// `None` for a row without a code.
pub(crate) fn read_security(row: Row<'_>) -> Option<Security> {
    let code = row.owned("secid")?;
    Some(Security {
        board: row.owned("boardid").unwrap_or_default(),
        short_name: row.owned("shortname").unwrap_or_else(|| code.clone()),
        name: row.owned("secname").or_else(|| row.owned("name")),
        latin_name: row.owned("latname"),
        isin: row.owned("isin"),
        lot: row.count("lotsize"),
        decimals: decimals(row.integer("decimals")),
        currency: currency(row.text("currencyid").unwrap_or("RUB")),
        suspended: row.text("status").is_some_and(|status| status != "A"),
        code,
    })
}

pub(crate) fn decimals(value: Option<i64>) -> u8 {
    u8::try_from(value.unwrap_or(2).clamp(0, DECIMALS_MAX)).unwrap_or(2)
}

/// The rows of a security and the properties of their response.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a> {
    pub(crate) listed: Row<'a>,
    /// `None` before the first session of a day.
    pub(crate) traded: Option<Row<'a>>,
    pub(crate) version: Option<Row<'a>>,
    pub(crate) is_index: bool,
    pub(crate) delay: Delay,
    pub(crate) received_at: Millis,
}

/// The snapshot; `None` when the rows have no price.
pub(crate) fn read(rows: Rows<'_>, security: &Arc<Security>) -> Option<DatedSnapshot> {
    let price = |row: Option<Row<'_>>, name: &str| {
        row?.price(name, security.decimals).filter(|value| !value.is_zero())
    };
    let listed = Some(rows.listed);
    let amount = |name: &str, decimals| number::trim(rows.traded?.number(name)?, decimals);
    let (last_name, open_name) =
        if rows.is_index { ("currentvalue", "openvalue") } else { ("last", "open") };
    let previous =
        if rows.is_index { price(rows.traded, "lastvalue") } else { price(listed, "prevprice") };
    let last = price(rows.traded, last_name);
    let (value, basis) = None
        .or_else(|| Some((last?, PriceBasis::LastTrade)))
        .or_else(|| Some((previous?, PriceBasis::PreviousClose)))
        .or_else(|| {
            Some((price(listed, "prevlegalcloseprice")?, PriceBasis::PreviousOfficialClose))
        })
        .or_else(|| Some((price(rows.traded, "lcurrentprice")?, PriceBasis::Estimate)))?;
    let traded = basis == PriceBasis::LastTrade;
    let of_session = |name: &str| price(rows.traded, name).filter(|_| traded);
    let (change, change_pct) = changes(rows, basis, value, previous, security.decimals);
    let snapshot = SecuritySnapshot {
        security: Arc::clone(security),
        last: value,
        basis,
        change,
        change_pct,
        open: of_session(open_name),
        high: of_session("high"),
        low: of_session("low"),
        volume: amount("voltoday", 4),
        value: amount("valtoday", 2),
        trades: rows.traded.and_then(|row| row.count("numtrades")),
        previous_close: previous,
        status: status(rows, security),
        session: session(rows),
    };
    let as_of = if traded { traded_at(rows) } else { previous_end(rows) };
    Some(DatedSnapshot {
        fallback: fallback(&snapshot),
        snapshot: Arc::new(snapshot),
        as_of: as_of.unwrap_or(rows.received_at).min(rows.received_at),
        delay: if rows.is_index { Delay::RealTime } else { rows.delay },
    })
}

/// The exchange's own change, or the change from the previous close, or `None`.
fn changes(
    rows: Rows<'_>,
    basis: PriceBasis,
    last: Decimal,
    previous: Option<Decimal>,
    decimals: u8,
) -> (Option<Decimal>, Option<Decimal>) {
    if basis != PriceBasis::LastTrade {
        // Without a trade the change is zero when the price is the previous close.
        let zero = (basis == PriceBasis::PreviousClose).then_some(());
        return (
            zero.and_then(|()| Decimal::from_parts(0, decimals)),
            zero.and_then(|()| Decimal::from_parts(0, 2)),
        );
    }
    let (by, pct) =
        if rows.is_index { ("lastchange", "lastchangeprc") } else { ("change", "lasttoprevprice") };
    let by = rows.traded.and_then(|row| row.price(by, decimals));
    let pct = rows.traded.and_then(|row| row.price(pct, 2));
    (
        by.or_else(|| number::change(last, previous?)),
        pct.or_else(|| number::change_pct(last, previous?)),
    )
}

fn fallback(snapshot: &SecuritySnapshot) -> Option<String> {
    let code = &snapshot.security.code;
    let price_source = match snapshot.basis {
        PriceBasis::LastTrade if snapshot.security.suspended => {
            return Some(format!("{code} is suspended; this is its last price"));
        }
        PriceBasis::LastTrade => return None,
        PriceBasis::PreviousClose => "its last price of the session before",
        PriceBasis::PreviousOfficialClose => "its official close of the session before",
        PriceBasis::Estimate => "the exchange's estimate",
    };
    Some(format!("{code} has not been traded in this session; this is {price_source}"))
}

fn status(rows: Rows<'_>, security: &Security) -> TradingStatus {
    if security.suspended {
        return TradingStatus::Suspended;
    }
    match rows.traded.and_then(|row| row.text("tradingstatus")) {
        Some("T") => TradingStatus::Trading,
        Some("O") => TradingStatus::Opening,
        Some("F") => TradingStatus::Closing,
        Some("B") => TradingStatus::Break,
        Some("C") => TradingStatus::Closed,
        Some("N") => TradingStatus::NotTrading,
        _ => TradingStatus::Unknown,
    }
}

/// The date of the session: from the response, or else from its own timestamp.
fn session(rows: Rows<'_>) -> Option<Date> {
    dated(rows).or_else(|| rows.traded?.date("systime"))
}

fn dated(rows: Rows<'_>) -> Option<Date> {
    let of_index = rows.traded.and_then(|row| row.date("tradedate"));
    of_index.or_else(|| rows.version?.date("trade_date"))
}

/// The time of the last trade. `TIME` has no date and may be of the previous day.
fn traded_at(rows: Rows<'_>) -> Option<Millis> {
    let traded = rows.traded?;
    let time = traded.time("time").or_else(|| traded.time("updatetime"))?;
    let at = |date: Date, time: Time| moscow_time::to_instant(date.to_datetime(time)).0;
    let date = session(rows).unwrap_or_else(|| moscow_time::today(rows.received_at));
    let shown = at(date, time);
    // When the date comes from the response's own timestamp, a later time is of the previous day.
    let written = traded.datetime("systime").filter(|_| dated(rows).is_none());
    let latest = written.map_or(rows.received_at, |systime| moscow_time::to_instant(systime).0);
    if shown.0 <= latest.0.saturating_add(SKEW_MS) {
        return Some(shown);
    }
    Some(at(date.checked_sub(1.day()).ok()?, time))
}

/// The end of the day of the previous session.
fn previous_end(rows: Rows<'_>) -> Option<Millis> {
    let date = rows.listed.date("prevdate")?;
    let midnight = moscow_time::to_instant(date.to_datetime(Time::midnight())).0;
    Some(Millis(midnight.0 + DAY_MS - 1_000))
}

#[cfg(test)]
mod tests;

//! First sentences that depend on what was asked, and figures that follow from several others.

use serde_json::Value;

use super::verdict::NOTHING_PCT;
use super::{Sheet, float};
use crate::check::Formula;
use crate::desk::Finding;
use crate::page::{Cited, Style};
use crate::resolve::Security;

/// How a security did in the period asked for.
pub(super) struct Result<'a> {
    pub(super) security: &'a Security,
    pub(super) change: f64,
    pub(super) figure: Cited,
}

/// A row of candles by its date: the last one that is not after a day.
pub(super) fn row_until(history: Option<&Finding>, day: &str) -> Option<(usize, String)> {
    let rows = history?.at("/data")?.as_array()?;
    let date = |row: &Value| row["ts"].as_str().and_then(|it| it.get(..10)).map(ToOwned::to_owned);
    let found =
        rows.iter().enumerate().rev().find(|(_, row)| date(row).is_some_and(|it| *it <= *day));
    found.and_then(|(at, row)| Some((at, date(row)?)))
}

/// The change from one figure to another, in percent.
pub(super) fn change(
    sheet: &Sheet<'_>,
    from: (Option<&Finding>, &str),
    to: (Option<&Finding>, &str),
) -> Option<(f64, Cited)> {
    let (was, is) = (float(from.0, from.1)?, float(to.0, to.1)?);
    if was <= 0.0 {
        return None;
    }
    let value = (is / was - 1.0) * 100.0;
    let source =
        |(finding, at): (Option<&Finding>, &str)| Some((finding?.id, format!("/result{at}")));
    let sources = vec![source(from)?, source(to)?];
    Some((value, sheet.page.styled(value, Style::Change, sources, Formula::Change)))
}

/// The change of a day against the day before it.
pub(super) fn day_change(
    sheet: &Sheet<'_>,
    history: Option<&Finding>,
    row: usize,
) -> Option<(f64, Cited)> {
    let (was, is) = (format!("/data/{}/close", row.checked_sub(1)?), format!("/data/{row}/close"));
    change(sheet, (history, &was), (history, &is))
}

/// How a security did: over the period, on the day, or since the day.
pub(super) fn result<'a>(sheet: &Sheet<'_>, it: &'a Security) -> Option<Result<'a>> {
    let request = &sheet.plan.request;
    let history = sheet.of("get_ohlcv_timeseries", &it.ticker);
    let shot = sheet.of("get_security_snapshot", &it.ticker);
    let period = request.period();
    let found = if !period.is_day() {
        let change = float(history, "/metrics/total_return_pct")?;
        Some((change, sheet.page.figure(history, "/metrics/total_return_pct", Style::Change)?))
    } else if request.ago {
        let (row, _) = row_until(history, &period.to.to_string())?;
        change(sheet, (history, &format!("/data/{row}/close")), (shot, "/data/last_price"))
    } else if period.to == request.today {
        let change = float(shot, "/data/price_change_pct")?;
        Some((change, sheet.page.figure(shot, "/data/price_change_pct", Style::Change)?))
    } else {
        let (row, _) = row_until(history, &period.to.to_string())?;
        day_change(sheet, history, row)
    };
    let (change, figure) = found?;
    Some(Result { security: it, change, figure })
}

/// Whether two changes are shown as the same.
pub(super) fn is_same(a: f64, b: f64) -> bool {
    (a - b).abs() < NOTHING_PCT
}

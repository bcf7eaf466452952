//! Figures for the first sentence of an answer, computed from several others.

use serde_json::Value;

use super::verdict::ZERO_CHANGE_PCT;
use super::{AnswerBuilder, float};
use crate::check::Formula;
use crate::page::{CitedFigure, Style};
use crate::resolve::Security;
use crate::tool_session::Finding;

/// Number of days requested before a given day, because the day's change needs the previous close
/// and the day itself may have no trading.
pub(crate) const DAYS_BEFORE: i32 = 14;

/// The return of a security in the requested period.
pub(super) struct SecurityResult<'a> {
    pub(super) security: &'a Security,
    pub(super) change: f64,
    pub(super) figure: CitedFigure,
    /// The first price with its later splits and the last price, if the return is computed from
    /// them.
    pub(super) prices: Option<Vec<(usize, String)>>,
}

/// The return over the requested period.
pub(super) struct PeriodReturn {
    pub(super) change: f64,
    pub(super) figure: CitedFigure,
    /// The sources, if the return reaches up to the last price; none if the tool computed it over
    /// closed days.
    pub(super) prices: Option<Vec<(usize, String)>>,
}

fn rows(history: Option<&Finding>) -> &[Value] {
    history.and_then(|it| it.at("/data")).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Reports whether the last candle is of a day that is not over, so that the tool's own figures
/// leave that day out.
pub(super) fn is_forming(history: Option<&Finding>) -> bool {
    rows(history).last().is_some_and(|it| it["is_forming"] == Value::Bool(true))
}

/// Returns the return over the period: up to the last price if the period ends on a day that is not
/// over, and otherwise as the tool computed it.
pub(super) fn period_return(
    builder: &AnswerBuilder<'_>,
    history: Option<&Finding>,
    snapshot: Option<&Finding>,
) -> Option<PeriodReturn> {
    if let Some(found) = return_to_last_price(builder, history, snapshot) {
        return Some(found);
    }
    let at = "/metrics/total_return_pct";
    let change = float(history, at)?;
    let figure = builder.page.figure(history, at, Style::Change)?;
    Some(PeriodReturn { change, figure, prices: None })
}

fn return_to_last_price(
    builder: &AnswerBuilder<'_>,
    history: Option<&Finding>,
    snapshot: Option<&Finding>,
) -> Option<PeriodReturn> {
    let (found, snapshot) = (history?, snapshot?);
    let rows = rows(history);
    let closed = rows.len().checked_sub(1).filter(|it| *it > 0 && is_forming(history))?;
    // A result in pages does not begin with the first day.
    let whole = float(history, "/metrics/num_candles").is_none_or(|it| it == closed as f64);
    let stale = snapshot.at("/data/is_stale") == Some(&Value::Bool(true));
    let first = rows.first()?["ts"].as_str()?.get(..10)?;
    if !whole || stale {
        return None;
    }
    let mut prices = vec![(found.id, "/result/data/0/close".to_owned())];
    let splits = found.at("/metrics/splits").and_then(Value::as_array);
    for (at, split) in splits.into_iter().flatten().enumerate() {
        if split["date"].as_str().is_some_and(|it| it > first) {
            for end in ["before", "after"] {
                prices.push((found.id, format!("/result/metrics/splits/{at}/{end}")));
            }
        }
    }
    prices.push((snapshot.id, "/result/data/last_price".to_owned()));
    let change = rescaled_change(&[found, snapshot], &prices)?;
    let formula = Formula::RescaledChange;
    let figure = builder.page.styled(change, Style::Change, prices.clone(), formula);
    Some(PeriodReturn { change, figure, prices: Some(prices) })
}

/// Returns the change from a first price, adjusted for the splits after it, to a last price.
pub(super) fn rescaled_change(findings: &[&Finding], sources: &[(usize, String)]) -> Option<f64> {
    let number = |(id, at): &(usize, String)| {
        findings.iter().find(|it| it.id == *id)?.value_at(at)?.as_f64()
    };
    let values: Vec<f64> = sources.iter().map(number).collect::<Option<_>>()?;
    let (now, then) = values.split_last()?;
    let (first, splits) = then.split_first()?;
    let then = splits.chunks(2).fold(*first, |price, it| price * it[0] / it[1]);
    (then.is_finite() && then > 0.0).then(|| (now / then - 1.0) * 100.0)
}

/// A change of one day beyond this many percent may be a split that the exchange does not list.
const JUMP_PCT: f64 = 40.0;
/// A change beyond this many percent is suspect even without missing days beside it.
const SURE_JUMP_PCT: f64 = 60.0;

/// Returns the row of a jump that looks like a split which the exchange does not list, with its
/// change.
pub(super) fn suspect_jump(
    builder: &AnswerBuilder<'_>,
    history: Option<&Finding>,
) -> Option<(usize, CitedFigure)> {
    let rows = rows(history);
    let date = |row: &Value| clock::parse_date(row["ts"].as_str()?.get(..10)?);
    let splits = history?.at("/metrics/splits").and_then(Value::as_array);
    let listed = |from: &str, to: &str| {
        let mut dates = splits.into_iter().flatten().filter_map(|it| it["date"].as_str());
        dates.any(|it| from < it && it <= to)
    };
    (1..rows.len()).find_map(|at| {
        let (change, figure) = day_change(builder, history, at)?;
        let (was, is) = (date(&rows[at - 1])?, date(&rows[at])?);
        let missing = (is - was).get_days() > 3;
        // A price that falls by half moves as far as one that doubles.
        let size = if change < 0.0 { -change } else { change / (1.0 + change / 100.0) };
        let suspect = size > SURE_JUMP_PCT || size > JUMP_PCT && missing;
        (suspect && !listed(&was.to_string(), &is.to_string())).then_some((at, figure))
    })
}

/// Returns the last candle row that is not after a day.
pub(super) fn row_until(history: Option<&Finding>, day: &str) -> Option<(usize, String)> {
    let rows = history?.at("/data")?.as_array()?;
    let date = |row: &Value| row["ts"].as_str().and_then(|it| it.get(..10)).map(ToOwned::to_owned);
    let found =
        rows.iter().enumerate().rev().find(|(_, row)| date(row).is_some_and(|it| *it <= *day));
    found.and_then(|(at, row)| Some((at, date(row)?)))
}

/// Returns the time that the candles span in calendar years, because the number of sessions differs
/// between years.
pub(super) fn years(history: Option<&Finding>) -> f64 {
    let rows = history.and_then(|it| it.at("/data")).and_then(Value::as_array);
    let day = |row: Option<&Value>| clock::parse_date(row?["ts"].as_str()?.get(..10)?);
    let ends = rows.and_then(|it| day(it.first()).zip(day(it.last())));
    ends.map_or(0.0, |(first, last)| f64::from((last - first).get_days()) / 365.25)
}

/// Returns the change from one figure to another, in percent.
pub(super) fn change(
    builder: &AnswerBuilder<'_>,
    from: (Option<&Finding>, &str),
    to: (Option<&Finding>, &str),
) -> Option<(f64, CitedFigure)> {
    let (was, is) = (float(from.0, from.1)?, float(to.0, to.1)?);
    if was <= 0.0 {
        return None;
    }
    let value = (is / was - 1.0) * 100.0;
    let source =
        |(finding, at): (Option<&Finding>, &str)| Some((finding?.id, format!("/result{at}")));
    let sources = vec![source(from)?, source(to)?];
    Some((value, builder.page.styled(value, Style::Change, sources, Formula::Change)))
}

/// The change from a past day to now, adjusted for splits.
pub(super) struct Since {
    pub(super) then: f64,
    pub(super) change: f64,
    /// The sources of the past price, the splits after it and the price now.
    pub(super) sources: Vec<(usize, String)>,
    pub(super) moved: CitedFigure,
    /// Whether a split took place in between.
    pub(super) is_split: bool,
}

/// Returns the sources: the close of the requested day, all splits after it, and the last price.
pub(super) fn since_source(
    history: Option<&Finding>,
    snapshot: Option<&Finding>,
) -> Option<Vec<(usize, String)>> {
    let (found, snapshot) = (history?, snapshot?);
    let day = found.args["from_date"].as_str().and_then(clock::parse_date)?;
    let day = day.saturating_add(jiff::ToSpan::days(DAYS_BEFORE)).to_string();
    let (row, date) = row_until(history, &day)?;
    let mut sources = vec![(found.id, format!("/result/data/{row}/close"))];
    let splits =
        found.at("/metrics/splits").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    for (at, split) in splits.iter().enumerate() {
        if split["date"].as_str().is_some_and(|it| *it > *date) {
            for end in ["before", "after"] {
                sources.push((found.id, format!("/result/metrics/splits/{at}/{end}")));
            }
        }
    }
    sources.push((snapshot.id, "/result/data/last_price".to_owned()));
    Some(sources)
}

/// Returns the change of a security since the requested day.
pub(super) fn since(
    builder: &AnswerBuilder<'_>,
    history: Option<&Finding>,
    snapshot: Option<&Finding>,
) -> Option<Since> {
    let all = since_source(history, snapshot)?;
    let number = |(id, at): &(usize, String)| {
        let found = [history, snapshot].into_iter().flatten().find(|it| it.id == *id)?;
        found.value_at(at)?.as_f64()
    };
    let values: Option<Vec<f64>> = all.iter().map(number).collect();
    let values = values?;
    let (now, then) = values.split_last()?;
    let (close, splits) = then.split_first()?;
    let then = splits.chunks(2).fold(*close, |price, it| price * it[0] / it[1]);
    if !(then.is_finite() && then > 0.0) {
        return None;
    }
    let change = (now / then - 1.0) * 100.0;
    let moved = builder.page.styled(change, Style::Change, all.clone(), Formula::RescaledChange);
    let sources: Vec<(usize, String)> = all.into_iter().take(1 + splits.len()).collect();
    Some(Since { then, change, sources, moved, is_split: !splits.is_empty() })
}

/// Returns the change of a day against the previous trading day.
pub(super) fn day_change(
    builder: &AnswerBuilder<'_>,
    history: Option<&Finding>,
    row: usize,
) -> Option<(f64, CitedFigure)> {
    let (was, is) = (format!("/data/{}/close", row.checked_sub(1)?), format!("/data/{row}/close"));
    change(builder, (history, &was), (history, &is))
}

/// Returns the change of a security over the period, on the day, or since the day.
pub(super) fn result<'a>(
    builder: &AnswerBuilder<'_>,
    it: &'a Security,
) -> Option<SecurityResult<'a>> {
    let request = &builder.plan.request;
    let history = builder.finding("get_ohlcv_timeseries", &it.ticker);
    let snapshot = builder.finding("get_security_snapshot", &it.ticker);
    let period = request.period();
    if !period.is_day() {
        let PeriodReturn { change, figure, prices } = period_return(builder, history, snapshot)?;
        return Some(SecurityResult { security: it, change, figure, prices });
    }
    let found = if request.compare_with_today {
        since(builder, history, snapshot).map(|it| (it.change, it.moved))
    } else if period.to == request.today {
        let change = float(snapshot, "/data/price_change_pct")?;
        Some((change, builder.page.figure(snapshot, "/data/price_change_pct", Style::Change)?))
    } else {
        let (row, _) = row_until(history, &period.to.to_string())?;
        day_change(builder, history, row)
    };
    let (change, figure) = found?;
    Some(SecurityResult { security: it, change, figure, prices: None })
}

/// Reports whether two changes look equal when they are formatted.
pub(super) fn is_same(a: f64, b: f64) -> bool {
    (a - b).abs() < ZERO_CHANGE_PCT
}

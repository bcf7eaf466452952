//! Writes the securities of an index ranked by a figure: volatility, distance to the high, volume, RSI.

use super::basket::{listed, sector_name};
use super::indicators::{finding_of, last_value};
use super::lead::change;
use super::talk::reading_notes;
use super::{AnswerBuilder, Section, float};
use crate::messages;
use crate::page::{CitedFigure, Slot, Style};
use crate::tool_session::Finding;
use crate::understand::RankMetric;

/// Number of securities to name, if the question gives none.
const SHOWN: usize = 5;
/// The usual bounds of the RSI: below the first a security is oversold.
const RSI_LOW: f64 = 30.0;
const RSI_HIGH: f64 = 70.0;

struct Ranked {
    ticker: String,
    value: f64,
    figure: CitedFigure,
}

pub(super) fn write(builder: &mut AnswerBuilder<'_>, section: Section) {
    match section {
        Section::Summary => {
            summary(builder);
            reading_notes(builder);
        }
        Section::Risks => {
            let (russian, english) = messages::both("ranking_basis");
            builder.page.add_line(russian, english, []);
        }
        Section::Figures => table(builder),
        Section::Conclusions => {}
    }
}

/// Returns the price of a constituent in the basket.
fn distance(
    builder: &AnswerBuilder<'_>,
    ticker: &str,
    history: Option<&Finding>,
) -> Option<(f64, CitedFigure)> {
    let basket = builder
        .findings
        .iter()
        .find(|it| it.tool == "get_index_constituents_metrics" && it.outcome.is_ok())?;
    let rows = basket.at("/data")?.as_array()?;
    let row = rows.iter().position(|it| it["ticker"] == ticker)?;
    let price = format!("/data/{row}/last_price");
    change(builder, (history, "/metrics/period_high"), (Some(basket), &price))
}

fn ranked(builder: &AnswerBuilder<'_>) -> Vec<Ranked> {
    let Some(metric) = builder.plan.request.asked.ranking else { return Vec::new() };
    let of = |ticker: &str| -> Option<(f64, CitedFigure)> {
        let history = builder.finding("get_ohlcv_timeseries", ticker);
        let figure =
            |at: &str, style| Some((float(history, at)?, builder.page.figure(history, at, style)?));
        match metric {
            RankMetric::MostVolatile | RankMetric::LeastVolatile => {
                figure("/metrics/annualized_volatility", Style::Percent)
            }
            RankMetric::MostTraded => figure("/metrics/avg_daily_volume", Style::Amount("")),
            RankMetric::NearestHigh => distance(builder, ticker, history),
            RankMetric::LowRsi | RankMetric::HighRsi => {
                last_value(builder, finding_of(builder, &format!("MOEX:{ticker}")), "rsi")
            }
        }
    };
    let all = builder.plan.resolved.securities.iter();
    let mut found: Vec<Ranked> = all
        .filter_map(|it| {
            let (value, figure) = of(&it.ticker)?;
            Some(Ranked { ticker: it.ticker.clone(), value, figure })
        })
        .collect();
    let ascending = matches!(metric, RankMetric::LeastVolatile | RankMetric::LowRsi);
    found.sort_by(|a, b| {
        let order = a.value.total_cmp(&b.value);
        if ascending { order } else { order.reverse() }
    });
    match metric {
        RankMetric::LowRsi => found.retain(|it| it.value < RSI_LOW),
        RankMetric::HighRsi => found.retain(|it| it.value > RSI_HIGH),
        _ => {}
    }
    found
}

const fn title(metric: RankMetric) -> (&'static str, &'static str) {
    match metric {
        RankMetric::MostVolatile => {
            ("самая высокая годовая волатильность", "the highest yearly volatility")
        }
        RankMetric::LeastVolatile => {
            ("самая низкая годовая волатильность", "the lowest yearly volatility")
        }
        RankMetric::NearestHigh => {
            ("ближе всех к максимуму периода", "nearest to the high of the period")
        }
        RankMetric::MostTraded => {
            ("самый большой средний дневной объём, шт.", "the largest average daily volume, pieces")
        }
        RankMetric::LowRsi => {
            ("дневной RSI в зоне перепроданности", "daily RSI in the oversold zone")
        }
        RankMetric::HighRsi => {
            ("дневной RSI в зоне перекупленности", "daily RSI in the overbought zone")
        }
    }
}

fn summary(builder: &mut AnswerBuilder<'_>) {
    let Some(metric) = builder.plan.request.asked.ranking else { return };
    let found = ranked(builder);
    let top = builder.plan.request.top.unwrap_or(SHOWN);
    let of_sector = sector_name(builder).map(|it| format!(" ({it})")).unwrap_or_default();
    let index = builder.plan.request.index;
    let (russian, english) = title(metric);
    let title = builder.language().pick(russian, english);
    let first = builder.plan.resolved.securities.first();
    let history = first.and_then(|it| builder.finding("get_ohlcv_timeseries", &it.ticker));
    let period = match builder.period(history) {
        Some([from, to]) => {
            let [a, b] = [
                builder.language().pick(", с ", ", from "),
                builder.language().pick(" по ", " to "),
            ];
            Slot::Many(vec![a.into(), from, b.into(), to])
        }
        None => Slot::Text(String::new()),
    };
    if found.is_empty() {
        builder.page.add_line(
            "Бумаги индекса {}{}, {}{}: таких нет.",
            "Securities of {}{}, {}{}: there are none.",
            [index.into(), of_sector.into(), title.into(), period],
        );
        return;
    }
    let items = found.into_iter().take(top).map(|it| (it.ticker, it.figure)).collect();
    builder.page.add_line(
        "Бумаги индекса {}{}, {}{}: {}.",
        "Securities of {}{}, {}{}: {}.",
        [index.into(), of_sector.into(), title.into(), period, listed(items)],
    );
}

fn table(builder: &mut AnswerBuilder<'_>) {
    let Some(metric) = builder.plan.request.asked.ranking else { return };
    let rows = ranked(builder).into_iter().take(10);
    let rows: Vec<Vec<Slot>> =
        rows.map(|it| vec![Slot::Text(it.ticker), Some(it.figure).into()]).collect();
    if !rows.is_empty() {
        let columns = [("Бумага", "Security"), ("Значение", "Value")];
        builder.page.table(title(metric), &columns, rows);
    }
}

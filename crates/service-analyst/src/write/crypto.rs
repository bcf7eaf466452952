//! Writes prices of crypto pairs, their change over a period, and securities beside them.

use super::lead::period_return;
use super::talk::reading_notes;
use super::{AnswerBuilder, Section, money_of};
use crate::check::Formula;
use crate::messages;
use crate::page::{CitedFigure, Slot, Style, fact};
use crate::resolve::Security;
use crate::tool_session::Finding;

pub(super) fn write(builder: &mut AnswerBuilder<'_>, all: &[Security], section: Section) {
    match section {
        Section::Summary => {
            leader(builder, all);
            for pair in builder.plan.request.asked.crypto.clone() {
                of_pair(builder, pair);
            }
            for it in all {
                of_security(builder, it);
            }
            if !all.is_empty() {
                let (russian, english) = messages::both("currencies_differ");
                builder.page.add_line(russian, english, []);
            }
            reading_notes(builder);
        }
        Section::Risks => {
            let (russian, english) = messages::both("crypto_risk");
            builder.page.add_line(russian, english, []);
        }
        Section::Figures | Section::Conclusions => {}
    }
}

/// Returns the quote of a pair: the call, its row and the price.
fn quote<'a>(builder: &AnswerBuilder<'a>, pair: &str) -> Option<(&'a Finding, usize, f64)> {
    let finding = builder.last("quotes_live")?;
    let rows = finding.at("/quotes")?.as_array()?;
    let row = rows.iter().position(|it| it["ticker"] == pair)?;
    let price = rows[row]["price"].as_str()?.parse().ok()?;
    Some((finding, row, price))
}

/// Returns the change of a pair from the first candle of the period to the last price.
fn pair_change(builder: &AnswerBuilder<'_>, pair: &str) -> Option<(f64, CitedFigure, Slot)> {
    let (quoted, row, price) = quote(builder, pair)?;
    let first = builder.calls("get_klines").into_iter().find(|it| it.args["symbol"] == pair)?;
    let was = first.at("/candles/0/o")?.as_f64().filter(|it| *it > 0.0)?;
    let change = (price / was - 1.0) * 100.0;
    let sources = vec![
        (first.id, "/result/candles/0/o".to_owned()),
        (quoted.id, format!("/result/quotes/{row}/price")),
    ];
    let figure = builder.page.styled(change, Style::Change, sources, Formula::Change);
    let day = Slot::Figure(builder.page.day_of_ms(first, "/candles/0/t"));
    Some((change, figure, day))
}

fn of_pair(builder: &mut AnswerBuilder<'_>, pair: &str) {
    let Some((finding, row, price)) = quote(builder, pair) else {
        builder.page.facts(("{}", "{}"), [pair.into()], Vec::new());
        return;
    };
    let source = vec![(finding.id, format!("/result/quotes/{row}/price"))];
    let price = builder.page.styled(price, Style::Price("USDT"), source, Formula::Value);
    let day = builder.page.cited_text(Some(finding), &format!("/result/quotes/{row}/as_of"));
    match pair_change(builder, pair) {
        Some((_, change, from)) => builder.page.add_line(
            "{}: {} на {}; с {} изменение {}.",
            "{}: {} on {}; the change since {} is {}.",
            [pair.into(), Some(price).into(), day.into(), from, Some(change).into()],
        ),
        None => builder.page.add_line(
            "{}: последняя цена {} на {}.",
            "{}: last price {} on {}.",
            [pair.into(), Some(price).into(), day.into()],
        ),
    }
}

fn of_security(builder: &mut AnswerBuilder<'_>, it: &Security) {
    let history = builder.finding("get_ohlcv_timeseries", &it.ticker);
    let snapshot = builder.finding("get_security_snapshot", &it.ticker);
    let money = money_of(snapshot, it);
    let price = builder.page.figure(snapshot, "/data/last_price", Style::Price(&money));
    let change = period_return(builder, history, snapshot).map(|it| it.figure);
    let mut facts = vec![fact(("последняя цена", "last price"), price)];
    if history.is_some() {
        facts.push(fact(("за период", "over the period"), change));
    }
    builder.page.facts(("{}", "{}"), [builder.title(it)], facts);
}

/// Writes which of all did best over the period.
fn leader(builder: &mut AnswerBuilder<'_>, all: &[Security]) {
    let pairs = builder.plan.request.asked.crypto.clone();
    let pairs = pairs.iter().filter_map(|it| {
        let (change, figure, _) = pair_change(builder, it)?;
        Some(((*it).to_owned(), change, figure))
    });
    let mut found: Vec<(String, f64, CitedFigure)> = pairs.collect();
    for it in all {
        let history = builder.finding("get_ohlcv_timeseries", &it.ticker);
        let snapshot = builder.finding("get_security_snapshot", &it.ticker);
        if let Some(of) = period_return(builder, history, snapshot) {
            found.push((it.ticker.clone(), of.change, of.figure));
        }
    }
    found.sort_by(|a, b| b.1.total_cmp(&a.1));
    if let [best, .., worst] = found.as_slice() {
        builder.page.add_line(
            "За период лучше {}: {}; хуже {}: {}.",
            "Over the period {} did best, {}; {} worst, {}.",
            [
                best.0.as_str().into(),
                Some(best.2.clone()).into(),
                worst.0.as_str().into(),
                Some(worst.2.clone()).into(),
            ],
        );
    }
}

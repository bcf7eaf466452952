//! Writes technical indicators of securities and of crypto pairs.

use serde_json::Value;

use super::talk::reading_notes;
use super::{AnswerBuilder, Section};
use crate::messages;
use crate::page::{CitedFigure, Slot, Style};
use crate::plan::window;
use crate::resolve::Security;
use crate::tool_session::Finding;
use crate::understand::Indicator;

/// Above this RSI a security is called overbought, and below the other one oversold.
const OVERBOUGHT: f64 = 70.0;
const OVERSOLD: f64 = 30.0;

pub(super) fn write(builder: &mut AnswerBuilder<'_>, all: &[Security], section: Section) {
    match section {
        Section::Summary => {
            for it in all {
                let title = builder.title(it);
                of_symbol(builder, &format!("MOEX:{}", it.ticker), title);
            }
            for pair in builder.plan.request.asked.crypto.clone() {
                of_symbol(builder, pair, pair.into());
            }
            reading_notes(builder);
        }
        Section::Risks => {
            let (russian, english) = messages::both("indicator_basis");
            builder.page.add_line(russian, english, []);
        }
        Section::Figures | Section::Conclusions => {}
    }
}

pub(super) fn finding_of<'a>(builder: &AnswerBuilder<'a>, symbol: &str) -> Option<&'a Finding> {
    builder.calls("compute_indicators").into_iter().find(|it| it.args["symbol"] == symbol)
}

/// Returns the last value of a series with its figure.
pub(super) fn last_value(
    builder: &AnswerBuilder<'_>,
    finding: Option<&Finding>,
    series: &str,
) -> Option<(f64, CitedFigure)> {
    let values = finding?.at(&format!("/series/{series}"))?.as_array()?;
    let at = values.iter().rposition(Value::is_number)?;
    let pointer = format!("/series/{series}/{at}");
    let figure = builder.page.figure(finding, &pointer, Style::Plain(2))?;
    Some((values[at].as_f64()?, figure))
}

/// Returns the series of an indicator with the name of each.
fn series(it: &Indicator) -> Vec<(String, String)> {
    let period = |usual: u32| it.period.unwrap_or(usual);
    let one = |name: String| vec![(name, window(it))];
    let named = |names: &[(&str, &str)]| {
        names.iter().map(|it| (it.0.to_owned(), it.1.to_owned())).collect()
    };
    match it.name {
        "rsi" => one(format!("RSI{}", period(14))),
        "atr" => one(format!("ATR{}", period(14))),
        "cci" => one(format!("CCI{}", period(20))),
        "adx" => one(format!("ADX{}", period(14))),
        "macd" => named(&[("MACD", "macd"), ("signal", "signal"), ("histogram", "hist")]),
        "bollinger" => {
            named(&[("upper band", "bb_hband"), ("middle", "bb_mavg"), ("lower band", "bb_lband")])
        }
        "stoch" => named(&[("%K", "stoch_k"), ("%D", "stoch_d")]),
        name => one(it.period.map_or_else(
            || name.to_uppercase(),
            |period| format!("{}{period}", name.to_uppercase()),
        )),
    }
}

fn in_russian(name: &str) -> &str {
    match name {
        "signal" => "сигнальная линия",
        "histogram" => "гистограмма",
        "upper band" => "верхняя полоса",
        "middle" => "средняя",
        "lower band" => "нижняя полоса",
        other => other,
    }
}

fn of_symbol(builder: &mut AnswerBuilder<'_>, symbol: &str, title: Slot) {
    let finding = finding_of(builder, symbol);
    let language = builder.language();
    let mut slots: Vec<Slot> = Vec::new();
    for it in &builder.plan.request.asked.indicators {
        for (name, key) in series(it) {
            let Some((value, figure)) = last_value(builder, finding, &key) else { continue };
            let gap = if slots.is_empty() { "" } else { ", " };
            let name = language.pick(in_russian(&name), &name).to_owned();
            slots.push(Slot::Text(format!("{gap}{name} ")));
            slots.push(Slot::Figure(Some(figure)));
            if it.name == "rsi" {
                let zone = match value {
                    it if it > OVERBOUGHT => "overbought",
                    it if it < OVERSOLD => "oversold",
                    _ => "neutral",
                };
                slots.push(Slot::Text(format!(" ({})", messages::message(zone, language))));
            }
        }
    }
    if slots.is_empty() {
        builder.page.facts(("{}", "{}"), [title], Vec::new());
        return;
    }
    let (candles, english) = match builder.plan.request.asked.interval {
        Some("1h") => ("часовые свечи", "hourly candles"),
        Some("1w") => ("недельные свечи", "weekly candles"),
        _ => ("дневные свечи", "daily candles"),
    };
    let last = finding.and_then(|it| it.at("/candles")?.as_array()?.len().checked_sub(1));
    let day = finding
        .zip(last)
        .and_then(|(it, at)| builder.page.day_of_ms(it, &format!("/candles/{at}/t")));
    let day = match day {
        Some(day) => Slot::Many(vec![", ".into(), Slot::Figure(Some(day))]),
        None => Slot::Text(String::new()),
    };
    let slots = [title, language.pick(candles, english).into(), day, Slot::Many(slots)];
    builder.page.add_line("{}, {}{}: {}.", "{}, {}{}: {}.", slots);
    averages(builder, finding);
}

/// Writes which of two averages is above the other, and whether they crossed lately.
fn averages(builder: &mut AnswerBuilder<'_>, finding: Option<&Finding>) {
    let mut found: Vec<Indicator> = builder.plan.request.asked.indicators.clone();
    found.retain(|it| ["sma", "ema"].contains(&it.name) && it.period.is_some());
    found.sort_by_key(|it| it.period);
    let [short, .., long] = found.as_slice() else { return };
    let values = |it: &Indicator| -> Option<Vec<f64>> {
        let list = finding?.at(&format!("/series/{}", window(it)))?.as_array()?;
        list.iter().map(Value::as_f64).collect()
    };
    let (Some(short), Some(long)) = (values(short), values(long)) else { return };
    let above: Vec<bool> = short.iter().zip(&long).map(|(short, long)| short > long).collect();
    let Some(last) = above.last() else { return };
    let crossed = above.windows(2).any(|it| it[0] != it[1]);
    let language = builder.language();
    let place = messages::message(if *last { "above" } else { "below" }, language);
    let cross = messages::message(if crossed { "crossed" } else { "not_crossed" }, language);
    builder.page.add_line("Сейчас {}; {}.", "Now {}; {}.", [place.into(), cross.into()]);
}

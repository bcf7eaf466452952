//! Writes the securities of an index that moved most, adjusted for splits over a period.

use serde_json::Value;

use super::basket::{counted, listed, opening, ranked, sector_name};
use super::lead::{change, rescaled_change};
use super::talk::reading_notes;
use super::verdict::{ZERO_CHANGE_PCT, breadth};
use super::{AnswerBuilder, Section};
use crate::check::Formula;
use crate::page::{CitedFigure, Slot, Style, fact};
use crate::tool_session::Finding;
use crate::understand::MoveDirection;

/// Most securities listed in one direction, if the question gives no count.
const MOVERS_MAX: usize = 5;
/// Most securities that the first sentence names.
const LEADING_MAX: usize = 3;

/// A constituent with its price change.
struct Mover {
    ticker: String,
    change: f64,
    figure: CitedFigure,
    price: Option<CitedFigure>,
}

/// Returns the changes: for one day as the exchange gives them, for a longer period from the first
/// and the last price.
fn changes(
    builder: &AnswerBuilder<'_>,
    now: Option<&Finding>,
    then: Option<&Finding>,
) -> Vec<Mover> {
    let price = |at: usize| {
        builder.page.figure(now, &format!("/data/{at}/last_price"), Style::Price("RUB"))
    };
    let Some(then) = then else {
        let mover = |(at, ticker, change): (usize, String, f64)| {
            let figure =
                builder.page.figure(now, &format!("/data/{at}/price_change_pct"), Style::Change)?;
            Some(Mover { ticker, change, figure, price: price(at) })
        };
        return ranked(builder, now, "price_change_pct").into_iter().filter_map(mover).collect();
    };
    let before = ranked(builder, Some(then), "last_price");
    let mover = |(at, ticker, _): (usize, String, f64)| {
        let (was_at, ..) = before.iter().find(|it| it.1 == ticker)?;
        let (was, is) = (format!("/data/{was_at}/last_price"), format!("/data/{at}/last_price"));
        let (change, figure) = match adjusted(builder, &ticker, (then, &was), (now?, &is)) {
            Some(adjusted) => adjusted,
            None => change(builder, (Some(then), &was), (now, &is))?,
        };
        Some(Mover { ticker, change, figure, price: price(at) })
    };
    let mut all: Vec<Mover> =
        ranked(builder, now, "last_price").into_iter().filter_map(mover).collect();
    all.sort_by(|a, b| b.change.total_cmp(&a.change));
    all
}

/// Returns the change adjusted for the splits of the security, if the plan looked them up and there
/// are any.
fn adjusted(
    builder: &AnswerBuilder<'_>,
    ticker: &str,
    then: (&Finding, &str),
    now: (&Finding, &str),
) -> Option<(f64, CitedFigure)> {
    let history = builder.finding("get_ohlcv_timeseries", ticker)?;
    let from = then.0.at("/metrics/effective_date").or_else(|| then.0.args.get("as_of_date"));
    let from = from.and_then(Value::as_str)?;
    let mut sources = vec![(then.0.id, format!("/result{}", then.1))];
    let splits = history.at("/metrics/splits").and_then(Value::as_array)?;
    for (at, split) in splits.iter().enumerate() {
        if split["date"].as_str().is_some_and(|it| it > from) {
            for end in ["before", "after"] {
                sources.push((history.id, format!("/result/metrics/splits/{at}/{end}")));
            }
        }
    }
    sources.push((now.0.id, format!("/result{}", now.1)));
    let change = rescaled_change(&[then.0, history, now.0], &sources)?;
    let formula = Formula::RescaledChange;
    let figure = builder.page.styled(change, Style::Change, sources, formula);
    Some((change, figure))
}

pub(super) fn movers(builder: &mut AnswerBuilder<'_>, section: Section) {
    let calls = builder.calls("get_index_constituents_metrics");
    let (now, then) = (calls.first().copied(), calls.get(1).copied());
    let all = changes(builder, now, then);
    let rising: Vec<&Mover> = all.iter().filter(|it| it.change >= ZERO_CHANGE_PCT).collect();
    let falling: Vec<&Mover> =
        all.iter().rev().filter(|it| it.change <= -ZERO_CHANGE_PCT).collect();
    match section {
        Section::Summary => {
            movers_lead(builder, &rising, &falling);
            opening(builder, now);
            if then.is_some() {
                let from = builder.page.cited_text(then, "/args/as_of_date");
                let to = builder.page.cited_text(now, "/args/as_of_date");
                builder.page.add_line(
                    "Изменения посчитаны по ценам с {} по {} с поправкой на дробление.",
                    "Changes are from prices between {} and {}, adjusted for splits.",
                    [from.into(), to.into()],
                );
            } else {
                counted(builder, now);
            }
            reading_notes(builder);
        }
        Section::Figures => movers_listed(builder, &rising, &falling),
        Section::Risks => builder.page.add_line(
            "Движение одного периода не говорит о следующем.",
            "What moved in one period says nothing of the next.",
            [],
        ),
        Section::Conclusions if all.is_empty() => builder.page.add_line(
            "Для вывода данных не хватает.",
            "There is not enough data for a conclusion.",
            [],
        ),
        Section::Conclusions => {
            let word = breadth(rising.len(), falling.len(), builder.language());
            builder.page.add_line("Итог: {}.", "In short: {}.", [word.into()]);
        }
    }
}

fn movers_lead(builder: &mut AnswerBuilder<'_>, rising: &[&Mover], falling: &[&Mover]) {
    let top = builder.plan.request.top.unwrap_or(LEADING_MAX);
    let direction = builder.plan.request.direction;
    let sector = sector_name(builder).map(|it| format!(" ({it})")).unwrap_or_default();
    let items = |all: &[&Mover]| {
        listed(all.iter().take(top).map(|it| (it.ticker.clone(), it.figure.clone())).collect())
    };
    if rising.is_empty() && falling.is_empty() {
        builder.page.facts(("Изменения цен{}", "Price changes{}"), [sector.into()], Vec::new());
        return;
    }
    let up = |builder: &mut AnswerBuilder<'_>| {
        let slots: [Slot; 2] = [sector.as_str().into(), items(rising)];
        if rising.is_empty() {
            builder.page.add_line("Выросших бумаг нет{}.", "None rose{}.", slots);
        } else {
            builder.page.add_line("Сильнее всего выросли{}: {}.", "Rose the most{}: {}.", slots);
        }
    };
    let down = |builder: &mut AnswerBuilder<'_>| {
        let slots: [Slot; 2] = [sector.as_str().into(), items(falling)];
        if falling.is_empty() {
            builder.page.add_line("Снизившихся бумаг нет{}.", "None fell{}.", slots);
        } else {
            builder.page.add_line("Сильнее всего снизились{}: {}.", "Fell the most{}: {}.", slots);
        }
    };
    match direction {
        MoveDirection::Up => up(builder),
        MoveDirection::Down => down(builder),
        MoveDirection::Both => {
            up(builder);
            down(builder);
        }
    }
}

fn movers_listed(builder: &mut AnswerBuilder<'_>, rising: &[&Mover], falling: &[&Mover]) {
    let request = &builder.plan.request;
    let top = request.top.unwrap_or(MOVERS_MAX);
    let (first, second) = match request.direction {
        MoveDirection::Down => (falling, rising),
        _ => (rising, falling),
    };
    // If the question asks for one direction and a count, the other direction is left out.
    let second = if request.top.is_some() && request.direction != MoveDirection::Both {
        &[]
    } else {
        second
    };
    if rising.is_empty() && falling.is_empty() {
        builder.page.facts(("- Изменения цен", "- Price changes"), [], Vec::new());
    }
    let mut rows = Vec::new();
    for it in first.iter().take(top).chain(second.iter().take(top)) {
        let up = it.change > 0.0;
        let facts = vec![
            fact(if up { ("рост", "up") } else { ("снижение", "down") }, Some(it.figure.clone())),
            fact(("цена", "price"), it.price.clone()),
        ];
        builder.page.facts(("- {}", "- {}"), [it.ticker.as_str().into()], facts);
        rows.push(vec![
            Slot::Text(it.ticker.clone()),
            Some(it.figure.clone()).into(),
            it.price.clone().into(),
        ]);
    }
    let columns = [("Бумага", "Security"), ("Изменение, %", "Change, %"), ("Цена", "Price")];
    builder.page.table(("Лидеры движения", "Movers"), &columns, rows);
}

//! Writes about indices: their constituents, weights and sectors.

use serde_json::Value;

use super::day::trades_today;
use super::talk::reading_notes;
use super::{AnswerBuilder, Section, float};
use crate::check::Formula;
use crate::number::{Language, agree};
use crate::page::{CitedFigure, Slot, Style, fact, quoted};
use crate::tool_session::Finding;
use crate::understand::{Focus, Sector};

const SHOWN_MAX: usize = 10;
const MOVERS_MAX: usize = 5;
/// Most constituents that the first sentence names.
const LEADING_MAX: usize = 3;

fn all_rows(finding: Option<&Finding>) -> &[Value] {
    finding.and_then(|it| it.at("/data")).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn is_of(row: &Value, sector: Option<Sector>) -> bool {
    sector.is_none_or(|it| row["sector"] == it.name)
}

/// Returns the rows of a basket in descending order of a figure, without the rows that lack it.
pub(super) fn ranked(
    builder: &AnswerBuilder<'_>,
    finding: Option<&Finding>,
    field: &str,
) -> Vec<(usize, String, f64)> {
    let request = &builder.plan.request;
    let named: Vec<&str> =
        builder.plan.resolved.securities.iter().map(|it| it.ticker.as_str()).collect();
    let is_named = |row: &Value| {
        named.is_empty() || row["ticker"].as_str().is_some_and(|it| named.contains(&it))
    };
    let mut rows: Vec<(usize, String, f64)> = all_rows(finding)
        .iter()
        .enumerate()
        .filter(|(_, row)| is_of(row, request.sector) && is_named(row))
        .filter_map(|(at, row)| Some((at, quoted(row["ticker"].as_str()?), row[field].as_f64()?)))
        .collect();
    rows.sort_by(|a, b| b.2.total_cmp(&a.2));
    rows
}

/// Writes the index, its date and the number of constituents.
pub(super) fn opening(builder: &mut AnswerBuilder<'_>, basket: Option<&Finding>) {
    let count = float(basket, "/metrics/num_constituents").unwrap_or(0.0) as u64;
    let word = builder.language().pick(
        agree(count, "бумага", "бумаги", "бумаг"),
        if count == 1 { "security" } else { "securities" },
    );
    let shown = builder.page.figure(basket, "/metrics/num_constituents", Style::Count);
    let date = builder.page.cited_text(basket, "/result/metrics/effective_date");
    let index = builder.plan.request.index;
    match (shown, date) {
        (Some(shown), Some(date)) => builder.page.add_line(
            "Индекс {} на {}: {} {}.",
            "{} on {}: {} {}.",
            [index.into(), Some(date).into(), Some(shown).into(), word.into()],
        ),
        (Some(shown), None) => builder.page.add_line(
            "Индекс {}: {} {}.",
            "{}: {} {}.",
            [index.into(), Some(shown).into(), word.into()],
        ),
        _ => builder.page.facts(("Индекс {}", "{}"), [index.into()], Vec::new()),
    }
    not_traded(builder, basket);
}

/// Writes a sentence if the requested day has no trades.
fn not_traded(builder: &mut AnswerBuilder<'_>, basket: Option<&Finding>) {
    let effective = basket.and_then(|it| it.at("/metrics/effective_date"));
    let requested = basket.map(|it| &it.args["as_of_date"]);
    if effective.is_none() || effective == requested {
        return;
    }
    let today = builder.plan.request.today.to_string();
    let is_today = requested.and_then(Value::as_str) == Some(&today);
    if is_today && trades_today(builder) != Some(false) {
        builder.page.add_line(
            "Данных за сегодня ещё нет; показан последний торговый день.",
            "Today is not in the data yet; this is the last trading day.",
            [],
        );
        return;
    }
    let requested_date = builder.page.cited_text(basket, "/args/as_of_date");
    builder.page.add_line(
        "{} торгов не было; показан последний торговый день до этой даты.",
        "{} was no trading day; this is the last one before it.",
        [requested_date.into()],
    );
}

/// Writes how many constituents rose and fell.
pub(super) fn counted(builder: &mut AnswerBuilder<'_>, basket: Option<&Finding>) {
    let source = vec![(basket.map_or(0, |it| it.id), "/result/data".to_owned())];
    let changes: Vec<f64> =
        all_rows(basket).iter().filter_map(|it| it["price_change_pct"].as_f64()).collect();
    if changes.is_empty() {
        builder.page.facts(("Изменения цен", "Price changes"), [], Vec::new());
        return;
    }
    let up = changes.iter().filter(|it| **it > 0.0).count();
    let down = changes.iter().filter(|it| **it < 0.0).count();
    let rose = builder.page.styled(up as f64, Style::Count, source.clone(), Formula::Rising);
    let fell = builder.page.styled(down as f64, Style::Count, source, Formula::Falling);
    builder.page.add_line(
        "В индексе выросли {}, снизились {}.",
        "In the index {} rose and {} fell.",
        [Some(rose).into(), Some(fell).into()],
    );
}

pub(super) fn sector_name(builder: &AnswerBuilder<'_>) -> Option<String> {
    let sector = builder.plan.request.sector?;
    Some(builder.language().pick(sector.russian, sector.name).to_owned())
}

/// Joins a few rows with one figure each: «SBER 12 %, LKOH 11 %».
pub(super) fn listed(items: Vec<(String, CitedFigure)>) -> Slot {
    let mut slots = Vec::new();
    for (at, (ticker, figure)) in items.into_iter().enumerate() {
        let gap = if at == 0 { "" } else { ", " };
        slots.push(Slot::Text(format!("{gap}{ticker} ")));
        slots.push(Slot::Figure(Some(figure)));
    }
    Slot::Many(slots)
}

pub(super) fn index(builder: &mut AnswerBuilder<'_>, section: Section) {
    let basket = builder.calls("get_index_constituents_metrics").first().copied();
    let weights = ranked(builder, basket, "weight_pct");
    match section {
        Section::Summary => {
            let named = !builder.plan.resolved.securities.is_empty();
            if builder.plan.request.by_sector && builder.plan.request.sector.is_none() && !named {
                sectors(builder, basket, &weights);
            }
            if builder.plan.request.focus == Focus::Count && !named {
                opening(builder, basket);
                heaviest(builder, basket, &weights);
            } else {
                heaviest(builder, basket, &weights);
                opening(builder, basket);
            }
            counted(builder, basket);
            reading_notes(builder);
        }
        Section::Figures => constituents(builder, basket, &weights),
        Section::Risks => {
            let top = builder.page.figure(basket, "/metrics/top5_weight_pct", Style::Percent);
            let head =
                ("Вес пяти крупнейших бумаг индекса", "Weight of the five largest in the index");
            builder.page.facts(head, [], vec![fact(("", ""), top)]);
        }
        Section::Conclusions => {
            let word = match float(basket, "/metrics/top5_weight_pct") {
                Some(it) if it > 50.0 => builder.language().pick(
                    "индекс сильно зависит от нескольких бумаг",
                    "the index depends strongly on a few securities",
                ),
                Some(_) => builder.language().pick(
                    "вес в индексе распределён между многими бумагами",
                    "the index is spread over many securities",
                ),
                None => builder
                    .language()
                    .pick("для вывода данных не хватает", "there is not enough data to tell"),
            };
            builder.page.add_line("Итог: {}.", "In short: {}.", [word.into()]);
        }
    }
}

/// Writes the first sentence about weights: of the named securities, of a sector, or of the largest
/// constituents.
fn heaviest(
    builder: &mut AnswerBuilder<'_>,
    basket: Option<&Finding>,
    weights: &[(usize, String, f64)],
) {
    let top = builder.plan.request.top.unwrap_or(LEADING_MAX);
    let figure =
        |at: usize| builder.page.figure(basket, &format!("/data/{at}/weight_pct"), Style::Percent);
    let named = &builder.plan.resolved.securities;
    let index: Slot = builder.plan.request.index.into();
    let missing: Vec<String> = named
        .iter()
        .filter(|it| weights.iter().all(|row| row.1 != it.ticker))
        .map(|it| it.ticker.clone())
        .collect();
    let count = if named.is_empty() { top } else { named.len() };
    let items: Vec<(String, CitedFigure)> = weights
        .iter()
        .take(count)
        .filter_map(|(at, ticker, _)| Some((ticker.clone(), figure(*at)?)))
        .collect();
    let any = !items.is_empty();
    let total = together(builder, basket, weights, count).filter(|_| named.is_empty());
    if any && !named.is_empty() {
        builder.page.add_line(
            "Вес в индексе {}: {}.",
            "Weight in {}: {}.",
            [index.clone(), listed(items)],
        );
    } else if let Some(sector) = sector_name(builder) {
        if any {
            let slots = [index.clone(), sector.into(), listed(items)];
            builder.page.add_line("Бумаги индекса {}, {}: {}.", "{}, {}: {}.", slots);
        } else {
            builder.page.add_line(
                "Бумаг такого сектора ({}) в данных индекса {} нет.",
                "There are no securities of that sector ({}) in the data of {}.",
                [sector.into(), index.clone()],
            );
        }
    } else if any {
        let slots = [index.clone(), listed(items)];
        builder.page.add_line("Крупнейшие бумаги индекса {}: {}.", "The largest in {}: {}.", slots);
    }
    if let Some(total) = total.filter(|_| builder.plan.request.top.is_some()) {
        builder.page.add_line("Вместе их вес {}.", "Together they weigh {}.", [Some(total).into()]);
    }
    if !missing.is_empty() && basket.is_some_and(|it| it.outcome.is_ok()) {
        let slots = [index, missing.join(", ").into()];
        builder.page.add_line("В индексе {} нет: {}.", "Not in {}: {}.", slots);
    }
}

/// Returns the sum of the first weights.
fn together(
    builder: &AnswerBuilder<'_>,
    basket: Option<&Finding>,
    weights: &[(usize, String, f64)],
    count: usize,
) -> Option<CitedFigure> {
    let taken = weights.get(..count.min(weights.len())).filter(|it| it.len() > 1)?;
    let id = basket?.id;
    let sources =
        taken.iter().map(|it| (id, format!("/result/data/{}/weight_pct", it.0))).collect();
    let sum = taken.iter().map(|it| it.2).sum();
    Some(builder.page.styled(sum, Style::Percent, sources, Formula::Sum))
}

/// A sector with its rows.
type SectorRows<'a> = (String, Vec<&'a (usize, String, f64)>);

/// Writes the weight of each sector, the heaviest first. Constituents without a sector are left
/// out.
fn sectors(
    builder: &mut AnswerBuilder<'_>,
    basket: Option<&Finding>,
    weights: &[(usize, String, f64)],
) {
    let mut all: Vec<SectorRows<'_>> = Vec::new();
    for row in weights {
        let Some(name) = all_rows(basket).get(row.0).and_then(|it| it["sector"].as_str()) else {
            continue;
        };
        match all.iter_mut().find(|it| it.0 == name) {
            Some(sector) => sector.1.push(row),
            None => all.push((name.to_owned(), vec![row])),
        }
    }
    let sum = |rows: &[&(usize, String, f64)]| rows.iter().map(|it| it.2).sum::<f64>();
    all.sort_by(|a, b| sum(&b.1).total_cmp(&sum(&a.1)));
    let id = basket.map_or(0, |it| it.id);
    let item = |(name, rows): &SectorRows<'_>| {
        let sources =
            rows.iter().map(|it| (id, format!("/result/data/{}/weight_pct", it.0))).collect();
        let figure = builder.page.styled(sum(rows), Style::Percent, sources, Formula::Sum);
        let name = match builder.language() {
            Language::Russian => {
                Sector::russian(name).map_or_else(|| quoted(name), ToOwned::to_owned)
            }
            Language::English => quoted(name),
        };
        (name, figure)
    };
    let items: Vec<(String, CitedFigure)> = all.iter().map(item).collect();
    if items.is_empty() {
        builder.page.facts(("Секторы индекса", "Sectors of the index"), [], Vec::new());
        return;
    }
    let slots = [builder.plan.request.index.into(), listed(items)];
    builder.page.add_line("Секторы индекса {} по весу: {}.", "Sectors of {} by weight: {}.", slots);
}

fn constituents(
    builder: &mut AnswerBuilder<'_>,
    basket: Option<&Finding>,
    weights: &[(usize, String, f64)],
) {
    let top = builder.plan.request.top;
    let part = |at: usize, field: &str, style| {
        builder.page.figure(basket, &format!("/data/{at}/{field}"), style)
    };
    let rows = weights.iter().take(top.unwrap_or(SHOWN_MAX)).map(|(at, ticker, _)| {
        let sector =
            basket.and_then(|it| it.at(&format!("/data/{at}/sector"))).and_then(Value::as_str);
        vec![
            Slot::Text(ticker.clone()),
            part(*at, "weight_pct", Style::Plain(2)).into(),
            part(*at, "last_price", Style::Plain(2)).into(),
            part(*at, "price_change_pct", Style::Plain(2)).into(),
            Slot::Text(sector.map_or_else(|| "—".to_owned(), quoted)),
        ]
    });
    let rows = rows.collect();
    for (at, ticker, _) in weights.iter().take(top.unwrap_or(MOVERS_MAX)) {
        let facts = vec![
            fact(
                ("вес", "weight"),
                builder.page.figure(basket, &format!("/data/{at}/weight_pct"), Style::Percent),
            ),
            fact(
                ("за день", "on the day"),
                builder.page.figure(basket, &format!("/data/{at}/price_change_pct"), Style::Change),
            ),
        ];
        builder.page.facts(("- {}", "- {}"), [ticker.as_str().into()], facts);
    }
    if weights.is_empty() {
        builder.page.facts(("- Веса бумаг", "- Weights"), [], Vec::new());
    }
    let columns = [
        ("Бумага", "Security"),
        ("Вес, %", "Weight, %"),
        ("Цена", "Price"),
        ("Изменение, %", "Change, %"),
        ("Сектор", "Sector"),
    ];
    builder.page.table(("Бумаги индекса", "Constituents"), &columns, rows);
}

//! Indices: what is in them, and what moved.

use serde_json::Value;

use super::{Sheet, float};
use crate::check::Formula;
use crate::desk::Finding;
use crate::number::agree;
use crate::page::{Cited, Slot, Style, quoted};

const SHOWN_MAX: usize = 10;
const MOVERS_MAX: usize = 5;

/// The rows of a basket, best first by a figure, those without it left out.
fn ranked(finding: Option<&Finding>, field: &str) -> Vec<(usize, String, f64)> {
    let rows = finding.and_then(|it| it.at("/data")).and_then(Value::as_array);
    let mut found: Vec<(usize, String, f64)> = rows
        .into_iter()
        .flatten()
        .enumerate()
        .filter_map(|(at, row)| Some((at, quoted(row["ticker"].as_str()?), row[field].as_f64()?)))
        .collect();
    found.sort_by(|a, b| b.2.total_cmp(&a.2));
    found
}

fn opening(sheet: &mut Sheet<'_>, basket: Option<&Finding>) {
    let count = float(basket, "/metrics/num_constituents").unwrap_or(0.0) as u64;
    let word = sheet.language().pick(
        agree(count, "бумага", "бумаги", "бумаг"),
        if count == 1 { "security" } else { "securities" },
    );
    let shown = sheet.page.figure(basket, "/metrics/num_constituents", Style::Count);
    let date = sheet.page.told(basket, "/result/metrics/effective_date");
    let index = sheet.plan.request.index;
    sheet.page.say(
        "Индекс {} на {}: {} {}.",
        "{} on {}: {} {}.",
        [index.into(), date.into(), shown.into(), word.into()],
    );
    let (effective, asked) = (
        basket.and_then(|it| it.at("/metrics/effective_date")),
        basket.map(|it| &it.args["as_of_date"]),
    );
    if effective.is_some() && effective != asked {
        let asked = sheet.page.told(basket, "/args/as_of_date");
        sheet.page.say(
            "{} торгов не было; показан последний торговый день до этой даты.",
            "{} was no trading day; this is the last one before it.",
            [asked.into()],
        );
    }
}

/// How many rose and fell.
fn breadth(sheet: &mut Sheet<'_>, basket: Option<&Finding>) {
    let source = vec![(basket.map_or(0, |it| it.id), "/result/data".to_owned())];
    let changes = ranked(basket, "price_change_pct");
    if changes.is_empty() {
        sheet.page.say("Изменения цен: нет данных.", "Price changes: no data.", []);
        return;
    }
    let up = changes.iter().filter(|it| it.2 > 0.0).count();
    let down = changes.iter().filter(|it| it.2 < 0.0).count();
    let rose = sheet.page.styled(up as f64, Style::Count, source.clone(), Formula::Rising);
    let fell = sheet.page.styled(down as f64, Style::Count, source, Formula::Falling);
    sheet.page.say(
        "Выросли {}, снизились {}.",
        "{} rose and {} fell.",
        [Some(rose).into(), Some(fell).into()],
    );
}

pub(super) fn index(sheet: &mut Sheet<'_>) {
    let basket = sheet.first("get_index_constituents_metrics");
    sheet.page.heading("Резюме", "Summary");
    opening(sheet, basket);
    breadth(sheet, basket);
    sheet.page.heading("Ключевые показатели", "Key figures");
    let weights = ranked(basket, "weight_pct");
    for (at, ticker, _) in weights.iter().take(MOVERS_MAX) {
        let weight = sheet.page.figure(basket, &format!("/data/{at}/weight_pct"), Style::Percent);
        let change =
            sheet.page.figure(basket, &format!("/data/{at}/price_change_pct"), Style::Change);
        sheet.page.say(
            "- {}: вес {}, за день {}.",
            "- {}: weight {}, on the day {}.",
            [ticker.as_str().into(), weight.into(), change.into()],
        );
    }
    let row = |(at, ticker, _): &(usize, String, f64)| {
        let figure = |field: &str| {
            sheet.page.figure(basket, &format!("/data/{at}/{field}"), Style::Plain(2))
        };
        let sector =
            basket.and_then(|it| it.at(&format!("/data/{at}/sector"))).and_then(Value::as_str);
        vec![
            Slot::Text(ticker.clone()),
            figure("weight_pct").into(),
            figure("last_price").into(),
            figure("price_change_pct").into(),
            Slot::Text(sector.map_or_else(|| "—".to_owned(), quoted)),
        ]
    };
    let rows = weights.iter().take(SHOWN_MAX).map(row).collect();
    let columns = [
        ("Бумага", "Security"),
        ("Вес, %", "Weight, %"),
        ("Цена", "Price"),
        ("Изменение, %", "Change, %"),
        ("Сектор", "Sector"),
    ];
    sheet.page.table(("Крупнейшие бумаги индекса", "Largest constituents"), &columns, rows);
    sheet.page.heading("Риски", "Risks");
    let top = sheet.page.figure(basket, "/metrics/top5_weight_pct", Style::Percent);
    sheet.page.say(
        "На пять крупнейших бумаг приходится {} индекса.",
        "The five largest make up {} of the index.",
        [top.into()],
    );
    sheet.page.heading("Выводы", "Conclusions");
    let word = match float(basket, "/metrics/top5_weight_pct") {
        Some(it) if it > 50.0 => sheet.language().pick(
            "индекс сильно зависит от нескольких бумаг",
            "the index depends strongly on a few securities",
        ),
        Some(_) => sheet.language().pick(
            "вес в индексе распределён между многими бумагами",
            "the index is spread over many securities",
        ),
        None => sheet.language().pick("нет данных", "no data"),
    };
    sheet.page.say("Итог: {}.", "In short: {}.", [word.into()]);
}

/// A security of the basket with how it changed.
struct Mover {
    ticker: String,
    change: f64,
    figure: Cited,
    price: Option<Cited>,
}

/// On one day as the exchange says; over more days from the prices of both ends.
fn changes(sheet: &Sheet<'_>, now: Option<&Finding>, then: Option<&Finding>) -> Vec<Mover> {
    let price =
        |at: usize| sheet.page.figure(now, &format!("/data/{at}/last_price"), Style::Price("RUB"));
    let Some(then) = then else {
        let mover = |(at, ticker, change): (usize, String, f64)| {
            let figure =
                sheet.page.figure(now, &format!("/data/{at}/price_change_pct"), Style::Change)?;
            Some(Mover { ticker, change, figure, price: price(at) })
        };
        return ranked(now, "price_change_pct").into_iter().filter_map(mover).collect();
    };
    let before = ranked(Some(then), "last_price");
    let mover = |(at, ticker, last): (usize, String, f64)| {
        let (was_at, _, was) = before.iter().find(|it| it.1 == ticker && it.2 > 0.0)?;
        let change = (last / was - 1.0) * 100.0;
        let source = |id: usize, at: usize| (id, format!("/result/data/{at}/last_price"));
        let sources = vec![source(then.id, *was_at), source(now?.id, at)];
        let figure = sheet.page.styled(change, Style::Change, sources, Formula::Change);
        Some(Mover { ticker, change, figure, price: price(at) })
    };
    let mut all: Vec<Mover> = ranked(now, "last_price").into_iter().filter_map(mover).collect();
    all.sort_by(|a, b| b.change.total_cmp(&a.change));
    all
}

pub(super) fn movers(sheet: &mut Sheet<'_>) {
    let calls: Vec<&Finding> =
        sheet.findings.iter().filter(|it| it.tool == "get_index_constituents_metrics").collect();
    let (now, then) = (calls.first().copied(), calls.get(1).copied());
    let all = changes(sheet, now, then);
    sheet.page.heading("Резюме", "Summary");
    opening(sheet, now);
    if then.is_some() {
        let [from, to] =
            [sheet.page.told(then, "/args/as_of_date"), sheet.page.told(now, "/args/as_of_date")];
        sheet.page.say(
            "Изменения посчитаны по ценам с {} по {}, без поправки на дробление.",
            "Changes are from prices between {} and {}, not adjusted for splits.",
            [from.into(), to.into()],
        );
    } else {
        breadth(sheet, now);
    }
    sheet.page.heading("Ключевые показатели", "Key figures");
    let rising: Vec<&Mover> = all.iter().filter(|it| it.change > 0.0).take(MOVERS_MAX).collect();
    let falling: Vec<&Mover> =
        all.iter().rev().filter(|it| it.change < 0.0).take(MOVERS_MAX).collect();
    if all.is_empty() {
        sheet.page.say("- Изменения цен: нет данных.", "- Price changes: no data.", []);
    }
    let mut rows = Vec::new();
    for it in rising.iter().chain(&falling) {
        let word = sheet.language().pick(
            if it.change > 0.0 { "рост" } else { "снижение" },
            if it.change > 0.0 { "up" } else { "down" },
        );
        let slots = [
            it.ticker.as_str().into(),
            word.into(),
            Some(it.figure.clone()).into(),
            it.price.clone().into(),
        ];
        sheet.page.say("- {}: {} {}, цена {}.", "- {}: {} {}, price {}.", slots);
        rows.push(vec![
            Slot::Text(it.ticker.clone()),
            Some(it.figure.clone()).into(),
            it.price.clone().into(),
        ]);
    }
    let columns = [("Бумага", "Security"), ("Изменение, %", "Change, %"), ("Цена", "Price")];
    sheet.page.table(("Лидеры движения", "Movers"), &columns, rows);
    sheet.page.heading("Риски", "Risks");
    sheet.page.say(
        "Движение одного периода не говорит о следующем.",
        "What moved in one period says nothing of the next.",
        [],
    );
    sheet.page.heading("Выводы", "Conclusions");
    let (up, down) = (
        all.iter().filter(|it| it.change > 0.0).count(),
        all.iter().filter(|it| it.change < 0.0).count(),
    );
    let word = match up.cmp(&down) {
        _ if all.is_empty() => sheet.language().pick("нет данных", "no data"),
        std::cmp::Ordering::Greater => {
            sheet.language().pick("растущих бумаг больше", "more rose than fell")
        }
        std::cmp::Ordering::Less => {
            sheet.language().pick("снижающихся бумаг больше", "more fell than rose")
        }
        std::cmp::Ordering::Equal => {
            sheet.language().pick("растущих и снижающихся поровну", "as many rose as fell")
        }
    };
    sheet.page.say("Итог: {}.", "In short: {}.", [word.into()]);
}

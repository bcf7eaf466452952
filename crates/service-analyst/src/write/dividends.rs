//! Writes the dividends of securities: in the requested period, or over the last year.

use serde_json::Value;

use super::holding;
use super::talk::reading_notes;
use super::{AnswerBuilder, Section, currency_of, float};
use crate::check::Formula;
use crate::number::agree;
use crate::page::{CitedFigure, Slot, Style, fact, quoted};
use crate::resolve::Security;
use crate::tool_session::Finding;

/// Most payments shown; the latest ones.
const PAYMENTS_MAX: usize = 8;
/// Longest period, in days, for which a yield is shown; over a longer period it would mislead.
const YIELD_DAYS_MAX: i32 = 400;
/// Most securities of an index that the first sentence names.
const LEADING_MAX: usize = 5;
/// Most securities of an index that the list names.
const RANKED_MAX: usize = 10;
const YEAR_YIELD: &str = "/metrics/trailing_12m_yield_pct";
const PERIOD_SUM: &str = "/metrics/period_sum";
const YEAR_SUM: &str = "/metrics/trailing_12m_sum";

pub(super) fn write(builder: &mut AnswerBuilder<'_>, all: &[Security], section: Section) {
    match section {
        Section::Summary => {
            if all.len() > 1 {
                best(builder, all);
            }
            for it in all {
                paid(builder, it);
            }
            reading_notes(builder);
        }
        Section::Figures => figures(builder, all),
        Section::Risks => builder.page.add_line(
            "Прошлые выплаты не обещают будущих: их размер решает собрание акционеров.",
            "Past payments promise nothing: shareholders decide on every one.",
            [],
        ),
        Section::Conclusions => {
            if all.len() == 1 || !best(builder, all) {
                latest(builder, all);
            }
        }
    }
}

/// Writes which securities of an index have the highest dividends.
pub(super) fn market(builder: &mut AnswerBuilder<'_>, all: &[Security], section: Section) {
    let mut ranked: Vec<(&Security, f64)> = all
        .iter()
        .filter_map(|it| {
            Some((it, float(builder.finding("get_dividends", &it.ticker), YEAR_YIELD)?))
        })
        .collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
    match section {
        Section::Summary => {
            let top = builder.plan.request.top.unwrap_or(LEADING_MAX);
            let mut slots = Vec::new();
            for (at, (it, _)) in ranked.iter().take(top).enumerate() {
                let gap = if at == 0 { "" } else { ", " };
                slots.push(Slot::Text(format!("{gap}{} ", it.ticker)));
                slots.push(figure(builder, it, YEAR_YIELD, Style::Percent).into());
            }
            of_index(builder, slots);
            reading_notes(builder);
        }
        Section::Figures => {
            for (it, _) in ranked.iter().take(RANKED_MAX) {
                let code = currency(builder.finding("get_dividends", &it.ticker)).unwrap_or_default();
                let facts = vec![
                    fact(("доходность", "yield"), figure(builder, it, YEAR_YIELD, Style::Percent)),
                    fact(
                        ("на акцию за год", "a share in the year"),
                        figure(builder, it, YEAR_SUM, Style::Price(&code)),
                    ),
                ];
                builder.page.facts(("- {}", "- {}"), [it.ticker.as_str().into()], facts);
            }
            if ranked.is_empty() {
                builder.page.facts(("- Дивиденды", "- Dividends"), [], Vec::new());
            }
            let row = |(it, _): &(&Security, f64)| {
                vec![
                    Slot::Text(it.ticker.clone()),
                    figure(builder, it, YEAR_YIELD, Style::Percent).into(),
                    figure(builder, it, YEAR_SUM, Style::Plain(4)).into(),
                ]
            };
            let table = ranked.iter().map(row).collect();
            let columns = [("Бумага", "Security"), ("Доходность, %", "Yield, %"), ("На акцию", "A share")];
            builder.page.table(("Дивиденды индекса", "Dividends of the index"), &columns, table);
        }
        Section::Risks => write(builder, &[], section),
        Section::Conclusions => builder.page.add_line(
            "Высокая доходность прошлого года бывает и оттого, что цена упала или выплата была разовой.",
            "A high yield of the past year may also come of a fallen price or of a single payment.",
            [],
        ),
    }
}

fn figure(
    builder: &AnswerBuilder<'_>,
    it: &Security,
    at: &str,
    style: Style<'_>,
) -> Option<CitedFigure> {
    builder.page.figure(builder.finding("get_dividends", &it.ticker), at, style)
}

/// Writes the first sentence about the dividends of an index, even if data is missing.
fn of_index(builder: &mut AnswerBuilder<'_>, slots: Vec<Slot>) {
    let basket =
        builder.findings.iter().rev().find(|it| it.tool == "get_index_constituents_metrics");
    let count = builder.page.figure(basket, "/metrics/num_constituents", Style::Count);
    let index = builder.plan.request.index;
    if slots.is_empty() {
        builder.page.facts(
            ("Дивиденды бумаг индекса {}", "Dividends in {}"),
            [index.into()],
            vec![],
        );
        return;
    }
    builder.page.add_line(
        "Наибольшая дивидендная доходность за год среди бумаг индекса {}: {}.",
        "The highest dividend yields of a year in {}: {}.",
        [index.into(), Slot::Many(slots)],
    );
    if let Some(count) = count {
        builder.page.add_line(
            "Просмотрены все бумаги индекса, их {}; выплаты — за двенадцать месяцев, доходность — к цене на их конец.",
            "All {} securities of the index were looked at; payments are of twelve months, yields of the price at their end.",
            [Some(count).into()],
        );
    }
}

fn rows(paid: Option<&Finding>) -> &[Value] {
    paid.and_then(|it| it.at("/data")).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Returns the currency if all payments share one.
fn currency(paid: Option<&Finding>) -> Option<String> {
    let rows = rows(paid);
    let code = |row: &Value| row["currency"].as_str().unwrap_or("RUB").to_owned();
    let first = code(rows.first()?);
    rows.iter().all(|row| code(row) == first).then_some(first)
}

/// Returns the sum paid in the period and its percentage of the last price.
fn of_period(
    builder: &AnswerBuilder<'_>,
    it: &Security,
) -> (Option<CitedFigure>, Option<(f64, CitedFigure)>) {
    let paid = builder.finding("get_dividends", &it.ticker);
    let snapshot = builder.finding("get_security_snapshot", &it.ticker);
    let (Some(found), Some(code)) = (paid, currency(paid)) else { return (None, None) };
    // The tool's sum is adjusted for splits; single payments are not.
    let Some(sum) = float(paid, PERIOD_SUM) else { return (None, None) };
    let shown = builder.page.figure(paid, PERIOD_SUM, Style::Price(&code));
    let sources = vec![(found.id, format!("/result{PERIOD_SUM}"))];
    let period = builder.plan.request.period();
    let short = period.from.saturating_add(jiff::ToSpan::days(YIELD_DAYS_MAX)) > period.to;
    let price = float(snapshot, "/data/last_price").filter(|it| *it > 0.0 && short);
    let part =
        price.zip(snapshot).filter(|_| currency_of(snapshot) == code).map(|(price, snapshot)| {
            let value = sum / price * 100.0;
            let mut sources = sources;
            sources.push((snapshot.id, "/result/data/last_price".to_owned()));
            (value, builder.page.styled(value, Style::Percent, sources, Formula::Part))
        });
    (shown, part)
}

fn paid(builder: &mut AnswerBuilder<'_>, it: &Security) {
    let paid = builder.finding("get_dividends", &it.ticker);
    let money = currency_of(builder.finding("get_security_snapshot", &it.ticker));
    let title = builder.title(it);
    if builder.plan.request.period.is_none() {
        let sum = builder.page.figure(paid, YEAR_SUM, Style::Price(&money));
        let part = builder.page.figure(paid, "/metrics/trailing_12m_yield_pct", Style::Percent);
        let none = paid.is_some_and(|it| it.outcome.is_ok()) && sum.is_none();
        if none {
            builder.page.add_line(
                "{}: за последний год выплат не найдено.",
                "{}: no payments were found in the last year.",
                [title],
            );
            return;
        }
        let facts = vec![
            fact(("выплачено на акцию", "paid a share"), sum),
            fact(("доходность", "yield"), part),
        ];
        builder.page.facts(("{} за последний год", "{} over the last year"), [title], facts);
        holding::received(builder, it, (paid, YEAR_SUM), &money);
        return;
    }
    let (sum, part) = of_period(builder, it);
    let Some([from, to]) = builder.period(paid) else {
        builder.page.facts(("{}", "{}"), [title], Vec::new());
        return;
    };
    let none = paid.is_some_and(|it| it.outcome.is_ok()) && rows(paid).is_empty();
    if none {
        builder.page.add_line(
            "{}: с {} по {} выплат не найдено (по датам закрытия реестра).",
            "{}: from {} to {} no payments were found (by record date).",
            [title, from, to],
        );
        return;
    }
    let mut facts = vec![fact(("выплачено на акцию", "paid a share"), sum)];
    if let Some((_, part)) = part {
        facts.push(fact(("доходность к последней цене", "yield on the last price"), Some(part)));
    }
    builder.page.facts(
        ("{} с {} по {} (по датам закрытия реестра)", "{} from {} to {} (by record date)"),
        [title, from, to],
        facts,
    );
    holding::received(builder, it, (paid, PERIOD_SUM), &money);
}

/// Writes the security with the highest yield. Returns whether there is one.
fn best(builder: &mut AnswerBuilder<'_>, all: &[Security]) -> bool {
    let trailing = builder.plan.request.period.is_none();
    let part = |it: &Security| -> Option<(f64, CitedFigure)> {
        if !trailing {
            return of_period(builder, it).1;
        }
        let paid = builder.finding("get_dividends", &it.ticker);
        let at = "/metrics/trailing_12m_yield_pct";
        Some((float(paid, at)?, builder.page.figure(paid, at, Style::Percent)?))
    };
    let found = all.iter().filter_map(|it| Some((it, part(it)?)));
    let Some((it, (_, shown))) = found.max_by(|a, b| a.1.0.total_cmp(&b.1.0)) else {
        return false;
    };
    builder.page.add_line(
        "Наибольшая дивидендная доходность: {}, {}.",
        "The highest dividend yield: {}, {}.",
        [it.ticker.as_str().into(), Some(shown).into()],
    );
    true
}

fn figures(builder: &mut AnswerBuilder<'_>, all: &[Security]) {
    let mut table = Vec::new();
    for it in all {
        let paid = builder.finding("get_dividends", &it.ticker);
        let snapshot = builder.finding("get_security_snapshot", &it.ticker);
        let money = currency_of(snapshot);
        let count = float(paid, "/metrics/num_payments").unwrap_or(0.0) as u64;
        let word = builder.language().pick(
            agree(count, "выплата", "выплаты", "выплат"),
            if count == 1 { "payment" } else { "payments" },
        );
        let price = builder.page.figure(snapshot, "/data/last_price", Style::Price(&money));
        let price = fact(("последняя цена", "last price"), price);
        match builder.page.figure(paid, "/metrics/num_payments", Style::Count) {
            Some(shown) => builder.page.facts(
                ("- {}, {} {}", "- {}, {} {}"),
                [it.ticker.as_str().into(), Some(shown).into(), word.into()],
                vec![price],
            ),
            None => builder.page.facts(("- {}", "- {}"), [it.ticker.as_str().into()], vec![price]),
        }
        table.extend(payments(builder, it, paid));
    }
    let columns = [
        ("Бумага", "Security"),
        ("Дата реестра", "Record date"),
        ("На акцию", "A share"),
        ("Валюта", "Currency"),
    ];
    builder.page.table(("Дивиденды", "Dividends"), &columns, table);
}

/// Writes the latest payment of each security.
fn latest(builder: &mut AnswerBuilder<'_>, all: &[Security]) {
    for it in all {
        let paid = builder.finding("get_dividends", &it.ticker);
        let last = rows(paid).len().checked_sub(1);
        let date = last.and_then(|at| {
            builder.page.cited_text(paid, &format!("/result/data/{at}/registry_close_date"))
        });
        let code = currency(paid).unwrap_or_default();
        let value = last.and_then(|at| {
            builder.page.figure(paid, &format!("/data/{at}/value"), Style::Price(&code))
        });
        match (date, value) {
            (Some(date), Some(value)) => builder.page.add_line(
                "{}: последняя выплата из найденных {} на акцию, реестр {}.",
                "{}: the latest payment found is {} a share, record date {}.",
                [it.ticker.as_str().into(), Some(value).into(), Some(date).into()],
            ),
            _ => builder.page.facts(
                ("{}, выплаты", "{}, payments"),
                [it.ticker.as_str().into()],
                Vec::new(),
            ),
        }
    }
}

fn payments(builder: &AnswerBuilder<'_>, it: &Security, paid: Option<&Finding>) -> Vec<Vec<Slot>> {
    let count = rows(paid).len();
    let row = |at: usize| {
        let text = |field: &str| {
            let value =
                paid.and_then(|it| it.at(&format!("/data/{at}/{field}"))).and_then(Value::as_str);
            Slot::Text(quoted(value.unwrap_or("—")))
        };
        let value = builder.page.figure(paid, &format!("/data/{at}/value"), Style::Plain(4));
        vec![
            Slot::Text(it.ticker.clone()),
            text("registry_close_date"),
            value.into(),
            text("currency"),
        ]
    };
    (count.saturating_sub(PAYMENTS_MAX)..count).rev().map(row).collect()
}

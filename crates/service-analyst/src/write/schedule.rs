//! Writes when the exchange trades.

use serde_json::Value;

use super::talk::reading_notes;
use super::{AnswerBuilder, Section, float};
use crate::number::agree;
use crate::page::{Slot, Style, fact, quoted};
use crate::tool_session::Finding;

/// Most days without trading that the answer names.
const CLOSED_MAX: usize = 15;

fn rows(calendar: Option<&Finding>) -> &[Value] {
    calendar.and_then(|it| it.at("/data")).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn is_trading(row: &Value) -> bool {
    row["is_trading"] == Value::Bool(true)
}

fn date(builder: &AnswerBuilder<'_>, calendar: Option<&Finding>, at: usize) -> Slot {
    Slot::Figure(builder.page.cited_text(calendar, &format!("/result/data/{at}/date")))
}

/// Returns the words for how the calendar knows a day.
fn basis(builder: &AnswerBuilder<'_>, row: &Value) -> &'static str {
    let (russian, english) = match row["basis"].as_str() {
        Some("record") => ("по состоявшимся торгам", "as it was traded"),
        Some("announced") => ("так объявила биржа", "as the exchange announced"),
        _ => (
            "по обычному расписанию недели; отдельного объявления об этом дне нет",
            "by the usual week; nothing was announced about this day",
        ),
    };
    builder.language().pick(russian, english)
}

pub(super) fn write(builder: &mut AnswerBuilder<'_>, section: Section) {
    let calendar = builder.last("get_trading_calendar");
    let single = builder.plan.request.period().is_day();
    match section {
        Section::Summary => {
            match rows(calendar).first().filter(|_| single) {
                Some(first) => day(builder, calendar, first),
                None => period_days(builder, calendar),
            }
            reading_notes(builder);
        }
        Section::Figures => listed(builder, calendar, single),
        Section::Risks => builder.page.add_line(
            "Биржа может изменить расписание и объявляет об этом отдельно.",
            "The exchange may change its days, and announces it.",
            [],
        ),
        Section::Conclusions => next(builder, calendar, single),
    }
}

fn day(builder: &mut AnswerBuilder<'_>, calendar: Option<&Finding>, first: &Value) {
    let slots = [date(builder, calendar, 0), basis(builder, first).into()];
    if is_trading(first) && first["opens"].is_string() && first["closes"].is_string() {
        let [day, basis] = slots;
        let time = |at: &str| {
            calendar.map_or(Slot::Figure(None), |it| {
                Slot::Figure(builder.page.moscow_time(it, &format!("/data/0/{at}")))
            })
        };
        let slots = [day, time("opens"), time("closes"), basis];
        builder.page.add_line(
            "{}: торги есть, с {} до {} по московскому времени ({}).",
            "{}: trading from {} to {} Moscow time ({}).",
            slots,
        );
    } else if is_trading(first) {
        builder.page.add_line("{}: торги есть ({}).", "{}: there is trading ({}).", slots);
    } else {
        builder.page.add_line("{}: торгов нет ({}).", "{}: there is no trading ({}).", slots);
    }
}

fn period_days(builder: &mut AnswerBuilder<'_>, calendar: Option<&Finding>) {
    let count = float(calendar, "/metrics/num_trading_days").unwrap_or(0.0) as u64;
    let shown = builder.page.figure(calendar, "/metrics/num_trading_days", Style::Count);
    let (Some(shown), Some([from, to])) = (shown, builder.period(calendar)) else {
        builder.page.facts(("Торговый календарь", "Trading calendar"), [], Vec::new());
        return;
    };
    let word = builder.language().pick(
        agree(count, "торговый день", "торговых дня", "торговых дней"),
        if count == 1 { "trading day" } else { "trading days" },
    );
    let slots = [from, to, Some(shown).into(), word.into()];
    builder.page.add_line("С {} по {}: {} {}.", "From {} to {}: {} {}.", slots);
    let closed: Vec<usize> =
        rows(calendar).iter().enumerate().filter(|it| !is_trading(it.1)).map(|it| it.0).collect();
    if closed.is_empty() {
        builder.page.add_line("Дней без торгов нет.", "There is no day without trading.", []);
        return;
    }
    let mut slots = Vec::new();
    for (at, row) in closed.iter().take(CLOSED_MAX).enumerate() {
        slots.push(Slot::from(if at == 0 { "" } else { ", " }));
        slots.push(date(builder, calendar, *row));
    }
    if closed.len() > CLOSED_MAX {
        slots.push(builder.language().pick(" и другие", " and others").into());
    }
    builder.page.add_line("Без торгов: {}.", "No trading on: {}.", [Slot::Many(slots)]);
}

fn listed(builder: &mut AnswerBuilder<'_>, calendar: Option<&Finding>, single: bool) {
    let day = |at: &str| builder.page.cited_text(calendar, at);
    let facts = [
        (("последний торговый день", "last trading day"), "/result/metrics/last_trading_day"),
        (("следующий торговый день", "next trading day"), "/result/metrics/next_trading_day"),
    ];
    let facts: Vec<_> =
        facts.into_iter().filter_map(|(name, at)| Some(fact(name, Some(day(at)?)))).collect();
    builder.page.facts(("- В этих днях", "- Among these days"), [], facts);
    let count = if single { 1 } else { rows(calendar).len() };
    let row = |row: &Value| {
        let word = if is_trading(row) { ("да", "yes") } else { ("нет", "no") };
        vec![
            Slot::Text(quoted(row["date"].as_str().unwrap_or("—"))),
            builder.language().pick(word.0, word.1).into(),
            basis(builder, row).into(),
        ]
    };
    let table = rows(calendar).iter().take(count.min(62)).map(row).collect();
    let columns = [("Дата", "Date"), ("Торги", "Trading"), ("Основание", "Basis")];
    builder.page.table(("Торговые дни", "Trading days"), &columns, table);
}

/// Writes the first trading day after the requested days, or among them.
fn next(builder: &mut AnswerBuilder<'_>, calendar: Option<&Finding>, single: bool) {
    let closed = |row: &Value| !is_trading(row);
    let skip = match rows(calendar).first() {
        Some(first) if single && closed(first) => 1,
        _ => rows(calendar).iter().position(closed).filter(|_| !single).unwrap_or(0),
    };
    let at = rows(calendar).iter().enumerate().skip(skip).find(|it| is_trading(it.1));
    match at {
        Some((at, _)) if at > 0 => {
            let slots = [date(builder, calendar, at)];
            builder.page.add_line(
                "Первый торговый день после дня без торгов: {}.",
                "The first trading day after a day off: {}.",
                slots,
            );
        }
        Some(_) => builder.page.add_line("Итог: торги идут.", "In short: there is trading.", []),
        None => builder.page.add_line(
            "Для вывода данных не хватает.",
            "There is not enough data for a conclusion.",
            [],
        ),
    }
}

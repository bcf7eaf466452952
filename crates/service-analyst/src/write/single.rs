//! Writes about one security over a period: its price, its trend and its risk.

use serde_json::Value;

use super::holding;
use super::lead::{change, day_change, years};
use super::talk::reading_notes;
use super::verdict::{price_trend, volatility_word};
use super::{AnswerBuilder, Section, float, money_of};
use crate::number::agree;
use crate::page::{CitedFigure, Fact, Slot, Style, fact};
use crate::resolve::Security;
use crate::tool_session::Finding;
use crate::understand::{Focus, is_index};

/// The tool adjusts these metrics for splits; its candles are not adjusted.
const HIGH: &str = "/metrics/period_high";
const LOW: &str = "/metrics/period_low";

pub(super) fn write(sheet: &mut AnswerBuilder<'_>, it: &Security, section: Section) {
    let shot = sheet.of("get_security_snapshot", &it.ticker);
    let history = sheet.of("get_ohlcv_timeseries", &it.ticker);
    let risk = sheet.last("compute_portfolio_risk");
    let money = money_of(shot, it);
    match section {
        Section::Summary => {
            summary(sheet, it, &money);
            reading_notes(sheet);
            stale(sheet, shot);
        }
        Section::Figures => {
            session(sheet, shot, &money);
            period(sheet, history, &money);
        }
        Section::Risks => {
            let (rough, word) = volatility(sheet, history);
            let label = ("", "");
            let fact = fact(label, rough).called(word);
            sheet.page.facts(("- Годовая волатильность", "- Yearly volatility"), [], vec![fact]);
            losses(sheet, risk);
        }
        Section::Conclusions => {
            let paid = sheet.of("get_dividends", &it.ticker);
            if let Some(paid) = paid {
                let part = sheet.page.figure(
                    Some(paid),
                    "/metrics/trailing_12m_yield_pct",
                    Style::Percent,
                );
                let head = (
                    "Дивидендная доходность за последний год",
                    "Dividend yield over the last year",
                );
                sheet.page.facts(head, [], vec![fact(("", ""), part)]);
            }
            conclusion(sheet, it, history);
        }
    }
}

fn volatility(
    sheet: &AnswerBuilder<'_>,
    history: Option<&Finding>,
) -> (Option<CitedFigure>, Option<&'static str>) {
    let at = "/metrics/annualized_volatility";
    let word = float(history, at).map(|it| volatility_word(it, sheet.language()));
    (sheet.page.figure(history, at, Style::Percent), word)
}

fn summary(sheet: &mut AnswerBuilder<'_>, it: &Security, money: &str) {
    let history = sheet.of("get_ohlcv_timeseries", &it.ticker);
    let shot = sheet.of("get_security_snapshot", &it.ticker);
    let focus = sheet.plan.request.focus;
    holding::worth(sheet, it, money);
    holding::grown(sheet, it, money);
    let asked = focused(sheet, it, money);
    let changed = matches!(focus, Focus::Change | Focus::Best | Focus::Worst | Focus::Why);
    if changed {
        write_trend(sheet, Some(it), history);
    }
    if focus == Focus::Why {
        sheet.page.add_line(
            "Причин движения биржевые данные не называют.",
            "Exchange data does not say what caused a move.",
            [],
        );
    }
    let price = sheet.page.figure(shot, "/data/last_price", Style::Price(money));
    let day = sheet.page.figure(shot, "/data/price_change_pct", Style::Change);
    let name = if is_index(&it.ticker) {
        ("значение", "level")
    } else {
        ("последняя цена", "last price")
    };
    let facts = vec![fact(name, price), fact(("изменение за день", "change on the day"), day)];
    if !asked {
        sheet.page.facts(("{}", "{}"), [sheet.title(it)], facts);
    }
    if !changed {
        write_trend(sheet, None, history);
    }
}

/// Writes the figures that the question focuses on, if any, so that the answer begins with them.
/// Returns whether it wrote any.
fn focused(sheet: &mut AnswerBuilder<'_>, it: &Security, money: &str) -> bool {
    let history = sheet.of("get_ohlcv_timeseries", &it.ticker);
    let shot = sheet.of("get_security_snapshot", &it.ticker);
    let risk = sheet.last("compute_portfolio_risk");
    let fall = || sheet.page.figure(risk, "/metrics/max_drawdown_pct", Style::Percent);
    let (rough, word) = volatility(sheet, history);
    let rough = fact(("годовая волатильность", "yearly volatility"), rough).called(word);
    let drawdown = ("максимальная просадка", "deepest drawdown");
    let price = |at: &str| sheet.page.figure(history, at, Style::Price(money));
    let last = ("последняя цена", "last price");
    let now = sheet.page.figure(shot, "/data/last_price", Style::Price(money));
    let (facts, whole) = match sheet.plan.request.focus {
        Focus::Risk | Focus::Calm => (vec![rough, fact(drawdown, fall())], false),
        Focus::Drawdown => (vec![fact(drawdown, fall())], false),
        Focus::Volume => {
            let volume = sheet.page.figure(history, "/metrics/avg_daily_volume", Style::Amount(""));
            let value = sheet.page.figure(shot, "/data/value", Style::Amount(money));
            let volume = pieces(sheet, ("средний объём за день", "average daily volume"), volume);
            (
                vec![volume, fact(("оборот последнего дня", "turnover of the last day"), value)],
                false,
            )
        }
        Focus::Extremes => {
            let high = fact(("максимум за период", "high of the period"), price(HIGH));
            let low = fact(("минимум за период", "low of the period"), price(LOW));
            (vec![high, low], false)
        }
        Focus::FromHigh => {
            let moved = change(sheet, (history, HIGH), (shot, "/data/last_price")).map(|it| it.1);
            let high = fact(("максимум за период", "high of the period"), price(HIGH));
            let moved = fact(("от максимума", "from the high"), moved);
            (vec![moved, fact(last, now), high], true)
        }
        Focus::Days => {
            days(sheet, it, history);
            return false;
        }
        Focus::Code => {
            code(sheet, it);
            return false;
        }
        Focus::Advice => {
            let change = sheet.page.figure(history, "/metrics/total_return_pct", Style::Change);
            let change = fact(("за период", "over the period"), change);
            (vec![fact(last, now), change, rough], true)
        }
        _ => return false,
    };
    let head = if sheet.plan.request.focus == Focus::Advice {
        ("{}, данные для решения", "{}, the data to decide by")
    } else {
        ("{}", "{}")
    };
    sheet.page.facts(head, [sheet.title(it)], facts);
    whole
}

/// Writes the best and the worst day. Split days are left out, because a split changes the quoted
/// price without changing the value.
fn days(sheet: &mut AnswerBuilder<'_>, it: &Security, history: Option<&Finding>) {
    let rows = history.and_then(|it| it.at("/data")).and_then(Value::as_array);
    let rows = rows.map_or(&[][..], Vec::as_slice);
    let day = |row: &Value| row["ts"].as_str().and_then(|it| it.get(..10)).map(ToOwned::to_owned);
    let splits = history.and_then(|it| it.at("/metrics/splits")).and_then(Value::as_array);
    let split = |at: usize| {
        let (before, on) = (rows.get(at - 1).and_then(day), rows.get(at).and_then(day));
        splits.into_iter().flatten().filter_map(|it| it["date"].as_str()).any(|date| {
            before.as_deref().is_some_and(|it| it < date)
                && on.as_deref().is_some_and(|it| date <= it)
        })
    };
    let mut found: Vec<(usize, f64, CitedFigure)> = (1..rows.len())
        .filter(|at| !split(*at))
        .filter_map(|at| day_change(sheet, history, at).map(|it| (at, it.0, it.1)))
        .collect();
    found.sort_by(|a, b| a.1.total_cmp(&b.1));
    let date =
        |at: usize| Slot::Figure(sheet.page.cited_text(history, &format!("/result/data/{at}/ts")));
    let (Some(worst), Some(best)) = (found.first(), found.last()) else {
        sheet.page.facts(
            ("{}, дни периода", "{}, days of the period"),
            [sheet.title(it)],
            Vec::new(),
        );
        return;
    };
    let slots = [
        sheet.title(it),
        date(best.0),
        Some(best.2.clone()).into(),
        date(worst.0),
        Some(worst.2.clone()).into(),
    ];
    sheet.page.add_line(
        "{}: лучший день периода — {}, {}; худший — {}, {}.",
        "{}: the best day of the period was {}, {}; the worst {}, {}.",
        slots,
    );
}

/// Writes the ticker and the ISIN from the exchange's list.
fn code(sheet: &mut AnswerBuilder<'_>, it: &Security) {
    let row = it.name.as_ref().and_then(|(id, at)| Some((*id, at.rsplit_once('/')?.0)));
    let isin = row.and_then(|(id, row)| {
        let found = sheet.findings.iter().find(|it| it.id == id);
        sheet.page.cited_text(found, &format!("{row}/isin"))
    });
    sheet.page.facts(
        ("{}, тикер {}", "{}, ticker {}"),
        [sheet.title(it), it.ticker.as_str().into()],
        vec![fact(("ISIN", "ISIN"), isin)],
    );
}

/// Writes how the price moved over the period.
fn write_trend(sheet: &mut AnswerBuilder<'_>, lead: Option<&Security>, history: Option<&Finding>) {
    let title = lead.map(|it| sheet.title(it));
    let at = "/metrics/total_return_pct";
    let (Some(change), Some([from, to])) = (float(history, at), sheet.period(history)) else {
        if let Some(title) = title {
            sheet.page.add_line(
                "{}: за период нет данных.",
                "{}: no data for the period.",
                [title],
            );
        }
        return;
    };
    let volatility = float(history, "/metrics/annualized_volatility");
    let word = price_trend(change, volatility, years(history)).noun(sheet.language());
    let shown = sheet.page.figure(history, at, Style::Change);
    match title {
        Some(title) => sheet.page.add_line(
            "{}: {} с {} по {}, {}.",
            "{}: {} from {} to {}, {}.",
            [title, shown.into(), from, to, word.into()],
        ),
        None => sheet.page.add_line(
            "С {} по {}: {}, {} за период.",
            "From {} to {}: {}, {} over the period.",
            [from, to, word.into(), shown.into()],
        ),
    }
}

/// Formats a number of shares.
pub(super) fn pieces(
    sheet: &AnswerBuilder<'_>,
    label: (&'static str, &'static str),
    figure: Option<CitedFigure>,
) -> Fact {
    fact(label, figure).counted_in(sheet.language().pick("шт.", "pieces"))
}

pub(super) fn stale(sheet: &mut AnswerBuilder<'_>, shot: Option<&Finding>) {
    if shot.and_then(|it| it.at("/data/is_stale")) == Some(&Value::Bool(true)) {
        sheet.page.add_line(
            "Сделок в текущей сессии ещё не было: цена — из прошлой сессии.",
            "Nothing was traded in this session yet: the price is an earlier one.",
            [],
        );
    }
}

fn session(sheet: &mut AnswerBuilder<'_>, shot: Option<&Finding>, money: &str) {
    let price = |at: &str| sheet.page.figure(shot, at, Style::Price(money));
    let facts = vec![
        fact(("открытие", "open"), price("/data/open_price")),
        fact(("максимум", "high"), price("/data/high_price")),
        fact(("минимум", "low"), price("/data/low_price")),
        fact(("оборот", "turnover"), sheet.page.figure(shot, "/data/value", Style::Amount(money))),
    ];
    sheet.page.facts(("- День", "- The day"), [], facts);
}

fn period(sheet: &mut AnswerBuilder<'_>, history: Option<&Finding>, money: &str) {
    let price = |at: &str| sheet.page.figure(history, at, Style::Price(money));
    let last = history.and_then(|it| it.at("/data")).and_then(Value::as_array).map_or(0, Vec::len);
    let close = last.checked_sub(1).and_then(|at| price(&format!("/data/{at}/close")));
    let facts = vec![
        fact(("максимум", "high"), price(HIGH)),
        fact(("минимум", "low"), price(LOW)),
        fact(("последнее закрытие", "last close"), close),
    ];
    match sheet.period(history) {
        Some([from, to]) => sheet.page.facts(
            ("- Период с {} по {}", "- The period from {} to {}"),
            [from, to],
            facts,
        ),
        None => sheet.page.facts(("- Период", "- The period"), [], facts),
    }
    let days = float(history, "/metrics/num_days").unwrap_or(0.0) as u64;
    let word = sheet.language().pick(
        agree(days, "торговый день", "торговых дня", "торговых дней"),
        if days == 1 { "trading day" } else { "trading days" },
    );
    let volume = sheet.page.figure(history, "/metrics/avg_daily_volume", Style::Amount(""));
    if let Some(count) = sheet.page.figure(history, "/metrics/num_days", Style::Count) {
        let head = ("- В периоде {} {}", "- The period has {} {}");
        let slots = [Slot::Figure(Some(count)), word.into()];
        if volume.is_none() {
            let [count, word] = slots;
            sheet.page.add_line("- В периоде {} {}.", "- The period has {} {}.", [count, word]);
            return;
        }
        let volume = pieces(sheet, ("средний объём за день", "average daily volume"), volume);
        sheet.page.facts(head, slots, vec![volume]);
    }
}

/// Writes the drawdown and the value at risk.
pub(super) fn losses(sheet: &mut AnswerBuilder<'_>, risk: Option<&Finding>) {
    let fall = sheet.page.figure(risk, "/metrics/max_drawdown_pct", Style::Percent);
    let head = ("- Максимальная просадка за период", "- Deepest drawdown of the period");
    sheet.page.facts(head, [], vec![fact(("", ""), fall)]);
    value_at_risk(sheet, risk, ("- VaR", "- Value at risk"));
}

/// Returns the value at risk with its horizon and its confidence level.
pub(super) fn value_at_risk(
    sheet: &mut AnswerBuilder<'_>,
    risk: Option<&Finding>,
    name: (&'static str, &'static str),
) {
    let percent = |at: &str| sheet.page.figure(risk, at, Style::Percent);
    let facts = vec![
        fact(("исторический", "historical"), percent("/metrics/var_historical_pct")),
        fact(("параметрический", "parametric"), percent("/metrics/var_parametric_pct")),
    ];
    let sure = float(risk, "/metrics/confidence").map(|it| {
        let source = vec![(risk.map_or(0, |it| it.id), "/result/metrics/confidence".to_owned())];
        let digits = if (it * 100.0).fract().abs() < 1e-9 { 0 } else { 1 };
        sheet.page.styled(it * 100.0, Style::Plain(digits), source, crate::check::Formula::Percent)
    });
    let horizon = float(risk, "/metrics/horizon_days").unwrap_or(1.0) as u64;
    let days = sheet.page.figure(risk, "/metrics/horizon_days", Style::Count);
    let word = sheet
        .language()
        .pick(agree(horizon, "день", "дня", "дней"), if horizon == 1 { "day" } else { "days" });
    let name = sheet.language().pick(name.0, name.1);
    let (Some(days), Some(sure)) = (days, sure) else {
        sheet.page.facts(("{}", "{}"), [name.into()], facts);
        return;
    };
    sheet.page.facts(
        ("{} на {} {} с вероятностью {} %", "{} over {} {} at {}%"),
        [name.into(), Some(days).into(), word.into(), Some(sure).into()],
        facts,
    );
}

fn conclusion(sheet: &mut AnswerBuilder<'_>, it: &Security, history: Option<&Finding>) {
    let language = sheet.language();
    let volatility = float(history, "/metrics/annualized_volatility");
    let Some(change) = float(history, "/metrics/total_return_pct") else {
        sheet.page.add_line(
            "Для вывода о тенденции данных за период не хватает.",
            "There is not enough data of the period for a conclusion.",
            [],
        );
        return;
    };
    let price_trend = price_trend(change, volatility, years(history));
    if is_index(&it.ticker) {
        let rough = volatility.map_or_else(
            || language.pick("нет данных", "no data"),
            |it| volatility_word(it, language),
        );
        sheet.page.add_line(
            "Индекс за период: {}; волатильность: {}.",
            "The index over the period: {}; volatility: {}.",
            [price_trend.noun(language).into(), rough.into()],
        );
        return;
    }
    let verb = price_trend.verb(language);
    match volatility.map(|it| volatility_word(it, language)) {
        Some(rough) => sheet.page.add_line(
            "За период бумага {}; волатильность {}.",
            "The security {} over the period; its volatility is {}.",
            [verb.into(), rough.into()],
        ),
        None => sheet.page.add_line(
            "За период бумага {}.",
            "The security {} over the period.",
            [verb.into()],
        ),
    }
}

//! Writes about one security over a period: its price, its trend and its risk.

use serde_json::Value;

use super::group::few_days;
use super::holding;
use super::lead::{change, day_change, is_forming, period_return, suspect_jump, years};
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

pub(super) fn write(builder: &mut AnswerBuilder<'_>, it: &Security, section: Section) {
    let snapshot = builder.finding("get_security_snapshot", &it.ticker);
    let history = builder.finding("get_ohlcv_timeseries", &it.ticker);
    let risk = builder.last("compute_portfolio_risk");
    let money = money_of(snapshot, it);
    match section {
        Section::Summary => {
            summary(builder, it, &money);
            reading_notes(builder);
            stale(builder, snapshot);
        }
        Section::Figures => {
            session(builder, snapshot, &money);
            period(builder, history, snapshot, &money);
        }
        Section::Risks => {
            let (figure, word) = volatility(builder, history);
            let label = ("", "");
            let fact = fact(label, figure).with_word(word);
            builder.page.facts(("- Годовая волатильность", "- Yearly volatility"), [], vec![fact]);
            few_days(builder, history);
            losses(builder, risk);
        }
        Section::Conclusions => {
            let paid = builder.finding("get_dividends", &it.ticker);
            if let Some(paid) = paid {
                let part = builder.page.figure(
                    Some(paid),
                    "/metrics/trailing_12m_yield_pct",
                    Style::Percent,
                );
                let head = (
                    "Дивидендная доходность за последний год",
                    "Dividend yield over the last year",
                );
                builder.page.facts(head, [], vec![fact(("", ""), part)]);
            }
            conclusion(builder, it, history);
        }
    }
}

fn volatility(
    builder: &AnswerBuilder<'_>,
    history: Option<&Finding>,
) -> (Option<CitedFigure>, Option<&'static str>) {
    let at = "/metrics/annualized_volatility";
    let word = float(history, at).map(|it| volatility_word(it, builder.language()));
    (builder.page.figure(history, at, Style::Percent), word)
}

fn summary(builder: &mut AnswerBuilder<'_>, it: &Security, money: &str) {
    let history = builder.finding("get_ohlcv_timeseries", &it.ticker);
    let snapshot = builder.finding("get_security_snapshot", &it.ticker);
    let focus = builder.plan.request.focus;
    holding::write_value(builder, it, money);
    holding::grown(builder, it, money);
    let price_written = focused(builder, it, money);
    let changed = matches!(focus, Focus::Change | Focus::Best | Focus::Worst | Focus::Why);
    if changed {
        write_trend(builder, Some(it), history, snapshot);
    }
    if focus == Focus::Why {
        builder.page.add_line(
            "Причин движения биржевые данные не называют.",
            "Exchange data does not say what caused a move.",
            [],
        );
    }
    let price = builder.page.figure(snapshot, "/data/last_price", Style::Price(money));
    let day = builder.page.figure(snapshot, "/data/price_change_pct", Style::Change);
    let name = if is_index(&it.ticker) {
        ("значение", "level")
    } else {
        ("последняя цена", "last price")
    };
    let facts = vec![fact(name, price), fact(("изменение за день", "change on the day"), day)];
    if !price_written {
        builder.page.facts(("{}", "{}"), [builder.title(it)], facts);
    }
    if !changed {
        write_trend(builder, None, history, snapshot);
    }
    write_suspect_jump(builder, history);
}

/// Warns of a jump that may be a split which the exchange does not list.
fn write_suspect_jump(builder: &mut AnswerBuilder<'_>, history: Option<&Finding>) {
    let Some((row, shown)) = suspect_jump(builder, history) else { return };
    let date = builder.page.cited_text(history, &format!("/result/data/{row}/ts"));
    builder.page.add_line(
        "{} цена изменилась сразу на {}; дробления в списке биржи нет, поэтому ряд сомнителен и \
         выводов по нему нет.",
        "On {} the price jumped by {}; the exchange lists no split, so the series is suspect and no \
         conclusion is drawn from it.",
        [date.into(), Some(shown).into()],
    );
}

/// Returns the high and the low of the period, with those of the current day.
fn extremes(
    builder: &AnswerBuilder<'_>,
    history: Option<&Finding>,
    snapshot: Option<&Finding>,
    money: &str,
) -> (Option<CitedFigure>, Option<CitedFigure>) {
    let today = snapshot.filter(|_| is_forming(history));
    let pick = |period: &str, day: &str, is_beyond: fn(f64, f64) -> bool| {
        let beyond = float(today, day).zip(float(history, period));
        let beyond = beyond.is_some_and(|(day, period)| is_beyond(day, period));
        let (found, at) = if beyond { (today, day) } else { (history, period) };
        builder.page.figure(found, at, Style::Price(money))
    };
    let high = pick(HIGH, "/data/high_price", |day, period| day > period);
    (high, pick(LOW, "/data/low_price", |day, period| day < period))
}

/// Writes the figures that the question focuses on, if any, so that the answer begins with them.
/// Returns whether they include the last price, so that the summary does not repeat it.
fn focused(builder: &mut AnswerBuilder<'_>, it: &Security, money: &str) -> bool {
    let history = builder.finding("get_ohlcv_timeseries", &it.ticker);
    let snapshot = builder.finding("get_security_snapshot", &it.ticker);
    let risk = builder.last("compute_portfolio_risk");
    let drawdown_figure = || builder.page.figure(risk, "/metrics/max_drawdown_pct", Style::Percent);
    let (figure, word) = volatility(builder, history);
    let volatility_fact =
        fact(("годовая волатильность", "yearly volatility"), figure).with_word(word);
    let drawdown = ("максимальная просадка", "deepest drawdown");
    let (high, low) = extremes(builder, history, snapshot, money);
    let last = ("последняя цена", "last price");
    let now = builder.page.figure(snapshot, "/data/last_price", Style::Price(money));
    let (facts, has_price) = match builder.plan.request.focus {
        Focus::Risk | Focus::Calm => {
            (vec![volatility_fact, fact(drawdown, drawdown_figure())], false)
        }
        Focus::Drawdown => (vec![fact(drawdown, drawdown_figure())], false),
        Focus::Volume => {
            let volume =
                builder.page.figure(history, "/metrics/avg_daily_volume", Style::Amount(""));
            let value = builder.page.figure(snapshot, "/data/value", Style::Amount(money));
            let volume = pieces(builder, ("средний объём за день", "average daily volume"), volume);
            (
                vec![volume, fact(("оборот последнего дня", "turnover of the last day"), value)],
                false,
            )
        }
        Focus::Extremes => {
            let high = fact(("максимум за период", "high of the period"), high);
            let low = fact(("минимум за период", "low of the period"), low);
            (vec![high, low], false)
        }
        Focus::FromHigh => {
            let moved =
                change(builder, (history, HIGH), (snapshot, "/data/last_price")).map(|it| it.1);
            let high = fact(
                ("максимум за период", "high of the period"),
                closed_high(builder, history, money),
            );
            let moved = fact(("от максимума", "from the high"), moved);
            (vec![moved, fact(last, now), high], true)
        }
        Focus::Days => {
            days(builder, it, history);
            return false;
        }
        Focus::Code => {
            code(builder, it);
            return false;
        }
        Focus::Advice => {
            let change = period_return(builder, history, snapshot).map(|it| it.figure);
            let change = fact(("за период", "over the period"), change);
            (vec![fact(last, now), change, volatility_fact], true)
        }
        _ => return false,
    };
    let head = if builder.plan.request.focus == Focus::Advice {
        ("{}, данные для решения", "{}, the data to decide by")
    } else {
        ("{}", "{}")
    };
    builder.page.facts(head, [builder.title(it)], facts);
    has_price
}

fn closed_high(
    builder: &AnswerBuilder<'_>,
    history: Option<&Finding>,
    money: &str,
) -> Option<CitedFigure> {
    builder.page.figure(history, HIGH, Style::Price(money))
}

/// Writes the best and the worst day. Split days are left out, because a split changes the quoted
/// price without changing the value.
fn days(builder: &mut AnswerBuilder<'_>, it: &Security, history: Option<&Finding>) {
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
        .filter_map(|at| day_change(builder, history, at).map(|it| (at, it.0, it.1)))
        .collect();
    found.sort_by(|a, b| a.1.total_cmp(&b.1));
    let date = |at: usize| {
        Slot::Figure(builder.page.cited_text(history, &format!("/result/data/{at}/ts")))
    };
    let (Some(worst), Some(best)) = (found.first(), found.last()) else {
        builder.page.facts(
            ("{}, дни периода", "{}, days of the period"),
            [builder.title(it)],
            Vec::new(),
        );
        return;
    };
    let slots = [
        builder.title(it),
        date(best.0),
        Some(best.2.clone()).into(),
        date(worst.0),
        Some(worst.2.clone()).into(),
    ];
    builder.page.add_line(
        "{}: лучший день периода — {}, {}; худший — {}, {}.",
        "{}: the best day of the period was {}, {}; the worst {}, {}.",
        slots,
    );
}

/// Writes the ticker and the ISIN from the exchange's list.
fn code(builder: &mut AnswerBuilder<'_>, it: &Security) {
    let row = it.name.as_ref().and_then(|(id, at)| Some((*id, at.rsplit_once('/')?.0)));
    let isin = row.and_then(|(id, row)| {
        let found = builder.findings.iter().find(|it| it.id == id);
        builder.page.cited_text(found, &format!("{row}/isin"))
    });
    builder.page.facts(
        ("{}, тикер {}", "{}, ticker {}"),
        [builder.title(it), it.ticker.as_str().into()],
        vec![fact(("ISIN", "ISIN"), isin)],
    );
}

/// Writes how the price moved over the period.
fn write_trend(
    builder: &mut AnswerBuilder<'_>,
    lead: Option<&Security>,
    history: Option<&Finding>,
    snapshot: Option<&Finding>,
) {
    let title = lead.map(|it| builder.title(it));
    let found = period_return(builder, history, snapshot);
    let (Some(found), Some([from, to])) = (found, builder.period(history)) else {
        if let Some(title) = title {
            builder.page.add_line(
                "{}: за период нет данных.",
                "{}: no data for the period.",
                [title],
            );
        }
        return;
    };
    let volatility = float(history, "/metrics/annualized_volatility");
    let word = price_trend(found.change, volatility, years(history)).noun(builder.language());
    let shown = Some(found.figure);
    match title {
        Some(title) => builder.page.add_line(
            "{}: {} с {} по {}, {}.",
            "{}: {} from {} to {}, {}.",
            [title, shown.into(), from, to, word.into()],
        ),
        None => builder.page.add_line(
            "С {} по {}: {}, {} за период.",
            "From {} to {}: {}, {} over the period.",
            [from, to, word.into(), shown.into()],
        ),
    }
}

/// Formats a number of shares.
pub(super) fn pieces(
    builder: &AnswerBuilder<'_>,
    label: (&'static str, &'static str),
    figure: Option<CitedFigure>,
) -> Fact {
    fact(label, figure).with_unit(builder.language().pick("шт.", "pieces"))
}

pub(super) fn stale(builder: &mut AnswerBuilder<'_>, snapshot: Option<&Finding>) {
    if snapshot.and_then(|it| it.at("/data/is_stale")) != Some(&Value::Bool(true)) {
        return;
    }
    // A price of a session with trades is stale because the exchange did not answer.
    let traded = float(snapshot, "/data/value").is_some_and(|it| it > 0.0);
    if traded {
        builder.page.add_line(
            "Цена — последняя известная и может быть устаревшей.",
            "The price is the last one known and may be out of date.",
            [],
        );
    } else {
        builder.page.add_line(
            "Сделок в текущей сессии ещё не было: цена — из прошлой сессии.",
            "Nothing was traded in this session yet: the price is an earlier one.",
            [],
        );
    }
}

fn session(builder: &mut AnswerBuilder<'_>, snapshot: Option<&Finding>, money: &str) {
    let price = |at: &str| builder.page.figure(snapshot, at, Style::Price(money));
    let facts = vec![
        fact(("открытие", "open"), price("/data/open_price")),
        fact(("максимум", "high"), price("/data/high_price")),
        fact(("минимум", "low"), price("/data/low_price")),
        fact(
            ("оборот", "turnover"),
            builder.page.figure(snapshot, "/data/value", Style::Amount(money)),
        ),
    ];
    builder.page.facts(("- День", "- The day"), [], facts);
}

fn period(
    builder: &mut AnswerBuilder<'_>,
    history: Option<&Finding>,
    snapshot: Option<&Finding>,
    money: &str,
) {
    let price = |at: &str| builder.page.figure(history, at, Style::Price(money));
    // The candle of a day that is not over has no close yet; its price is the last price.
    let rows = history.and_then(|it| it.at("/data")).and_then(Value::as_array);
    let closed = |row: &Value| row["is_forming"] != Value::Bool(true);
    let last = rows.and_then(|rows| rows.iter().rposition(closed));
    let (high, low) = extremes(builder, history, snapshot, money);
    let mut facts = vec![fact(("максимум", "high"), high), fact(("минимум", "low"), low)];
    if is_forming(history) {
        builder.page.add_line(
            "- Доходность и крайние цены — с учётом текущего дня, риск — по закрытым дням.",
            "- The return and the extremes include the current day; risk is of closed days.",
            [],
        );
    } else {
        let close = last.and_then(|at| price(&format!("/data/{at}/close")));
        facts.push(fact(("последнее закрытие", "last close"), close));
    }
    match builder.period(history) {
        Some([from, to]) => builder.page.facts(
            ("- Период с {} по {}", "- The period from {} to {}"),
            [from, to],
            facts,
        ),
        None => builder.page.facts(("- Период", "- The period"), [], facts),
    }
    let days = float(history, "/metrics/num_days").unwrap_or(0.0) as u64;
    let word = builder.language().pick(
        agree(days, "торговый день", "торговых дня", "торговых дней"),
        if days == 1 { "trading day" } else { "trading days" },
    );
    let volume = builder.page.figure(history, "/metrics/avg_daily_volume", Style::Amount(""));
    if let Some(count) = builder.page.figure(history, "/metrics/num_days", Style::Count) {
        let head = ("- В периоде {} {}", "- The period has {} {}");
        let slots = [Slot::Figure(Some(count)), word.into()];
        if volume.is_none() {
            let [count, word] = slots;
            builder.page.add_line("- В периоде {} {}.", "- The period has {} {}.", [count, word]);
            return;
        }
        let volume = pieces(builder, ("средний объём за день", "average daily volume"), volume);
        builder.page.facts(head, slots, vec![volume]);
    }
}

/// Writes the drawdown and the value at risk.
pub(super) fn losses(builder: &mut AnswerBuilder<'_>, risk: Option<&Finding>) {
    let drawdown_figure = builder.page.figure(risk, "/metrics/max_drawdown_pct", Style::Percent);
    let head = ("- Максимальная просадка за период", "- Deepest drawdown of the period");
    builder.page.facts(head, [], vec![fact(("", ""), drawdown_figure)]);
    value_at_risk(builder, risk, ("- VaR", "- Value at risk"));
}

/// Writes the value at risk with its horizon and its confidence level.
pub(super) fn value_at_risk(
    builder: &mut AnswerBuilder<'_>,
    risk: Option<&Finding>,
    name: (&'static str, &'static str),
) {
    let percent = |at: &str| builder.page.figure(risk, at, Style::Percent);
    let facts = vec![
        fact(("исторический", "historical"), percent("/metrics/var_historical_pct")),
        fact(("параметрический", "parametric"), percent("/metrics/var_parametric_pct")),
    ];
    let sure = float(risk, "/metrics/confidence").map(|it| {
        let source = vec![(risk.map_or(0, |it| it.id), "/result/metrics/confidence".to_owned())];
        let digits = if (it * 100.0).fract().abs() < 1e-9 { 0 } else { 1 };
        builder.page.styled(
            it * 100.0,
            Style::Plain(digits),
            source,
            crate::check::Formula::Percent,
        )
    });
    let horizon = float(risk, "/metrics/horizon_days").unwrap_or(1.0) as u64;
    let days = builder.page.figure(risk, "/metrics/horizon_days", Style::Count);
    let word = builder
        .language()
        .pick(agree(horizon, "день", "дня", "дней"), if horizon == 1 { "day" } else { "days" });
    let name = builder.language().pick(name.0, name.1);
    let (Some(days), Some(sure)) = (days, sure) else {
        builder.page.facts(("{}", "{}"), [name.into()], facts);
        return;
    };
    builder.page.facts(
        ("{} на {} {} с вероятностью {} %", "{} over {} {} at {}%"),
        [name.into(), Some(days).into(), word.into(), Some(sure).into()],
        facts,
    );
}

fn conclusion(builder: &mut AnswerBuilder<'_>, it: &Security, history: Option<&Finding>) {
    let language = builder.language();
    let volatility = float(history, "/metrics/annualized_volatility");
    let snapshot = builder.finding("get_security_snapshot", &it.ticker);
    if suspect_jump(builder, history).is_some() {
        return;
    }
    let Some(change) = period_return(builder, history, snapshot).map(|it| it.change) else {
        builder.page.add_line(
            "Для вывода о тенденции данных за период не хватает.",
            "There is not enough data of the period for a conclusion.",
            [],
        );
        return;
    };
    let price_trend = price_trend(change, volatility, years(history));
    if is_index(&it.ticker) {
        let volatility_fact = volatility.map_or_else(
            || language.pick("нет данных", "no data"),
            |it| volatility_word(it, language),
        );
        builder.page.add_line(
            "Индекс за период: {}; волатильность: {}.",
            "The index over the period: {}; volatility: {}.",
            [price_trend.noun(language).into(), volatility_fact.into()],
        );
        return;
    }
    let verb = price_trend.verb(language);
    match volatility.map(|it| volatility_word(it, language)) {
        Some(volatility_fact) => builder.page.add_line(
            "За период бумага {}; волатильность {}.",
            "The security {} over the period; its volatility is {}.",
            [verb.into(), volatility_fact.into()],
        ),
        None => builder.page.add_line(
            "За период бумага {}.",
            "The security {} over the period.",
            [verb.into()],
        ),
    }
}

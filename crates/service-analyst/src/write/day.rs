//! Writes about one security on one day: first the price of that day, then today's price.

use serde_json::Value;

use super::holding;
use super::lead::{day_change, row_until, since};
use super::single::pieces;
use super::talk::reading_notes;
use super::verdict::ZERO_CHANGE_PCT;
use super::{AnswerBuilder, Section, money_of};
use crate::check::Formula;
use crate::page::{CitedFigure, Fact, Slot, Style, fact};
use crate::resolve::Security;
use crate::tool_session::Finding;
use crate::understand::Focus;

/// The data about the requested day.
struct Day<'a> {
    history: Option<&'a Finding>,
    snapshot: Option<&'a Finding>,
    /// The index of the candle row, and whether the row is of the requested day itself.
    row: Option<(usize, bool)>,
    is_today: bool,
}

fn day<'a>(builder: &AnswerBuilder<'a>, it: &Security) -> Day<'a> {
    let history = builder.finding("get_ohlcv_timeseries", &it.ticker);
    let snapshot = builder.finding("get_security_snapshot", &it.ticker);
    let requested = builder.plan.request.period().to;
    let text = requested.to_string();
    let row = row_until(history, &text).map(|(at, date)| (at, date == text));
    Day { history, snapshot, row, is_today: requested == builder.plan.request.today }
}

pub(super) fn write(builder: &mut AnswerBuilder<'_>, it: &Security, section: Section) {
    let day = day(builder, it);
    let money = money_of(day.snapshot, it);
    match section {
        Section::Summary => {
            holding::write_value(builder, it, &money);
            if builder.plan.request.compare_with_today {
                then_and_now(builder, it, &day, &money);
            } else if day.is_today {
                today(builder, it, &day, &money);
            } else {
                past(builder, it, &day, &money);
            }
            reading_notes(builder);
        }
        Section::Figures => candle(builder, &day, &money),
        Section::Risks => builder.page.add_line(
            "По одному дню риск не оценить: для этого нужен период.",
            "One day says nothing of risk: that takes a period.",
            [],
        ),
        Section::Conclusions => conclusion(builder, &day),
    }
}

fn price(
    builder: &AnswerBuilder<'_>,
    day: &Day<'_>,
    field: &str,
    money: &str,
) -> Option<CitedFigure> {
    let at = format!("/data/{}/{field}", day.row?.0);
    builder.page.figure(day.history, &at, Style::Price(money))
}

fn date(builder: &AnswerBuilder<'_>, day: &Day<'_>) -> Option<CitedFigure> {
    builder.page.cited_text(day.history, &format!("/result/data/{}/ts", day.row?.0))
}

fn of_day(builder: &AnswerBuilder<'_>, day: &Day<'_>) -> Option<(f64, CitedFigure)> {
    day_change(builder, day.history, day.row?.0)
}

fn now(builder: &mut AnswerBuilder<'_>, day: &Day<'_>, money: &str) {
    let price = builder.page.figure(day.snapshot, "/data/last_price", Style::Price(money));
    let change = builder.page.figure(day.snapshot, "/data/price_change_pct", Style::Change);
    let facts = vec![
        fact(("последняя цена", "last price"), price),
        fact(("изменение за день", "change on the day"), change),
    ];
    builder.page.facts(("Сейчас", "Now"), [], facts);
}

fn past(builder: &mut AnswerBuilder<'_>, it: &Security, day: &Day<'_>, money: &str) {
    let facts = vec![
        fact(("закрытие", "close"), price(builder, day, "close", money)),
        fact(("изменение за день", "change on the day"), of_day(builder, day).map(|it| it.1)),
    ];
    let facts = if builder.plan.request.focus == Focus::Volume {
        traded(builder, day, money).into_iter().chain(facts).collect()
    } else {
        facts
    };
    let title = builder.title(it);
    let requested_date = Slot::Figure(builder.page.cited_text(day.history, "/args/to_date"));
    match (day.row, date(builder, day)) {
        (Some((_, true)), _) => {
            builder.page.facts(("{}, {}", "{}, {}"), [title, requested_date], facts)
        }
        (Some(_), Some(traded_date)) => builder.page.facts(
            (
                "{}: {} торгов не было; в последний торговый день до этой даты, {}",
                "{}: {} was no trading day; on the last one before it, {}",
            ),
            [title, requested_date, Some(traded_date).into()],
            facts,
        ),
        _ => builder.page.facts(("{}, {}", "{}, {}"), [title, requested_date], Vec::new()),
    }
    now(builder, day, money);
}

fn today(builder: &mut AnswerBuilder<'_>, it: &Security, day: &Day<'_>, money: &str) {
    let title = builder.title(it);
    let price = builder.page.figure(day.snapshot, "/data/last_price", Style::Price(money));
    let change = builder.page.figure(day.snapshot, "/data/price_change_pct", Style::Change);
    let last = fact(("последняя цена", "last price"), price);
    let change = fact(("изменение за день", "change on the day"), change);
    let stale = day.snapshot.and_then(|it| it.at("/data/is_stale")) == Some(&Value::Bool(true));
    // Candles decide, because a snapshot can still show the last trade of the previous session.
    let traded = match day.history.filter(|it| it.outcome.is_ok()) {
        Some(_) => day.row.is_some_and(|it| it.1),
        None => !stale,
    };
    if traded {
        builder.page.facts(("{}, сегодня", "{}, today"), [title], vec![last, change]);
        return;
    }
    match trades_today(builder) {
        Some(false) => builder.page.facts(
            ("{}, сегодня торгов нет", "{}, there is no trading today"),
            [title],
            vec![last],
        ),
        _ => builder.page.facts(
            ("{}, сделок сегодня ещё нет", "{}, there are no trades yet today"),
            [title],
            vec![last],
        ),
    }
}

/// Returns whether today is a trading day, if the plan called the calendar tool.
pub(super) fn trades_today(builder: &AnswerBuilder<'_>) -> Option<bool> {
    builder.last("get_trading_calendar")?.at("/data/0/is_trading")?.as_bool()
}

/// Writes about «год назад»: the price then, the price now and the change between them.
fn then_and_now(builder: &mut AnswerBuilder<'_>, it: &Security, day: &Day<'_>, money: &str) {
    let title = builder.title(it);
    let since = since(builder, day.history, day.snapshot);
    let is_split = since.as_ref().is_some_and(|it| it.is_split);
    let (then, moved) = match since {
        Some(it) => {
            let style = Style::Price(money);
            let then = builder.page.styled(it.then, style, it.sources, Formula::Rescaled);
            (Some(then), Some(it.moved))
        }
        None => (price(builder, day, "close", money), None),
    };
    let now = builder.page.figure(day.snapshot, "/data/last_price", Style::Price(money));
    let (Some(then), Some(now), Some(moved), Some(date)) =
        (then.clone(), now.clone(), moved, date(builder, day))
    else {
        let facts =
            vec![fact(("цена тогда", "price then"), then), fact(("цена сейчас", "price now"), now)];
        builder.page.facts(("{}", "{}"), [title], facts);
        return;
    };
    builder.page.add_line(
        "{}: {} закрытие {}, сейчас {}, изменение {}.",
        "{}: on {} the close was {}, now it is {}, a change of {}.",
        [title, Some(date).into(), Some(then).into(), Some(now).into(), Some(moved).into()],
    );
    let unknown = day.history.is_some_and(|it| it.at("/metrics/splits_unknown").is_some());
    let (russian, english) = match (is_split, unknown) {
        (true, _) => (
            "С тех пор акции дробились: цена тогда пересчитана на нынешние акции; дивиденды не учтены.",
            "There was a split since: the price then is of today's shares; dividends are left out.",
        ),
        (_, true) => (
            "Цены без поправки на дробление акций и дивиденды.",
            "Prices are not adjusted for splits and dividends.",
        ),
        _ => (
            "С тех пор акции не дробились; дивиденды не учтены.",
            "There was no split since; dividends are left out.",
        ),
    };
    // An index has no splits and no dividends.
    if !money.is_empty() {
        builder.page.add_line(russian, english, []);
    }
    holding::grown(builder, it, money);
}

/// Returns the day's volume in shares, and its turnover in money if the candle has it.
fn traded(builder: &AnswerBuilder<'_>, day: &Day<'_>, money: &str) -> Vec<Fact> {
    let of = |field: &str, style| {
        let at = format!("/data/{}/{field}", day.row?.0);
        builder.page.figure(day.history, &at, style)
    };
    let mut facts = vec![pieces(builder, ("объём", "volume"), of("volume", Style::Amount("")))];
    if let Some(value) = of("value", Style::Amount(money)) {
        facts.push(fact(("оборот", "turnover"), Some(value)));
    }
    facts
}

fn candle(builder: &mut AnswerBuilder<'_>, day: &Day<'_>, money: &str) {
    let mut facts = vec![
        fact(("открытие", "open"), price(builder, day, "open", money)),
        fact(("максимум", "high"), price(builder, day, "high", money)),
        fact(("минимум", "low"), price(builder, day, "low", money)),
        fact(("закрытие", "close"), price(builder, day, "close", money)),
    ];
    facts.extend(traded(builder, day, money));
    match date(builder, day) {
        Some(date) => {
            // Candles are not adjusted for splits, but the past price is given per today's share.
            let split = builder.plan.request.compare_with_today
                && since(builder, day.history, day.snapshot).is_some_and(|it| it.is_split);
            let head = if split {
                ("- {}, в акциях того времени", "- {}, in the shares of that time")
            } else {
                ("- {}", "- {}")
            };
            builder.page.facts(head, [Some(date).into()], facts);
        }
        None => builder.page.facts(("- Свеча дня", "- Candle of the day"), [], Vec::new()),
    }
}

fn conclusion(builder: &mut AnswerBuilder<'_>, day: &Day<'_>) {
    let of_snapshot = || {
        let at = "/data/price_change_pct";
        let change = super::float(day.snapshot, at)?;
        Some((change, builder.page.figure(day.snapshot, at, Style::Change)?))
    };
    // One answer has one change of today: the exchange's own.
    let is_today = day.is_today && day.row.is_some_and(|it| it.1);
    let found = if is_today { of_snapshot() } else { of_day(builder, day) };
    let Some((change, shown)) = found else {
        builder.page.add_line(
            "Для вывода о дне данных не хватает.",
            "There is not enough data for a conclusion about the day.",
            [],
        );
        return;
    };
    let verb = match change {
        it if it >= ZERO_CHANGE_PCT => ("выросла", "rose"),
        it if it <= -ZERO_CHANGE_PCT => ("снизилась", "fell"),
        _ => ("не изменилась", "did not change"),
    };
    let Some(date) = date(builder, day) else { return };
    let verb = builder.language().pick(verb.0, verb.1);
    builder.page.add_line(
        "{}: за день цена {}, {}.",
        "{}: the price {} on the day, {}.",
        [Some(date).into(), verb.into(), Some(shown).into()],
    );
}

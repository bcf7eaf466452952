//! One security: its price, its period, its risk; and dividends.

use serde_json::Value;

use super::talk::unknown;
use super::{Sheet, currency_of, float, roughness, trend};
use crate::desk::Finding;
use crate::number::agree;
use crate::page::{Cited, Slot, Style};
use crate::resolve::Security;

/// Payments that are shown; the latest ones.
const PAYMENTS_MAX: usize = 8;

pub(super) fn overview(sheet: &mut Sheet<'_>, it: &Security) {
    let ticker = it.ticker.as_str();
    let shot = sheet.of("get_security_snapshot", ticker);
    let history = sheet.of("get_ohlcv_timeseries", ticker);
    let risk = sheet.last("compute_portfolio_risk");
    let paid = sheet.of("get_dividends", ticker);
    let money = currency_of(shot);
    let language = sheet.language();

    sheet.page.heading("Резюме", "Summary");
    unknown(sheet);
    let name = sheet.name(it);
    let price = sheet.page.figure(shot, "/data/last_price", Style::Price(&money));
    let change = sheet.page.figure(shot, "/data/price_change_pct", Style::Change);
    sheet.page.say(
        "{} ({}): последняя цена {}, изменение за день {}.",
        "{} ({}): last price {}, change on the day {}.",
        [name, ticker.into(), price.into(), change.into()],
    );
    let whole = float(history, "/metrics/total_return_pct");
    if let Some(change) = whole {
        let days = float(history, "/metrics/num_days").unwrap_or(1.0);
        let word = trend(change, float(history, "/metrics/annualized_volatility"), days, language);
        let [from, to] = sheet.period(history);
        let shown = sheet.page.figure(history, "/metrics/total_return_pct", Style::Change);
        sheet.page.say(
            "С {} по {}: {}, {} за период.",
            "From {} to {}: {}, {} over the period.",
            [from, to, word.into(), shown.into()],
        );
    }
    stale(sheet, shot);

    sheet.page.heading("Ключевые показатели", "Key figures");
    day(sheet, shot, &money);
    period(sheet, history, &money);

    sheet.page.heading("Риски", "Risks");
    risks(sheet, history, risk);

    sheet.page.heading("Выводы", "Conclusions");
    let paid_yield = sheet.page.figure(paid, "/metrics/trailing_12m_yield_pct", Style::Percent);
    sheet.page.say(
        "Дивидендная доходность за последний год: {}.",
        "Dividend yield over the last year: {}.",
        [paid_yield.into()],
    );
    conclusion(sheet, whole, float(history, "/metrics/annualized_volatility"));
}

fn stale(sheet: &mut Sheet<'_>, shot: Option<&Finding>) {
    if shot.and_then(|it| it.at("/data/is_stale")) == Some(&Value::Bool(true)) {
        sheet.page.say(
            "Сделок в текущей сессии ещё не было: цена — из прошлой сессии.",
            "Nothing was traded in this session yet: the price is an earlier one.",
            [],
        );
    }
}

fn day(sheet: &mut Sheet<'_>, shot: Option<&Finding>, money: &str) {
    let price = |at: &str| sheet.page.figure(shot, at, Style::Price(money));
    let (open, high, low) =
        (price("/data/open_price"), price("/data/high_price"), price("/data/low_price"));
    let value = sheet.page.figure(shot, "/data/value", Style::Amount(money));
    sheet.page.say(
        "- День: открытие {}, максимум {}, минимум {}, оборот {}.",
        "- The day: open {}, high {}, low {}, turnover {}.",
        [open.into(), high.into(), low.into(), value.into()],
    );
}

/// The row of the candles that has the most, or the least.
fn extreme(history: Option<&Finding>, field: &str, most: bool) -> Option<usize> {
    let rows = history?.at("/data")?.as_array()?;
    let of = |row: &Value| row[field].as_f64().unwrap_or(if most { f64::MIN } else { f64::MAX });
    let pick = |a: &(usize, &Value), b: &(usize, &Value)| of(a.1).total_cmp(&of(b.1));
    let rows = rows.iter().enumerate();
    let found = if most { rows.max_by(pick) } else { rows.min_by(pick) };
    found.map(|(at, _)| at)
}

fn period(sheet: &mut Sheet<'_>, history: Option<&Finding>, money: &str) {
    let at =
        |field: &str, most| extreme(history, field, most).map(|at| format!("/data/{at}/{field}"));
    let price = |at: Option<String>| -> Option<Cited> {
        sheet.page.figure(history, &at?, Style::Price(money))
    };
    let last = history.and_then(|it| it.at("/data")).and_then(Value::as_array).map_or(0, Vec::len);
    let (high, low) = (price(at("high", true)), price(at("low", false)));
    let close = price(last.checked_sub(1).map(|at| format!("/data/{at}/close")));
    let [from, to] = sheet.period(history);
    let [high, low, close]: [Slot; 3] = [high.into(), low.into(), close.into()];
    if sheet.plan.request.period().is_day() {
        sheet.page.say(
            "- На {}: максимум {}, минимум {}, закрытие {}.",
            "- On {}: high {}, low {}, close {}.",
            [to, high, low, close],
        );
    } else {
        sheet.page.say(
            "- Период с {} по {}: максимум {}, минимум {}, последнее закрытие {}.",
            "- The period from {} to {}: high {}, low {}, last close {}.",
            [from, to, high, low, close],
        );
    }
    let days = float(history, "/metrics/num_days").unwrap_or(0.0) as u64;
    let count = sheet.page.figure(history, "/metrics/num_days", Style::Count);
    let volume = sheet.page.figure(history, "/metrics/avg_daily_volume", Style::Amount(""));
    let word = sheet.language().pick(
        agree(days, "торговый день", "торговых дня", "торговых дней"),
        if days == 1 { "trading day" } else { "trading days" },
    );
    sheet.page.say(
        "- {} {}; средний объём за день {} шт.",
        "- {} {}; average daily volume {} pieces.",
        [count.into(), word.into(), volume.into()],
    );
}

fn risks(sheet: &mut Sheet<'_>, history: Option<&Finding>, risk: Option<&Finding>) {
    let language = sheet.language();
    let volatility = sheet.page.figure(history, "/metrics/annualized_volatility", Style::Percent);
    let word = float(history, "/metrics/annualized_volatility").map(|it| roughness(it, language));
    let word = word.map(|it| format!(" ({it})")).unwrap_or_default();
    sheet.page.say(
        "- Годовая волатильность: {}{}.",
        "- Yearly volatility: {}{}.",
        [volatility.into(), word.into()],
    );
    if let Some(risk) = risk {
        losses(sheet, risk);
    }
}

/// Drawdown and value at risk.
pub(super) fn losses(sheet: &mut Sheet<'_>, risk: &Finding) {
    let risk = Some(risk);
    let percent = |at: &str| sheet.page.figure(risk, at, Style::Percent);
    let fall = percent("/metrics/max_drawdown_pct");
    let (past, normal) =
        (percent("/metrics/var_historical_pct"), percent("/metrics/var_parametric_pct"));
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
    sheet.page.say(
        "- Максимальная просадка за период {}.",
        "- Deepest drawdown of the period {}.",
        [fall.into()],
    );
    sheet.page.say(
        "- VaR на {} {} с вероятностью {} %: исторический {}, параметрический {}.",
        "- Value at risk over {} {} at {}%: historical {}, parametric {}.",
        [days.into(), word.into(), sure.into(), past.into(), normal.into()],
    );
}

fn conclusion(sheet: &mut Sheet<'_>, change: Option<f64>, volatility: Option<f64>) {
    let (Some(change), Some(volatility)) = (change, volatility) else {
        sheet.page.say(
            "Для вывода о тенденции данных не хватает: нет данных за период.",
            "There is not enough data for a conclusion.",
            [],
        );
        return;
    };
    let language = sheet.language();
    let way = if change >= 0.0 {
        language.pick("выросла", "rose")
    } else {
        language.pick("снизилась", "fell")
    };
    let rough = roughness(volatility, language);
    sheet.page.say(
        "За период бумага {}; волатильность — {}.",
        "The security {} over the period; its volatility is {}.",
        [way.into(), rough.into()],
    );
}

pub(super) fn dividends(sheet: &mut Sheet<'_>, all: &[Security]) {
    sheet.page.heading("Резюме", "Summary");
    unknown(sheet);
    let mut rows = Vec::new();
    for it in all {
        let paid = sheet.of("get_dividends", &it.ticker);
        let shot = sheet.of("get_security_snapshot", &it.ticker);
        let money = currency_of(shot);
        let name = sheet.name(it);
        let part = sheet.page.figure(paid, "/metrics/trailing_12m_yield_pct", Style::Percent);
        let sum = sheet.page.figure(paid, "/metrics/trailing_12m_sum", Style::Price(&money));
        sheet.page.say(
            "{} ({}): за последний год выплачено {} на акцию, доходность {}.",
            "{} ({}): {} a share was paid over the last year, a yield of {}.",
            [name, it.ticker.as_str().into(), sum.into(), part.into()],
        );
        rows.extend(payments(sheet, it, paid));
    }
    sheet.page.heading("Ключевые показатели", "Key figures");
    for it in all {
        let paid = sheet.of("get_dividends", &it.ticker);
        let shot = sheet.of("get_security_snapshot", &it.ticker);
        let money = currency_of(shot);
        let count = float(paid, "/metrics/num_payments").unwrap_or(0.0) as u64;
        let word = sheet.language().pick(
            agree(count, "выплата", "выплаты", "выплат"),
            if count == 1 { "payment" } else { "payments" },
        );
        let shown = sheet.page.figure(paid, "/metrics/num_payments", Style::Count);
        let price = sheet.page.figure(shot, "/data/last_price", Style::Price(&money));
        sheet.page.say(
            "- {}: {} {}, цена {}.",
            "- {}: {} {}, price {}.",
            [it.ticker.as_str().into(), shown.into(), word.into(), price.into()],
        );
    }
    let columns = [
        ("Бумага", "Security"),
        ("Дата реестра", "Record date"),
        ("На акцию", "A share"),
        ("Валюта", "Currency"),
    ];
    sheet.page.table(("Дивиденды", "Dividends"), &columns, rows);
    sheet.page.heading("Риски", "Risks");
    sheet.page.say(
        "Прошлые выплаты не обещают будущих: их размер решает собрание акционеров.",
        "Past payments promise nothing: shareholders decide on every one.",
        [],
    );
    sheet.page.heading("Выводы", "Conclusions");
    let best = all.iter().filter_map(|it| {
        let paid = sheet.of("get_dividends", &it.ticker);
        Some((it, paid, float(paid, "/metrics/trailing_12m_yield_pct")?))
    });
    match best.max_by(|a, b| a.2.total_cmp(&b.2)) {
        Some((it, paid, _)) => {
            let shown = sheet.page.figure(paid, "/metrics/trailing_12m_yield_pct", Style::Percent);
            sheet.page.say(
                "Наибольшая доходность: {}, {}.",
                "The highest yield: {}, {}.",
                [it.ticker.as_str().into(), shown.into()],
            );
        }
        None => sheet.page.say("Доходность: нет данных.", "Yield: no data.", []),
    }
}

fn payments(sheet: &Sheet<'_>, it: &Security, paid: Option<&Finding>) -> Vec<Vec<Slot>> {
    let count = paid.and_then(|it| it.at("/data")).and_then(Value::as_array).map_or(0, Vec::len);
    let row = |at: usize| {
        let text = |field: &str| {
            let said =
                paid.and_then(|it| it.at(&format!("/data/{at}/{field}"))).and_then(Value::as_str);
            Slot::Text(crate::page::quoted(said.unwrap_or("—")))
        };
        let value = sheet.page.figure(paid, &format!("/data/{at}/value"), Style::Plain(4));
        vec![
            Slot::Text(it.ticker.clone()),
            text("registry_close_date"),
            value.into(),
            text("currency"),
        ]
    };
    (count.saturating_sub(PAYMENTS_MAX)..count).rev().map(row).collect()
}

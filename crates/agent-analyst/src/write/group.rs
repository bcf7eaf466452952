//! Several securities: side by side, as a portfolio, and how they move together.

use serde_json::Value;

use super::single::losses;
use super::talk::unknown;
use super::{Sheet, currency_of, float, roughness};
use crate::check::Formula;
use crate::desk::Finding;
use crate::number::agree;
use crate::page::{Cited, Slot, Style};
use crate::resolve::Security;

/// The place of a ticker in a list of rows.
fn row_of(finding: Option<&Finding>, ticker: &str) -> Option<usize> {
    let rows = finding?.at("/data")?.as_array()?;
    rows.iter().position(|row| row["ticker"] == ticker)
}

pub(super) fn comparison(sheet: &mut Sheet<'_>, all: &[Security]) {
    sheet.page.heading("Резюме", "Summary");
    unknown(sheet);
    let mut returns: Vec<(&Security, usize, f64)> = Vec::new();
    for it in all {
        let found = sheet.of("get_ohlcv_timeseries", &it.ticker);
        let at = found.and_then(|it| sheet.findings.iter().position(|other| other.id == it.id));
        if let (Some(at), Some(change)) = (at, float(found, "/metrics/total_return_pct")) {
            returns.push((it, at, change));
        }
    }
    returns.sort_by(|a, b| b.2.total_cmp(&a.2));
    match returns.as_slice() {
        [best, .., worst] => ahead(sheet, *best, *worst),
        _ => sheet.page.say(
            "Доходность за период сравнить нельзя: нет данных.",
            "Returns cannot be compared: no data.",
            [],
        ),
    }
    sheet.page.heading("Ключевые показатели", "Key figures");
    side_by_side(sheet, all);
    sheet.page.heading("Риски", "Risks");
    pairs(sheet, all);
    sheet.page.heading("Выводы", "Conclusions");
    calmest(sheet, all);
}

fn side_by_side(sheet: &mut Sheet<'_>, all: &[Security]) {
    let risk = sheet.last("compute_portfolio_risk");
    let mut rows = Vec::new();
    for it in all {
        let shot = sheet.of("get_security_snapshot", &it.ticker);
        let found = sheet.of("get_ohlcv_timeseries", &it.ticker);
        let money = currency_of(shot);
        let price = || sheet.page.figure(shot, "/data/last_price", Style::Price(&money));
        let change = || sheet.page.figure(found, "/metrics/total_return_pct", Style::Change);
        let rough = || sheet.page.figure(found, "/metrics/annualized_volatility", Style::Percent);
        let fall = || -> Option<Cited> {
            let at = row_of(risk, &it.ticker)?;
            sheet.page.figure(risk, &format!("/data/{at}/max_drawdown_pct"), Style::Percent)
        };
        let volume = sheet.page.figure(found, "/metrics/avg_daily_volume", Style::Count);
        rows.push(vec![
            Slot::Text(it.ticker.clone()),
            price().into(),
            change().into(),
            rough().into(),
            fall().into(),
            volume.into(),
        ]);
        let slots = [
            sheet.name(it),
            it.ticker.as_str().into(),
            price().into(),
            change().into(),
            rough().into(),
            fall().into(),
        ];
        sheet.page.say(
            "- {} ({}): цена {}, доходность {}, волатильность {}, просадка {}.",
            "- {} ({}): price {}, return {}, volatility {}, drawdown {}.",
            slots,
        );
    }
    let columns = [
        ("Бумага", "Security"),
        ("Цена", "Price"),
        ("Доходность, %", "Return, %"),
        ("Волатильность, %", "Volatility, %"),
        ("Просадка, %", "Drawdown, %"),
        ("Средний объём, шт.", "Average volume"),
    ];
    sheet.page.table(("Сравнение", "Comparison"), &columns, rows);
}

fn ahead(sheet: &mut Sheet<'_>, best: (&Security, usize, f64), worst: (&Security, usize, f64)) {
    let (first, last) = (sheet.findings.get(best.1), sheet.findings.get(worst.1));
    let at = "/result/metrics/total_return_pct".to_owned();
    let ids = |it: Option<&Finding>| it.map_or(0, |it| it.id);
    let apart = sheet.page.styled(
        best.2 - worst.2,
        Style::Plain(2),
        vec![(ids(first), at.clone()), (ids(last), at)],
        Formula::Difference,
    );
    let [from, to] = sheet.period(first);
    let shown = |it| sheet.page.figure(it, "/metrics/total_return_pct", Style::Change);
    let (high, low) = (shown(first), shown(last));
    sheet.page.say(
        "С {} по {} лучше других {}: {}; хуже других {}: {}. Разница {} п. п.",
        "From {} to {} the best was {}: {}; the worst {}: {}. They are {} percentage points apart.",
        [
            from,
            to,
            best.0.ticker.as_str().into(),
            high.into(),
            worst.0.ticker.as_str().into(),
            low.into(),
            Some(apart).into(),
        ],
    );
}

/// The calmest of them by volatility.
fn calmest(sheet: &mut Sheet<'_>, all: &[Security]) {
    let rough = all.iter().filter_map(|it| {
        let found = sheet.of("get_ohlcv_timeseries", &it.ticker);
        Some((it, found, float(found, "/metrics/annualized_volatility")?))
    });
    let Some((it, found, value)) = rough.min_by(|a, b| a.2.total_cmp(&b.2)) else {
        sheet.page.say("Волатильность: нет данных.", "Volatility: no data.", []);
        return;
    };
    let shown = sheet.page.figure(found, "/metrics/annualized_volatility", Style::Percent);
    let word = roughness(value, sheet.language());
    sheet.page.say(
        "Спокойнее других {}: волатильность {} ({}).",
        "The calmest is {}: volatility {} ({}).",
        [it.ticker.as_str().into(), shown.into(), word.into()],
    );
}

/// The pairs that move together the most and the least.
fn pairs(sheet: &mut Sheet<'_>, all: &[Security]) {
    let matrix = sheet.last("compute_correlation_matrix");
    let mut found: Vec<(String, String, String, f64)> = Vec::new();
    for (at, a) in all.iter().enumerate() {
        let Some(row) = row_of(matrix, &a.ticker) else { continue };
        for b in all.iter().skip(at + 1) {
            let pointer = format!("/data/{row}/correlations/{}", b.ticker);
            if let Some(value) = float(matrix, &pointer) {
                found.push((a.ticker.clone(), b.ticker.clone(), pointer, value));
            }
        }
    }
    found.sort_by(|a, b| b.3.total_cmp(&a.3));
    let Some((most, least)) = found.first().zip(found.last()) else {
        sheet.page.say("- Корреляция: нет данных.", "- Correlation: no data.", []);
        return;
    };
    let mut pair = |it: &(String, String, String, f64), russian: &str, english: &str| {
        let value = sheet.page.figure(matrix, &it.2, Style::Plain(2));
        let close = match it.3 {
            v if v > 0.7 => sheet.language().pick("сильная связь", "closely linked"),
            v if v > 0.3 => sheet.language().pick("умеренная связь", "moderately linked"),
            v if v < -0.3 => sheet.language().pick("обратная связь", "inversely linked"),
            _ => sheet.language().pick("слабая связь", "weakly linked"),
        };
        sheet.page.say(
            russian,
            english,
            [it.0.as_str().into(), it.1.as_str().into(), value.into(), close.into()],
        );
    };
    if found.len() == 1 {
        pair(
            most,
            "- Корреляция дневных доходностей {} и {}: {} ({}).",
            "- Correlation of daily returns of {} and {}: {} ({}).",
        );
        return;
    }
    pair(
        most,
        "- Сильнее всего связаны {} и {}: корреляция {} ({}).",
        "- The most linked are {} and {}: correlation {} ({}).",
    );
    pair(
        least,
        "- Слабее всего связаны {} и {}: корреляция {} ({}).",
        "- The least linked are {} and {}: correlation {} ({}).",
    );
}

pub(super) fn correlation(sheet: &mut Sheet<'_>, all: &[Security]) {
    let matrix = sheet.last("compute_correlation_matrix");
    sheet.page.heading("Резюме", "Summary");
    unknown(sheet);
    let [from, to] = sheet.period(matrix);
    let mean = sheet.page.figure(matrix, "/metrics/mean_correlation", Style::Plain(2));
    sheet.page.say(
        "С {} по {}: средняя корреляция дневных доходностей {}.",
        "From {} to {}: mean correlation of daily returns {}.",
        [from, to, mean.into()],
    );
    sheet.page.heading("Ключевые показатели", "Key figures");
    pairs(sheet, all);
    common_days(sheet, matrix);
    let columns: Vec<(&str, &str)> = std::iter::once(("Бумага", "Security"))
        .chain(all.iter().map(|it| (it.ticker.as_str(), it.ticker.as_str())))
        .collect();
    let row = |a: &Security| {
        let at = row_of(matrix, &a.ticker);
        let cell = |b: &Security| -> Option<Cited> {
            sheet.page.figure(
                matrix,
                &format!("/data/{}/correlations/{}", at?, b.ticker),
                Style::Plain(2),
            )
        };
        std::iter::once(Slot::Text(a.ticker.clone()))
            .chain(all.iter().map(|b| cell(b).into()))
            .collect()
    };
    let rows = all.iter().map(row).collect();
    sheet.page.table(("Корреляции", "Correlations"), &columns, rows);
    sheet.page.heading("Риски", "Risks");
    sheet.page.say(
        "Корреляция прошлого периода может измениться; в падениях рынка бумаги обычно связаны сильнее.",
        "Correlation of the past may change; in falling markets securities usually move closer.",
        [],
    );
    sheet.page.heading("Выводы", "Conclusions");
    let together = float(matrix, "/metrics/mean_correlation");
    let word = match together {
        Some(it) if it > 0.6 => sheet.language().pick(
            "бумаги движутся вместе и слабо диверсифицируют друг друга",
            "they move together and diversify each other little",
        ),
        Some(_) => sheet.language().pick(
            "бумаги движутся порознь и диверсифицируют друг друга",
            "they move apart and diversify each other",
        ),
        None => sheet.language().pick("нет данных", "no data"),
    };
    sheet.page.say("Итог: {}.", "In short: {}.", [word.into()]);
}

fn common_days(sheet: &mut Sheet<'_>, found: Option<&Finding>) {
    let days = float(found, "/metrics/num_days").unwrap_or(0.0) as u64;
    let count = sheet.page.figure(found, "/metrics/num_days", Style::Count);
    let word = sheet.language().pick(
        agree(days, "наблюдение", "наблюдения", "наблюдений"),
        if days == 1 { "observation" } else { "observations" },
    );
    sheet.page.say("- В расчёте {} {}.", "- Computed from {} {}.", [count.into(), word.into()]);
}

pub(super) fn portfolio(sheet: &mut Sheet<'_>, all: &[Security]) {
    let risk = sheet.last("compute_portfolio_risk");
    sheet.page.heading("Резюме", "Summary");
    unknown(sheet);
    let [from, to] = sheet.period(risk);
    let change = sheet.page.figure(risk, "/metrics/total_return_pct", Style::Change);
    let rough = sheet.page.figure(risk, "/metrics/annualized_volatility", Style::Percent);
    sheet.page.say(
        "Портфель с {} по {}: доходность {}, годовая волатильность {}.",
        "The portfolio from {} to {}: return {}, yearly volatility {}.",
        [from, to, change.into(), rough.into()],
    );
    if let Some(cash) = sheet.plan.request.cash_pct {
        let cash = Some(sheet.page.asked(&cash.to_string()));
        sheet.page.say(
            "Доля денег {} % ценового риска акций не несёт; показатели ниже — для остальной части.",
            "The {}% held as cash carries no price risk; the figures below are of the rest.",
            [cash.into()],
        );
    }
    sheet.page.heading("Ключевые показатели", "Key figures");
    common_days(sheet, risk);
    holdings(sheet, all);
    sheet.page.heading("Риски", "Risks");
    if let Some(risk) = risk.filter(|it| it.outcome.is_ok()) {
        losses(sheet, risk);
    } else {
        sheet.page.say("- Показатели риска: нет данных.", "- Risk figures: no data.", []);
    }
    if all.len() > 1 {
        pairs(sheet, all);
    }
    sheet.page.heading("Выводы", "Conclusions");
    concentration(sheet, risk);
}

fn holdings(sheet: &mut Sheet<'_>, all: &[Security]) {
    let risk = sheet.last("compute_portfolio_risk");
    let mut rows = Vec::new();
    for it in all {
        let at = row_of(risk, &it.ticker);
        let figure = |field: &str, style| -> Option<Cited> {
            sheet.page.figure(risk, &format!("/data/{}/{field}", at?), style)
        };
        let share = || -> Option<Cited> {
            let (pointer, finding) = (format!("/data/{}/weight", at?), risk?);
            let value = finding.at(&pointer)?.as_f64()? * 100.0;
            let source = vec![(finding.id, format!("/result{pointer}"))];
            Some(sheet.page.styled(value, Style::Percent, source, Formula::Percent))
        };
        let part = || figure("risk_contribution_pct", Style::Percent);
        let (change, rough) = (
            figure("total_return_pct", Style::Change),
            figure("annualized_volatility", Style::Percent),
        );
        rows.push(vec![
            Slot::Text(it.ticker.clone()),
            share().into(),
            change.into(),
            rough.into(),
            part().into(),
        ]);
        let slots = [it.ticker.as_str().into(), share().into(), part().into()];
        sheet.page.say(
            "- {}: доля {}, вклад в риск {}.",
            "- {}: share {}, part of the risk {}.",
            slots,
        );
    }
    let columns = [
        ("Бумага", "Security"),
        ("Доля, %", "Share, %"),
        ("Доходность, %", "Return, %"),
        ("Волатильность, %", "Volatility, %"),
        ("Вклад в риск, %", "Part of the risk, %"),
    ];
    sheet.page.table(("Портфель", "Portfolio"), &columns, rows);
}

fn concentration(sheet: &mut Sheet<'_>, risk: Option<&Finding>) {
    let hhi = float(risk, "/metrics/hhi");
    let word = match hhi {
        Some(it) if it > 0.25 => sheet.language().pick("высокая", "high"),
        Some(it) if it > 0.15 => sheet.language().pick("умеренная", "moderate"),
        Some(_) => sheet.language().pick("низкая", "low"),
        None => sheet.language().pick("нет данных", "no data"),
    };
    let shown = sheet.page.figure(risk, "/metrics/hhi", Style::Plain(2));
    let top = sheet.page.figure(risk, "/metrics/top1_weight_pct", Style::Percent);
    sheet.page.say(
        "Концентрация {}: индекс Херфиндаля {}, крупнейшая позиция {}.",
        "Concentration is {}: Herfindahl index {}, largest position {}.",
        [word.into(), shown.into(), top.into()],
    );
    let rows =
        risk.and_then(|it| it.at("/data")).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let part = |row: &Value| row["risk_contribution_pct"].as_f64().unwrap_or(f64::MIN);
    let most = rows.iter().enumerate().max_by(|a, b| part(a.1).total_cmp(&part(b.1)));
    if let Some((at, row)) = most.filter(|_| rows.len() > 1) {
        let ticker = crate::page::quoted(row["ticker"].as_str().unwrap_or_default());
        let shown =
            sheet.page.figure(risk, &format!("/data/{at}/risk_contribution_pct"), Style::Percent);
        sheet.page.say(
            "Больше всего риска приносит {}: {}.",
            "Most of the risk comes from {}: {}.",
            [ticker.into(), shown.into()],
        );
    }
}

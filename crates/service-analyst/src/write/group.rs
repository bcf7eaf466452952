//! Writes comparisons of several securities and their correlations.

use super::lead::{SecurityResult, is_same, result, since_source};
use super::talk::reading_notes;
use super::verdict::{NOTHING_PCT, correlation_strength, volatility_word};
use super::{AnswerBuilder, Section, float, money_of};
use crate::check::Formula;
use crate::number::agree;
use crate::page::{CitedFigure, Slot, Style, fact};
use crate::resolve::Security;
use crate::tool_session::Finding;
use crate::understand::{Focus, MoveDirection};

/// Returns the row index of a ticker.
pub(super) fn row_of(finding: Option<&Finding>, ticker: &str) -> Option<usize> {
    let rows = finding?.at("/data")?.as_array()?;
    rows.iter().position(|row| row["ticker"] == ticker)
}

pub(super) fn comparison(sheet: &mut AnswerBuilder<'_>, all: &[Security], section: Section) {
    let is_day = sheet.plan.request.period().is_day();
    match section {
        Section::Summary => {
            let focus = sheet.plan.request.focus;
            let led = match focus {
                Focus::Risk | Focus::Calm | Focus::Drawdown => ranked_by_risk(sheet, all, focus),
                _ => false,
            };
            ranked(sheet, all, led);
            if focus == Focus::Why {
                sheet.page.add_line(
                    "Причин движения биржевые данные не называют.",
                    "Exchange data does not say what caused a move.",
                    [],
                );
            }
            reading_notes(sheet);
        }
        Section::Figures => side_by_side(sheet, all),
        Section::Risks if is_day => sheet.page.add_line(
            "По одному дню риск не оценить: для этого нужен период.",
            "One day says nothing of risk: that takes a period.",
            [],
        ),
        Section::Risks => pairs(sheet, all),
        Section::Conclusions if is_day => {
            ranked(sheet, all, true);
        }
        Section::Conclusions => {
            ranked_by_risk(sheet, all, Focus::Calm);
        }
    }
}

/// Writes the best and the worst security, in the direction that the question asks for.
fn ranked(sheet: &mut AnswerBuilder<'_>, all: &[Security], brief: bool) {
    let mut found: Vec<SecurityResult<'_>> =
        all.iter().filter_map(|it| result(sheet, it)).collect();
    found.sort_by(|a, b| b.change.total_cmp(&a.change));
    let (Some(best), Some(worst)) = (found.first(), found.last()) else {
        sheet.page.add_line(
            "Сравнить доходность за период нельзя: нет данных.",
            "Returns cannot be compared: no data.",
            [],
        );
        return;
    };
    let (up, down) = (best.change >= NOTHING_PCT, worst.change <= -NOTHING_PCT);
    let direction = sheet.plan.request.direction;
    let name = |it: &SecurityResult<'_>| Slot::Text(it.security.ticker.clone());
    let shown = |it: &SecurityResult<'_>| Slot::Figure(Some(it.figure.clone()));
    if found.len() == 1 {
        let head = (
            "Доходность за период есть только у {}: {}.",
            "Only {} has a return for the period: {}.",
        );
        sheet.page.add_line(head.0, head.1, [name(best), shown(best)]);
        return;
    }
    if !brief {
        let (russian, english, it) = match (direction, up, down) {
            (MoveDirection::Up, true, _) => {
                ("Сильнее всех выросла {}: {}.", "{} rose the most: {}.", best)
            }
            (MoveDirection::Up, false, _) => (
                "Ни одна из бумаг не выросла; лучше других {}: {}.",
                "None of them rose; the best was {}: {}.",
                best,
            ),
            (MoveDirection::Down, _, true) => {
                ("Сильнее всех снизилась {}: {}.", "{} fell the most: {}.", worst)
            }
            (MoveDirection::Down, _, false) => (
                "Ни одна из бумаг не снизилась; хуже других {}: {}.",
                "None of them fell; the worst was {}: {}.",
                worst,
            ),
            (MoveDirection::Both, ..) => ("", "", best),
        };
        if !russian.is_empty() {
            sheet.page.add_line(russian, english, [name(it), shown(it)]);
        }
    }
    both_ends(sheet, best, worst);
}

fn both_ends(sheet: &mut AnswerBuilder<'_>, best: &SecurityResult<'_>, worst: &SecurityResult<'_>) {
    let name = |it: &SecurityResult<'_>| Slot::Text(it.security.ticker.clone());
    let shown = |it: &SecurityResult<'_>| Slot::Figure(Some(it.figure.clone()));
    let history = sheet.of("get_ohlcv_timeseries", &best.security.ticker);
    let request = &sheet.plan.request;
    let head = match sheet.period(history) {
        Some([_, to]) if request.period().is_day() && !request.ago => {
            Slot::Many(vec![to, Slot::Text(":".to_owned())])
        }
        Some(_) if request.period().is_day() => {
            // The candles reach up to today, because later splits are needed to adjust prices.
            let shot = sheet.of("get_security_snapshot", &best.security.ticker);
            let row = since_source(history, shot).and_then(|it| Some(it.first()?.1.clone()));
            let at = row.map(|it| it.replace("/close", "/ts")).unwrap_or_default();
            let to = Slot::Figure(sheet.page.cited_text(history, &at));
            let [since, colon] = [sheet.language().pick("С ", "Since "), ":"];
            Slot::Many(vec![since.into(), to, colon.into()])
        }
        Some([from, to]) => {
            let [a, b] =
                [sheet.language().pick("С ", "From "), sheet.language().pick(" по ", " to ")];
            Slot::Many(vec![a.into(), from, b.into(), to, ":".into()])
        }
        None => sheet.language().pick("За период:", "Over the period:").into(),
    };
    if is_same(best.change, worst.change) {
        sheet.page.add_line(
            "{} результат одинаковый, {}.",
            "{} they did the same, {}.",
            [head, shown(best)],
        );
        return;
    }
    let apart = apart(sheet, best, worst);
    let slots = [head, name(best), shown(best), name(worst), shown(worst), apart];
    sheet.page.add_line(
        "{} лучше других {}, {}; хуже других {}, {}.{}",
        "{} the best was {}, {}; the worst {}, {}.{}",
        slots,
    );
}

/// Returns the difference of two returns if both come directly from a tool.
fn apart(sheet: &AnswerBuilder<'_>, best: &SecurityResult<'_>, worst: &SecurityResult<'_>) -> Slot {
    let at = "/metrics/total_return_pct";
    let of = |it: &SecurityResult<'_>| {
        let found = sheet.of("get_ohlcv_timeseries", &it.security.ticker)?;
        float(Some(found), at).map(|_| (found.id, format!("/result{at}")))
    };
    let (Some(a), Some(b)) = (of(best), of(worst)) else { return Slot::Text(String::new()) };
    if sheet.plan.request.period().is_day() {
        return Slot::Text(String::new());
    }
    let value = best.change - worst.change;
    let shown = sheet.page.styled(value, Style::Plain(2), vec![a, b], Formula::Difference);
    let [head, tail] = [
        sheet.language().pick(" Разница ", " They are "),
        sheet.language().pick(" п. п.", " percentage points apart."),
    ];
    Slot::Many(vec![head.into(), Slot::Figure(Some(shown)), tail.into()])
}

/// Writes the securities with the highest and the lowest volatility or drawdown. Returns whether
/// there are any.
fn ranked_by_risk(sheet: &mut AnswerBuilder<'_>, all: &[Security], focus: Focus) -> bool {
    let risk = sheet.last("compute_portfolio_risk");
    let fallen = focus == Focus::Drawdown;
    let place = |it: &Security| -> Option<(Option<&Finding>, String)> {
        if !fallen {
            let found = sheet.of("get_ohlcv_timeseries", &it.ticker);
            return Some((found, "/metrics/annualized_volatility".to_owned()));
        }
        Some((risk, format!("/data/{}/max_drawdown_pct", row_of(risk, &it.ticker)?)))
    };
    let of = |it: &Security| -> Option<(String, f64, CitedFigure)> {
        let (found, at) = place(it)?;
        let value = float(found, &at)?;
        Some((it.ticker.clone(), value, sheet.page.figure(found, &at, Style::Percent)?))
    };
    let mut found: Vec<(String, f64, CitedFigure)> = all.iter().filter_map(of).collect();
    found.sort_by(|a, b| b.1.total_cmp(&a.1));
    let (Some(most), Some(least)) = (found.first().cloned(), found.last().cloned()) else {
        sheet.page.facts(("Волатильность", "Volatility"), [], Vec::new());
        return false;
    };
    if fallen {
        sheet.page.add_line(
            "Глубже всех просела {}: просадка {}; меньше всех {}: {}.",
            "{} had the deepest drawdown, {}; {} the least, {}.",
            [most.0.into(), Some(most.2).into(), least.0.into(), Some(least.2).into()],
        );
        return true;
    }
    let word = |it: f64| Slot::Text(volatility_word(it, sheet.language()).to_owned());
    let of = |it: &(String, f64, CitedFigure)| {
        [Slot::Text(it.0.clone()), Slot::Figure(Some(it.2.clone())), word(it.1)]
    };
    let ([a, b, c], [d, e, f]) = (of(&most), of(&least));
    if found.len() == 1 || is_same(most.1, least.1) {
        sheet.page.add_line("Волатильность {}: {} ({}).", "Volatility of {}: {} ({}).", [a, b, c]);
    } else if focus == Focus::Risk {
        sheet.page.add_line(
            "Рискованнее {}: годовая волатильность {} ({}); спокойнее {}: {} ({}).",
            "The riskier is {}: yearly volatility {} ({}); the calmer {}: {} ({}).",
            [a, b, c, d, e, f],
        );
    } else {
        sheet.page.add_line(
            "Спокойнее других {}: годовая волатильность {} ({}); рискованнее {}: {} ({}).",
            "The calmest is {}: yearly volatility {} ({}); the riskiest {}: {} ({}).",
            [d, e, f, a, b, c],
        );
    }
    true
}

fn side_by_side(sheet: &mut AnswerBuilder<'_>, all: &[Security]) {
    let risk = sheet.last("compute_portfolio_risk");
    let is_day = sheet.plan.request.period().is_day();
    let mut rows = Vec::new();
    for it in all {
        let shot = sheet.of("get_security_snapshot", &it.ticker);
        let found = sheet.of("get_ohlcv_timeseries", &it.ticker);
        let money = money_of(shot, it);
        let price = sheet.page.figure(shot, "/data/last_price", Style::Price(&money));
        let change = result(sheet, it).map(|it| it.figure);
        let over = |at: &str, style| sheet.page.figure(found, at, style).filter(|_| !is_day);
        let rough = over("/metrics/annualized_volatility", Style::Percent);
        let fall = row_of(risk, &it.ticker).and_then(|at| {
            sheet.page.figure(risk, &format!("/data/{at}/max_drawdown_pct"), Style::Percent)
        });
        let volume = over("/metrics/avg_daily_volume", Style::Count);
        let mut facts = vec![
            fact(("последняя цена", "last price"), price.clone()),
            fact(("доходность", "return"), change.clone()),
        ];
        let mut row: Vec<Slot> = vec![Slot::Text(it.ticker.clone()), price.into(), change.into()];
        if !is_day {
            facts.push(fact(("волатильность", "volatility"), rough.clone()));
            facts.push(fact(("просадка", "drawdown"), fall.clone()));
            row.extend([rough.into(), fall.into(), volume.into()]);
        }
        rows.push(row);
        sheet.page.facts(("- {}", "- {}"), [sheet.title(it)], facts);
    }
    let columns = [
        ("Бумага", "Security"),
        ("Цена", "Price"),
        ("Доходность, %", "Return, %"),
        ("Волатильность, %", "Volatility, %"),
        ("Просадка, %", "Drawdown, %"),
        ("Средний объём, шт.", "Average volume"),
    ];
    let shown = if is_day { &columns[..3] } else { &columns[..] };
    sheet.page.table(("Сравнение", "Comparison"), shown, rows);
}

/// Two tickers, the pointer to their correlation, and its value.
type Pair = (String, String, String, f64);

fn found_pairs(sheet: &AnswerBuilder<'_>, all: &[Security]) -> Vec<Pair> {
    let matrix = sheet.last("compute_correlation_matrix");
    let mut found: Vec<Pair> = Vec::new();
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
    found
}

fn pair(sheet: &mut AnswerBuilder<'_>, it: &Pair, russian: &str, english: &str) {
    let matrix = sheet.last("compute_correlation_matrix");
    let value = sheet.page.figure(matrix, &it.2, Style::Plain(2));
    let close = correlation_strength(it.3).noun(sheet.language());
    let slots = [it.0.as_str().into(), it.1.as_str().into(), value.into(), close.into()];
    sheet.page.add_line(russian, english, slots);
}

/// Writes the pairs with the highest and the lowest correlation.
pub(super) fn pairs(sheet: &mut AnswerBuilder<'_>, all: &[Security]) {
    let found = found_pairs(sheet, all);
    let Some((most, least)) = found.first().zip(found.last()) else {
        sheet.page.facts(("- Корреляция", "- Correlation"), [], Vec::new());
        return;
    };
    if found.len() == 1 {
        pair(
            sheet,
            most,
            "- Корреляция дневных доходностей {} и {}: {} ({}).",
            "- Correlation of daily returns of {} and {}: {} ({}).",
        );
        return;
    }
    pair(
        sheet,
        most,
        "- Сильнее всего связаны {} и {}: корреляция {} ({}).",
        "- The most linked are {} and {}: correlation {} ({}).",
    );
    pair(
        sheet,
        least,
        "- Слабее всего связаны {} и {}: корреляция {} ({}).",
        "- The least linked are {} and {}: correlation {} ({}).",
    );
}

pub(super) fn correlation(sheet: &mut AnswerBuilder<'_>, all: &[Security], section: Section) {
    let matrix = sheet.last("compute_correlation_matrix");
    match section {
        Section::Summary => {
            let found = found_pairs(sheet, all);
            if let [only] = found.as_slice() {
                pair(
                    sheet,
                    only,
                    "Корреляция дневных доходностей {} и {}: {} ({}).",
                    "The correlation of daily returns of {} and {} is {} ({}).",
                );
            }
            let mean = sheet.page.figure(matrix, "/metrics/mean_correlation", Style::Plain(2));
            let mean = vec![fact(("", ""), mean)];
            match sheet.period(matrix) {
                Some([from, to]) => sheet.page.facts(
                    (
                        "Средняя корреляция дневных доходностей с {} по {}",
                        "Mean correlation of daily returns from {} to {}",
                    ),
                    [from, to],
                    mean,
                ),
                None => sheet.page.facts(("Средняя корреляция", "Mean correlation"), [], mean),
            }
            reading_notes(sheet);
        }
        Section::Figures => {
            pairs(sheet, all);
            common_days(sheet, matrix);
            matrix_table(sheet, all);
        }
        Section::Risks => sheet.page.add_line(
            "Корреляция прошлого периода может измениться; в падениях рынка бумаги обычно связаны сильнее.",
            "Correlation of the past may change; in falling markets securities usually move closer.",
            [],
        ),
        Section::Conclusions => match float(matrix, "/metrics/mean_correlation") {
            Some(it) => {
                let word = correlation_strength(it).conclusion(sheet.language());
                sheet.page.add_line("Итог: {}.", "In short: {}.", [word.into()]);
            }
            None => sheet.page.add_line(
                "Для вывода о связи данных не хватает.",
                "There is not enough data for a conclusion.",
                [],
            ),
        },
    }
}

fn matrix_table(sheet: &mut AnswerBuilder<'_>, all: &[Security]) {
    let matrix = sheet.last("compute_correlation_matrix");
    let columns: Vec<(&str, &str)> = std::iter::once(("Бумага", "Security"))
        .chain(all.iter().map(|it| (it.ticker.as_str(), it.ticker.as_str())))
        .collect();
    let row = |a: &Security| {
        let at = row_of(matrix, &a.ticker);
        let cell = |b: &Security| -> Option<CitedFigure> {
            let pointer = format!("/data/{}/correlations/{}", at?, b.ticker);
            sheet.page.figure(matrix, &pointer, Style::Plain(2))
        };
        std::iter::once(Slot::Text(a.ticker.clone()))
            .chain(all.iter().map(|b| cell(b).into()))
            .collect()
    };
    let rows = all.iter().map(row).collect();
    sheet.page.table(("Корреляции", "Correlations"), &columns, rows);
}

pub(super) fn common_days(sheet: &mut AnswerBuilder<'_>, found: Option<&Finding>) {
    let days = float(found, "/metrics/num_days").unwrap_or(0.0) as u64;
    let word = sheet.language().pick(
        agree(days, "наблюдение", "наблюдения", "наблюдений"),
        if days == 1 { "observation" } else { "observations" },
    );
    match sheet.page.figure(found, "/metrics/num_days", Style::Count) {
        Some(count) => sheet.page.add_line(
            "- В расчёте {} {}.",
            "- Computed from {} {}.",
            [Some(count).into(), word.into()],
        ),
        None => sheet.page.facts(("- Число наблюдений", "- Observations"), [], Vec::new()),
    }
}

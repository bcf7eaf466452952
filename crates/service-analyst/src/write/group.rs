//! Writes comparisons of several securities and their correlations.

use super::lead::{SecurityResult, is_same, result, since_source};
use super::talk::reading_notes;
use super::verdict::{ZERO_CHANGE_PCT, correlation_strength, volatility_word};
use super::{AnswerBuilder, Section, float, money_of};
use crate::check::{Formula, shown_difference};
use crate::note::Note;
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

pub(super) fn comparison(builder: &mut AnswerBuilder<'_>, all: &[Security], section: Section) {
    let is_day = builder.plan.request.period().is_day();
    match section {
        Section::Summary => {
            let focus = builder.plan.request.focus;
            let led = match focus {
                Focus::Risk | Focus::Calm | Focus::Drawdown => ranked_by_risk(builder, all, focus),
                _ => false,
            };
            outdone(builder, all);
            ranked(builder, all, led);
            if focus == Focus::Why {
                builder.page.add_line(
                    "Причин движения биржевые данные не называют.",
                    "Exchange data does not say what caused a move.",
                    [],
                );
            }
            reading_notes(builder);
        }
        Section::Figures => side_by_side(builder, all),
        Section::Risks if is_day => builder.page.add_line(
            "По одному дню риск не оценить: для этого нужен период.",
            "One day says nothing of risk: that takes a period.",
            [],
        ),
        Section::Risks => pairs(builder, all),
        Section::Conclusions if is_day => {
            ranked(builder, all, true);
        }
        Section::Conclusions => {
            ranked_by_risk(builder, all, Focus::Calm);
        }
    }
}

/// Answers whether the first security did better than the second over the past period.
fn outdone(builder: &mut AnswerBuilder<'_>, all: &[Security]) {
    let [first, second] = all else { return };
    let forecast = builder.plan.request.notes.contains(&Note::Future);
    let (Some(a), Some(b)) = (result(builder, first), result(builder, second)) else { return };
    if !builder.plan.request.asked.outdoes || forecast || is_same(a.change, b.change) {
        return;
    }
    let slots = [first.ticker.as_str().into(), second.ticker.as_str().into()];
    if a.change > b.change {
        builder.page.add_line(
            "Да: {} за период лучше, чем {}.",
            "Yes: {} did better than {}.",
            slots,
        );
    } else {
        builder.page.add_line(
            "Нет: {} за период хуже, чем {}.",
            "No: {} did worse than {}.",
            slots,
        );
    }
}

/// Writes the best and the worst security, in the direction that the question asks for.
fn ranked(builder: &mut AnswerBuilder<'_>, all: &[Security], brief: bool) {
    let mut found: Vec<SecurityResult<'_>> =
        all.iter().filter_map(|it| result(builder, it)).collect();
    found.sort_by(|a, b| b.change.total_cmp(&a.change));
    let (Some(best), Some(worst)) = (found.first(), found.last()) else {
        builder.page.add_line(
            "Сравнить доходность за период нельзя: нет данных.",
            "Returns cannot be compared: no data.",
            [],
        );
        return;
    };
    let (up, down) = (best.change >= ZERO_CHANGE_PCT, worst.change <= -ZERO_CHANGE_PCT);
    let direction = builder.plan.request.direction;
    let name = |it: &SecurityResult<'_>| Slot::Text(it.security.ticker.clone());
    let shown = |it: &SecurityResult<'_>| Slot::Figure(Some(it.figure.clone()));
    if found.len() == 1 {
        let head = (
            "Доходность за период есть только у {}: {}.",
            "Only {} has a return for the period: {}.",
        );
        builder.page.add_line(head.0, head.1, [name(best), shown(best)]);
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
            builder.page.add_line(russian, english, [name(it), shown(it)]);
        }
    }
    both_ends(builder, best, worst);
}

fn both_ends(
    builder: &mut AnswerBuilder<'_>,
    best: &SecurityResult<'_>,
    worst: &SecurityResult<'_>,
) {
    let name = |it: &SecurityResult<'_>| Slot::Text(it.security.ticker.clone());
    let shown = |it: &SecurityResult<'_>| Slot::Figure(Some(it.figure.clone()));
    let history = builder.finding("get_ohlcv_timeseries", &best.security.ticker);
    let request = &builder.plan.request;
    let head = match builder.period(history) {
        Some([_, to]) if request.period().is_day() && !request.compare_with_today => {
            Slot::Many(vec![to, Slot::Text(":".to_owned())])
        }
        Some(_) if request.period().is_day() => {
            // The candles reach up to today, because later splits are needed to adjust prices.
            let snapshot = builder.finding("get_security_snapshot", &best.security.ticker);
            let row = since_source(history, snapshot).and_then(|it| Some(it.first()?.1.clone()));
            let at = row.map(|it| it.replace("/close", "/ts")).unwrap_or_default();
            let to = Slot::Figure(builder.page.cited_text(history, &at));
            let [since, colon] = [builder.language().pick("С ", "Since "), ":"];
            Slot::Many(vec![since.into(), to, colon.into()])
        }
        Some([from, to]) => {
            let [a, b] =
                [builder.language().pick("С ", "From "), builder.language().pick(" по ", " to ")];
            Slot::Many(vec![a.into(), from, b.into(), to, ":".into()])
        }
        None => builder.language().pick("За период:", "Over the period:").into(),
    };
    if is_same(best.change, worst.change) {
        builder.page.add_line(
            "{} результат одинаковый, {}.",
            "{} they did the same, {}.",
            [head, shown(best)],
        );
        return;
    }
    let apart = apart(builder, best, worst);
    let slots = [head, name(best), shown(best), name(worst), shown(worst), apart];
    builder.page.add_line(
        "{} лучше других {}, {}; хуже других {}, {}.{}",
        "{} the best was {}, {}; the worst {}, {}.{}",
        slots,
    );
}

/// Returns the difference of two returns if both end at the same moment.
fn apart(
    builder: &AnswerBuilder<'_>,
    best: &SecurityResult<'_>,
    worst: &SecurityResult<'_>,
) -> Slot {
    let at = "/metrics/total_return_pct";
    let of = |it: &SecurityResult<'_>| {
        let found = builder.finding("get_ohlcv_timeseries", &it.security.ticker)?;
        float(Some(found), at).map(|_| (found.id, format!("/result{at}")))
    };
    if builder.plan.request.period().is_day() {
        return Slot::Text(String::new());
    }
    let (sources, formula) = match (&best.prices, &worst.prices) {
        (Some(a), Some(b)) => {
            (a.iter().chain(b).cloned().collect(), Formula::ChangeDifference(a.len()))
        }
        (None, None) => match (of(best), of(worst)) {
            (Some(a), Some(b)) => (vec![a, b], Formula::ShownDifference),
            _ => return Slot::Text(String::new()),
        },
        _ => return Slot::Text(String::new()),
    };
    let value = shown_difference(best.change, worst.change);
    let shown = builder.page.styled(value, Style::Plain(2), sources, formula);
    let [head, tail] = [
        builder.language().pick(" Разница ", " They are "),
        builder.language().pick(" п. п.", " percentage points apart."),
    ];
    Slot::Many(vec![head.into(), Slot::Figure(Some(shown)), tail.into()])
}

/// Writes the securities with the highest and the lowest volatility or drawdown. Returns whether
/// there are any.
fn ranked_by_risk(builder: &mut AnswerBuilder<'_>, all: &[Security], focus: Focus) -> bool {
    let risk = builder.last("compute_portfolio_risk");
    let by_drawdown = focus == Focus::Drawdown;
    let place = |it: &Security| -> Option<(Option<&Finding>, String)> {
        if !by_drawdown {
            let found = builder.finding("get_ohlcv_timeseries", &it.ticker);
            return Some((found, "/metrics/annualized_volatility".to_owned()));
        }
        Some((risk, format!("/data/{}/max_drawdown_pct", row_of(risk, &it.ticker)?)))
    };
    let of = |it: &Security| -> Option<(String, f64, CitedFigure)> {
        let (found, at) = place(it)?;
        let value = float(found, &at)?;
        Some((it.ticker.clone(), value, builder.page.figure(found, &at, Style::Percent)?))
    };
    let mut found: Vec<(String, f64, CitedFigure)> = all.iter().filter_map(of).collect();
    found.sort_by(|a, b| b.1.total_cmp(&a.1));
    let (Some(most), Some(least)) = (found.first().cloned(), found.last().cloned()) else {
        builder.page.facts(("Волатильность", "Volatility"), [], Vec::new());
        return false;
    };
    if by_drawdown {
        builder.page.add_line(
            "Глубже всех просела {}: просадка {}; меньше всех {}: {}.",
            "{} had the deepest drawdown, {}; {} the least, {}.",
            [most.0.into(), Some(most.2).into(), least.0.into(), Some(least.2).into()],
        );
        return true;
    }
    let word = |it: f64| Slot::Text(volatility_word(it, builder.language()).to_owned());
    let of = |it: &(String, f64, CitedFigure)| {
        [Slot::Text(it.0.clone()), Slot::Figure(Some(it.2.clone())), word(it.1)]
    };
    let ([a, b, c], [d, e, f]) = (of(&most), of(&least));
    if found.len() == 1 || is_same(most.1, least.1) {
        builder.page.add_line(
            "Волатильность {}: {} ({}).",
            "Volatility of {}: {} ({}).",
            [a, b, c],
        );
    } else if focus == Focus::Risk {
        builder.page.add_line(
            "Рискованнее {}: годовая волатильность {} ({}); спокойнее {}: {} ({}).",
            "The riskier is {}: yearly volatility {} ({}); the calmer {}: {} ({}).",
            [a, b, c, d, e, f],
        );
    } else {
        builder.page.add_line(
            "Спокойнее других {}: годовая волатильность {} ({}); рискованнее {}: {} ({}).",
            "The calmest is {}: yearly volatility {} ({}); the riskiest {}: {} ({}).",
            [d, e, f, a, b, c],
        );
    }
    true
}

fn side_by_side(builder: &mut AnswerBuilder<'_>, all: &[Security]) {
    let risk = builder.last("compute_portfolio_risk");
    let is_day = builder.plan.request.period().is_day();
    let mut rows = Vec::new();
    for it in all {
        let snapshot = builder.finding("get_security_snapshot", &it.ticker);
        let found = builder.finding("get_ohlcv_timeseries", &it.ticker);
        let money = money_of(snapshot, it);
        let price = builder.page.figure(snapshot, "/data/last_price", Style::Price(&money));
        let change = result(builder, it).map(|it| it.figure);
        let over = |at: &str, style| builder.page.figure(found, at, style).filter(|_| !is_day);
        let volatility = over("/metrics/annualized_volatility", Style::Percent);
        let drawdown = row_of(risk, &it.ticker).and_then(|at| {
            builder.page.figure(risk, &format!("/data/{at}/max_drawdown_pct"), Style::Percent)
        });
        let volume = over("/metrics/avg_daily_volume", Style::Count);
        let mut facts = vec![
            fact(("последняя цена", "last price"), price.clone()),
            fact(("доходность", "return"), change.clone()),
        ];
        let mut row: Vec<Slot> = vec![Slot::Text(it.ticker.clone()), price.into(), change.into()];
        if !is_day {
            facts.push(fact(("волатильность", "volatility"), volatility.clone()));
            facts.push(fact(("просадка", "drawdown"), drawdown.clone()));
            row.extend([volatility.into(), drawdown.into(), volume.into()]);
        }
        rows.push(row);
        builder.page.facts(("- {}", "- {}"), [builder.title(it)], facts);
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
    builder.page.table(("Сравнение", "Comparison"), shown, rows);
}

/// Two tickers, the pointer to their correlation, and its value.
type Pair = (String, String, String, f64);

fn found_pairs(builder: &AnswerBuilder<'_>, all: &[Security]) -> Vec<Pair> {
    let matrix = builder.last("compute_correlation_matrix");
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

fn pair(builder: &mut AnswerBuilder<'_>, it: &Pair, russian: &str, english: &str) {
    let matrix = builder.last("compute_correlation_matrix");
    let value = builder.page.figure(matrix, &it.2, Style::Plain(2));
    let close = correlation_strength(it.3).noun(builder.language());
    let slots = [it.0.as_str().into(), it.1.as_str().into(), value.into(), close.into()];
    builder.page.add_line(russian, english, slots);
}

/// Writes the pairs with the highest and the lowest correlation.
pub(super) fn pairs(builder: &mut AnswerBuilder<'_>, all: &[Security]) {
    let found = found_pairs(builder, all);
    let Some((most, least)) = found.first().zip(found.last()) else {
        builder.page.facts(("- Корреляция", "- Correlation"), [], Vec::new());
        return;
    };
    if found.len() == 1 {
        pair(
            builder,
            most,
            "- Корреляция дневных доходностей {} и {}: {} ({}).",
            "- Correlation of daily returns of {} and {}: {} ({}).",
        );
        return;
    }
    pair(
        builder,
        most,
        "- Сильнее всего связаны {} и {}: корреляция {} ({}).",
        "- The most linked are {} and {}: correlation {} ({}).",
    );
    pair(
        builder,
        least,
        "- Слабее всего связаны {} и {}: корреляция {} ({}).",
        "- The least linked are {} and {}: correlation {} ({}).",
    );
}

pub(super) fn correlation(builder: &mut AnswerBuilder<'_>, all: &[Security], section: Section) {
    let matrix = builder.last("compute_correlation_matrix");
    match section {
        Section::Summary => {
            let found = found_pairs(builder, all);
            if let [only] = found.as_slice() {
                pair(
                    builder,
                    only,
                    "Корреляция дневных доходностей {} и {}: {} ({}).",
                    "The correlation of daily returns of {} and {} is {} ({}).",
                );
            }
            let mean = builder.page.figure(matrix, "/metrics/mean_correlation", Style::Plain(2));
            let mean = vec![fact(("", ""), mean)];
            match builder.period(matrix) {
                Some([from, to]) => builder.page.facts(
                    (
                        "Средняя корреляция дневных доходностей с {} по {}",
                        "Mean correlation of daily returns from {} to {}",
                    ),
                    [from, to],
                    mean,
                ),
                None => builder.page.facts(("Средняя корреляция", "Mean correlation"), [], mean),
            }
            reading_notes(builder);
        }
        Section::Figures => {
            pairs(builder, all);
            common_days(builder, matrix);
            matrix_table(builder, all);
        }
        Section::Risks => builder.page.add_line(
            "Корреляция прошлого периода может измениться; в падениях рынка бумаги обычно связаны сильнее.",
            "Correlation of the past may change; in falling markets securities usually move closer.",
            [],
        ),
        Section::Conclusions => match float(matrix, "/metrics/mean_correlation") {
            Some(it) => {
                let word = correlation_strength(it).conclusion(builder.language());
                builder.page.add_line("Итог: {}.", "In short: {}.", [word.into()]);
            }
            None => builder.page.add_line(
                "Для вывода о связи данных не хватает.",
                "There is not enough data for a conclusion.",
                [],
            ),
        },
    }
}

fn matrix_table(builder: &mut AnswerBuilder<'_>, all: &[Security]) {
    let matrix = builder.last("compute_correlation_matrix");
    let columns: Vec<(&str, &str)> = std::iter::once(("Бумага", "Security"))
        .chain(all.iter().map(|it| (it.ticker.as_str(), it.ticker.as_str())))
        .collect();
    let row = |a: &Security| {
        let at = row_of(matrix, &a.ticker);
        let cell = |b: &Security| -> Option<CitedFigure> {
            let pointer = format!("/data/{}/correlations/{}", at?, b.ticker);
            builder.page.figure(matrix, &pointer, Style::Plain(2))
        };
        std::iter::once(Slot::Text(a.ticker.clone()))
            .chain(all.iter().map(|b| cell(b).into()))
            .collect()
    };
    let rows = all.iter().map(row).collect();
    builder.page.table(("Корреляции", "Correlations"), &columns, rows);
}

pub(super) fn common_days(builder: &mut AnswerBuilder<'_>, found: Option<&Finding>) {
    let days = float(found, "/metrics/num_days").unwrap_or(0.0) as u64;
    let word = builder.language().pick(
        agree(days, "наблюдение", "наблюдения", "наблюдений"),
        if days == 1 { "observation" } else { "observations" },
    );
    match builder.page.figure(found, "/metrics/num_days", Style::Count) {
        Some(count) => builder.page.add_line(
            "- В расчёте {} {}.",
            "- Computed from {} {}.",
            [Some(count).into(), word.into()],
        ),
        None => builder.page.facts(("- Число наблюдений", "- Observations"), [], Vec::new()),
    }
    few_days(builder, found);
}

/// Fewest days from which risk figures are reliable.
const DAYS_RELIABLE: f64 = 20.0;

/// Warns that a risk figure comes from few days.
pub(super) fn few_days(builder: &mut AnswerBuilder<'_>, found: Option<&Finding>) {
    if float(found, "/metrics/num_days").is_some_and(|it| it < DAYS_RELIABLE) {
        builder.page.add_line(
            "Наблюдений меньше двадцати: оценки риска и связи по ним ненадёжны.",
            "There are fewer than twenty observations: such risk figures are not reliable.",
            [],
        );
    }
}

//! Writes about a portfolio: its return, its risk and its concentration.

use serde_json::Value;

use super::group::{common_days, pairs, row_of};
use super::single::{losses, value_at_risk};
use super::talk::reading_notes;
use super::{AnswerBuilder, Section, float, verdict};
use crate::check::Formula;
use crate::page::{CitedFigure, Slot, Style, fact};
use crate::resolve::Security;
use crate::tool_session::Finding;
use crate::understand::Focus;

pub(super) fn write(sheet: &mut AnswerBuilder<'_>, all: &[Security], section: Section) {
    let risk = sheet.last("compute_portfolio_risk");
    match section {
        Section::Summary => {
            summary(sheet, risk);
            cash(sheet, risk);
            reading_notes(sheet);
        }
        Section::Figures => {
            common_days(sheet, risk);
            holdings(sheet, all);
        }
        Section::Risks => {
            losses(sheet, risk);
            if all.len() > 1 {
                pairs(sheet, all);
            }
        }
        Section::Conclusions => concentration(sheet, risk),
    }
}

fn summary(sheet: &mut AnswerBuilder<'_>, risk: Option<&Finding>) {
    let focus = sheet.plan.request.focus;
    let change = sheet.page.figure(risk, "/metrics/total_return_pct", Style::Change);
    let rough = sheet.page.figure(risk, "/metrics/annualized_volatility", Style::Percent);
    let word = float(risk, "/metrics/annualized_volatility")
        .map(|it| verdict::volatility_word(it, sheet.language()));
    let fall = sheet.page.figure(risk, "/metrics/max_drawdown_pct", Style::Percent);
    let change = fact(("доходность", "return"), change);
    let rough = fact(("годовая волатильность", "yearly volatility"), rough).called(word);
    let fall = fact(("максимальная просадка", "deepest drawdown"), fall);
    if focus == Focus::ValueAtRisk {
        value_at_risk(sheet, risk, ("VaR портфеля", "Value at risk of the portfolio"));
    }
    let facts = match focus {
        Focus::Drawdown => vec![fall, rough, change],
        Focus::Risk | Focus::Calm => vec![rough, fall, change],
        _ => vec![change, rough],
    };
    match sheet.period(risk) {
        Some([from, to]) => sheet.page.facts(
            ("Портфель с {} по {}", "The portfolio from {} to {}"),
            [from, to],
            facts,
        ),
        None => sheet.page.facts(("Портфель", "The portfolio"), [], facts),
    }
}

/// Returns the sum and the sources of the weights in the tool's arguments.
pub(super) fn asked_weights(risk: Option<&Finding>) -> (f64, Vec<(usize, String)>) {
    let Some(risk) = risk else { return (0.0, Vec::new()) };
    let positions = risk.args["positions"].as_array().map_or(&[][..], Vec::as_slice);
    let weights = positions.iter().filter_map(|it| it["weight"].as_f64());
    let source = |at: usize| (risk.id, format!("/args/positions/{at}/weight"));
    let sum: f64 = weights.clone().sum();
    (sum, (0..weights.count()).map(source).collect())
}

fn cash(sheet: &mut AnswerBuilder<'_>, risk: Option<&Finding>) {
    let Some(cash) = sheet.plan.request.cash.and_then(crate::Amount::value) else { return };
    let (sum, sources) = asked_weights(risk);
    // Cash is shown as a figure only if the weights and the cash add up to 100 %.
    let whole = (sum + cash - 100.0).abs() < 1e-6 && !sources.is_empty();
    if !whole {
        sheet.page.add_line(
            "Деньги ценового риска акций не несут; показатели — для остальной части.",
            "Cash carries no price risk; the figures are of the rest.",
            [],
        );
        return;
    }
    let digits = usize::from(cash.fract().abs() > 1e-9) * 2;
    let shown = sheet.page.styled(cash, Style::Plain(digits), sources, Formula::Rest);
    sheet.page.add_line(
        "Доля денег {} % ценового риска акций не несёт; показатели — для остальной части.",
        "The {}% held as cash carries no price risk; the figures are of the rest.",
        [Some(shown).into()],
    );
}

fn holdings(sheet: &mut AnswerBuilder<'_>, all: &[Security]) {
    let risk = sheet.last("compute_portfolio_risk");
    let mut rows = Vec::new();
    for it in all {
        let at = row_of(risk, &it.ticker);
        let figure = |field: &str, style| -> Option<CitedFigure> {
            sheet.page.figure(risk, &format!("/data/{}/{field}", at?), style)
        };
        let share = || -> Option<CitedFigure> {
            let (pointer, finding) = (format!("/data/{}/weight", at?), risk?);
            let value = finding.at(&pointer)?.as_f64()? * 100.0;
            let source = vec![(finding.id, format!("/result{pointer}"))];
            Some(sheet.page.styled(value, Style::Percent, source, Formula::Percent))
        };
        let part = figure("risk_contribution_pct", Style::Percent);
        let (change, rough) = (
            figure("total_return_pct", Style::Change),
            figure("annualized_volatility", Style::Percent),
        );
        rows.push(vec![
            Slot::Text(it.ticker.clone()),
            share().into(),
            change.into(),
            rough.into(),
            part.clone().into(),
        ]);
        let facts = vec![
            fact(("доля", "share"), share()),
            fact(("вклад в риск", "part of the risk"), part),
        ];
        sheet.page.facts(("- {}", "- {}"), [it.ticker.as_str().into()], facts);
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

fn concentration(sheet: &mut AnswerBuilder<'_>, risk: Option<&Finding>) {
    let word = float(risk, "/metrics/hhi").map(|it| verdict::concentration(it, sheet.language()));
    let shown = sheet.page.figure(risk, "/metrics/hhi", Style::Plain(2));
    let top = sheet.page.figure(risk, "/metrics/top1_weight_pct", Style::Percent);
    let facts = vec![
        fact(("индекс Херфиндаля", "Herfindahl index"), shown).called(word),
        fact(("крупнейшая позиция", "largest position"), top),
    ];
    sheet.page.facts(("Концентрация", "Concentration"), [], facts);
    let rows =
        risk.and_then(|it| it.at("/data")).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let part = |row: &Value| row["risk_contribution_pct"].as_f64();
    let known = rows.iter().enumerate().filter_map(|(at, row)| Some((at, row, part(row)?)));
    let most = known.max_by(|a, b| a.2.total_cmp(&b.2));
    if let Some((at, row, _)) = most.filter(|_| rows.len() > 1) {
        let ticker = crate::page::quoted(row["ticker"].as_str().unwrap_or_default());
        let shown =
            sheet.page.figure(risk, &format!("/data/{at}/risk_contribution_pct"), Style::Percent);
        sheet.page.add_line(
            "Больше всего риска приносит {}: {}.",
            "Most of the risk comes from {}: {}.",
            [ticker.into(), shown.into()],
        );
    }
}

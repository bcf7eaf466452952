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

pub(super) fn write(builder: &mut AnswerBuilder<'_>, all: &[Security], section: Section) {
    let risk = builder.last("compute_portfolio_risk");
    match section {
        Section::Summary => {
            summary(builder, risk);
            cash(builder, risk);
            reading_notes(builder);
        }
        Section::Figures => {
            common_days(builder, risk);
            holdings(builder, all);
        }
        Section::Risks => {
            losses(builder, risk);
            if all.len() > 1 {
                pairs(builder, all);
            }
        }
        Section::Conclusions => concentration(builder, risk),
    }
}

fn summary(builder: &mut AnswerBuilder<'_>, risk: Option<&Finding>) {
    let focus = builder.plan.request.focus;
    let change = builder.page.figure(risk, "/metrics/total_return_pct", Style::Change);
    let volatility = builder.page.figure(risk, "/metrics/annualized_volatility", Style::Percent);
    let word = float(risk, "/metrics/annualized_volatility")
        .map(|it| verdict::volatility_word(it, builder.language()));
    let drawdown = builder.page.figure(risk, "/metrics/max_drawdown_pct", Style::Percent);
    let change = fact(("доходность", "return"), change);
    let volatility =
        fact(("годовая волатильность", "yearly volatility"), volatility).with_word(word);
    let drawdown = fact(("максимальная просадка", "deepest drawdown"), drawdown);
    if focus == Focus::ValueAtRisk {
        value_at_risk(builder, risk, ("VaR портфеля", "Value at risk of the portfolio"));
    }
    let facts = match focus {
        Focus::Drawdown => vec![drawdown, volatility, change],
        Focus::Risk | Focus::Calm => vec![volatility, drawdown, change],
        _ => vec![change, volatility],
    };
    match builder.period(risk) {
        Some([from, to]) => builder.page.facts(
            ("Портфель с {} по {}", "The portfolio from {} to {}"),
            [from, to],
            facts,
        ),
        None => builder.page.facts(("Портфель", "The portfolio"), [], facts),
    }
}

/// Returns the sum and the sources of the weights in the tool's arguments.
pub(super) fn argument_weights(risk: Option<&Finding>) -> (f64, Vec<(usize, String)>) {
    let Some(risk) = risk else { return (0.0, Vec::new()) };
    let positions = risk.args["positions"].as_array().map_or(&[][..], Vec::as_slice);
    let weights = positions.iter().filter_map(|it| it["weight"].as_f64());
    let source = |at: usize| (risk.id, format!("/args/positions/{at}/weight"));
    let sum: f64 = weights.clone().sum();
    (sum, (0..weights.count()).map(source).collect())
}

fn cash(builder: &mut AnswerBuilder<'_>, risk: Option<&Finding>) {
    let Some(cash) = builder.plan.request.cash.and_then(crate::Amount::value) else { return };
    let (sum, sources) = argument_weights(risk);
    // Cash is shown as a figure only if the weights and the cash add up to 100 %.
    let adds_up = (sum + cash - 100.0).abs() < 1e-6 && !sources.is_empty();
    if !adds_up {
        builder.page.add_line(
            "Деньги ценового риска акций не несут; показатели — для остальной части.",
            "Cash carries no price risk; the figures are of the rest.",
            [],
        );
        return;
    }
    let digits = usize::from(cash.fract().abs() > 1e-9) * 2;
    let shown = builder.page.styled(cash, Style::Plain(digits), sources, Formula::Rest);
    builder.page.add_line(
        "Доля денег {} % ценового риска акций не несёт; показатели — для остальной части.",
        "The {}% held as cash carries no price risk; the figures are of the rest.",
        [Some(shown).into()],
    );
}

fn holdings(builder: &mut AnswerBuilder<'_>, all: &[Security]) {
    let risk = builder.last("compute_portfolio_risk");
    let mut rows = Vec::new();
    for it in all {
        let at = row_of(risk, &it.ticker);
        let figure = |field: &str, style| -> Option<CitedFigure> {
            builder.page.figure(risk, &format!("/data/{}/{field}", at?), style)
        };
        let share = || -> Option<CitedFigure> {
            let (pointer, finding) = (format!("/data/{}/weight", at?), risk?);
            let value = finding.at(&pointer)?.as_f64()? * 100.0;
            let source = vec![(finding.id, format!("/result{pointer}"))];
            Some(builder.page.styled(value, Style::Percent, source, Formula::Percent))
        };
        let part = figure("risk_contribution_pct", Style::Percent);
        let (change, volatility) = (
            figure("total_return_pct", Style::Change),
            figure("annualized_volatility", Style::Percent),
        );
        rows.push(vec![
            Slot::Text(it.ticker.clone()),
            share().into(),
            change.into(),
            volatility.into(),
            part.clone().into(),
        ]);
        let facts = vec![
            fact(("доля", "share"), share()),
            fact(("вклад в риск", "part of the risk"), part),
        ];
        builder.page.facts(("- {}", "- {}"), [it.ticker.as_str().into()], facts);
    }
    let columns = [
        ("Бумага", "Security"),
        ("Доля, %", "Share, %"),
        ("Доходность, %", "Return, %"),
        ("Волатильность, %", "Volatility, %"),
        ("Вклад в риск, %", "Part of the risk, %"),
    ];
    builder.page.table(("Портфель", "Portfolio"), &columns, rows);
}

fn concentration(builder: &mut AnswerBuilder<'_>, risk: Option<&Finding>) {
    let word = float(risk, "/metrics/hhi").map(|it| verdict::concentration(it, builder.language()));
    let shown = builder.page.figure(risk, "/metrics/hhi", Style::Plain(2));
    let top = builder.page.figure(risk, "/metrics/top1_weight_pct", Style::Percent);
    let facts = vec![
        fact(("индекс Херфиндаля", "Herfindahl index"), shown).with_word(word),
        fact(("крупнейшая позиция", "largest position"), top),
    ];
    builder.page.facts(("Концентрация", "Concentration"), [], facts);
    let rows =
        risk.and_then(|it| it.at("/data")).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let part = |row: &Value| row["risk_contribution_pct"].as_f64();
    let known = rows.iter().enumerate().filter_map(|(at, row)| Some((at, row, part(row)?)));
    let most = known.max_by(|a, b| a.2.total_cmp(&b.2));
    if let Some((at, row, _)) = most.filter(|_| rows.len() > 1) {
        let ticker = crate::page::quoted(row["ticker"].as_str().unwrap_or_default());
        let shown =
            builder.page.figure(risk, &format!("/data/{at}/risk_contribution_pct"), Style::Percent);
        builder.page.add_line(
            "Больше всего риска приносит {}: {}.",
            "Most of the risk comes from {}: {}.",
            [ticker.into(), shown.into()],
        );
    }
}

//! Writes the beta of a security to an index, their correlation, and the Sharpe ratio.

use super::group::{few_days, row_of};
use super::talk::reading_notes;
use super::verdict::correlation_strength;
use super::{AnswerBuilder, Section, float};
use crate::check::Formula;
use crate::messages;
use crate::page::{CitedFigure, Style, fact};
use crate::resolve::Security;
use crate::tool_session::Finding;

pub(super) fn write(builder: &mut AnswerBuilder<'_>, all: &[Security], section: Section) {
    match section {
        Section::Summary => {
            for it in all {
                of_security(builder, it);
            }
            reading_notes(builder);
        }
        Section::Risks => {
            let (russian, english) = messages::both("beta_basis");
            builder.page.add_line(russian, english, []);
        }
        Section::Figures | Section::Conclusions => {}
    }
}

/// Returns the calls of a tool about a security and the index.
fn of<'a>(builder: &AnswerBuilder<'a>, tool: &str, it: &Security) -> Option<&'a Finding> {
    let about = |finding: &&Finding| {
        let rows = finding.at("/data").and_then(|it| it.as_array());
        rows.is_some_and(|rows| rows.iter().any(|row| row["ticker"] == it.ticker.as_str()))
    };
    builder.calls(tool).into_iter().find(about)
}

fn beta(builder: &AnswerBuilder<'_>, it: &Security) -> Option<CitedFigure> {
    let index = builder.plan.request.index;
    let (matrix, risk) = (
        of(builder, "compute_correlation_matrix", it)?,
        of(builder, "compute_portfolio_risk", it)?,
    );
    let row = row_of(Some(matrix), &it.ticker)?;
    let volatility =
        |ticker: &str| Some(format!("/data/{}/annualized_volatility", row_of(Some(risk), ticker)?));
    let (own, of_index) = (volatility(&it.ticker)?, volatility(index)?);
    let correlation = format!("/data/{row}/correlations/{index}");
    let value = float(Some(matrix), &correlation)? * float(Some(risk), &own)?
        / float(Some(risk), &of_index).filter(|it| *it > 0.0)?;
    let sources = vec![
        (matrix.id, format!("/result{correlation}")),
        (risk.id, format!("/result{own}")),
        (risk.id, format!("/result{of_index}")),
    ];
    Some(builder.page.styled(value, Style::Plain(2), sources, Formula::Beta))
}

fn sharpe(builder: &AnswerBuilder<'_>, it: &Security) -> Option<CitedFigure> {
    let risk = of(builder, "compute_portfolio_risk", it)?;
    let row = row_of(Some(risk), &it.ticker)?;
    let at = |field: &str| format!("/data/{row}/{field}");
    let (earned, volatility) = (at("total_return_pct"), at("annualized_volatility"));
    let period = builder.plan.request.period();
    let days = u64::try_from((period.to - period.from).get_days()).ok()?.max(1);
    let yearly = (1.0 + float(Some(risk), &earned)? / 100.0).powf(365.25 / days as f64) - 1.0;
    let value = yearly * 100.0 / float(Some(risk), &volatility).filter(|it| *it > 0.0)?;
    let sources =
        vec![(risk.id, format!("/result{earned}")), (risk.id, format!("/result{volatility}"))];
    Some(builder.page.styled(value, Style::Plain(2), sources, Formula::Sharpe(days)))
}

fn of_security(builder: &mut AnswerBuilder<'_>, it: &Security) {
    let asked = &builder.plan.request.asked;
    let index = builder.plan.request.index;
    let matrix = of(builder, "compute_correlation_matrix", it);
    let risk = of(builder, "compute_portfolio_risk", it);
    let correlation = row_of(matrix, &it.ticker).and_then(|row| {
        let at = format!("/data/{row}/correlations/{index}");
        let word = correlation_strength(float(matrix, &at)?).noun(builder.language());
        Some((builder.page.figure(matrix, &at, Style::Plain(2))?, word))
    });
    let (correlation, word) = correlation.unzip();
    let beta = fact(("бета к индексу", "beta to the index"), beta(builder, it));
    let sharpe = fact(("коэффициент Шарпа", "Sharpe ratio"), sharpe(builder, it));
    let correlation =
        fact(("корреляция с ним", "correlation with it"), correlation).with_word(word);
    let facts = match (asked.beta, asked.sharpe) {
        (true, true) => vec![beta, correlation, sharpe],
        (true, false) => vec![beta, correlation],
        _ => vec![sharpe],
    };
    match builder.period(risk.or(matrix)) {
        Some([from, to]) => builder.page.facts(
            ("{}, индекс {}, с {} по {}", "{}, index {}, from {} to {}"),
            [builder.title(it), index.into(), from, to],
            facts,
        ),
        None => builder.page.facts(("{}", "{}"), [builder.title(it)], facts),
    }
    few_days(builder, matrix);
}

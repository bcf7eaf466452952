//! `compute_portfolio_risk`: return, volatility, drawdown, value at risk and concentration.

use std::collections::HashMap;
use std::fmt::Write as _;

use contract::Cx;
use fault::Fault;
use futures_util::future::try_join_all;
use serde::Deserialize;
use serde_json::{Value, json};

use super::compute_correlation_matrix::{align_by_day, missing_data};
use crate::figures::risk::{Returns, RiskOptions, risk};
use crate::figures::year::SessionsPerYear;
use crate::reply::{MoexReply, figure, known_fields, source};
use crate::{Moex, arguments, prices};

/// The board of a position that names none.
const MAIN_BOARD: &str = "TQBR";

#[derive(Debug, Deserialize)]
pub(crate) struct Args {
    positions: Vec<Position>,
    from_date: String,
    to_date: String,
    confidence: f64,
    horizon_days: usize,
}

#[derive(Debug, Deserialize)]
struct Position {
    ticker: String,
    weight: Option<f64>,
    board: Option<String>,
}

/// A security with its share of the portfolio; all weights add up to 1.
struct Holding {
    ticker: String,
    board: Option<String>,
    weight: f64,
}

fn method(year: SessionsPerYear) -> String {
    format!(
        "daily closes of days on which all were traded, splits taken out; the portfolio is brought \
         back to its weights every day; volatility: sample deviation of daily returns times the \
         root of {}, percent; historical value at risk: the loss that runs of horizon_days exceeded \
         with probability 1 - confidence (one day scaled by the root of time below 30 runs); \
         parametric: normal quantile times daily deviation times the root of horizon_days; a day \
         is a session",
        year.description()
    )
}

pub(crate) async fn call(cx: Cx<Moex>, args: Args) -> Result<MoexReply, Fault> {
    let period = arguments::period(&args.from_date, &args.to_date, arguments::DAYS_MAX_DAILY)?;
    let holdings = holdings(&args.positions)?;
    let exchange = &cx.service.exchange;
    let fetched = holdings
        .iter()
        .map(|it| prices::daily_closes(exchange, &it.ticker, it.board.as_deref(), period));
    let size = (holdings.len(), arguments::day_count(period.0, period.1));
    let closes = prices::before_deadline(cx.deadline, size, try_join_all(fetched)).await?;
    let freshness = prices::freshness(&closes);
    let (days, series) = align_by_day(&closes)?;
    let year = prices::sessions_per_year(exchange, &days).await;
    let options = RiskOptions {
        confidence: args.confidence,
        horizon_days: args.horizon_days,
        sessions_per_year: year.sessions,
    };
    let returns = Returns::of(&series);
    let weights: Vec<f64> = holdings.iter().map(|it| it.weight).collect();
    let portfolio = risk(&returns.portfolio(&weights), options);
    let contributions = returns.contributions_pct(&weights);
    let mut text = format!("{} positions, {} common days\n", holdings.len(), returns.days());
    let mut rows = Vec::new();
    for ((it, returns), contribution) in
        holdings.iter().zip(&returns.by_security).zip(contributions)
    {
        let own = risk(returns, options);
        rows.push(known_fields([
            ("ticker", Some(it.ticker.as_str().into())),
            ("weight", figure(Some(it.weight))),
            ("total_return_pct", figure(own.total_return_pct)),
            ("annualized_volatility", figure(own.annualized_volatility)),
            ("max_drawdown_pct", figure(own.max_drawdown_pct)),
            ("risk_contribution_pct", figure(contribution)),
        ]));
        _ = writeln!(text, "{} {:.4}", it.ticker, it.weight);
    }
    let mut sorted = weights.clone();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let top = |count: usize| figure(Some(sorted.iter().take(count).sum::<f64>() * 100.0));
    let metrics = known_fields([
        ("total_return_pct", figure(portfolio.total_return_pct)),
        ("annualized_volatility", figure(portfolio.annualized_volatility)),
        ("max_drawdown_pct", figure(portfolio.max_drawdown_pct)),
        ("var_historical_pct", figure(portfolio.var_historical_pct)),
        ("var_parametric_pct", figure(portfolio.var_parametric_pct)),
        ("hhi", figure(Some(weights.iter().map(|it| it * it).sum()))),
        ("top1_weight_pct", top(1)),
        ("top3_weight_pct", top(3)),
        ("num_days", Some(returns.days().into())),
        ("confidence", figure(Some(args.confidence))),
        ("horizon_days", Some(args.horizon_days.into())),
        ("missing", missing_data(&closes)),
        ("method", Some(method(year).into())),
    ]);
    _ = writeln!(text, "{}", metrics_text(&metrics));
    Ok(MoexReply {
        metadata: json!({
            "source": source(freshness.as_ref()),
            "from_date": period.0.to_string(),
            "to_date": period.1.to_string(),
        }),
        data: Value::Array(rows),
        metrics,
        text,
        freshness,
        missing_days: closes.into_iter().map(|it| (it.code, it.missing_days)).collect(),
    })
}

/// The metrics as one line of text, without `method` and `missing`.
fn metrics_text(metrics: &Value) -> String {
    let figures = metrics
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, _)| !matches!(name.as_str(), "method" | "missing"));
    figures.map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join("; ")
}

/// Scales the weights to a sum of 1, and merges positions of the same ticker and board.
fn holdings(positions: &[Position]) -> Result<Vec<Holding>, Fault> {
    let given = positions.iter().filter(|it| it.weight.is_some()).count();
    if given != 0 && given != positions.len() {
        let expected = "a weight for every position, or for none";
        return Err(Fault::invalid("mixed_weights", format!("positions: expected {expected}"))
            .problem("positions", expected));
    }
    let mut index_by_key: HashMap<(String, String), usize> = HashMap::new();
    let mut holdings: Vec<Holding> = Vec::new();
    for (index, position) in positions.iter().enumerate() {
        let ticker = arguments::ticker(&format!("positions.{index}.ticker"), &position.ticker)?;
        let board = position.board.as_deref();
        let board = board
            .map(|it| arguments::board(&format!("positions.{index}.board"), it))
            .transpose()?;
        let weight = position.weight.unwrap_or(1.0);
        let key = (ticker.clone(), board.clone().unwrap_or_else(|| MAIN_BOARD.to_owned()));
        if let Some(held) = index_by_key.get(&key).and_then(|index| holdings.get_mut(*index)) {
            held.weight += weight;
            continue;
        }
        index_by_key.insert(key, holdings.len());
        holdings.push(Holding { ticker, board, weight });
    }
    let sum: f64 = holdings.iter().map(|it| it.weight).sum();
    for holding in &mut holdings {
        holding.weight /= sum;
    }
    Ok(holdings)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(ticker: &str, weight: Option<f64>) -> Position {
        Position { ticker: ticker.to_owned(), weight, board: None }
    }

    #[track_caller]
    fn check(positions: &[(&str, Option<f64>)], expected: &[(&str, f64)]) {
        let positions: Vec<Position> = positions.iter().map(|(t, w)| position(t, *w)).collect();
        let found = holdings(&positions).unwrap();
        let found: Vec<_> = found.iter().map(|it| (it.ticker.as_str(), it.weight)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn weights_are_scaled_to_a_sum_of_one() {
        check(&[("sber", Some(40.0)), ("GAZP", Some(60.0))], &[("SBER", 0.4), ("GAZP", 0.6)]);
        check(&[("A", None), ("B", None)], &[("A", 0.5), ("B", 0.5)]);
        check(&[("A", Some(1.0)), ("B", Some(2.0)), ("a", Some(1.0))], &[("A", 0.5), ("B", 0.5)]);
        assert!(holdings(&[position("A", None), position("B", Some(1.0))]).is_err());
        let on = |board: &str| Position { board: Some(board.to_owned()), ..position("A", None) };
        let boards = |positions: &[Position]| holdings(positions).unwrap().len();
        assert_eq!(boards(&[position("A", None), on("tqbr")]), 1);
        assert_eq!(boards(&[on("SMAL"), on("TQBR"), on("smal")]), 2);
        assert!(holdings(&[on("../x")]).is_err());
        assert!(holdings(&[position("Ж", None)]).is_err());
    }
}

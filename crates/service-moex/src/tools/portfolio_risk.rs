//! `compute_portfolio_risk`: return, volatility, drawdown, value at risk and concentration.

use std::collections::HashMap;
use std::fmt::Write as _;

use contract::Cx;
use fault::Fault;
use futures_util::future::try_join_all;
use serde::Deserialize;
use serde_json::{Value, json};

use super::correlation::aligned;
use crate::answer::{Answer, figure, known};
use crate::figures::risk::{Returns, risk};
use crate::{Moex, ask, prices};

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

/// A holding with its share of the whole.
struct Holding {
    ticker: String,
    board: Option<String>,
    weight: f64,
}

const METHOD: &str = "daily closes of days on which all were traded, splits taken out; the \
    portfolio is brought back to its weights every day; volatility: sample deviation of daily \
    returns times the root of 252, percent; historical value at risk: the loss that runs of \
    horizon_days exceeded with probability 1 - confidence (one day scaled by the root of time \
    below 30 runs); parametric: normal quantile times daily deviation times the root of \
    horizon_days";

pub(crate) async fn call(cx: Cx<Moex>, args: Args) -> Result<Answer, Fault> {
    let period = ask::period(&args.from_date, &args.to_date, ask::DAYS_MAX_DAILY)?;
    let holdings = holdings(&args.positions)?;
    let exchange = &cx.service.exchange;
    let fetched =
        holdings.iter().map(|it| prices::daily(exchange, &it.ticker, it.board.as_deref(), period));
    let closes = try_join_all(fetched).await?;
    let freshness = closes.first().map(|it| it.freshness.clone());
    let (_, series) = aligned(&closes)?;
    let returns = Returns::of(&series);
    let weights: Vec<f64> = holdings.iter().map(|it| it.weight).collect();
    let whole = risk(&returns.portfolio(&weights), args.confidence, args.horizon_days);
    let contributions = returns.contributions_pct(&weights);
    let mut text = format!("{} positions, {} common days\n", holdings.len(), returns.days());
    let mut rows = Vec::new();
    for ((it, returns), contribution) in holdings.iter().zip(&returns.each).zip(contributions) {
        let own = risk(returns, args.confidence, args.horizon_days);
        rows.push(known([
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
    let metrics = known([
        ("total_return_pct", figure(whole.total_return_pct)),
        ("annualized_volatility", figure(whole.annualized_volatility)),
        ("max_drawdown_pct", figure(whole.max_drawdown_pct)),
        ("var_historical_pct", figure(whole.var_historical_pct)),
        ("var_parametric_pct", figure(whole.var_parametric_pct)),
        ("hhi", figure(Some(weights.iter().map(|it| it * it).sum()))),
        ("top1_weight_pct", top(1)),
        ("top3_weight_pct", top(3)),
        ("num_days", Some(returns.days().into())),
        ("confidence", figure(Some(args.confidence))),
        ("horizon_days", Some(args.horizon_days.into())),
        ("method", Some(METHOD.into())),
    ]);
    _ = writeln!(text, "{}", told(&metrics));
    Ok(Answer {
        metadata: json!({
            "source": "moex-iss",
            "from_date": period.0.to_string(),
            "to_date": period.1.to_string(),
        }),
        data: Value::Array(rows),
        metrics,
        text,
        freshness,
    })
}

/// Figures as words, without the method.
fn told(metrics: &Value) -> String {
    let figures = metrics.as_object().into_iter().flatten().filter(|(name, _)| *name != "method");
    figures.map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join("; ")
}

/// Positions brought to a sum of one; a ticker that is named twice is one holding.
fn holdings(positions: &[Position]) -> Result<Vec<Holding>, Fault> {
    let given = positions.iter().filter(|it| it.weight.is_some()).count();
    if given != 0 && given != positions.len() {
        let expected = "a weight for every position, or for none";
        return Err(Fault::invalid("mixed_weights", format!("positions: expected {expected}"))
            .problem("positions", expected));
    }
    let mut at: HashMap<String, usize> = HashMap::new();
    let mut holdings: Vec<Holding> = Vec::new();
    for (index, position) in positions.iter().enumerate() {
        let ticker = ask::ticker(&format!("positions.{index}.ticker"), &position.ticker)?;
        let weight = position.weight.unwrap_or(1.0);
        if let Some(held) = at.get(&ticker).and_then(|index| holdings.get_mut(*index)) {
            held.weight += weight;
            continue;
        }
        at.insert(ticker.clone(), holdings.len());
        holdings.push(Holding { ticker, board: position.board.clone(), weight });
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
    fn weights_are_brought_to_one() {
        check(&[("sber", Some(40.0)), ("GAZP", Some(60.0))], &[("SBER", 0.4), ("GAZP", 0.6)]);
        check(&[("A", None), ("B", None)], &[("A", 0.5), ("B", 0.5)]);
        check(&[("A", Some(1.0)), ("B", Some(2.0)), ("a", Some(1.0))], &[("A", 0.5), ("B", 0.5)]);
        assert!(holdings(&[position("A", None), position("B", Some(1.0))]).is_err());
        assert!(holdings(&[position("Ж", None)]).is_err());
    }
}

//! Estimates whether competitors follow our price: the share of our move that they make afterwards.
//!
//! `Δln m = a + b·ln p₋₁ − c·ln m₋₁`: a market that moves towards our last price has `b` above
//! zero, and in the long run makes `b/c` of our move. The share is shrunk to zero unless `b` is
//! well above its uncertainty, because a competitor with a constant price looks similar.

use crate::linear::Cholesky;
use crate::pricing_input::HistoryPoint;

const PAIRS_MIN: usize = 15;
/// The prior: competitors ignore our price and drift back to their own slowly.
const PRIOR_SD: f64 = 0.3;

/// Between 0 (no competitor follows our price) and 1 (the market makes our whole move).
pub(crate) fn share(points: &[&HistoryPoint]) -> f64 {
    let logs: Vec<(f64, f64)> = points
        .iter()
        .filter_map(|it| {
            let market = it.competitor.filter(|it| it.is_positive())?;
            Some((it.price.to_f64().ln(), market.to_f64().ln()))
        })
        .collect();
    if logs.len() <= PAIRS_MIN {
        return 0.0;
    }
    let count = logs.len() as f64;
    let centre = logs.iter().map(|(price, _)| price).sum::<f64>() / count;
    let moves: Vec<([f64; 3], f64)> = logs
        .windows(2)
        .map(|pair| {
            let ((price, market), next) = (pair[0], pair[1].1);
            ([1.0, price - centre, centre - market], next - market)
        })
        .collect();
    let scatter = moves.iter().map(|(_, change)| change * change).sum::<f64>() / count;
    if scatter <= 1e-12 {
        return 0.0;
    }
    let mut noise = scatter.max(1e-6);
    let mut answer = 0.0;
    // The second round uses the residual scatter of the first fit.
    for _ in 0..2 {
        let Some((found, posterior)) = solve(&moves, noise) else { return 0.0 };
        let left: f64 = moves
            .iter()
            .map(|(row, change)| {
                let expected: f64 = row.iter().zip(&found).map(|(x, b)| x * b).sum();
                (change - expected).powi(2)
            })
            .sum();
        noise = (left / count).max(1e-6);
        let (ours, back) = (found[1], found[2]);
        let doubt = posterior.variance(&[0.0, 1.0, 0.0]) / (ours * ours).max(1e-12);
        // Two standard errors are subtracted, so that only clear following counts.
        let belief = (1.0 - 4.0 * doubt).clamp(0.0, 1.0);
        answer = if ours > 0.0 && back > 0.02 { (ours / back).min(1.0) * belief } else { 0.0 };
    }
    if answer.is_finite() { answer } else { 0.0 }
}

fn solve(moves: &[([f64; 3], f64)], noise: f64) -> Option<(Vec<f64>, Cholesky)> {
    let precision = 1.0 / (PRIOR_SD * PRIOR_SD);
    let mut matrix = [1e-6, 0.0, 0.0, 0.0, precision, 0.0, 0.0, 0.0, precision];
    let mut right = [0.0, 0.0, 0.0];
    for (row, change) in moves {
        for (at, x) in row.iter().enumerate() {
            right[at] += x * change / noise;
            for (column, y) in row.iter().enumerate() {
                matrix[at * 3 + column] += x * y / noise;
            }
        }
    }
    let cholesky = Cholesky::of(&matrix, 3)?;
    Some((cholesky.solve(&right), cholesky))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::money::Amount;

    fn points(market: impl Fn(i64, f64) -> f64) -> Vec<HistoryPoint> {
        let price = |day: i64| 20.0 * (1.0 + 0.05 * ((day * 31 % 7) as f64 - 3.0) / 3.0);
        (0..60)
            .map(|day| HistoryPoint {
                at_ms: day * 86_400_000,
                price: Amount::from_f64(price(day)).unwrap(),
                units: None,
                demand_index: None,
                competitor: Amount::from_f64(market(day, price(day - 1))),
            })
            .collect()
    }

    #[track_caller]
    fn check(market: impl Fn(i64, f64) -> f64, low: f64, high: f64) {
        let points = points(market);
        let found = share(&points.iter().collect::<Vec<_>>());
        assert!((low..=high).contains(&found), "{found}");
    }

    #[test]
    fn price_matching_competitors_are_distinguished() {
        check(|_, ours| ours * 0.98, 0.85, 1.0);
        check(|_, _| 19.0, 0.0, 0.0);
        check(|day, _| 19.0 + (day * 7919 % 13) as f64 / 13.0, 0.0, 0.1);
        check(|day, _| 19.0 + 0.05 * day as f64, 0.0, 0.1);
    }
}

//! Risk of a portfolio that is rebalanced to its weights every day, and correlations.

use super::normal::quantile;
use super::{mean, sample_deviation};

/// With fewer windows of `horizon_days` than this, the historical value at risk of one day is scaled by
/// the root of time instead.
const WINDOWS_MIN: usize = 30;

/// Simple returns of each security on the same days.
#[derive(Debug)]
pub(crate) struct Returns {
    /// One list for each security, all of the same length.
    pub(crate) by_security: Vec<Vec<f64>>,
}

#[derive(Debug)]
pub(crate) struct Risk {
    pub(crate) total_return_pct: Option<f64>,
    pub(crate) annualized_volatility: Option<f64>,
    pub(crate) max_drawdown_pct: Option<f64>,
    pub(crate) var_historical_pct: Option<f64>,
    pub(crate) var_parametric_pct: Option<f64>,
}

impl Returns {
    /// From closes of all securities on the same days.
    pub(crate) fn of(closes: &[Vec<f64>]) -> Self {
        let returns = |closes: &Vec<f64>| closes.windows(2).map(|it| it[1] / it[0] - 1.0).collect();
        Self { by_security: closes.iter().map(returns).collect() }
    }

    pub(crate) fn days(&self) -> usize {
        self.by_security.first().map_or(0, Vec::len)
    }

    /// The daily returns of the portfolio.
    pub(crate) fn portfolio(&self, weights: &[f64]) -> Vec<f64> {
        let on_day = |day: usize| {
            let parts =
                self.by_security.iter().zip(weights).filter_map(|(it, w)| Some(it.get(day)? * w));
            parts.sum()
        };
        (0..self.days()).map(on_day).collect()
    }

    /// The share of each security in the variance of the portfolio, in percent; the sum is 100.
    pub(crate) fn contributions_pct(&self, weights: &[f64]) -> Vec<Option<f64>> {
        let portfolio = self.portfolio(weights);
        let variance = covariance(&portfolio, &portfolio).filter(|variance| *variance > 0.0);
        let share = |(returns, weight): (&Vec<f64>, &f64)| {
            Some(covariance(returns, &portfolio)? * weight / variance? * 100.0)
        };
        self.by_security.iter().zip(weights).map(share).collect()
    }
}

/// The options of risk figures.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RiskOptions {
    pub(crate) confidence: f64,
    pub(crate) horizon_days: usize,
    /// How many daily returns a year has.
    pub(crate) sessions_per_year: f64,
}

/// The risk figures of one list of daily returns.
pub(crate) fn risk(returns: &[f64], options: RiskOptions) -> Risk {
    let RiskOptions { confidence, horizon_days, sessions_per_year } = options;
    let deviation = sample_deviation(returns);
    let scale = (horizon_days as f64).sqrt();
    Risk {
        total_return_pct: (!returns.is_empty()).then(|| (compound(returns) - 1.0) * 100.0),
        annualized_volatility: deviation.map(|it| it * sessions_per_year.sqrt() * 100.0),
        max_drawdown_pct: max_drawdown_pct(returns),
        var_historical_pct: historical_var_pct(returns, confidence, horizon_days),
        var_parametric_pct: deviation.map(|it| quantile(confidence) * it * scale * 100.0),
    }
}

fn compound(returns: &[f64]) -> f64 {
    returns.iter().map(|it| 1.0 + it).product()
}

/// The largest fall from an earlier peak in percent of that peak; not negative.
fn max_drawdown_pct(returns: &[f64]) -> Option<f64> {
    let (mut value, mut peak, mut deepest) = (1.0_f64, 1.0_f64, 0.0_f64);
    for it in returns {
        value *= 1.0 + it;
        peak = peak.max(value);
        deepest = deepest.max((peak - value) / peak);
    }
    (!returns.is_empty()).then_some(deepest * 100.0)
}

/// The historical value at risk: the loss in percent that windows of `horizon_days` days exceed with
/// probability `1 - confidence`; not negative.
fn historical_var_pct(returns: &[f64], confidence: f64, horizon_days: usize) -> Option<f64> {
    let windows: Vec<f64> =
        returns.windows(horizon_days).map(|window| compound(window) - 1.0).collect();
    if horizon_days > 1 && windows.len() < WINDOWS_MIN {
        let scale = (horizon_days as f64).sqrt();
        return historical_var_pct(returns, confidence, 1).map(|one_day| one_day * scale);
    }
    lower_quantile(&windows, 1.0 - confidence).map(|worst| (-worst * 100.0).max(0.0))
}

/// The quantile, interpolated between the two nearest values.
fn lower_quantile(values: &[f64], p: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = p * (sorted.len().checked_sub(1)?) as f64;
    let (low, part) = (at.floor() as usize, at.fract());
    let (below, above) = (*sorted.get(low)?, sorted.get(low + 1).or(sorted.get(low))?);
    Some(below + (above - below) * part)
}

fn covariance(a: &[f64], b: &[f64]) -> Option<f64> {
    let (mean_a, mean_b) = (mean(a)?, mean(b)?);
    let products: f64 = a.iter().zip(b).map(|(a, b)| (a - mean_a) * (b - mean_b)).sum();
    (a.len() > 1).then(|| products / (a.len() - 1) as f64)
}

/// Pearson's correlation; `None` if one of the lists is constant.
pub(crate) fn correlation(a: &[f64], b: &[f64]) -> Option<f64> {
    let spread = covariance(a, a)?.sqrt() * covariance(b, b)?.sqrt();
    let value = covariance(a, b)? / spread;
    value.is_finite().then(|| value.clamp(-1.0, 1.0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check_near(found: Option<f64>, expected: f64) {
        let found = found.unwrap();
        assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
    }

    #[test]
    fn figures_of_a_short_series_match_a_manual_calculation() {
        let returns = [0.1, -0.2, 0.05];
        let options = RiskOptions { confidence: 0.95, horizon_days: 1, sessions_per_year: 252.0 };
        let risk = risk(&returns, options);
        check_near(risk.total_return_pct, (1.1 * 0.8 * 1.05 - 1.0) * 100.0);
        check_near(risk.max_drawdown_pct, 20.0);
        // The 5% point lies a tenth of the way from -0.2 to 0.05.
        check_near(risk.var_historical_pct, 17.5);
        let deviation = sample_deviation(&returns).unwrap();
        check_near(risk.annualized_volatility, deviation * 252_f64.sqrt() * 100.0);
        check_near(risk.var_parametric_pct, quantile(0.95) * deviation * 100.0);
        let empty = super::risk(&[], options);
        assert!(empty.total_return_pct.is_none() && empty.var_historical_pct.is_none());
    }

    #[test]
    fn correlation_is_one_minus_one_or_undefined() {
        let a = [0.01, -0.02, 0.03, 0.0];
        let opposite = a.map(|it| -2.0 * it);
        check_near(correlation(&a, &a), 1.0);
        check_near(correlation(&a, &opposite), -1.0);
        assert_eq!(correlation(&a, &[0.5; 4]), None);
    }

    proptest! {
        #[test]
        fn contributions_sum_to_100_and_losses_are_not_negative(
            each in prop::collection::vec(prop::collection::vec(-0.2..0.2_f64, 40), 1..6),
            confidence in 0.8..0.999_f64,
            horizon in 1..60_usize,
        ) {
            let weights = vec![1.0 / each.len() as f64; each.len()];
            let returns = Returns { by_security: each };
            let parts: Vec<f64> = returns.contributions_pct(&weights).into_iter().flatten().collect();
            prop_assert!((parts.iter().sum::<f64>() - 100.0).abs() < 1e-6);
            let options = RiskOptions {
                confidence,
                horizon_days: horizon,
                sessions_per_year: 252.0,
            };
            let found = risk(&returns.portfolio(&weights), options);
            prop_assert!(found.var_historical_pct.unwrap() >= 0.0);
            prop_assert!((0.0..=100.0).contains(&found.max_drawdown_pct.unwrap()));
        }
    }
}

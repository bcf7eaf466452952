//! The figures of the contract, as pure functions of numbers.

mod normal;
pub(crate) mod risk;
pub(crate) mod year;

/// `(last − first) / first · 100`.
pub(crate) fn total_return_pct(closes: &[f64]) -> Option<f64> {
    let (first, last) = (closes.first()?, closes.last()?);
    (closes.len() > 1 && *first > 0.0).then(|| (last - first) / first * 100.0)
}

/// The sample standard deviation of logarithmic returns in percent, scaled to a year by the root of
/// the number of candles in a year.
pub(crate) fn annualized_volatility(closes: &[f64], candles_per_year: f64) -> Option<f64> {
    let returns: Vec<f64> = closes
        .windows(2)
        .filter(|pair| pair[0] > 0.0 && pair[1] > 0.0)
        .map(|pair| (pair[1] / pair[0]).ln())
        .collect();
    sample_deviation(&returns).map(|deviation| deviation * candles_per_year.sqrt() * 100.0)
}

/// `(high − low) / open · 100`.
pub(crate) fn intraday_volatility_pct(open: f64, high: f64, low: f64) -> Option<f64> {
    (open > 0.0).then(|| (high - low) / open * 100.0)
}

pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The sample standard deviation, which divides by one less than the number of values.
pub(crate) fn sample_deviation(values: &[f64]) -> Option<f64> {
    let mean = mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (values.len() > 1).then(|| (squares / (values.len() - 1) as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_near(found: Option<f64>, expected: Option<f64>) {
        match (found, expected) {
            (Some(found), Some(expected)) => {
                assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
            }
            _ => assert_eq!(found, expected),
        }
    }

    #[test]
    fn returns_and_volatility_have_their_formulas() {
        check_near(total_return_pct(&[100.0, 90.0, 110.0]), Some(10.0));
        check_near(total_return_pct(&[100.0]), None);
        check_near(total_return_pct(&[0.0, 1.0]), None);
        // Log returns ln 1.1 and -ln 1.1: deviation sqrt(2) ln 1.1.
        let expected = 1.1_f64.ln() * 2_f64.sqrt() * 252_f64.sqrt() * 100.0;
        check_near(annualized_volatility(&[100.0, 110.0, 100.0], 252.0), Some(expected));
        check_near(annualized_volatility(&[100.0, 110.0], 252.0), None);
        check_near(annualized_volatility(&[], 252.0), None);
        check_near(intraday_volatility_pct(100.0, 103.0, 99.0), Some(4.0));
        check_near(intraday_volatility_pct(0.0, 103.0, 99.0), None);
    }
}

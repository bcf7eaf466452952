//! Estimates the price elasticity of demand: a log-log regression, shrunk towards a prior.
//!
//! `ln units = level + ε·ln p + γ·ln m − κ/2·ln²(p/m) + trend + weekday`, where `p` is our price
//! and `m` the competitors' median. Every coefficient has a normal prior, so the result is the
//! posterior: with no data it is the prior, with constant or collinear prices the prior stays in
//! the direction without data, and with good data it is the regression. `ε` is the elasticity at
//! the market's price; `ε − κ·ln(p/m)` the one at ours. The fit is iteratively reweighted with a
//! log link, so periods without a sale are data and not an error, and periods far off the curve
//! count less. Everything is deterministic.

use serde::{Deserialize, Serialize};

use crate::fit::{Fit, Rows};
use crate::money::Amount;
use crate::policy::Prior;
use crate::pricing_input::{HISTORY_MAX, HistoryPoint, PricingInput};

pub(crate) const DAY_MS: f64 = 86_400_000.0;
/// 95 % of a normal distribution lie within this number of standard deviations.
const WIDTH: f64 = 1.96;
/// With fewer periods the estimate counts as weak.
const SAMPLES_MIN: usize = 8;
/// Below this share of explained variance the prior still weighs more than the data.
const WEIGHT_MIN: f64 = 0.25;

/// How far the estimate can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EstimateQuality {
    /// The data weighs more than the prior.
    Estimated,
    /// There is data, but the prior still weighs more.
    TooLittleData,
    /// All data is at a single price, so no elasticity can be estimated.
    PriceNeverMoved,
    /// There is no history at all.
    NoHistory,
}

/// The elasticity at the input's price and market, and its evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Elasticity {
    /// Change of units in percent for one percent of price; negative.
    pub mean: f64,
    pub sd: f64,
    /// The interval of 95 %.
    pub low: f64,
    pub high: f64,
    pub verdict: EstimateQuality,
    /// Periods that were used.
    pub samples: usize,
    pub distinct_prices: usize,
    /// The share of the prior's variance that the data removed: 0 none, 1 all.
    pub data_weight: f64,
    /// Periods with less than half weight, because they are far off the curve.
    pub outliers: usize,
    /// The elasticity if our price equals the market's.
    pub parity: f64,
    /// By how much it steepens when our price rises against the market, per unit of logarithm.
    pub curvature: f64,
    /// Change of units in percent for one percent of the competitors' price.
    pub cross: f64,
    /// The share of our price moves that competitors followed, 0 to 1.
    pub follow: f64,
    /// The other variables of the regression beside our own price.
    pub controls: Vec<String>,
    /// Expected units in a period at the current price, if the history has units.
    pub units: Option<f64>,
    /// The relative scatter of a period around the curve.
    pub noise: f64,
    /// The lowest and highest price ever tried.
    pub tried: Option<(Amount, Amount)>,
    /// The median of the demand indices of the history.
    pub index_median: Option<f64>,
    pub prior: Prior,
}

/// Estimates the elasticity from the input's history. `market` is the competitors' median now.
pub fn estimate(input: &PricingInput, market: Option<Amount>, prior: Prior) -> Elasticity {
    let mut points: Vec<&HistoryPoint> = input
        .history
        .iter()
        .filter(|it| it.price.is_positive() && it.at_ms <= input.now_ms)
        .collect();
    points.sort_by_key(|it| (it.at_ms, it.price));
    let points = &points[points.len().saturating_sub(HISTORY_MAX)..];
    let rows = Rows::of(points, input.now_ms, market.is_some());
    let relative = relative_price(input.our_price, market);
    let fit = Fit::of(&rows, prior);
    let mut it = from_fit(&fit, &rows, prior, relative, input);
    it.tried = range(points);
    it.index_median = crate::outliers::median_of(
        points.iter().filter_map(|it| it.demand_index).filter(|it| it.is_finite()).collect(),
    );
    if rows.competitor {
        it.follow = crate::follow::share(points);
    }
    it
}

/// `ln(p/m)`, or 0 where there is no market.
pub(crate) fn relative_price(price: Amount, market: Option<Amount>) -> f64 {
    market.filter(|it| it.is_positive()).map_or(0.0, |it| (price.to_f64() / it.to_f64()).ln())
}

fn range(points: &[&HistoryPoint]) -> Option<(Amount, Amount)> {
    let low = points.iter().map(|it| it.price).min()?;
    let high = points.iter().map(|it| it.price).max()?;
    Some((low, high))
}

fn from_fit(
    fit: &Fit,
    rows: &Rows,
    prior: Prior,
    relative: f64,
    input: &PricingInput,
) -> Elasticity {
    let (mean, variance, before) = fit.elasticity(relative);
    let sd = variance.max(0.0).sqrt();
    let data_weight = (1.0 - variance / before).clamp(0.0, 1.0);
    // Without competitor prices in the history, the data gives the elasticity at our price and the
    // prior that at the market's price; the steepening connects the two.
    let bend = if rows.competitor { 0.0 } else { fit.curvature() * relative.clamp(-2.0, 2.0) };
    let mean = mean - (1.0 - data_weight) * bend;
    let (samples, distinct_prices) = (rows.demand.len(), rows.distinct_prices);
    let verdict = match (samples, distinct_prices) {
        (0, _) => EstimateQuality::NoHistory,
        (_, 1) => EstimateQuality::PriceNeverMoved,
        _ if samples < SAMPLES_MIN || data_weight < WEIGHT_MIN => EstimateQuality::TooLittleData,
        _ => EstimateQuality::Estimated,
    };
    Elasticity {
        mean,
        sd,
        low: mean - WIDTH * sd,
        high: mean + WIDTH * sd,
        verdict,
        samples,
        distinct_prices,
        data_weight,
        outliers: fit.outliers,
        parity: fit.parity() + data_weight * bend,
        curvature: fit.curvature(),
        cross: fit.cross(),
        follow: 0.0,
        controls: rows.controls(),
        units: rows.counts.then(|| fit.level(rows, input.our_price, relative)).flatten(),
        noise: fit.noise,
        tried: None,
        index_median: None,
        prior,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DAY: i64 = 86_400_000;

    fn amount(value: f64) -> Amount {
        Amount::from_f64(value).unwrap()
    }

    /// A history with a known elasticity and a small deterministic disturbance.
    fn history(
        days: i64,
        elasticity: f64,
        scale: f64,
        price: impl Fn(i64) -> f64,
    ) -> Vec<HistoryPoint> {
        (0..days)
            .map(|day| {
                let wobble = ((day * 7919 % 101) as f64 / 101.0 - 0.5) * 0.1;
                let units = scale * (price(day) / 20.0).powf(elasticity) * wobble.exp();
                let (price, units) = (amount(price(day)), Some(units));
                HistoryPoint {
                    at_ms: day * DAY,
                    price,
                    units,
                    demand_index: None,
                    competitor: None,
                }
            })
            .collect()
    }

    fn input(history: Vec<HistoryPoint>) -> PricingInput {
        let now = history.last().map_or(0, |it| it.at_ms + DAY);
        PricingInput { history, ..PricingInput::new("A", amount(20.0), now) }
    }

    fn moved(day: i64) -> f64 {
        20.0 * (1.0 + 0.08 * ((day * 31 % 5) as f64 - 2.0) / 2.0)
    }

    #[test]
    fn a_known_elasticity_is_found() {
        for truth in [-1.4, -2.0, -3.5, -5.0] {
            let it = estimate(&input(history(60, truth, 400.0, moved)), None, Prior::default());
            assert_eq!(it.verdict, EstimateQuality::Estimated);
            assert!((it.mean - truth).abs() < 0.5, "{truth}: {} ± {}", it.mean, it.sd);
            assert!(it.low < truth && truth < it.high);
            assert!((it.units.unwrap() - 400.0).abs() < 20.0, "{:?}", it.units);
        }
    }

    #[test]
    fn without_data_the_prior_stays() {
        let prior = Prior { mean: -2.5, sd: 0.7 };
        let none = estimate(&input(vec![]), None, prior);
        assert_eq!((none.verdict, none.samples), (EstimateQuality::NoHistory, 0));
        assert!((none.mean + 2.5).abs() < 1e-9 && (none.sd - 0.7).abs() < 1e-9);
        let still = estimate(&input(history(60, -4.0, 400.0, |_| 20.0)), None, prior);
        assert_eq!(still.verdict, EstimateQuality::PriceNeverMoved);
        assert!((still.mean + 2.5).abs() < 0.05 && still.data_weight < 0.05);
        let few = estimate(&input(history(4, -4.0, 400.0, moved)), None, prior);
        assert_eq!(few.verdict, EstimateQuality::TooLittleData);
    }

    #[test]
    fn one_outlier_day_changes_little() {
        let clean = history(60, -3.0, 400.0, moved);
        let calm = estimate(&input(clean.clone()), None, Prior::default());
        for (day, units) in [(3, 40_000.0), (30, 0.0), (55, 9e15)] {
            let mut mad = clean.clone();
            mad[day].units = Some(units);
            let it = estimate(&input(mad), None, Prior::default());
            assert!((it.mean - calm.mean).abs() < 0.4, "{units}: {} not {}", it.mean, calm.mean);
        }
    }

    #[test]
    fn days_without_a_sale_are_data() {
        let mut points = history(60, -3.0, 1.2, moved);
        for point in &mut points {
            point.units = point.units.map(f64::floor);
        }
        let it = estimate(&input(points.clone()), None, Prior::default());
        assert!(it.mean.is_finite() && it.samples == 60);
        points.iter_mut().for_each(|point| point.units = Some(0.0));
        assert!(estimate(&input(points), None, Prior::default()).mean.is_finite());
    }

    #[test]
    fn a_competitor_that_moves_with_us_leaves_the_prior() {
        let mut points = history(60, -3.0, 400.0, moved);
        points.iter_mut().for_each(|point| point.competitor = Some(point.price));
        let it = estimate(&input(points), Some(amount(20.0)), Prior::default());
        // What is seen is ε + γ; each alone is not, and the width says so.
        assert!((it.parity + it.cross + 3.0).abs() < 0.5, "{} {}", it.parity, it.cross);
        assert!(it.sd > 0.3);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_history_gives_a_finite_answer(
            rows in proptest::collection::vec(
                (any::<i64>(), 1_i64..i64::MAX / 100, any::<Option<f64>>(), any::<Option<f64>>(),
                 proptest::option::of(any::<i64>())), 0..40),
            now in any::<i64>(),
        ) {
            let history = rows.into_iter().map(|(at_ms, price, units, demand_index, rival)| HistoryPoint {
                at_ms, units, demand_index,
                price: Amount::from_micros(price).unwrap_or(Amount::ZERO),
                competitor: rival.and_then(Amount::from_micros),
            }).collect();
            let input = PricingInput { history, now_ms: now, ..input(vec![]) };
            for market in [None, Some(amount(19.0))] {
                let it = estimate(&input, market, Prior::default());
                for value in [it.mean, it.sd, it.parity, it.curvature, it.cross, it.follow, it.noise] {
                    prop_assert!(value.is_finite());
                }
                prop_assert!((0.0..=1.0).contains(&it.data_weight));
                prop_assert!((0.0..=1.0).contains(&it.follow));
                prop_assert_eq!(&it, &estimate(&input, market, Prior::default()));
            }
        }
    }
}

//! The regression behind the elasticity: rows from history, a robust fit with normal priors.

use crate::elasticity::DAY_MS;
use crate::linear::Cholesky;
use crate::money::Amount;
use crate::policy::Prior;
use crate::pricing_input::HistoryPoint;

/// Iterations of the fit; the weights usually converge earlier.
const ROUNDS: usize = 12;
const SETTLED: f64 = 1e-6;
/// The half-life of a period's weight in days, because demand changes over time.
const HALF_LIFE_DAYS: f64 = 90.0;
/// Residuals beyond this number of standard deviations get less weight.
const HUBER: f64 = 2.0;
/// The prior of the scatter, and its weight in periods.
const NOISE: f64 = 0.3;
const NOISE_WEIGHT: f64 = 4.0;
/// Priors beside the elasticity's own: the competitors' effect, the steepening away from the
/// market's price, drift per thirty days, and how far a weekday may lie from the others.
const CROSS: Prior = Prior { mean: 0.5, sd: 0.5 };
const CURVATURE: Prior = Prior { mean: 1.5, sd: 1.0 };
const TREND_SD: f64 = 0.15;
const WEEKDAY_SD: f64 = 0.3;
/// Weekdays become columns once each occurs three times.
const WEEKDAYS_FROM: usize = 21;
const TREND_FROM: usize = 10;
/// The share of periods with a competitor price from which that price becomes a column.
const COMPETITOR_SHARE: f64 = 0.6;

/// The history as columns.
pub(crate) struct Rows {
    /// The units sold, or the demand index if units are unknown.
    pub(crate) demand: Vec<f64>,
    columns: Vec<f64>,
    width: usize,
    recency: Vec<f64>,
    /// The logarithm of the price that is the origin of the price column.
    centre: f64,
    pub(crate) competitor: bool,
    trend: bool,
    weekdays: bool,
    /// Whether the target is units, whose scatter grows with their square root, or an index.
    pub(crate) counts: bool,
    pub(crate) distinct_prices: usize,
}

impl Rows {
    pub(crate) fn of(points: &[&HistoryPoint], now_ms: i64, market: bool) -> Self {
        let good =
            |value: Option<f64>| value.filter(|it| it.is_finite() && (0.0..1e15).contains(it));
        let with_units = points.iter().filter(|it| good(it.units).is_some()).count();
        let counts = with_units * 2 >= points.len() && with_units > 0;
        let picked: Vec<(&HistoryPoint, f64)> = points
            .iter()
            .filter_map(|it| {
                let demand = if counts { good(it.units) } else { good(it.demand_index) };
                Some((*it, demand?))
            })
            .collect();
        let samples = picked.len();
        let known = picked.iter().filter(|(it, _)| rival(it).is_some()).count();
        let competitor = market && samples > 0 && known as f64 >= COMPETITOR_SHARE * samples as f64;
        let mut prices: Vec<Amount> = picked.iter().map(|(it, _)| it.price).collect();
        prices.sort_unstable();
        prices.dedup();
        let logs = || picked.iter().map(|(it, _)| it.price.to_f64().ln());
        let mut rows = Self {
            demand: picked.iter().map(|(_, demand)| *demand).collect(),
            columns: Vec::new(),
            width: 0,
            recency: Vec::with_capacity(samples),
            centre: if samples == 0 { 0.0 } else { logs().sum::<f64>() / samples as f64 },
            competitor,
            trend: samples >= TREND_FROM,
            weekdays: samples >= WEEKDAYS_FROM,
            counts,
            distinct_prices: prices.len(),
        };
        rows.width = rows.prior(Prior::default()).len();
        let mut last = picked.iter().find_map(|(it, _)| rival(it));
        for (point, _) in &picked {
            // A missing competitor price is filled with the last known one.
            last = rival(point).or(last);
            rows.push(point, last, now_ms);
        }
        rows
    }

    fn push(&mut self, point: &HistoryPoint, competitor: Option<f64>, now_ms: i64) {
        let price = point.price.to_f64().ln();
        let days = now_ms.saturating_sub(point.at_ms) as f64 / DAY_MS;
        self.columns.extend([1.0, price - self.centre]);
        if self.competitor {
            let market = competitor.map_or(price, f64::ln);
            let relative = (price - market).clamp(-2.0, 2.0);
            self.columns.extend([market - self.centre, -0.5 * relative * relative]);
        }
        if self.trend {
            self.columns.push((-days / 30.0).max(-100.0));
        }
        if self.weekdays {
            let weekday = point.at_ms.div_euclid(DAY_MS as i64).rem_euclid(7);
            self.columns.extend((0..7).map(|it| f64::from(it == weekday)));
        }
        self.recency.push(0.5_f64.powf(days / HALF_LIFE_DAYS));
    }

    /// Mean and standard deviation of every coefficient before the data.
    fn prior(&self, elasticity: Prior) -> Vec<Prior> {
        // The level has no informative prior.
        let mut priors = vec![Prior { mean: 0.0, sd: 1e3 }, elasticity];
        if self.competitor {
            priors.extend([CROSS, CURVATURE]);
        }
        if self.trend {
            priors.push(Prior { mean: 0.0, sd: TREND_SD });
        }
        if self.weekdays {
            priors.extend([Prior { mean: 0.0, sd: WEEKDAY_SD }; 7]);
        }
        priors
    }

    pub(crate) fn controls(&self) -> Vec<String> {
        let all = [
            (self.competitor, "competitor price"),
            (self.trend, "trend"),
            (self.weekdays, "weekday"),
        ];
        all.into_iter().filter(|(used, _)| *used).map(|(_, name)| name.to_owned()).collect()
    }

    fn row(&self, at: usize) -> &[f64] {
        &self.columns[at * self.width..(at + 1) * self.width]
    }
}

fn rival(point: &HistoryPoint) -> Option<f64> {
    point.competitor.filter(|it| it.is_positive()).map(Amount::to_f64)
}

/// Coefficients with their precision.
pub(crate) struct Fit {
    found: Vec<f64>,
    posterior: Option<Cholesky>,
    prior: Prior,
    competitor: bool,
    pub(crate) noise: f64,
    pub(crate) outliers: usize,
}

impl Fit {
    pub(crate) fn of(rows: &Rows, prior: Prior) -> Self {
        let priors = rows.prior(prior);
        let mut found: Vec<f64> = priors.iter().map(|it| it.mean).collect();
        let total: f64 = rows.demand.iter().sum();
        let mut fit = Self {
            found: found.clone(),
            posterior: None,
            prior,
            competitor: rows.competitor,
            noise: NOISE,
            outliers: 0,
        };
        // Without sales no curve can be fitted.
        if !(total > 0.0 && total.is_finite()) {
            return fit;
        }
        let typical = crate::outliers::median_of(rows.demand.clone()).filter(|it| *it > 0.0);
        found[0] = typical.unwrap_or(total / rows.demand.len() as f64).ln();
        for _ in 0..ROUNDS {
            let Some((next, posterior)) = fit.round(rows, &priors, &found) else { break };
            if next.iter().any(|it| !it.is_finite()) {
                break;
            }
            let moved = next.iter().zip(&found).map(|(new, old)| (new - old).abs());
            let settled = moved.fold(0.0, f64::max) < SETTLED;
            found.clone_from(&next);
            fit.found = next;
            fit.posterior = Some(posterior);
            if settled {
                break;
            }
        }
        fit
    }

    /// One step of iteratively reweighted least squares, and the scatter seen on the way.
    fn round(
        &mut self,
        rows: &Rows,
        priors: &[Prior],
        found: &[f64],
    ) -> Option<(Vec<f64>, Cholesky)> {
        let width = rows.width;
        let mut matrix = vec![0.0; width * width];
        let mut right = vec![0.0; width];
        for (at, prior) in priors.iter().enumerate() {
            let precision = 1.0 / (prior.sd * prior.sd);
            matrix[at * width + at] = precision;
            right[at] = precision * prior.mean;
        }
        let (mut scatter, mut weight_sum, mut outliers) = (0.0, 0.0, 0);
        for at in 0..rows.demand.len() {
            let row = rows.row(at);
            let expected: f64 = row.iter().zip(found).map(|(x, b)| x * b).sum();
            let expected = expected.clamp(-30.0, 40.0);
            let mean = expected.exp();
            let residual = (rows.demand[at] / mean - 1.0).clamp(-1.0, 3.0);
            let counting = if rows.counts { 1.0 / mean.max(1e-3) } else { 0.0 };
            let variance = self.noise * self.noise + counting;
            let huber = (HUBER * variance.sqrt() / residual.abs()).min(1.0);
            outliers += usize::from(huber < 0.5);
            let robust = huber * rows.recency[at];
            scatter += robust * (residual * residual - counting).max(-1.0);
            weight_sum += robust;
            let weight = robust / variance;
            let target = expected + residual;
            for (row_at, x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                right[row_at] += weight * x * target;
                for column in 0..=row_at {
                    matrix[row_at * width + column] += weight * x * row[column];
                }
            }
        }
        let cholesky = Cholesky::of(&matrix, width)?;
        // The priors remove about half of the columns' degrees of freedom.
        let freedom = (weight_sum - width as f64 / 2.0).max(0.0);
        let noise = (NOISE_WEIGHT * NOISE * NOISE + scatter.max(0.0)) / (NOISE_WEIGHT + freedom);
        self.noise = noise.sqrt().clamp(0.02, 2.0);
        self.outliers = outliers;
        Some((cholesky.solve(&right), cholesky))
    }

    /// Mean, variance and the variance before the data of the elasticity at a relative price.
    pub(crate) fn elasticity(&self, relative: f64) -> (f64, f64, f64) {
        let relative = relative.clamp(-2.0, 2.0);
        let own = self.prior.sd * self.prior.sd;
        if !self.competitor {
            let mut combination = vec![0.0; self.found.len()];
            combination[1] = 1.0;
            return (self.found[1], self.variance(&combination, own), own);
        }
        let before = own + relative * relative * CURVATURE.sd * CURVATURE.sd;
        let mut combination = vec![0.0; self.found.len()];
        combination[1] = 1.0;
        combination[3] = -relative;
        (self.parity() - self.curvature() * relative, self.variance(&combination, before), before)
    }

    fn variance(&self, combination: &[f64], before: f64) -> f64 {
        self.posterior.as_ref().map_or(before, |it| it.variance(combination)).min(before)
    }

    pub(crate) fn parity(&self) -> f64 {
        self.found[1]
    }

    pub(crate) fn cross(&self) -> f64 {
        if self.competitor { self.found[2] } else { CROSS.mean }
    }

    /// The steepening, never negative: demand does not become less elastic above the market price.
    pub(crate) fn curvature(&self) -> f64 {
        if self.competitor { self.found[3].max(0.0) } else { CURVATURE.mean }
    }

    /// Units expected now at a price, weekdays averaged.
    pub(crate) fn level(&self, rows: &Rows, price: Amount, relative: f64) -> Option<f64> {
        self.posterior.as_ref()?;
        let log = price.to_f64().ln();
        let mut level = self.found[0] + self.found[1] * (log - rows.centre);
        if self.competitor {
            let relative = relative.clamp(-2.0, 2.0);
            level += self.found[2] * (log - relative - rows.centre);
            level -= self.found[3] * 0.5 * relative * relative;
        }
        if rows.weekdays {
            let first = rows.width - 7;
            level += self.found[first..].iter().sum::<f64>() / 7.0;
        }
        Some(level.clamp(-30.0, 40.0).exp())
    }
}

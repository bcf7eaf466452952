//! Combines observations into periods, from which the elasticity is estimated.
//!
//! Ticks come every minute and mostly repeat each other; a day is one observation. Within a period
//! prices and indices are averaged, units are summed, and the competitors' median is taken.

use crate::money::Amount;
use crate::pricing_input::{HISTORY_MAX, HistoryPoint};

/// Puts observations, in any order, into periods; the last [`HISTORY_MAX`] of them are kept, each
/// at the time of its first observation. A period below a millisecond is one.
pub fn periods(points: &[HistoryPoint], period_ms: i64) -> Vec<HistoryPoint> {
    let period = |it: &HistoryPoint| it.at_ms.div_euclid(period_ms.max(1));
    let mut sorted: Vec<&HistoryPoint> = points.iter().collect();
    // A total order, so that observations with equal times give the same result in any order.
    sorted.sort_by(|a, b| {
        (a.at_ms, a.price, a.competitor)
            .cmp(&(b.at_ms, b.price, b.competitor))
            .then(a.units.unwrap_or(-1.0).total_cmp(&b.units.unwrap_or(-1.0)))
            .then(a.demand_index.unwrap_or(-1.0).total_cmp(&b.demand_index.unwrap_or(-1.0)))
    });
    let groups: Vec<&[&HistoryPoint]> = sorted.chunk_by(|a, b| period(a) == period(b)).collect();
    let first = groups.len().saturating_sub(HISTORY_MAX);
    groups[first..].iter().filter_map(|group| merge(group)).collect()
}

fn merge(group: &[&HistoryPoint]) -> Option<HistoryPoint> {
    let first = group.first()?;
    let sum: i128 = group.iter().map(|it| i128::from(it.price.micros())).sum();
    let units: Vec<f64> = group.iter().filter_map(|it| it.units).collect();
    let indices: Vec<f64> = group.iter().filter_map(|it| it.demand_index).collect();
    let mut rivals: Vec<Amount> = group.iter().filter_map(|it| it.competitor).collect();
    rivals.sort_unstable();
    Some(HistoryPoint {
        at_ms: first.at_ms,
        price: Amount::from_wide(sum.div_euclid(group.len() as i128))?,
        units: (!units.is_empty()).then(|| units.iter().sum()),
        demand_index: (!indices.is_empty())
            .then(|| indices.iter().map(|it| it / indices.len() as f64).sum()),
        competitor: crate::outliers::median_amount(&rivals),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400_000;

    fn point(at_ms: i64, price: i64, units: Option<f64>, index: Option<f64>) -> HistoryPoint {
        let amount = |it: i64| Amount::from_micros(it * 1_000_000);
        HistoryPoint {
            at_ms,
            price: amount(price).unwrap(),
            units,
            demand_index: index,
            competitor: amount(price - 1),
        }
    }

    #[test]
    fn a_day_is_one_observation() {
        let ticks = [
            point(DAY + 5, 20, Some(1.0), Some(0.5)),
            point(3, 10, None, None),
            point(DAY + 9, 22, Some(3.0), Some(0.7)),
        ];
        let days = periods(&ticks, DAY);
        assert_eq!(days.len(), 2);
        assert_eq!((days[0].at_ms, days[0].units, days[0].demand_index), (3, None, None));
        assert_eq!(days[1].price.to_string(), "21");
        assert_eq!(days[1].units, Some(4.0));
        assert!((days[1].demand_index.unwrap() - 0.6).abs() < 1e-12);
        assert_eq!(days[1].competitor.unwrap().to_string(), "20");
        let mut turned = ticks;
        turned.reverse();
        assert_eq!(periods(&turned, DAY), days);
    }

    #[test]
    fn only_the_last_periods_are_kept() {
        let many: Vec<HistoryPoint> =
            (0..1_000).map(|day| point(day * DAY, 20, None, None)).collect();
        let days = periods(&many, DAY);
        assert_eq!((days.len(), days[0].at_ms), (HISTORY_MAX, 600 * DAY));
        assert_eq!(periods(&many[..3], 0).len(), 3);
        assert!(periods(&[], DAY).is_empty());
    }
}

//! A replay against a curve that is known.

use super::*;
use proptest::prelude::*;

const DAY: i64 = 86_400_000;

fn amount(value: f64) -> Amount {
    Amount::from_f64((value * 100.0).round() / 100.0).unwrap()
}

/// Sixty days of an elasticity of -3 at prices around 20, and competitors at 18 and 19.
fn records(cost: Option<f64>) -> Vec<RecordedPeriod> {
    (0..60)
        .map(|day| {
            let price = 20.0 * (1.0 + 0.08 * ((day * 31 % 5) as f64 - 2.0) / 2.0);
            let rival = |price: f64| CompetitorPrice {
                name: String::new(),
                price: amount(price),
                at_ms: day * DAY,
                in_stock: true,
            };
            RecordedPeriod {
                at_ms: day * DAY,
                price: amount(price),
                competitors: vec![rival(18.0), rival(19.0)],
                units: Some(300.0 * (price / 20.0).powi(-3)),
                demand_index: None,
                cost: cost.map(amount),
            }
        })
        .collect()
}

fn input() -> PricingInput {
    PricingInput::new("A", amount(20.0), 0)
}

#[test]
fn the_better_price_earns_more() {
    let replay = replay(&input(), &Policy::default(), &records(Some(10.0))).unwrap();
    let profit = |it: &StrategyResult| it.profit.unwrap();
    assert!(profit(&replay.optimizer) > profit(&replay.do_nothing), "{replay:#?}");
    assert!(replay.optimizer.last_price < amount(18.0), "{:?}", replay.optimizer);
    assert_eq!(replay.do_nothing.changes, 0);
    assert_eq!(replay.match_cheapest.last_price, amount(18.0));
    assert_eq!((replay.records, replay.refused), (60, 0));
    // The recorded prices are reported unchanged.
    let sold: f64 = records(None).iter().filter_map(|it| it.units).sum();
    assert!((replay.recorded.units - sold).abs() < 1e-6);
}

#[test]
fn assumptions_are_reported() {
    let without = replay(&input(), &Policy::default(), &records(None)).unwrap();
    assert_eq!(without.optimizer.profit, None);
    assert!(without.assumptions.iter().any(|it| it.contains("no profit")));
    let mut unsold = records(Some(10.0));
    unsold.iter_mut().for_each(|it| it.units = None);
    let blind = replay(&input(), &Policy::default(), &unsold).unwrap();
    assert!(blind.assumptions.iter().any(|it| it.contains("relative")));
    assert!(blind.assumptions.iter().any(|it| it.contains("mostly assumed")));
}

#[test]
fn empty_and_too_long_records_are_refused() {
    assert!(replay(&input(), &Policy::default(), &[]).is_err());
    let many = vec![records(None).remove(0); RECORDS_MAX + 1];
    assert!(replay(&input(), &Policy::default(), &many).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn any_records_are_replayed_or_refused(
        rows in proptest::collection::vec(
            (any::<i64>(), any::<i64>(), any::<Option<f64>>(), any::<Option<f64>>(),
             proptest::option::of(any::<i64>())), 1..20),
    ) {
        let small = |it: i64| Amount::from_micros(it / 100_000_000).unwrap_or(Amount::ZERO);
        let records: Vec<RecordedPeriod> = rows.into_iter().map(|(at_ms, price, units, demand_index, cost)| {
            RecordedPeriod { at_ms, price: small(price), competitors: vec![], units, demand_index, cost: cost.map(small) }
        }).collect();
        if let Ok(replay) = replay(&input(), &Policy::default(), &records) {
            for it in [&replay.optimizer, &replay.do_nothing, &replay.match_cheapest] {
                prop_assert!(it.revenue.is_finite() && it.units.is_finite());
                prop_assert!(it.profit.is_none_or(f64::is_finite));
            }
        }
    }
}

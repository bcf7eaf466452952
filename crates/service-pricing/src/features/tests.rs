//! The formulas on small markets that can be checked by hand.

use super::*;

const DAY: i64 = DAY_MS;

/// A tick of a day, with the competitor's name, price and stock.
fn tick(day: i64, our: i64, seen: Option<(&str, Option<i64>, Option<bool>)>) -> Tick {
    let amount = |units: i64| Amount::from_micros(units * 1_000_000).unwrap();
    let (name, price, stock) = seen.map_or((None, None, None), |(a, b, c)| (Some(a), b, c));
    Tick {
        sku: "A".to_owned(),
        market: "M".to_owned(),
        at: Millis(day * DAY),
        our_price: amount(our),
        competitor: name.map(str::to_owned),
        competitor_price: price.map(amount),
        demand_index: None,
        units: None,
        in_stock: stock,
        source: "manual".to_owned(),
        origin: crate::storage::ticks::TickOrigin::Observed,
    }
}

fn whole(amount: Option<Amount>) -> Option<f64> {
    amount.map(Amount::to_f64)
}

#[test]
fn nothing_is_known_of_an_empty_window() {
    assert_eq!(of(&[]), Features::default());
}

#[test]
fn each_competitor_counts_once_and_only_while_it_can_sell() {
    let ticks = [
        tick(9, 100, Some(("x", Some(98), Some(true)))),
        tick(8, 101, Some(("y", Some(50), Some(false)))),
        tick(7, 102, Some(("x", Some(200), None))),
        tick(6, 103, Some(("z", Some(95), None))),
        tick(5, 104, Some(("y", Some(60), Some(true)))),
        tick(4, 105, None),
    ];
    let found = of(&ticks);
    assert_eq!((found.samples, found.as_of), (6, Some(Millis(9 * DAY))));
    assert_eq!(whole(found.our_price), Some(100.0));
    assert_eq!(whole(found.competitor_price), Some(98.0));
    assert_eq!(found.gap, Some(0.02));
    let CompetitorSummary { count, median, min, max, spread } = found.competitors;
    // Y is out of stock, so its lowest price does not count.
    assert_eq!((count, whole(median)), (2, Some(96.5)));
    assert_eq!((whole(min), whole(max), whole(spread)), (Some(95.0), Some(98.0), Some(3.0)));
    // Three ticks have `in_stock`, and one of them is false.
    assert_eq!(found.stockout_share, Some(1.0 / 3.0));
    // X: 98 and 200, y: 50 and 60; z has one price and no movement.
    let x = 51.0 / 149.0;
    let y = 5.0 / 55.0;
    assert!((found.volatility.unwrap() - (x + y) / 2.0).abs() < 1e-12);
}

#[test]
fn demand_has_a_trend_once_three_moments_are_known() {
    let at = |day: i64, demand: f64| Tick { demand_index: Some(demand), ..tick(day, 1, None) };
    assert_eq!(of(&[at(2, 0.5), at(1, 0.4)]).demand_trend, None);
    assert_eq!(of(&[at(2, 0.5), at(2, 0.4), at(2, 0.3)]).demand_trend, None);
    let found = of(&[at(3, 0.5), at(2, 0.3), at(1, 0.4)]);
    assert_eq!(found.demand, Some(0.5));
    assert!((found.demand_mean.unwrap() - 0.4).abs() < 1e-12);
    assert!((found.demand_trend.unwrap() - 0.05).abs() < 1e-12);
}

#[test]
fn the_median_between_two_is_exact() {
    let amounts = |micros: &[i64]| -> Vec<Amount> {
        micros.iter().map(|it| Amount::from_micros(*it).unwrap()).collect()
    };
    let middle = |micros: &[i64]| median(&amounts(micros)).map(Amount::micros);
    assert_eq!(middle(&[]), None);
    assert_eq!(middle(&[7]), Some(7));
    assert_eq!(middle(&[1, 2]), Some(2));
    assert_eq!(middle(&[1, 3, 100]), Some(3));
    assert_eq!(middle(&[10, 20, 30, 1_000]), Some(25));
}

//! Tests of the optimizer's promised results over many simulated shops.

use super::*;

const SEEDS: u64 = 6;

#[test]
fn the_optimizer_earns_nearly_what_hindsight_would() {
    let lines: Vec<ShopSummary> =
        Kind::ALL.into_iter().map(|kind| summarise(kind, SEEDS).unwrap()).collect();
    let mean = |at: usize| lines.iter().map(|it| it.shares[at]).sum::<f64>() / lines.len() as f64;
    let (ours, rule, cheapest) = (mean(0), mean(2), mean(3));
    assert!(ours >= 0.95, "{ours}: {lines:#?}");
    assert!(ours > rule && ours > cheapest, "{ours} {rule} {cheapest}");
    for line in &lines {
        assert_eq!(line.below_floor, 0, "{line:?}");
        assert!(line.shares[0] > 0.9, "{line:?}");
    }
}

#[test]
fn the_same_seed_gives_the_same_season() {
    let play =
        || season(&SimulatedMarket::new(Kind::Mixed, 3), &ShopStrategy::optimizer()).unwrap();
    assert_eq!(play(), play());
}

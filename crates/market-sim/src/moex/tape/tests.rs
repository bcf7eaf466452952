//! Laws of the record: parts add up to the whole, for any share and any day.

use clock::parse_date;
use proptest::prelude::*;

use super::super::calendar::day_of;
use super::*;

fn day(text: &str) -> i64 {
    day_of(parse_date(text).unwrap())
}

fn joined_bars(bars: impl Iterator<Item = Bar>) -> Option<Bar> {
    bars.reduce(|mut whole, next| {
        whole.extend(next);
        whole
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn parts_add_up_to_the_whole(
        seed in 0_u64..1_000,
        at in 0_usize..124,
        date in day("2014-07-01")..day("2026-11-16"),
        until_s in 0_i64..90_000,
        length_min in prop::sample::select(vec![1_i64, 10, 60]),
    ) {
        let listing = Listing::new();
        let until = Wall(Wall::midnight(date).0 + until_s * 1_000);
        let mut tape = Tape::new(seed, Security::Share(&listing.shares[at]), &listing, until);
        let whole = tape.fold_day(date);
        let parts: Vec<Bar> = (0..1_440 / length_min)
            .filter_map(|at| {
                let from = Wall(Wall::midnight(date).0 + at * length_min * MINUTE_MS);
                tape.fold(from, Wall(from.0 + length_min * MINUTE_MS))
            })
            .collect();
        for bar in &parts {
            prop_assert!(bar.low <= bar.open.min(bar.close) && bar.high >= bar.open.max(bar.close));
            prop_assert!(bar.low > 0 && bar.volume >= bar.trades && bar.trades > 0);
            prop_assert_eq!(bar.volume % listing.shares[at].lot, 0);
            prop_assert_eq!(bar.close % listing.shares[at].step_on(date), 0);
        }
        prop_assert_eq!(joined_bars(parts.into_iter()), whole);
        let last = tape.last_trade(Wall::midnight(date), Wall::midnight(date + 1));
        prop_assert_eq!(last.is_some(), whole.is_some());
        if let (Some(last), Some(whole)) = (last, whole) {
            prop_assert!(last < until);
            let trade = tape.fold(last, Wall(last.0 + 1_000)).unwrap();
            prop_assert_eq!(trade.close, whole.close);
        }
    }
}

#[test]
fn a_split_rescales_prices_after_a_suspension() {
    let listing = Listing::new();
    let share = listing.share("TRNFP", day("2026-11-16")).unwrap();
    let mut tape = Tape::new(7, Security::Share(share), &listing, Wall(i64::MAX));
    let before = tape.fold_day(day("2024-02-14")).unwrap().close;
    for resting in ["2024-02-15", "2024-02-16", "2024-02-19", "2024-02-20"] {
        assert_eq!(tape.fold_day(day(resting)), None, "{resting}");
    }
    let after = tape.fold_day(day("2024-02-21")).unwrap().close;
    let ratio = before as f64 / after as f64;
    assert!((80.0..125.0).contains(&ratio), "{ratio}");
}

#[test]
fn prices_stay_plausible() {
    let listing = Listing::new();
    for share in listing.shares.iter().step_by(9) {
        let until = Wall::midnight(day("2030-01-01"));
        let mut tape = Tape::new(5, Security::Share(share), &listing, until);
        let from = share.split.map_or(share.listed, |split| split.day);
        let all = tape.fold(Wall::midnight(from), until).unwrap();
        let usual = share.price * 1e6;
        assert!((all.low as f64) > usual / 5.0, "{} fell to {}", share.secid, all.low);
        assert!((all.high as f64) < usual * 5.0, "{} rose to {}", share.secid, all.high);
    }
}

#[test]
fn an_average_price_lies_close_to_its_range() {
    let listing = Listing::new();
    let share = listing.share("SBER", day("2026-11-16")).unwrap();
    let mut tape = Tape::new(7, Security::Share(share), &listing, Wall(i64::MAX));
    let midnight = Wall::midnight(day("2026-11-12")).0;
    let (mut outside, mut all) = (0, 0);
    for minute in 0..1_440 {
        let from = Wall(midnight + minute * MINUTE_MS);
        let Some(bar) = tape.fold(from, Wall(from.0 + MINUTE_MS)) else { continue };
        let average = bar.average().unwrap();
        let near = bar.low - bar.low / 100..=bar.high + bar.high / 100;
        outside += i32::from(!near.contains(&average));
        all += 1;
    }
    assert!(all > 700 && outside == 0, "{outside} of {all}");
}

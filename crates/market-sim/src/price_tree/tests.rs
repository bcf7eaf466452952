//! Laws of the price tree: children add up to their parents, everywhere.

use clock::parse_date;
use market::Interval;
use proptest::prelude::*;

use super::*;
use crate::instruments::Instruments;

fn at(date: &str) -> Millis {
    Millis::start_of(parse_date(date).unwrap())
}

fn bars(walker: &mut Walker<'_>, interval: Interval, span: TimeRange) -> Vec<Option<Candle>> {
    let mut open = interval.open_at_or_after(span.from);
    let mut bars = Vec::new();
    while open < span.to {
        let next = interval.next_open(open);
        bars.push(walker.fold(TimeRange::new(open, next)));
        open = next;
    }
    bars
}

/// The law of the tree: a bar is what its parts were, exactly.
fn joined(parts: &[Option<Candle>]) -> Option<Node> {
    let mut parts = parts.iter().flatten().map(|part| part.bar);
    let mut whole = parts.next()?;
    for part in parts {
        whole.high = whole.high.max(part.high);
        whole.low = whole.low.min(part.low);
        whole.close = part.close;
        whole.volume += part.volume;
        whole.trades += part.trades;
    }
    Some(whole)
}

fn check_shape(node: Node) {
    assert!(node.low <= node.open.min(node.close), "{node:?}");
    assert!(node.high >= node.open.max(node.close), "{node:?}");
    assert!(node.low > 0 && node.volume >= node.trades && node.trades >= 0, "{node:?}");
    if node.trades == 0 {
        assert_eq!((node.high, node.volume), (node.low, 0), "{node:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn bars_of_all_intervals_agree(
        seed in 0_u64..1_000,
        pair in 0_usize..43,
        day in 0_i64..2_000,
        now_s in 0_i64..200_000,
        coarse in prop::sample::select(vec![
            Interval::M3, Interval::M5, Interval::M15, Interval::H1, Interval::H4, Interval::D1,
        ]),
    ) {
        let from = Millis(at("2020-01-01").0 + day * DAY_MS);
        let now = Millis(from.0 + now_s * 1_000);
        let instruments = Instruments::new();
        let pairs: Vec<_> = instruments.listed_at(now).collect();
        let mut walker = Walker::new(seed, pairs[pair % pairs.len()], now);
        let span = TimeRange::new(from, Millis(from.0 + 2 * DAY_MS));
        let mut open = coarse.open_at_or_after(span.from);
        while open < span.to {
            let whole = TimeRange::new(open, coarse.next_open(open));
            let minutes = bars(&mut walker, Interval::M1, whole);
            minutes.iter().flatten().for_each(|minute| check_shape(minute.bar));
            let bar = walker.fold(whole).map(|candle| candle.bar);
            prop_assert_eq!(bar, joined(&minutes));
            open = whole.to;
        }
    }

    #[test]
    fn the_order_of_requests_does_not_change_bars(seed in 0_u64..1_000, minutes in prop::collection::vec(0_i64..100_000, 1..40)) {
        let instruments = Instruments::new();
        let pair = instruments.find("ETHUSDT", at("2024-01-01")).unwrap();
        let mut walker = Walker::new(seed, pair, at("2024-01-01"));
        for minute in minutes {
            let open = Millis(at("2023-06-01").0 + minute * 60_000);
            let span = TimeRange::new(open, Millis(open.0 + 60_000));
            let fresh = Walker::new(seed, pair, at("2024-01-01")).fold(span);
            prop_assert_eq!(walker.fold(span), fresh);
        }
    }
}

#[test]
fn seconds_add_up_to_their_minute_and_days_to_their_month() {
    let instruments = Instruments::new();
    let pair = instruments.find("PEPEUSDT", at("2024-06-01")).unwrap();
    let mut walker = Walker::new(3, pair, at("2024-06-01"));
    let minute =
        TimeRange::new(Millis(at("2024-03-05").0 + 60_000), Millis(at("2024-03-05").0 + 120_000));
    let seconds = bars(&mut walker, Interval::S1, minute);
    assert_eq!(seconds.len(), 60);
    assert_eq!(walker.fold(minute).map(|candle| candle.bar), joined(&seconds));
    let month = TimeRange::new(at("2024-02-01"), at("2024-03-01"));
    let days = bars(&mut walker, Interval::D1, month);
    assert_eq!(days.len(), 29);
    assert_eq!(walker.fold(month).map(|candle| candle.bar), joined(&days));
}

#[test]
fn the_history_has_gaps_quiet_times_and_ends() {
    let now = at("2026-11-01");
    let instruments = Instruments::new();
    let year = TimeRange::new(at("2026-01-01"), at("2026-03-01"));
    let mut quiet = Walker::new(1, instruments.find("OBOLBNB", now).unwrap(), now);
    let minutes = bars(&mut quiet, Interval::M1, year);
    let lost = minutes.iter().filter(|bar| bar.is_none()).count();
    assert!((8..=360).contains(&lost), "{lost} minutes lost in two months");
    let silent = minutes.iter().flatten().filter(|candle| candle.bar.trades == 0).count();
    assert!(silent > minutes.len() / 4, "{silent} silent minutes of {}", minutes.len());

    let mut luna = Walker::new(1, instruments.find("LUNAUSDT", now).unwrap(), now);
    assert_eq!(luna.fold(year), None);
    let first = TimeRange::new(at("2020-08-21"), at("2020-08-22"));
    assert_eq!(luna.fold(first), luna.fold(TimeRange::new(luna.record().from, first.to)));
}

#[test]
fn prices_stay_plausible_and_seeds_differ() {
    let now = at("2030-01-01");
    let instruments = Instruments::new();
    let mut differing = 0;
    for pair in instruments.listed_at(now).filter(|pair| pair.stopped.is_none()) {
        let usual = pair.base.usd / pair.quote.usd * 10_f64.powi(pair.price_scale as i32);
        let days = TimeRange::new(pair.listed, now);
        let all = Walker::new(5, pair, now).fold(days).unwrap().bar;
        assert!((all.low as f64) > usual / 12.0, "{} fell to {}", pair.symbol, all.low);
        assert!((all.high as f64) < usual * 12.0, "{} rose to {}", pair.symbol, all.high);
        differing += usize::from(Walker::new(6, pair, now).fold(days).unwrap().bar != all);
    }
    assert!(differing >= 40, "only {differing} pairs depend on the seed");
}

/// The range of a bar grows with the square root of its length, as in a real market, and prices do
/// not stick to the edges of the bars they were split from.
#[test]
fn prices_move_at_every_scale() {
    let now = at("2026-11-01");
    let instruments = Instruments::new();
    let mut walker = Walker::new(42, instruments.find("BTCUSDT", now).unwrap(), now);
    let span = TimeRange::new(at("2026-09-01"), at("2026-10-01"));
    let mut usual = |interval| {
        let bars = bars(&mut walker, interval, span);
        let ranges: i64 =
            bars.iter().flatten().map(|candle| candle.bar.high - candle.bar.low).sum();
        ranges as f64 / bars.len() as f64
    };
    let day = usual(Interval::D1);
    for (interval, parts) in [(Interval::H1, 24.0), (Interval::M5, 288.0), (Interval::M1, 1_440.0)]
    {
        let ratio = day / usual(interval) / f64::sqrt(parts);
        assert!((0.5..2.0).contains(&ratio), "{interval}: {ratio} times the square root");
    }
    let minutes = bars(&mut walker, Interval::M1, span);
    let still = minutes.windows(2).filter(|pair| match (pair[0], pair[1]) {
        (Some(left), Some(right)) => left.bar.close == right.bar.close,
        _ => false,
    });
    let still = still.count();
    assert!(
        still < minutes.len() / 50,
        "{still} of {} minutes close where the last did",
        minutes.len()
    );
}

//! Encoding and decoding a chunk gives the same bars, and damaged bytes are refused.

use clock::Millis;
use market::{Bar, Decimal};
use proptest::prelude::*;

use super::*;

fn any_decimal() -> impl Strategy<Value = Decimal> + Clone {
    let scale = prop_oneof![Just(2_u8), 0_u8..=30];
    let mantissa = prop_oneof![
        8 => -100_000_i128..100_000,
        2 => any::<i64>().prop_map(i128::from),
        1 => -(10_i128.pow(30) - 1)..10_i128.pow(30),
    ];
    (mantissa, scale).prop_map(|(mantissa, scale)| Decimal::from_parts(mantissa, scale).unwrap())
}

/// Decimals as in a market: one scale, numbers near each other.
fn market_decimal() -> impl Strategy<Value = Decimal> + Clone {
    (9_000_i128..11_000).prop_map(|mantissa| Decimal::from_parts(mantissa, 2).unwrap())
}

fn bars(number: impl Strategy<Value = Decimal> + Clone) -> impl Strategy<Value = Vec<Bar>> {
    let volume = proptest::option::weighted(0.9, number.clone());
    let gap = prop_oneof![5 => Just(60_000_i64), 1 => 1_i64..1 << 40];
    let row = ((number.clone(), number.clone(), number.clone(), number), volume, gap);
    let rows = proptest::collection::vec(row, 1..200);
    (rows, -(1_i64 << 50)..1 << 50).prop_map(|(rows, start)| {
        let mut time = start;
        rows.into_iter()
            .map(|((open, high, low, close), volume, gap)| {
                time += gap;
                Bar { open_time: Millis(time), open, high, low, close, volume }
            })
            .collect()
    })
}

#[track_caller]
fn check(bars: &[Bar]) {
    let columns = BarColumns::from_bars(bars);
    let sealed = seal(&columns, 0..columns.len()).unwrap();
    let decoded = decode(&sealed.data).unwrap();
    // The debug text shows the scale too, which equality of decimals ignores.
    let debug_text = |bar: &Bar| format!("{bar:?}");
    let restored: Vec<String> =
        (0..decoded.len()).map(|row| debug_text(&decoded.bar(row).unwrap())).collect();
    assert_eq!(restored, bars.iter().map(debug_text).collect::<Vec<_>>());
    assert_eq!((sealed.first, sealed.count), (bars[0].open_time.0, bars.len()));
    if sealed.step != 0 {
        let even = |pair: &[i64]| pair[1] - pair[0] == sealed.step;
        assert!(columns.times.windows(2).all(even));
    }
}

/// The changed bytes of a chunk with a checksum that matches them.
fn with_valid_checksum(mut data: Vec<u8>) -> Vec<u8> {
    let checksum = crc32fast::hash(&data[4..]);
    data[..4].copy_from_slice(&checksum.to_le_bytes());
    data
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn decoding_restores_what_was_encoded(
        unusual in bars(any_decimal()),
        ordinary in bars(market_decimal()),
    ) {
        check(&unusual);
        check(&ordinary);
    }

    #[test]
    fn a_damaged_chunk_is_refused(bars in bars(market_decimal()), at in any::<proptest::sample::Index>(), bit in 0..8) {
        let columns = BarColumns::from_bars(&bars);
        let mut data = seal(&columns, 0..columns.len()).unwrap().data;
        prop_assert_eq!(decode(&data[..at.index(data.len())]), Err(Damaged));
        let place = at.index(data.len());
        data[place] ^= 1_u8 << bit;
        prop_assert_eq!(decode(&data), Err(Damaged));
    }

    #[test]
    fn a_damaged_chunk_with_a_valid_checksum_never_panics(
        bars in bars(market_decimal()),
        places in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..6),
        length in any::<proptest::sample::Index>(),
    ) {
        let columns = BarColumns::from_bars(&bars);
        let mut data = seal(&columns, 0..columns.len()).unwrap().data;
        for (at, byte) in places {
            let place = 4 + at.index(data.len() - 4);
            data[place] = byte;
        }
        data.truncate(4 + length.index(data.len() - 4).max(1));
        if let Ok(columns) = decode(&with_valid_checksum(data)) {
            (0..columns.len()).for_each(|row| assert!(columns.bar(row).is_none_or(|bar| bar.open_time.0 == columns.times[row])));
        }
    }
}

#[test]
fn a_bar_of_an_ordinary_market_takes_under_five_bytes() {
    let mut state = 7_u64;
    let mut random = |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        i128::from((state >> 33) % below)
    };
    let price = |mantissa: i128| Decimal::from_parts(mantissa, 2).unwrap();
    let mut close = 10_000;
    let bars: Vec<Bar> = (0..ROWS_PER_CHUNK as i64)
        .map(|minute| {
            let open = close + random(5) - 2;
            close = open + random(41) - 20;
            let (top, bottom) = (open.max(close), open.min(close));
            Bar {
                open_time: Millis(minute * 60_000),
                open: price(open),
                high: price(top + random(16)),
                low: price(bottom - random(16)),
                close: price(close),
                volume: Some(price(random(100_000))),
            }
        })
        .collect();
    check(&bars);
    let columns = BarColumns::from_bars(&bars);
    let sealed = seal(&columns, 0..columns.len()).unwrap();
    assert_eq!(sealed.step, 60_000);
    assert!(sealed.data.len() < ROWS_PER_CHUNK * 5, "{} bytes", sealed.data.len());
}

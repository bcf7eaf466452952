//! The candles that one poll publishes.

use market::Decimal;
use proptest::prelude::*;

use super::*;
use crate::moscow_time;

/// Candles, each named by its minutes after 10:00; those in brackets have closed.
fn candles(text: &str) -> Vec<SecurityCandle> {
    let candle = |word: &str| {
        let minute: i8 = word.trim_matches(['[', ']']).parse().unwrap();
        let begins = jiff::civil::date(2026, 11, 11).at(10, minute, 0, 0);
        let price = Decimal::from_parts(i128::from(minute), 0).unwrap();
        SecurityCandle {
            begins,
            offset_min: moscow_time::to_instant(begins).1,
            open: price,
            high: price,
            low: price,
            close: price,
            volume: Some(price),
            value: None,
            closed: word.starts_with('['),
        }
    };
    text.split_whitespace().map(candle).collect()
}

/// The time `minute` and `second` after 10:00.
fn at(minute: i8, second: i8) -> Millis {
    moscow_time::to_instant(jiff::civil::date(2026, 11, 11).at(10, minute, second, 0)).0
}

fn minute_of(at: Millis) -> i64 {
    (at.0 - self::at(0, 0).0) / 60_000
}

/// Closed candles in brackets, then the forming one, then the end of the known range.
fn shown_as(polled: &CandlePoll) -> String {
    let mut words: Vec<String> =
        polled.rows.iter().map(|row| format!("[{}]", minute_of(row.bar.open_time))).collect();
    words.extend(polled.forming.map(|it| minute_of(it.bar.open_time).to_string()));
    words.push(format!("<{}", minute_of(polled.known_to)));
    words.extend(polled.has_gaps.then(|| "has_gaps".to_owned()));
    words.join(" ")
}

fn answer(text: &str, data_time: Millis, full: bool) -> PolledCandles {
    PolledCandles { candles: candles(text), full, cut: full, data_time }
}

#[track_caller]
fn check(interval: Interval, text: &str, data_time: Millis, full: bool, expected: &str) {
    let step = CandleStep::Minute;
    let polled = classify(interval, step, at(0, 0), &answer(text, data_time, full)).unwrap();
    assert_eq!(shown_as(&polled), expected, "{interval} {text}");
    assert!(polled.rows.iter().all(|row| row.closed) && polled.forming.is_none_or(|it| !it.closed));
}

#[test]
fn a_later_candle_or_time_closes_and_the_end_of_rows_does_not() {
    use Interval::M1;
    check(M1, "", at(30, 0), false, "<0");
    check(M1, "0", at(0, 30), false, "0 <0");
    check(M1, "[0] 1", at(1, 30), false, "[0] 1 <1");
    // A candle without its regular end is closed by the next one.
    check(M1, "0 1", at(1, 30), false, "[0] 1 <1");
    check(M1, "0", at(5, 59), false, "0 <0");
    check(M1, "[0]", at(6, 0), false, "[0] <1");
    check(M1, "[0] [1]", at(30, 0), false, "[0] [1] <2");
    // The last candle of a full page waits for the next page.
    check(M1, "[0] [1] [2]", at(30, 0), true, "[0] [1] <2");
}

#[test]
fn a_full_page_without_progress_is_not_requested_again_at_once() {
    let more = |text| {
        let answer = answer(text, at(30, 0), true);
        classify(Interval::M15, CandleStep::Minute, at(0, 0), &answer).unwrap().more
    };
    assert!(more("[0] [1] [15]"));
    assert!(!more("[0] [1]") && !more(""));
}

#[test]
fn a_gap_is_detected_before_later_candles_are_published() {
    use Interval::{M1, M5};
    check(M1, "[1] 2", at(2, 30), false, "[1] 2 <2 has_gaps");
    check(M1, "[0] 2", at(2, 30), false, "[0] 2 <2 has_gaps");
    check(M1, "2", at(2, 30), false, "2 <2 has_gaps");
    check(M1, "[0] [1] 2", at(2, 30), false, "[0] [1] 2 <2");
    // A gap inside a forming candle is harmless.
    check(M5, "[1] [2] 4", at(4, 30), false, "0 <0");
    check(M5, "[1] [2] [4]", at(5, 30), false, "[0] <5 has_gaps");
    check(M5, "[0] [1] [2] [3] [4] 6", at(6, 30), false, "[0] 5 <5");
    check(M5, "[0] [1] [2] [3] 6", at(6, 30), false, "[0] 5 <5 has_gaps");
    // The last minutes of a candle may be late.
    check(M5, "[0] [1] [2] [3]", at(9, 0), false, "0 <0");
    check(M5, "[0] [1] [2] [3]", at(10, 0), false, "[0] <5");
}

#[test]
fn two_responses_are_merged_up_to_the_shorter_end() {
    for (first, second, both) in [
        (("[0] 2", false), ("[0] [1] [2] 3", false), "0 1 2 3"),
        (("[0] [1] 2", false), ("[0] [2] 3", false), "0 1 2 3"),
        // A candle that was forming in the first response must be in the second.
        (("[0] 2", false), ("[0] [1] [3] 4", false), "0 1"),
        (("[0] [2] [3]", true), ("[0] [1] [2]", true), "0 1 2"),
        (("[0] [2] [3]", true), ("[0] [1] [2] 3 4", false), "0 1 2 3"),
        // A candle that was not missing before is requested again.
        (("[0] 2", false), ("[0] [1] [2] [4] 5", false), "0 1 2"),
        (("", false), ("0", false), ""),
    ] {
        let (one, two) = (answer(first.0, at(5, 0), first.1), answer(second.0, at(6, 0), second.1));
        let joined = merge(one, two, CandleStep::Minute);
        let minutes: Vec<String> =
            joined.candles.iter().map(|it| it.begins.minute().to_string()).collect();
        assert_eq!(minutes.join(" "), both, "{first:?} {second:?}");
        assert_eq!((joined.full, joined.data_time), (first.1 || second.1, at(6, 0)));
        assert_eq!(joined.cut, joined.full || ["", "0 1", "0 1 2"].contains(&both));
    }
    // The newer state of a candle counts.
    let joined =
        merge(answer("0", at(0, 30), false), answer("[0]", at(1, 30), false), CandleStep::Minute);
    assert!(joined.candles[0].closed);
}

proptest! {
    /// However the rows are split into polls, the closed candles are the same, in order and once.
    #[test]
    fn successive_polls_give_every_candle_once(
        traded in prop::collection::btree_set(0_i8..59, 1..50),
        poll_minutes in prop::collection::btree_set(0_i8..59, 0..8),
        five in any::<bool>(),
    ) {
        let interval = if five { Interval::M5 } else { Interval::M1 };
        let step = CandleStep::Minute;
        let mut published: Vec<Kline> = Vec::new();
        let mut from = at(0, 0);
        for data_time in poll_minutes.into_iter().map(|minute| at(minute, 30)).chain([Millis(at(0, 0).0 + 7_200_000)]) {
            let rows = traded.iter().filter(|it| at(**it, 0) <= data_time && at(**it, 0) >= from);
            let text: Vec<String> = rows
                .map(|it| if at(*it, 0).0 + 60_000 <= data_time.0 { format!("[{it}]") } else { it.to_string() })
                .collect();
            let polled = classify(interval, step, from, &answer(&text.join(" "), data_time, false)).unwrap();
            prop_assert!(polled.known_to >= from);
            prop_assert!(polled.forming.is_none_or(|it| it.bar.open_time == polled.known_to));
            from = polled.known_to;
            published.extend(polled.rows);
        }
        let all: Vec<String> = traded.iter().map(|it| format!("[{it}]")).collect();
        let whole = fold_bars(interval, step, candles(&all.join(" ")).iter()).unwrap();
        prop_assert_eq!(published.iter().map(|it| it.bar).collect::<Vec<_>>(), whole);
    }
}

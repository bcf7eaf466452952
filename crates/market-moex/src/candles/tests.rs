//! Candle rows in the exchange's form.

use proptest::prelude::*;

use super::*;
use crate::tables::Tables;

fn at(text: &str) -> Millis {
    moscow_time::to_instant(text.parse().unwrap()).0
}

fn read(row: &str, step: CandleStep, delay: Delay, now: &str) -> Result<SecurityCandle, String> {
    let text = format!(
        r#"{{"candles":{{"columns":["open","close","high","low","value","volume","begin","end"],
            "data":[[{row}]]}}}}"#
    );
    let tables = Tables::read(text.as_bytes()).unwrap();
    read_candle(tables.first("candles").unwrap(), 2, step, delay, at(now))
}

#[test]
fn columns_are_read_by_name_and_float_errors_are_removed() {
    let row = r#"70,69.67999999999999,71,69.5,5716579901.120001,19791080,
        "2024-02-15 10:00:00","2024-02-15 10:59:59""#;
    let now = "2024-02-15T12:00:00";
    let candle = read(row, CandleStep::Hour, Delay::Delayed15m, now).unwrap();
    let prices = [candle.open, candle.high, candle.low, candle.close];
    assert_eq!(prices.map(|it| it.to_string()), ["70.00", "71.00", "69.50", "69.68"]);
    assert_eq!(candle.value.unwrap().to_string(), "5716579901.12");
    assert_eq!(candle.volume.unwrap().to_string(), "19791080");
    assert_eq!(candle.begins_rfc3339(), "2024-02-15T10:00:00+03:00");
    assert!(candle.closed);
}

#[track_caller]
fn check_closed(step: CandleStep, delay: Delay, begin: &str, end: &str, now: &str, closed: bool) {
    let row = format!(r#"1,1,1,1,1,1,"{begin}","{end}""#);
    let candle = read(&row, step, delay, now).unwrap();
    assert_eq!(candle.closed, closed, "{step:?} {begin} {end} {now}");
}

#[test]
fn a_forming_candle_is_never_taken_as_closed() {
    use CandleStep::{Day, Hour, Minute, Month, Week};
    use Delay::{Delayed15m, RealTime};
    let (ten, full, odd) = ("2024-02-15 10:00:00", "2024-02-15 10:59:59", "2024-02-15 10:43:12");
    for (now, end, delay, closed) in [
        ("2024-02-15T10:59:59", full, RealTime, false),
        ("2024-02-15T11:00:09", full, RealTime, false),
        ("2024-02-15T11:00:10", full, RealTime, true),
        ("2024-02-15T11:00:00", odd, RealTime, false),
        ("2024-02-15T11:04:59", odd, RealTime, false),
        ("2024-02-15T11:05:00", odd, RealTime, true),
        ("2024-02-15T11:15:09", full, Delayed15m, false),
        ("2024-02-15T11:15:10", full, Delayed15m, true),
        ("2024-02-15T11:15:00", odd, Delayed15m, false),
        ("2024-02-15T11:20:00", odd, Delayed15m, true),
    ] {
        check_closed(Hour, delay, ten, end, now, closed);
    }
    let day = "2024-02-15 00:00:00";
    let (early, late) = ("2024-02-15T23:59:59", "2024-02-16T00:00:10");
    let last = "2024-02-15 23:59:59";
    check_closed(Day, RealTime, day, last, early, false);
    check_closed(Day, RealTime, day, last, late, true);
    check_closed(Day, RealTime, day, "2024-02-15 23:49:53", late, false);
    check_closed(Minute, RealTime, ten, "2024-02-15 10:00:59", "2024-02-15T10:01:10", true);
    // The week of that Thursday, whichever of its days the row has.
    for begin in ["2024-02-12 00:00:00", "2024-02-13 00:00:00"] {
        check_closed(Week, RealTime, begin, "2024-02-18 23:59:59", "2024-02-18T23:00:00", false);
        check_closed(Week, RealTime, begin, "2024-02-18 23:59:59", "2024-02-19T00:00:10", true);
    }
    let month = "2024-02-01 00:00:00";
    check_closed(Month, RealTime, month, "2024-02-29 23:59:59", "2024-02-29T23:00:00", false);
    check_closed(Month, RealTime, month, "2024-02-29 23:59:59", "2024-03-01T00:00:10", true);
}

#[test]
fn rows_without_trades_are_skipped_and_malformed_rows_refused() {
    let times = r#""2024-02-15 10:00:00","2024-02-15 10:59:59""#;
    let now = "2024-02-15T12:00:00";
    let hour = |row: &str| read(&format!("{row},{times}"), CandleStep::Hour, Delay::RealTime, now);
    let range = LocalRange {
        step: CandleStep::Hour,
        from: "2024-02-15T00:00:00".parse().unwrap(),
        till: "2024-02-15T23:59:59".parse().unwrap(),
    };
    let silent = hour("null,null,null,null,0,0").unwrap();
    let loud = hour("5,5,5,5,1,1").unwrap();
    assert_eq!(
        (traded_within(vec![silent], range), traded_within(vec![loud], range)),
        (vec![], vec![loud])
    );
    assert!(hour("null,5,5,5,0,0").unwrap_err().contains("only some"));
    assert!(hour(r#""N/A",5,5,5,0,0"#).unwrap_err().contains("not a number"));
    assert!(hour("5,5,4,3,0,0").unwrap_err().contains("do not enclose"));
    assert!(hour("5,5,6,5.5,0,0").is_err());
    assert_eq!(hour("5,5,5,5,null,null").unwrap().value, None);
    assert!(
        read(r#"1,1,1,1,1,1,null,null"#, CandleStep::Hour, Delay::RealTime, now)
            .unwrap_err()
            .contains("does not say")
    );
}

#[test]
fn candles_are_sorted_and_contradictions_are_refused() {
    let now = "2024-02-15T12:30:00";
    let hour = |hour: u8, close: &str| {
        let row = format!(
            r#"{close},{close},{close},{close},1,1,"2024-02-15 {hour:02}:00:00","2024-02-15 {hour:02}:59:59""#
        );
        read(&row, CandleStep::Hour, Delay::RealTime, now).unwrap()
    };
    let range = LocalRange {
        step: CandleStep::Hour,
        from: "2024-02-15T10:00:00".parse().unwrap(),
        till: "2024-02-15T12:00:00".parse().unwrap(),
    };
    let ordered =
        |candles: Vec<SecurityCandle>| in_order(candles).map(|it| traded_within(it, range));
    let whole = [hour(10, "1"), hour(11, "2"), hour(12, "3")];
    let mixed = vec![
        hour(12, "9"),
        hour(11, "2"),
        hour(10, "1"),
        hour(11, "2"),
        hour(13, "4"),
        hour(12, "3"),
    ];
    // A forming candle may change between two pages; the later row wins.
    assert_eq!(ordered(mixed).unwrap(), whole);
    assert!(ordered(vec![hour(11, "2"), hour(11, "3")]).unwrap_err().contains("contradict"));
}

#[test]
fn query_bounds_are_written_in_their_shortest_form() {
    for (at, text) in [
        ("2024-02-15T00:00:00", "2024-02-15"),
        ("2024-02-15T23:59:59", "2024-02-15"),
        ("2024-02-15T10:05:00", "2024-02-15 10:05:00"),
    ] {
        assert_eq!(query_time(at.parse().unwrap()), text);
    }
}

proptest! {
    #[test]
    fn any_row_is_read_or_refused(
        prices in proptest::collection::vec(prop_oneof!["null", "-?[1-9][0-9]{0,8}", "(0|[1-9][0-9]{0,5})\\.[0-9]{1,14}", "\"N/A\""], 4),
        begin in prop_oneof!["null", "\"[0-9]{4}-[01][0-9]-[0-3][0-9] [0-2][0-9]:[0-5]0:00\""],
        end in prop_oneof!["null", "7", "\"[0-9]{4}-[01][0-9]-[0-3][0-9]\""],
        step in 0_usize..6,
    ) {
        let row = format!("{},1,1,{begin},{end}", prices.join(","));
        let read = read(&row, CandleStep::ALL[step], Delay::Delayed15m, "2024-02-15T12:00:00");
        if let Ok(candle) = read {
            prop_assert!(candle.low <= candle.open && candle.close <= candle.high);
            prop_assert!(!candle.closed || candle.opens_at() < at("2024-02-15T12:00:00"));
        }
    }
}

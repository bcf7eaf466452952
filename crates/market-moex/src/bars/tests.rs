//! Candles of the exchange as bars of `market`.

use market::Decimal;
use proptest::prelude::*;

use super::*;

fn at(text: &str) -> Millis {
    moscow_time::to_instant(text.parse().unwrap()).0
}

fn candle(begins: &str, price: i128, closed: bool) -> SecurityCandle {
    let value = |by: i128| Decimal::from_parts(price + by, 0).unwrap();
    let begins: jiff::civil::DateTime = begins.parse().unwrap();
    SecurityCandle {
        begins,
        offset_min: moscow_time::to_instant(begins).1,
        open: value(0),
        high: value(2),
        low: value(-2),
        close: value(1),
        volume: Some(value(0)),
        value: None,
        closed,
    }
}

fn shape(bar: &Bar) -> String {
    let volume = bar.volume.map_or_else(|| "-".to_owned(), |it| it.to_string());
    format!("{} {} {} {} {} {volume}", bar.open_time, bar.open, bar.high, bar.low, bar.close)
}

fn all() -> TimeRange {
    TimeRange::new(FIRST, LAST)
}

#[test]
fn longer_bars_are_built_from_shorter_candles() {
    let minutes: Vec<_> = [("10:14", 7), ("10:15", 5), ("10:16", 9), ("10:29", 3), ("10:31", 4)]
        .map(|(time, price)| candle(&format!("2024-02-15T{time}:00"), price, true))
        .to_vec();
    let bars = closed_bars(Interval::M15, CandleStep::Minute, &minutes, all()).unwrap();
    assert_eq!(
        bars.iter().map(shape).collect::<Vec<_>>(),
        [
            "2024-02-15T07:00:00Z 7 9 5 8 7",
            "2024-02-15T07:15:00Z 5 11 1 4 17",
            "2024-02-15T07:30:00Z 4 6 2 5 4",
        ]
    );
    // Moscow's hours fall into the half days of UTC.
    let hours =
        ["14:00", "15:00", "23:00"].map(|it| candle(&format!("2024-02-15T{it}:00"), 5, true));
    let bars = closed_bars(Interval::H12, CandleStep::Hour, &hours, all()).unwrap();
    let opens: Vec<_> = bars.iter().map(|bar| bar.open_time.to_rfc3339()).collect();
    assert_eq!(opens, ["2024-02-15T00:00:00Z", "2024-02-15T12:00:00Z"]);
}

#[test]
fn daily_bars_keep_their_trading_date() {
    let days = ["2024-02-14", "2024-02-15"].map(|day| candle(&format!("{day}T00:00:00"), 5, true));
    let bars = closed_bars(Interval::D1, CandleStep::Day, &days, all()).unwrap();
    let opens: Vec<_> = bars.iter().map(|bar| bar.open_time.to_rfc3339()).collect();
    assert_eq!(opens, ["2024-02-14T00:00:00Z", "2024-02-15T00:00:00Z"]);
    let day = clock::parse_date("2024-02-15").unwrap();
    let range = local_range(CandleStep::Day, TimeRange::of_days(day, day));
    assert_eq!((range.from.date(), range.till.date()), (day, day));
}

#[test]
fn ranges_are_requested_in_moscow_time() {
    let span = TimeRange::new(at("2024-02-15T10:00:00"), at("2024-02-15T11:00:00"));
    let range = local_range(CandleStep::Minute, span);
    assert_eq!(range.from.to_string(), "2024-02-15T10:00:00");
    assert_eq!(range.till.to_string(), "2024-02-15T10:59:59");
}

#[track_caller]
fn check_known_range(interval: Interval, candles: &[SecurityCandle], data_time: &str, to: &str) {
    let step = source_step(interval).unwrap();
    let span = TimeRange::new(at("2024-02-15T00:00:00"), LAST);
    let covered = known_range(span, interval, step, candles, at(data_time));
    assert_eq!(covered.to.to_rfc3339(), to, "{interval} {data_time}");
}

#[test]
fn forming_and_late_candles_are_not_covered() {
    let closed = candle("2024-02-15T10:00:00", 5, true);
    let forming = candle("2024-02-15T11:00:00", 5, false);
    use Interval::{D1, H1, H2};
    check_known_range(H1, &[closed, forming], "2024-02-15T11:30:00", "2024-02-15T08:00:00Z");
    // The hour that just ended has no candle yet, and then there is no candle at all.
    check_known_range(H1, &[closed], "2024-02-15T12:01:00", "2024-02-15T08:00:00Z");
    check_known_range(H1, &[closed], "2024-02-15T12:05:00", "2024-02-15T09:00:00Z");
    // A candle that has ended but is incomplete holds back all later ones.
    check_known_range(H1, &[closed, forming], "2024-02-15T12:04:00", "2024-02-15T08:00:00Z");
    check_known_range(H2, &[closed, forming], "2024-02-15T11:30:00", "2024-02-15T08:00:00Z");
    check_known_range(H2, &[closed], "2024-02-15T10:59:59", "2024-02-15T06:00:00Z");
    // The day ends in Moscow, and its bar is named by its date.
    let day = [candle("2024-02-15T00:00:00", 5, true)];
    check_known_range(D1, &day, "2024-02-16T00:00:01", "2024-02-16T00:00:00Z");
    check_known_range(D1, &[], "2024-02-16T00:00:01", "2024-02-15T00:00:00Z");
    check_known_range(D1, &[], "2024-02-16T00:06:00", "2024-02-16T00:00:00Z");
}

#[test]
fn every_interval_is_built_from_a_divisor() {
    for interval in Interval::ALL {
        let Some(step) = source_step(interval) else {
            assert_eq!(interval, Interval::S1);
            continue;
        };
        let minutes = i64::from(match step {
            CandleStep::Minute | CandleStep::TenMinutes | CandleStep::Hour => code_of(step),
            _ => continue,
        });
        assert_eq!(interval.fixed_ms().unwrap() % (minutes * 60_000), 0, "{interval}");
    }
}

proptest! {
    /// A client that waits for a closed candle relies on the stated delay being an upper bound.
    #[test]
    fn the_uncovered_range_is_younger_than_the_declared_delay(
        seconds in 1_000_000_000_i64..2_000_000_000,
        index in 1_usize..16,
        silent_min in 0_i64..3_000,
    ) {
        let (now, interval) = (Millis(seconds * 1_000), Interval::ALL[index]);
        let step = source_step(interval).unwrap();
        let closed = TimeRange::new(Millis(now.0 - 90 * DAY_MS), interval.open_of(now));
        for delay in [market::Delay::RealTime, market::Delay::Delayed15m] {
            let data_time = Millis(now.0 - delay_ms(delay));
            // The last trade was some time ago; its candle has closed or is forming.
            let last = moscow_time::to_local(Millis(data_time.0 - silent_min * 60_000));
            let begins = match step {
                CandleStep::Minute | CandleStep::TenMinutes => {
                    let minute = if step == CandleStep::Minute { last.minute() } else { last.minute() / 10 * 10 };
                    last.date().at(last.hour(), minute, 0, 0)
                }
                CandleStep::Hour => last.date().at(last.hour(), 0, 0, 0),
                CandleStep::Day => last.date().at(0, 0, 0, 0),
                CandleStep::Week | CandleStep::Month => {
                    let open = interval.open_of(Millis::start_of(last.date()));
                    open.date().at(0, 0, 0, 0)
                }
            };
            let mut candle = candle(&begins.to_string(), 5, true);
            candle.closed = crate::candles::ends_at(&candle, step) <= data_time;
            let covered = known_range(closed, interval, step, &[candle], data_time);
            prop_assert!(covered.to <= closed.to.max(closed.from));
            if covered.to < closed.to {
                let ends = interval.next_open(covered.to);
                prop_assert!(ends.0 + 30 * 60_000 >= now.0, "{interval} {now} {covered:?}");
            }
        }
    }
}

//! Candles and bars.

use clock::{DAY_MS, TimeRange};
use fault::Kind;
use market::{Bar, BarSource, Delay, SecurityCandle};

use super::*;

#[tokio::test(start_paused = true)]
async fn pages_are_followed_to_the_end() {
    let fixture = fixture().await;
    let reply =
        fixture.candles("SBER", CandleStep::Hour, "2026-01-12", "2026-11-10").await.unwrap();
    let candles = &reply.value.candles;
    assert!(candles.len() > 2_500, "{}", candles.len());
    assert!(candles.is_sorted_by(|left, right| left.begins < right.begins));
    assert!(candles.iter().all(|candle| candle.closed));
    assert_eq!(candles[0].begins.date(), date("2026-01-12"));
    assert_eq!(candles.last().unwrap().begins.date(), date("2026-11-10"));
    assert!(reply.value.missing.is_empty(), "{:?}", reply.value.missing);
    assert_eq!(reply.value.unchecked, None);
    // The hours, their days, and the record that the days are cached against.
    let pages = fixture.request_count("candles");
    assert_eq!(pages, candles.len() / 500 + 1 + 1 + 1);
    // Candles of past days do not change.
    fixture.clock.advance(Duration::from_hours(2));
    fixture.candles("SBER", CandleStep::Hour, "2026-01-12", "2026-11-10").await.unwrap();
    assert_eq!(fixture.request_count("candles"), pages);
}

#[tokio::test(start_paused = true)]
async fn the_forming_candle_is_marked() {
    let fixture = fixture().await;
    for step in CandleStep::ALL {
        let reply = fixture.candles("SBER", step, "2026-11-01", "2026-11-11").await.unwrap();
        let (last, before) = reply.value.candles.split_last().unwrap();
        assert!(!last.closed, "{step:?}");
        assert!(before.iter().all(|candle| candle.closed), "{step:?}");
        assert_eq!(reply.freshness.delay, Delay::Delayed15m);
    }
    let reply =
        fixture.candles("SBER", CandleStep::Hour, "2026-11-11", "2026-11-11").await.unwrap();
    let last = reply.value.candles.last().unwrap();
    // With a delay of fifteen minutes the exchange shows 12:05.
    assert_eq!(last.begins_rfc3339(), "2026-11-11T12:00:00+03:00");
    fixture.clock.advance(Duration::from_mins(50));
    let reply =
        fixture.candles("SBER", CandleStep::Hour, "2026-11-11", "2026-11-11").await.unwrap();
    let hours: Vec<_> =
        reply.value.candles.iter().map(|it| (it.begins.hour(), it.closed)).collect();
    assert!(hours.ends_with(&[(11, true), (12, false)]), "{hours:?}");
    fixture.clock.advance(Duration::from_mins(5));
    let reply =
        fixture.candles("SBER", CandleStep::Hour, "2026-11-11", "2026-11-11").await.unwrap();
    let hours: Vec<_> =
        reply.value.candles.iter().map(|it| (it.begins.hour(), it.closed)).collect();
    assert!(hours.contains(&(12, true)), "{hours:?}");
}

#[tokio::test(start_paused = true)]
async fn prices_have_the_decimals_of_their_share() {
    let fixture = fixture().await;
    for code in ["SBER", "AFKS", "FEES", "TRNFP", "IMOEX"] {
        let reply =
            fixture.candles(code, CandleStep::Day, "2026-09-01", "2026-11-10").await.unwrap();
        let decimals = reply.value.security.decimals;
        for candle in &reply.value.candles {
            for price in [candle.open, candle.high, candle.low, candle.close] {
                assert_eq!(price.scale(), decimals, "{code} {price}");
            }
            assert!(candle.low <= candle.open && candle.open <= candle.high);
            assert!(candle.value.is_some_and(|value| !value.is_zero()));
        }
    }
}

fn span(from: &str, to: &str) -> TimeRange {
    TimeRange::new(moscow(from), moscow(to))
}

async fn bars(fixture: &Fixture, interval: Interval, span: TimeRange) -> Vec<Bar> {
    fixture.moex.bars("SBER", interval, span).await.unwrap().bars
}

#[tokio::test(start_paused = true)]
async fn daily_bars_open_at_midnight_of_their_date() {
    let fixture = fixture().await;
    let days = TimeRange::of_days(date("2026-11-02"), date("2026-11-10"));
    let batch = fixture.moex.bars("SBER", Interval::D1, days).await.unwrap();
    assert_eq!(batch.covered, days);
    let reply = fixture.candles("SBER", CandleStep::Day, "2026-11-02", "2026-11-10").await.unwrap();
    let opens: Vec<_> = batch.bars.iter().map(|bar| bar.open_time).collect();
    let dates: Vec<_> =
        reply.value.candles.iter().map(|it| Millis::start_of(it.begins.date())).collect();
    assert_eq!(opens, dates);
    // Today's bar is forming, and later bars are unknown.
    let more = TimeRange::new(days.from, Millis(days.to.0 + 9 * DAY_MS));
    let batch = fixture.moex.bars("SBER", Interval::D1, more).await.unwrap();
    assert_eq!(batch.covered.to, Millis::start_of(date("2026-11-11")));
    assert_eq!(batch.bars.len(), opens.len());
}

/// Combines the candles of a bar by hand.
fn whole(candles: &[SecurityCandle], from: Millis, to: Millis) -> Option<[market::Decimal; 4]> {
    let inside = candles.iter().filter(|it| from <= it.opens_at() && it.opens_at() < to);
    let inside: Vec<_> = inside.collect();
    let high = inside.iter().map(|it| it.high).max()?;
    let low = inside.iter().map(|it| it.low).min()?;
    Some([inside.first()?.open, high, low, inside.last()?.close])
}

#[tokio::test(start_paused = true)]
async fn intervals_that_the_exchange_lacks_are_built() {
    let fixture = fixture().await;
    let reply =
        fixture.candles("SBER", CandleStep::Minute, "2026-11-09", "2026-11-09").await.unwrap();
    let day = span("2026-11-09T00:00:00", "2026-11-10T00:00:00");
    for interval in [Interval::M1, Interval::M5, Interval::M15, Interval::M30, Interval::H1] {
        let bars = bars(&fixture, interval, day).await;
        assert!(bars.is_sorted_by(|left, right| left.open_time < right.open_time));
        let mut made = 0;
        for bar in &bars {
            assert_eq!(interval.open_of(bar.open_time), bar.open_time, "{interval}");
            let to = interval.next_open(bar.open_time);
            let by_hand = whole(&reply.value.candles, bar.open_time, to).unwrap();
            assert_eq!([bar.open, bar.high, bar.low, bar.close], by_hand, "{interval} {bar:?}");
            made += reply
                .value
                .candles
                .iter()
                .filter(|it| bar.open_time <= it.opens_at() && it.opens_at() < to)
                .count();
        }
        assert_eq!(made, reply.value.candles.len(), "{interval}");
    }
    let fault = fixture.moex.bars("SBER", Interval::S1, day).await.unwrap_err();
    assert_eq!((fault.kind(), fault.code()), (Kind::Invalid, "interval_not_served"));
}

#[tokio::test(start_paused = true)]
async fn parts_of_a_range_add_up_to_the_whole_range() {
    let fixture = fixture().await;
    let (from, to) = (moscow("2026-11-05T00:00:00").0, moscow("2026-11-11T12:00:00").0);
    for interval in [Interval::M15, Interval::H4, Interval::D3] {
        let all = TimeRange::new(Millis(from), Millis(to));
        let whole = fixture.moex.bars("SBER", interval, all).await.unwrap();
        // A range that ends inside a bar leaves the bar to the range in which it opens.
        for cut in [from + 37 * 3_600_000 + 420_000, from + 2 * DAY_MS] {
            let mut pieces =
                bars(&fixture, interval, TimeRange::new(Millis(from), Millis(cut))).await;
            pieces.extend(bars(&fixture, interval, TimeRange::new(Millis(cut), Millis(to))).await);
            assert_eq!(pieces, whole.bars, "{interval}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_covered_range_follows_the_delayed_clock() {
    let fixture = fixture().await;
    let minute = |text: &str| moscow(&format!("2026-11-11T{text}:00"));
    let all = span("2026-11-11T12:00:00", "2026-11-11T13:00:00");
    // It is 12:20:31, and the exchange shows 12:05:31.
    let batch = fixture.moex.bars("SBER", Interval::M1, all).await.unwrap();
    assert!(batch.covered.to <= minute("12:05") && batch.covered.to >= minute("12:00"));
    assert!(batch.bars.iter().all(|bar| bar.open_time < batch.covered.to));
    fixture.clock.advance(Duration::from_mins(10));
    let later = fixture.moex.bars("SBER", Interval::M1, all).await.unwrap();
    assert!(later.covered.to >= minute("12:10") && later.covered.to <= minute("12:15"));
    assert!(later.bars.starts_with(&batch.bars));
}

#[tokio::test(start_paused = true)]
async fn the_first_bar_and_extreme_ranges_are_handled() {
    let fixture = fixture().await;
    let first = fixture.moex.first_open("SBER", Interval::D1).await.unwrap().unwrap();
    let early = TimeRange::new(Millis(first.0 - 40 * DAY_MS), Millis(first.0 + 5 * DAY_MS));
    let batch = fixture.moex.bars("SBER", Interval::D1, early).await.unwrap();
    assert_eq!(batch.bars.first().map(|bar| bar.open_time), Some(first));
    assert_eq!(batch.covered, early);
    let request = CandleRequest {
        code: "SBER".to_owned(),
        board: None,
        step: CandleStep::Month,
        from: Date::MIN,
        to: Date::MAX,
    };
    assert!(fixture.moex.candles(&request).await.unwrap().value.candles.len() > 100);
    let backwards = CandleRequest { from: Date::MAX, to: Date::MIN, ..request };
    assert_eq!(fixture.moex.candles(&backwards).await.unwrap_err().code(), "invalid_range");
    let ever = TimeRange::new(Millis(i64::MIN), Millis(i64::MAX));
    let months = fixture.moex.bars("SBER", Interval::Month, ever).await.unwrap();
    assert!(months.bars.len() > 100);
    let never = TimeRange::new(Millis(i64::MAX - 1), Millis(i64::MAX));
    assert!(fixture.moex.bars("SBER", Interval::Month, never).await.unwrap().bars.is_empty());
    let fault = fixture.moex.bars("SBER", Interval::M1, ever).await.unwrap_err();
    assert_eq!(fault.code(), "span_too_long");
    let fault = fixture.moex.bars("NOPE", Interval::D1, early).await.unwrap_err();
    assert_eq!((fault.kind(), fault.code()), (Kind::NotFound, "unknown_symbol"));
    assert_eq!(fixture.moex.first_open("SBER", Interval::S1).await.unwrap(), None);
}

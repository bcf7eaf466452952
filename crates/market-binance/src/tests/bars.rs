//! Bars: pages, holes, the forming one, and rows that arrive damaged.

use super::*;

/// The opening times that the exchange itself returns, page by page, read without the adapter.
async fn raw_opens(fixture: &Fixture, interval: Interval, from: i64, to: i64) -> Vec<i64> {
    let mut opens: Vec<i64> = Vec::new();
    let mut start = from;
    loop {
        let query = [
            ("symbol", "BTCUSDT".to_owned()),
            ("interval", interval.as_str().to_owned()),
            ("limit", "1000".to_owned()),
            ("startTime", start.to_string()),
            ("endTime", (to - 1).to_string()),
        ];
        let response =
            fixture.exchange.fetch().get("api/v3/klines", &query, usize::MAX).await.unwrap();
        let rows: Vec<serde_json::Value> = serde_json::from_slice(&response.body).unwrap();
        let Some(last) = rows.last() else { return opens };
        start = last[0].as_i64().unwrap() + 1;
        opens.extend(rows.iter().map(|row| row[0].as_i64().unwrap()));
    }
}

fn opens(batch: &BarBatch) -> Vec<i64> {
    batch.bars.iter().map(|bar| bar.open_time.0).collect()
}

#[tokio::test(start_paused = true)]
async fn pages_are_followed_to_the_end_over_gaps() {
    let fixture = fixture().await;
    let (from, to) = (day("2026-09-01"), day("2026-09-28"));
    let batch = fixture.bars(Interval::M1, from, to).await.unwrap();
    let requests = fixture.requests(Endpoint::Klines);
    let minutes = Interval::M1.count_in(TimeRange::new(Millis(from), Millis(to)));
    let lost = minutes - batch.bars.len() as u64;
    assert!((4..200).contains(&lost), "{lost} minutes are missing");
    assert_eq!(batch.covered, TimeRange::new(Millis(from), Millis(to)));
    // Each gap is requested four times before it is confirmed.
    assert!(requests <= minutes.div_ceil(1_000) + 3 * 4, "{requests} requests");
    assert_eq!(opens(&batch), raw_opens(&fixture, Interval::M1, from, to).await);
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_range_is_exclusive() {
    let fixture = fixture().await;
    let (from, to) = (day("2026-11-01"), day("2026-11-02"));
    assert_eq!(opens(&fixture.bars(Interval::D1, from, to).await.unwrap()), [from]);
    assert_eq!(fixture.bars(Interval::H1, from, to).await.unwrap().bars.len(), 24);
    let none = fixture.bars(Interval::D1, from + 1, to).await.unwrap();
    assert!(none.bars.is_empty() && none.covered == TimeRange::new(Millis(from + 1), Millis(to)));
    let empty = fixture.bars(Interval::D1, from, from).await.unwrap();
    assert!(empty.bars.is_empty() && empty.covered.is_empty());
}

#[tokio::test(start_paused = true)]
async fn the_forming_bar_is_left_out_at_any_local_clock() {
    let fixture = fixture().await;
    for skew in [-3 * 86_400_000, -600_000, 0, 600_000, 3 * 86_400_000] {
        let clock = Arc::new(FakeClock::new(Millis(now() + skew)));
        let binance = adapter(&fixture.exchange, config(URL), clock);
        for interval in [Interval::M1, Interval::H4, Interval::D1, Interval::W1, Interval::Month] {
            let forming = interval.open_of(Millis(now()));
            let from = Millis(forming.0 - 40 * DAY_MS);
            let span = TimeRange::new(from, Millis(now() + 400 * DAY_MS));
            let span = if interval == Interval::M1 {
                TimeRange::new(Millis(forming.0 - 300_000), span.to)
            } else {
                span
            };
            let batch = binance.bars("BTCUSDT", interval, span).await.unwrap();
            let last = batch.bars.last().unwrap().open_time;
            assert_eq!(interval.next_open(last), forming, "{interval}, {skew} ms");
            assert_eq!(batch.covered, TimeRange::new(span.from, forming), "{interval}, {skew} ms");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn future_and_extreme_ranges_give_only_existing_bars() {
    let fixture = fixture().await;
    let future = fixture.bars(Interval::D1, now() + DAY_MS, now() + 9 * DAY_MS).await.unwrap();
    assert!(future.bars.is_empty() && future.covered.is_empty());
    let early = fixture.bars(Interval::D1, day("2016-01-01"), day("2017-08-20")).await.unwrap();
    assert_eq!(opens(&early), ["2017-08-17", "2017-08-18", "2017-08-19"].map(day));
    assert_eq!(early.covered.from, Millis(day("2016-01-01")));
    // Ends that no exchange could have are answered as well.
    let ever = fixture.bars(Interval::Month, i64::MIN, i64::MAX).await.unwrap();
    assert_eq!(opens(&ever).first(), Some(&day("2017-08-01")));
    let never = fixture.bars(Interval::Month, i64::MAX - 1, i64::MAX).await.unwrap();
    assert!(never.bars.is_empty() && never.covered.is_empty());
}

#[tokio::test(start_paused = true)]
async fn values_keep_the_exchanges_decimals() {
    let fixture = fixture().await;
    let bar =
        fixture.bars(Interval::D1, day("2026-11-01"), day("2026-11-02")).await.unwrap().bars[0];
    for value in [bar.open, bar.high, bar.low, bar.close, bar.volume.unwrap()] {
        assert_eq!(value.scale(), 8, "{value}");
    }
    assert!(bar.low < bar.open && bar.open < bar.high);
}

#[tokio::test(start_paused = true)]
async fn damaged_rows_are_repaired_or_refused() {
    let fixture = fixture().await;
    let (from, to) = (day("2026-11-01"), day("2026-11-03"));
    let whole = fixture.bars(Interval::M5, from, to).await.unwrap();
    for (kind, requests) in
        [(FaultKind::MissingRows, 2), (FaultKind::DuplicateRows, 1), (FaultKind::ShuffledRows, 1)]
    {
        let before = fixture.requests(Endpoint::Klines);
        fixture.inject(InjectedFault::new(kind, 1).on(Endpoint::Klines.path()));
        let batch = fixture.bars(Interval::M5, from, to).await.unwrap();
        assert_eq!(batch.bars, whole.bars, "{kind:?}");
        assert_eq!(fixture.requests(Endpoint::Klines) - before, requests, "{kind:?}");
    }
    fixture.inject(InjectedFault::new(FaultKind::MalformedRows, 1));
    let fault = fixture.bars(Interval::M5, from, to).await.unwrap_err();
    assert_eq!(fault.code(), "upstream_malformed");
    assert!(fault.message().contains("do not enclose"), "{fault}");
}

#[tokio::test(start_paused = true)]
async fn the_first_bar_is_found_once() {
    let fixture = fixture().await;
    for _ in 0..3 {
        let first = fixture.binance.first_open("BTCUSDT", Interval::D1).await.unwrap();
        assert_eq!(first, Some(Millis(day("2017-08-17"))));
    }
    // The second asks whether there is anything before it.
    assert_eq!(fixture.requests(Endpoint::Klines), 2);
    let hour = fixture.binance.first_open("BTCUSDT", Interval::H1).await.unwrap();
    assert_eq!(hour, Some(Millis(day("2017-08-17") + 4 * 3_600_000)));
}

#[tokio::test(start_paused = true)]
async fn an_unknown_symbol_is_not_found() {
    let fixture = fixture().await;
    fixture.binance.listing().await.unwrap();
    let span = TimeRange::new(Millis(day("2026-11-01")), Millis(day("2026-11-02")));
    for code in ["ETHUSDTT", "bad symbol", "É"] {
        let fault = fixture.binance.bars(code, Interval::D1, span).await.unwrap_err();
        assert_eq!(
            (fault.kind(), fault.code()),
            (fault::Kind::NotFound, "unknown_symbol"),
            "{code}"
        );
        let suggested = fault.message().contains("did you mean ETHUSDT");
        assert_eq!(suggested, code == "ETHUSDTT", "{fault}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_too_long_range_is_refused_without_a_request() {
    let fixture = fixture().await;
    let fault = fixture.bars(Interval::S1, 0, now()).await.unwrap_err();
    assert_eq!((fault.kind(), fault.code()), (fault::Kind::Invalid, "span_too_long"));
    assert_eq!(fixture.requests(Endpoint::Klines), 0);
}

#[tokio::test(start_paused = true)]
async fn recent_candles_include_and_mark_the_forming_one() {
    let fixture = fixture().await;
    let klines = fixture.binance.klines("ETHUSDT", Interval::M15, 2_500).await.unwrap();
    assert_eq!((klines.len(), fixture.requests(Endpoint::Klines)), (2_500, 3));
    assert!(klines.is_sorted_by(|left, right| left.bar.open_time < right.bar.open_time));
    let (forming, closed) = klines.split_last().unwrap();
    assert!(!forming.closed && closed.iter().all(|kline| kline.closed));
    assert_eq!(forming.bar.open_time, Interval::M15.open_of(Millis(now())));
    assert!(fixture.binance.klines("ETHUSDT", Interval::D1, 0).await.unwrap().is_empty());
    let young = fixture.binance.klines("AGORAUSDT", Interval::D1, 1_500).await.unwrap();
    assert_eq!(young.len(), 40);
    let fault = fixture.binance.klines("ETHUSDT", Interval::D1, 5_001).await.unwrap_err();
    assert_eq!(fault.code(), "too_many_klines");
}

#[tokio::test(start_paused = true)]
async fn late_rows_are_not_counted_as_missing() {
    let fixture = fixture().await;
    let minute = Interval::M1.open_of(Millis(now())).0;
    fixture.bars(Interval::M1, minute - 60_000, minute).await.unwrap();
    for lag_min in [1, 3, 9, 10] {
        fixture.inject(InjectedFault::new(FaultKind::RestLag, 100).delay_ms(lag_min * 60_000));
        let batch = fixture.bars(Interval::M1, minute - 10 * 60_000, minute).await.unwrap();
        fixture.sim.faults().clear();
        // However long they have been over: no later row says that they do not exist.
        assert_eq!(batch.covered.to.0, minute - lag_min as i64 * 60_000, "{lag_min}");
        assert!(batch.bars.iter().all(|bar| bar.open_time < batch.covered.to));
    }
    let batch = fixture.bars(Interval::M1, minute - 10 * 60_000, minute).await.unwrap();
    assert_eq!((batch.bars.len(), batch.covered.to.0), (10, minute));
}

#[tokio::test(start_paused = true)]
async fn a_row_that_may_still_change_is_left_for_later() {
    let minute = Interval::M1.open_of(Millis(now())).0;
    let fixture = fixture_at(minute + 500, |_| {}).await;
    let whole = async || fixture.bars(Interval::M1, minute - 120_000, minute).await.unwrap();
    fixture.inject(InjectedFault::new(FaultKind::UnsettledRows, 1_000).delay_ms(900));
    let early = whole().await;
    assert_eq!((opens(&early), early.covered.to.0), (vec![minute - 120_000], minute - 60_000));
    fixture.clock.advance(Duration::from_millis(600));
    let late = whole().await;
    fixture.sim.faults().clear();
    assert_eq!((late.bars.len(), late.covered.to.0), (2, minute));
    assert_eq!(late.bars, whole().await.bars);
}

/// Several answers in a row lose the first of two rows.
#[tokio::test(start_paused = true)]
async fn a_row_counts_as_missing_after_four_responses_without_it() {
    let (from, to) = (day("2026-11-01"), day("2026-11-03"));
    for (times, bars, requests) in [(1, 2, 2), (2, 2, 3), (3, 2, 4), (4, 1, 4), (100, 1, 4)] {
        let fixture = fixture().await;
        fixture
            .inject(InjectedFault::new(FaultKind::MissingRows, times).on(Endpoint::Klines.path()));
        let batch = fixture.bars(Interval::D1, from, to).await.unwrap();
        assert_eq!((batch.bars.len(), batch.covered.to.0), (bars, to), "{times}");
        assert_eq!(fixture.requests(Endpoint::Klines), requests, "{times}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_empty_response_does_not_prove_a_gap() {
    let fixture = fixture().await;
    let (from, to) = (day("2026-11-01"), day("2026-11-02"));
    fixture.inject(InjectedFault::new(FaultKind::MissingRows, 1).on(Endpoint::Klines.path()));
    let batch = fixture.bars(Interval::D1, from, to).await.unwrap();
    assert!(batch.bars.is_empty() && batch.covered.is_empty());
    assert_eq!(fixture.bars(Interval::D1, from, to).await.unwrap().bars.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_delisted_symbol_has_a_last_bar() {
    let fixture = fixture().await;
    let span = TimeRange::new(Millis(day("2022-05-01")), Millis(now()));
    let batch = fixture.binance.bars("LUNAUSDT", Interval::D1, span).await.unwrap();
    assert_eq!(opens(&batch).last(), Some(&day("2022-05-13")));
    assert_eq!(batch.covered, TimeRange::new(span.from, Interval::D1.open_of(Millis(now()))));
    // Nothing is said about the time since it was last known not to be traded.
    fixture.clock.advance(Duration::from_mins(40));
    let minutes = TimeRange::new(Millis(now()), Millis(now() + 30 * 60_000));
    let batch = fixture.binance.bars("LUNAUSDT", Interval::M1, minutes).await.unwrap();
    assert!(batch.bars.is_empty() && batch.covered.is_empty());
    fixture.clock.advance(Duration::from_hours(1));
    let batch = fixture.binance.bars("LUNAUSDT", Interval::M1, minutes).await.unwrap();
    assert!(batch.bars.is_empty() && batch.covered == minutes);
}

/// A response that begins with the second row would hide the first for good. Over a real socket,
/// because the responses are written by hand.
#[tokio::test]
async fn the_first_bar_has_no_bar_before_it() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let clock = Arc::new(FakeClock::new(Millis(now())));
    let binance = Binance::new(config(&url), clock).unwrap();
    let row = |open: i64| {
        let close = open + DAY_MS - 1;
        format!(r#"[[{open},"1","1","1","1","1",{close},"1",1,"1","1","0"]]"#)
    };
    let answers = async {
        let mut requests = Vec::new();
        for body in [row(2 * DAY_MS), row(DAY_MS), "[]".to_owned()] {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") {
                request.push(stream.read_u8().await.unwrap());
            }
            let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length";
            let answer = format!("{head}: {}\r\n\r\n{body}", body.len());
            stream.write_all(answer.as_bytes()).await.unwrap();
            requests.push(String::from_utf8(request).unwrap());
        }
        requests
    };
    let (first, requests) = tokio::join!(binance.first_open("BTCUSDT", Interval::D1), answers);
    assert_eq!(first.unwrap(), Some(Millis(DAY_MS)));
    assert!(requests[2].contains(&format!("endTime={}", DAY_MS - 1)), "{requests:?}");
}

//! Faults of the exchange: the resulting fault codes, and the number of requests.

use fault::Kind;
use market::{BarSource, QuoteSource, SecuritySearch};

use super::*;

const CANDLES: &str = "/iss/*/candles.json";

/// One request for candles of a known share.
async fn ask(fixture: &Fixture) -> Result<WithFreshness<Arc<SecurityCandles>>, Fault> {
    fixture.candles("SBER", CandleStep::Day, "2026-11-02", "2026-11-06").await
}

async fn prepared(change: impl FnOnce(&mut MoexConfig)) -> Fixture {
    let fixture = fixture_at(NOON, change).await;
    fixture.moex.securities().await.unwrap();
    fixture
}

#[tokio::test(start_paused = true)]
async fn every_failure_gives_its_fault_after_the_expected_requests() {
    for (kind, fault, code, requests) in [
        (FaultKind::Status500, Kind::Unavailable, "upstream_failed", 4),
        (FaultKind::Status503, Kind::Unavailable, "upstream_failed", 4),
        (FaultKind::ErrorRows, Kind::Unavailable, "upstream_failed", 4),
        (FaultKind::Truncated, Kind::Unavailable, "upstream_truncated", 4),
        (FaultKind::Drop, Kind::Unavailable, "upstream_unreachable", 4),
        (FaultKind::Status403, Kind::Unavailable, "upstream_refused", 1),
        (FaultKind::Html, Kind::Unavailable, "upstream_refused", 1),
        (FaultKind::MalformedRows, Kind::Unavailable, "upstream_malformed", 1),
        (FaultKind::DroppedColumns, Kind::Unavailable, "upstream_malformed", 1),
        (FaultKind::Status451, Kind::Internal, "upstream_rejected", 1),
        (FaultKind::Status429, Kind::RateLimited, "upstream_rate_limited", 1),
    ] {
        let fixture = prepared(|_| {}).await;
        fixture.inject(InjectedFault::new(kind, 100).on(CANDLES));
        let answer = ask(&fixture).await.unwrap_err();
        assert_eq!((answer.kind(), answer.code()), (fault, code), "{kind:?}");
        assert_eq!(fixture.request_count("candles"), requests, "{kind:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_transient_failure_is_retried() {
    let fixture = prepared(|_| {}).await;
    let complete = ask(&fixture).await.unwrap();
    for injected in [
        InjectedFault::new(FaultKind::Status500, 3),
        InjectedFault::new(FaultKind::ErrorRows, 2),
        InjectedFault::new(FaultKind::Truncated, 2),
        InjectedFault::new(FaultKind::Drop, 3),
        InjectedFault::new(FaultKind::Slow, 1).delay_ms(20),
        InjectedFault::new(FaultKind::ReorderedColumns, 1),
        InjectedFault::new(FaultKind::AddedColumns, 1),
        InjectedFault::new(FaultKind::ShuffledRows, 1),
        InjectedFault::new(FaultKind::DuplicateRows, 1),
    ] {
        let fixture = prepared(|_| {}).await;
        fixture.inject(injected.clone().on(CANDLES));
        assert_eq!(ask(&fixture).await.unwrap().value, complete.value, "{injected:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn lost_or_repeated_pages_are_requested_again() {
    let (from, to) = ("2026-03-02", "2026-11-06");
    let fixture = prepared(|_| {}).await;
    let complete = fixture.candles("SBER", CandleStep::Hour, from, to).await.unwrap();
    assert!(complete.value.candles.len() > 1_500);
    for kind in [
        FaultKind::RepeatedPage,
        FaultKind::MissingPage,
        FaultKind::MissingRows,
        FaultKind::DuplicateRows,
        FaultKind::ShuffledRows,
    ] {
        let fixture = prepared(|_| {}).await;
        fixture.inject(InjectedFault::new(kind, 1).on(CANDLES));
        let reply = fixture.candles("SBER", CandleStep::Hour, from, to).await.unwrap();
        assert_eq!(reply.value, complete.value, "{kind:?}");
    }
    let fixture = prepared(|_| {}).await;
    fixture.inject(InjectedFault::new(FaultKind::RepeatedPage, 100).on(CANDLES));
    let fault = fixture.candles("SBER", CandleStep::Hour, from, to).await.unwrap_err();
    assert_eq!((fault.kind(), fault.code()), (Kind::Unavailable, "upstream_incomplete"));
}

const OWN_CANDLES: &str = "/iss/*/securities/GAZP/candles.json";

#[tokio::test(start_paused = true)]
async fn rows_lost_inside_a_page_are_requested_again() {
    let (from, to) = ("2026-10-05", "2026-11-10");
    for step in [CandleStep::Day, CandleStep::Hour, CandleStep::TenMinutes] {
        let fixture = prepared(|_| {}).await;
        let complete = fixture.candles("GAZP", step, from, to).await.unwrap();
        assert!(
            complete.value.missing.is_empty() && complete.value.unchecked.is_none(),
            "{step:?}"
        );
        let fixture = prepared(|_| {}).await;
        fixture.inject(InjectedFault::new(FaultKind::MissingRows, 1).on(OWN_CANDLES));
        let reply = fixture.candles("GAZP", step, from, to).await.unwrap();
        assert_eq!(reply.value, complete.value, "{step:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn missing_daily_bars_are_fetched_again() {
    let days = clock::TimeRange::of_days(date("2026-10-05"), date("2026-11-10"));
    let fixture = prepared(|_| {}).await;
    let complete = fixture.moex.bars("GAZP", Interval::D1, days).await.unwrap();
    let fixture = prepared(|_| {}).await;
    fixture.inject(InjectedFault::new(FaultKind::MissingRows, 1).on(OWN_CANDLES));
    let reply = fixture.moex.bars("GAZP", Interval::D1, days).await.unwrap();
    assert_eq!((reply.bars, reply.covered), (complete.bars, complete.covered));
}

#[tokio::test(start_paused = true)]
async fn rows_that_stay_lost_are_listed_by_day() {
    let (from, to) = ("2026-10-05", "2026-11-10");
    let fixture = prepared(|_| {}).await;
    let complete = fixture.candles("GAZP", CandleStep::Day, from, to).await.unwrap();
    for (kind, first) in [(FaultKind::MissingRows, false), (FaultKind::EmptyBlocks, true)] {
        let fixture = prepared(|_| {}).await;
        fixture.inject(InjectedFault::new(kind, 100).on(OWN_CANDLES));
        let reply = fixture.candles("GAZP", CandleStep::Day, from, to).await.unwrap();
        let SecurityCandles { candles, missing, .. } = reply.value.as_ref();
        assert!(!missing.is_empty() && missing.is_sorted(), "{kind:?}");
        assert_eq!(candles.len() + missing.len(), complete.value.candles.len(), "{kind:?}");
        assert!(candles.iter().all(|it| !missing.contains(&it.begins.date())), "{kind:?}");
        // Missing rows are found also before the first and after the last candle.
        assert_eq!(missing.first() == Some(&date(from)), first, "{kind:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn missing_days_are_listed_when_the_second_request_fails() {
    let fixture = prepared(|config| config.http.retries = 0).await;
    fixture.inject(InjectedFault::new(FaultKind::MissingRows, 1).on(OWN_CANDLES));
    fixture.inject(InjectedFault::new(FaultKind::Status500, 1).on(OWN_CANDLES));
    let reply = fixture.candles("GAZP", CandleStep::Day, "2026-10-05", "2026-11-10").await.unwrap();
    assert!(!reply.value.missing.is_empty() && reply.value.unchecked.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_reference_share_is_checked_by_another_one() {
    let fixture = prepared(|_| {}).await;
    fixture.inject(InjectedFault::new(FaultKind::MissingRows, 100).on("/iss/*/SBER/candles.json"));
    let reply = fixture.candles("SBER", CandleStep::Day, "2026-10-05", "2026-11-10").await.unwrap();
    assert!(!reply.value.missing.is_empty());
}

#[tokio::test(start_paused = true)]
async fn days_without_trades_or_before_the_listing_are_not_missing() {
    let fixture = prepared(|_| {}).await;
    // Trading was halted before the split.
    let reply =
        fixture.candles("TRNFP", CandleStep::Day, "2024-02-01", "2024-03-01").await.unwrap();
    let days: Vec<_> = reply.value.missing.iter().map(Date::to_string).collect();
    assert_eq!(days, ["2024-02-15", "2024-02-16", "2024-02-19", "2024-02-20"]);
    // Nothing is missing before the first day, on days without the index, or in the future.
    let first = fixture.moex.first_open("SBER", Interval::D1).await.unwrap().unwrap().date();
    let early = first.checked_sub(jiff::Span::new().days(90)).unwrap().to_string();
    for (code, from, to) in [
        ("SBER", early.as_str(), "2013-06-03"),
        ("IMOEX", "2026-10-05", "2026-11-10"),
        ("GAZP", "2026-11-10", "2026-12-30"),
        ("GAZP", "2027-11-10", "2027-12-30"),
        ("GAZP", "2026-11-11", "2026-11-11"),
    ] {
        for step in [CandleStep::Day, CandleStep::Hour] {
            let reply = fixture.candles(code, step, from, to).await.unwrap();
            assert_eq!(reply.value.missing, [], "{code} {from} {step:?}");
            assert_eq!(reply.value.unchecked, None, "{code} {from} {step:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_series_that_cannot_be_checked_is_marked() {
    let fixture = prepared(|config| config.http.retries = 0).await;
    fixture
        .inject(InjectedFault::new(FaultKind::Status500, 1).on("/iss/*/SBER/candleborders.json"));
    let reply = fixture.candles("GAZP", CandleStep::Day, "2026-10-05", "2026-11-10").await.unwrap();
    assert!(!reply.value.candles.is_empty() && reply.value.missing.is_empty());
    assert_eq!(
        reply.value.unchecked.as_deref(),
        Some("the simulated exchange failed with status 500")
    );
    // An incomplete result expires earlier than a complete one.
    fixture.clock.advance(Duration::from_secs(20));
    let reply = fixture.candles("GAZP", CandleStep::Day, "2026-10-05", "2026-11-10").await.unwrap();
    assert_eq!(reply.value.unchecked, None);
}

#[tokio::test(start_paused = true)]
async fn a_stalled_check_does_not_delay_the_reply() {
    let fixture = prepared(|config| config.check_timeout = Duration::from_millis(50)).await;
    fixture.inject(InjectedFault::new(FaultKind::Stall, 1).on("/iss/*/SBER/candleborders.json"));
    let reply = fixture.candles("GAZP", CandleStep::Day, "2026-10-05", "2026-11-10").await.unwrap();
    assert!(!reply.value.candles.is_empty());
    assert_eq!(reply.value.unchecked.as_deref(), Some("the exchange took too long"));
}

#[tokio::test(start_paused = true)]
async fn rows_counted_by_a_cursor_are_not_lost() {
    for kind in [FaultKind::MissingRows, FaultKind::DuplicateRows, FaultKind::ShuffledRows] {
        let fixture = prepared(|_| {}).await;
        let complete = fixture.constituents("IMOEX", "2026-11-06").await.unwrap();
        let mut codes: Vec<_> =
            complete.value.constituents.iter().map(|it| it.code.clone()).collect();
        let fixture = prepared(|_| {}).await;
        fixture.inject(InjectedFault::new(kind, 1).on("/iss/*/analytics/IMOEX.json"));
        let reply = fixture.constituents("IMOEX", "2026-11-06").await.unwrap();
        let mut members: Vec<_> =
            reply.value.constituents.iter().map(|it| it.code.clone()).collect();
        codes.sort();
        members.sort();
        assert_eq!(members, codes, "{kind:?}");
    }
    let fixture = prepared(|_| {}).await;
    fixture
        .inject(InjectedFault::new(FaultKind::MissingRows, 100).on("/iss/*/analytics/IMOEX.json"));
    let fault = fixture.constituents("IMOEX", "2026-11-06").await.unwrap_err();
    assert_eq!(fault.code(), "upstream_incomplete");
}

#[tokio::test(start_paused = true)]
async fn a_stall_ends_with_the_timeout() {
    let fixture = prepared(|config| {
        config.http.request_timeout = Duration::from_secs(1);
        config.http.retries = 1;
    })
    .await;
    fixture.inject(InjectedFault::new(FaultKind::Stall, 2).on(CANDLES));
    let fault = ask(&fixture).await.unwrap_err();
    assert_eq!((fault.kind(), fault.code()), (Kind::Timeout, "upstream_timeout"));
    assert_eq!(fixture.request_count("candles"), 2);
    assert!(ask(&fixture).await.is_ok());
}

#[tokio::test]
async fn a_closed_port_is_unreachable() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let clock = Arc::new(FakeClock::new(moscow(NOON)));
    let moex = Moex::new(config(&format!("http://{closed}")), clock).unwrap();
    let fault = moex.latest(&symbols(&["SBER"])).await.unwrap_err();
    assert_eq!((fault.kind(), fault.code()), (Kind::Unavailable, "upstream_unreachable"));
    assert!(!fault.message().contains("127.0.0.1"));
    assert_eq!(moex.health().await, VenueHealth::Down);
}

#[tokio::test(start_paused = true)]
async fn an_endless_response_is_cut_off() {
    let fixture = fixture_at(NOON, |config| config.http.body_bytes_max = 1_000).await;
    let fault = fixture.moex.securities().await.unwrap_err();
    assert_eq!(fault.code(), "upstream_malformed");
    assert!(fault.message().contains("larger than 1000 bytes"), "{fault}");
}

#[tokio::test(start_paused = true)]
async fn no_request_is_sent_before_retry_after_ends() {
    let fixture = prepared(|_| {}).await;
    fixture.inject(InjectedFault::new(FaultKind::Status429, 1).retry_after_s(20).on(CANDLES));
    assert_eq!(ask(&fixture).await.unwrap_err().retry_wait(), Some(Duration::from_secs(20)));
    let before = fixture.sim.iss_requests();
    fixture.clock.advance(Duration::from_secs(15));
    let fault = fixture.moex.search("IMOEX", 5).await.map(|reply| reply.freshness.fallback);
    assert!(fault.unwrap().unwrap().contains("request limit"), "another request went through");
    assert_eq!(fixture.sim.iss_requests(), before);
    assert_eq!(fixture.moex.health().await, VenueHealth::Degraded);
    fixture.clock.advance(Duration::from_secs(5));
    assert!(ask(&fixture).await.is_ok());
    assert_eq!(fixture.moex.health().await, VenueHealth::Up);
}

#[tokio::test(start_paused = true)]
async fn stale_prices_are_returned_for_an_hour_and_marked() {
    let fixture = prepared(|config| config.http.retries = 0).await;
    let fresh = fixture.snapshot("SBER").await.unwrap();
    let quotes = fixture.moex.latest(&symbols(&["SBER"])).await.unwrap();
    fixture.clock.advance(Duration::from_mins(30));
    for _ in 0..2 {
        fixture
            .inject(InjectedFault::new(FaultKind::Status503, 1).on("/iss/*/securities/SBER.json"));
    }
    let stale = fixture.snapshot("SBER").await.unwrap();
    assert_eq!((&stale.value, stale.freshness.as_of), (&fresh.value, fresh.freshness.as_of));
    assert!(stale.freshness.stale);
    assert_eq!(
        stale.freshness.fallback.as_deref(),
        Some("the simulated exchange failed with status 503")
    );
    let again = fixture.moex.latest(&symbols(&["SBER"])).await.unwrap().remove(0).unwrap();
    assert_eq!(again.price, quotes[0].as_ref().unwrap().price);
    assert!(again.freshness.stale);
    fixture.clock.advance(Duration::from_mins(31));
    fixture.inject(InjectedFault::new(FaultKind::Status503, 1).on("/iss/*/securities/SBER.json"));
    assert_eq!(fixture.snapshot("SBER").await.unwrap_err().code(), "upstream_failed");
}

#[tokio::test(start_paused = true)]
async fn an_empty_response_does_not_make_a_known_share_unknown() {
    let fixture = prepared(|_| {}).await;
    fixture.inject(InjectedFault::new(FaultKind::EmptyBlocks, 1).on("/iss/*/securities/SBER.json"));
    let fault = fixture.snapshot("SBER").await.unwrap_err();
    assert_eq!((fault.kind(), fault.code()), (Kind::Unavailable, "upstream_malformed"));
    // Without the trading rows the previous close is used.
    fixture.inject(
        InjectedFault::new(FaultKind::EmptyMarketdata, 1).on("/iss/*/securities/SBER.json"),
    );
    let reply = fixture.snapshot("SBER").await.unwrap();
    assert!(reply.freshness.stale && reply.value.open.is_none());
    assert_eq!(Some(reply.value.last), reply.value.previous_close);
}

#[tokio::test(start_paused = true)]
async fn repeated_failures_open_the_breaker_and_then_one_probe_is_sent() {
    let fixture = prepared(|config| config.http.retries = 0).await;
    fixture.inject(InjectedFault::new(FaultKind::Status500, 6));
    for _ in 0..5 {
        assert_eq!(ask(&fixture).await.unwrap_err().code(), "upstream_failed");
    }
    let fault = ask(&fixture).await.unwrap_err();
    assert_eq!((fault.kind(), fault.code()), (Kind::Unavailable, "upstream_failed"));
    assert_eq!(fault.retry_wait(), Some(Duration::from_secs(30)));
    assert!(fault.message().contains("status 500; after repeated failures"), "{fault}");
    assert_eq!(fixture.moex.health().await, VenueHealth::Down);
    assert_eq!(fixture.request_count("candles"), 5);
    fixture.clock.advance(Duration::from_secs(30));
    assert_eq!(ask(&fixture).await.unwrap_err().code(), "upstream_failed");
    fixture.clock.advance(Duration::from_secs(30));
    assert!(ask(&fixture).await.is_ok());
    assert_eq!(fixture.moex.health().await, VenueHealth::Up);
}

#[tokio::test(start_paused = true)]
async fn an_open_breaker_returns_the_cause() {
    for (kind, fault, code) in [
        (FaultKind::Status503, Kind::Unavailable, "upstream_failed"),
        (FaultKind::Drop, Kind::Unavailable, "upstream_unreachable"),
        (FaultKind::Stall, Kind::Timeout, "upstream_timeout"),
    ] {
        let fixture = prepared(|config| {
            config.http.retries = 0;
            config.http.breaker_failures = 1;
            config.http.request_timeout = Duration::from_secs(1);
        })
        .await;
        fixture.inject(InjectedFault::new(kind, 1));
        assert_eq!(ask(&fixture).await.unwrap_err().code(), code, "{kind:?}");
        let before = fixture.sim.iss_requests();
        fixture.clock.advance(Duration::from_secs(10));
        let reply = fixture.constituents("IMOEX", "2026-11-06").await.unwrap_err();
        assert_eq!((reply.kind(), reply.code()), (fault, code), "{kind:?}");
        assert_eq!(reply.retry_wait(), Some(Duration::from_secs(20)), "{kind:?}");
        assert_eq!(fixture.sim.iss_requests(), before, "{kind:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn requests_are_paced_and_identical_requests_run_once() {
    let fixture = fixture_at(NOON, |config| {
        config.requests_per_second = 1;
        config.burst = 3;
    })
    .await;
    let many = (0..20).map(|_| fixture.snapshot("SBER"));
    let reply = futures_util::future::join_all(many).await;
    assert!(reply.iter().all(Result::is_ok));
    assert_eq!((fixture.request_count("board"), fixture.request_count("snapshot")), (1, 1));
    assert!(fixture.snapshot("GAZP").await.is_ok());
    let fault = fixture.snapshot("LKOH").await.unwrap_err();
    assert_eq!((fault.kind(), fault.code()), (Kind::RateLimited, "upstream_rate_limited"));
    fixture.clock.advance(Duration::from_secs(1));
    assert!(fixture.snapshot("LKOH").await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn health_checks_send_few_requests() {
    let fixture = fixture().await;
    for _ in 0..10 {
        assert_eq!(fixture.moex.health().await, VenueHealth::Up);
    }
    assert_eq!(fixture.request_count("engines"), 1);
    fixture.moex.drain().await;
}

#[test]
fn an_invalid_address_is_refused() {
    for url in ["", "moex", "ftp://example.org", "http://", "http://example.org?x=1"] {
        let clock = Arc::new(FakeClock::new(Millis(0)));
        let config = MoexConfig { iss_url: url.to_owned(), ..config("") };
        assert_eq!(Moex::new(config, clock).err().unwrap().code(), "invalid_upstream_url", "{url}");
    }
}

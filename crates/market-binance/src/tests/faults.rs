//! An exchange that misbehaves: which fault it becomes, and how often it is asked.

use fault::Kind;

use super::*;

/// One call for bars, of which the exchange's time is already known.
async fn ask(fixture: &Fixture) -> Result<BarBatch, Fault> {
    fixture.bars(Interval::D1, day("2026-11-01"), day("2026-11-03")).await
}

async fn prepared(change: impl FnOnce(&mut BinanceConfig)) -> Fixture {
    let fixture = fixture_with(change).await;
    fixture.binance.shared.server_now().await.unwrap();
    fixture
}

#[tokio::test(start_paused = true)]
async fn every_failure_gives_its_fault_after_the_expected_requests() {
    for (kind, fault, code, requests) in [
        (FaultKind::Status500, Kind::Unavailable, "upstream_failed", 4),
        (FaultKind::Status503, Kind::Unavailable, "upstream_failed", 4),
        (FaultKind::Truncated, Kind::Unavailable, "upstream_truncated", 4),
        (FaultKind::Drop, Kind::Unavailable, "upstream_unreachable", 4),
        (FaultKind::Status451, Kind::Unavailable, "upstream_geo_blocked", 1),
        (FaultKind::Status403, Kind::Unavailable, "upstream_refused", 1),
        (FaultKind::Html, Kind::Unavailable, "upstream_malformed", 1),
        (FaultKind::Status429, Kind::RateLimited, "upstream_rate_limited", 1),
        (FaultKind::Status418, Kind::RateLimited, "upstream_rate_limited", 1),
    ] {
        let fixture = prepared(|_| {}).await;
        fixture.inject(InjectedFault::new(kind, 100));
        let answer = ask(&fixture).await.unwrap_err();
        assert_eq!((answer.kind(), answer.code()), (fault, code), "{kind:?}");
        assert_eq!(fixture.requests(Endpoint::Klines), requests, "{kind:?}");
        assert_eq!(fixture.recorder.outcomes.lock().last(), Some(&("klines", code)), "{kind:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_transient_failure_is_retried() {
    for fault in [
        InjectedFault::new(FaultKind::Status500, 3),
        InjectedFault::new(FaultKind::Status503, 1),
        InjectedFault::new(FaultKind::Truncated, 2),
        InjectedFault::new(FaultKind::Drop, 3),
        InjectedFault::new(FaultKind::Slow, 1).delay_ms(20),
    ] {
        let fixture = prepared(|_| {}).await;
        let again = if fault.kind == FaultKind::Slow { 0 } else { u64::from(fault.times) };
        fixture.inject(fault.clone());
        assert_eq!(ask(&fixture).await.unwrap().bars.len(), 2, "{fault:?}");
        assert_eq!(fixture.requests(Endpoint::Klines), 1 + again, "{fault:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_stall_ends_with_the_timeout() {
    let fixture = prepared(|config| {
        config.http.request_timeout = Duration::from_millis(100);
        config.http.retries = 1;
    })
    .await;
    fixture.inject(InjectedFault::new(FaultKind::Stall, 2));
    let fault = ask(&fixture).await.unwrap_err();
    assert_eq!((fault.kind(), fault.code()), (Kind::Timeout, "upstream_timeout"));
    assert_eq!(fixture.requests(Endpoint::Klines), 2);
    assert!(ask(&fixture).await.is_ok());
}

#[tokio::test]
async fn a_closed_port_is_unreachable() {
    let fixture = fixture().await;
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let config = config(&format!("http://{closed}"));
    let binance = Binance::new(config, Arc::clone(&fixture.clock) as Arc<dyn Clock>).unwrap();
    let fault = binance.latest(&symbols(&["BTCUSDT"])).await.unwrap_err();
    assert_eq!((fault.kind(), fault.code()), (Kind::Unavailable, "upstream_unreachable"));
    assert!(!fault.message().contains("127.0.0.1"));
    assert_eq!(binance.health().await, VenueHealth::Down);
}

#[tokio::test(start_paused = true)]
async fn an_endless_response_is_cut_off() {
    let fixture = prepared(|config| config.http.body_bytes_max = 1_000).await;
    let fault = fixture.binance.listing().await.unwrap_err();
    assert_eq!(fault.code(), "upstream_malformed");
    assert!(fault.message().contains("larger than 1000 bytes"), "{fault}");
}

#[tokio::test(start_paused = true)]
async fn no_request_is_sent_before_retry_after_ends() {
    for kind in [FaultKind::Status429, FaultKind::Status418] {
        let fixture = prepared(|_| {}).await;
        fixture.inject(InjectedFault::new(kind, 1).retry_after_s(20));
        let fault = ask(&fixture).await.unwrap_err();
        assert_eq!(fault.retry_wait(), Some(Duration::from_secs(20)));
        fixture.clock.advance(Duration::from_secs(15));
        // Other questions wait as well.
        let fault = fixture.latest(&["BTCUSDT"]).await.unwrap_err();
        assert_eq!(
            (fault.kind(), fault.retry_wait()),
            (Kind::RateLimited, Some(Duration::from_secs(5)))
        );
        assert_eq!(fixture.requests(Endpoint::ExchangeInfo), 0);
        assert_eq!(fixture.binance.health().await, VenueHealth::Degraded);
        fixture.clock.advance(Duration::from_secs(5));
        assert!(ask(&fixture).await.is_ok());
        assert_eq!(fixture.requests(Endpoint::Klines), 2);
        assert_eq!(fixture.binance.health().await, VenueHealth::Up);
    }
}

#[tokio::test(start_paused = true)]
async fn a_ban_without_a_header_is_read_from_its_text() {
    let fixture = prepared(|_| {}).await;
    fixture.inject(InjectedFault::new(FaultKind::Status418, 1));
    assert_eq!(ask(&fixture).await.unwrap_err().retry_wait(), Some(Duration::from_mins(2)));
}

#[tokio::test(start_paused = true)]
async fn a_short_wait_is_waited_out() {
    let clock: Arc<dyn Clock> = Arc::new(TokioClock::new(Millis(now())));
    let sim = Sim::new(SimConfig::new(7, Arc::clone(&clock)));
    let exchange = InMemoryExchange::new(&sim);
    let mut config = config(URL);
    config.http.rate_limit_wait_max = Duration::from_secs(5);
    let binance = adapter(&exchange, config, clock);
    sim.faults().add(InjectedFault::new(FaultKind::Status429, 1).retry_after_s(1)).unwrap();
    assert!(binance.latest(&symbols(&["BTCUSDT"])).await.unwrap()[0].is_ok());
    assert_eq!(sim.requests(Endpoint::ExchangeInfo), 2);
}

#[tokio::test(start_paused = true)]
async fn the_weight_limit_is_kept_before_the_exchange_enforces_it() {
    let fixture = fixture().await;
    fixture.sim.set_weight_limit(60);
    // The listing says what the limit is, and costs 20 of it; the time costs 1.
    fixture.binance.listing().await.unwrap();
    let mut served = 0;
    let fault = loop {
        match ask(&fixture).await {
            Ok(_) => served += 1,
            Err(fault) => break fault,
        }
    };
    assert_eq!((fault.code(), served), ("upstream_rate_limited", 18));
    assert_eq!(fault.retry_wait(), Some(Duration::from_millis(60_000 - 31_250)));
    let refused = |outcome: &&(_, &str)| outcome.1 != "ok";
    assert_eq!(fixture.recorder.outcomes.lock().iter().filter(refused).count(), 0);
    assert_eq!(fixture.recorder.weights.lock().last(), Some(&(57, 60)));
    fixture.clock.advance(Duration::from_secs(29));
    assert!(ask(&fixture).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn repeated_failures_open_the_breaker_and_then_one_probe_is_sent() {
    let fixture = prepared(|config| config.http.retries = 0).await;
    fixture.inject(InjectedFault::new(FaultKind::Status500, 6));
    for _ in 0..5 {
        assert_eq!(ask(&fixture).await.unwrap_err().code(), "upstream_failed");
    }
    let fault = ask(&fixture).await.unwrap_err();
    // The fault names the cause.
    assert_eq!((fault.kind(), fault.code()), (Kind::Unavailable, "upstream_failed"));
    assert!(fault.message().ends_with("no request is sent for 30 s"), "{fault}");
    assert_eq!(fault.retry_wait(), Some(Duration::from_secs(30)));
    assert_eq!(fixture.binance.health().await, VenueHealth::Down);
    assert_eq!(fixture.requests(Endpoint::Klines), 5);
    // The first probe fails, the second does not.
    fixture.clock.advance(Duration::from_secs(30));
    assert_eq!(ask(&fixture).await.unwrap_err().code(), "upstream_failed");
    let fault = ask(&fixture).await.unwrap_err();
    assert!(fault.message().contains("no request is sent"), "{fault}");
    fixture.clock.advance(Duration::from_secs(30));
    assert!(ask(&fixture).await.is_ok());
    assert!(ask(&fixture).await.is_ok());
    assert_eq!(fixture.requests(Endpoint::Klines), 8);
    assert_eq!(fixture.binance.health().await, VenueHealth::Up);
}

#[tokio::test(start_paused = true)]
async fn a_stale_listing_and_clock_offset_are_used_when_refreshing_fails() {
    let fixture = prepared(|config| config.http.retries = 0).await;
    fixture.binance.listing().await.unwrap();
    fixture.clock.advance(Duration::from_hours(2));
    for path in [Endpoint::ExchangeInfo.path(), Endpoint::Time.path()] {
        fixture.inject(InjectedFault::new(FaultKind::Status500, 1).on(path));
    }
    let old = fixture.binance.listing().await.unwrap();
    assert!(!old.quote_assets.is_empty());
    assert!(ask(&fixture).await.is_ok());
    // It says how old it is, and so does the new one.
    assert_eq!(old.received_at, Some(Millis(now())));
    let new = fixture.binance.listing().await.unwrap();
    assert_eq!(new.received_at, Some(Millis(now() + 2 * 3_600_000)));
}

#[tokio::test(start_paused = true)]
async fn without_any_response_there_is_no_listing() {
    let fixture = fixture_with(|config| config.http.retries = 0).await;
    for (kind, code) in [
        (FaultKind::Status500, "upstream_failed"),
        (FaultKind::Drop, "upstream_unreachable"),
        (FaultKind::Html, "upstream_malformed"),
    ] {
        fixture.inject(InjectedFault::new(kind, 1).on(Endpoint::ExchangeInfo.path()));
        let fault = fixture.binance.listing().await.unwrap_err();
        assert_eq!((fault.kind(), fault.code()), (Kind::Unavailable, code), "{kind:?}");
    }
    // What is listed is what the exchange lists, and nothing is kept of the failures.
    assert!(fixture.binance.listing().await.unwrap().quote_assets.len() > 40);
}

#[tokio::test(start_paused = true)]
async fn health_checks_send_few_requests() {
    let fixture = fixture().await;
    for _ in 0..10 {
        assert_eq!(fixture.binance.health().await, VenueHealth::Up);
    }
    assert_eq!(fixture.requests(Endpoint::Ping), 1);
}

#[test]
fn an_invalid_address_is_refused() {
    for url in ["", "binance", "ftp://example.org", "http://", "http://example.org?x=1"] {
        let clock = Arc::new(FakeClock::default());
        let fault = Binance::new(config(url), clock).err().unwrap();
        assert_eq!(fault.code(), "invalid_upstream_url", "{url}");
    }
}

#[test]
fn a_client_for_the_real_exchange_can_be_made() {
    // Certificates are the machine's; where it has none, that is said and nothing panics.
    let config = BinanceConfig::new("https://data-api.binance.vision/", "binance");
    match Binance::new(config, Arc::new(FakeClock::default())) {
        Ok(binance) => assert_eq!(binance.source(), "binance"),
        Err(fault) => assert_eq!(fault.code(), "upstream_unreachable"),
    }
}

#[tokio::test]
async fn the_api_key_is_sent_in_its_header() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let config = BinanceConfig {
        api_key: Some(ApiKey::new("k-1").unwrap()),
        ..BinanceConfig::new(url, "test")
    };
    let binance = Binance::new(config, Arc::new(FakeClock::default())).unwrap();
    let answer = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.unwrap());
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}").await.unwrap();
        String::from_utf8(head).unwrap().to_lowercase()
    };
    let (health, head) = tokio::join!(binance.health(), answer);
    assert_eq!(health, VenueHealth::Up);
    assert!(head.contains("x-mbx-apikey: k-1\r\n"), "{head}");
}

//! Latest prices, their cache, and what stands in for them.

use futures_util::future::join_all;
use market::Delay;

use super::*;

#[tokio::test(start_paused = true)]
async fn a_quote_equals_the_ticker() {
    let fixture = fixture().await;
    let quote = fixture.quote("BTCUSDT").await;
    let kline = fixture.binance.klines("BTCUSDT", Interval::M1, 1).await.unwrap()[0];
    assert_eq!(quote.price.to_string(), kline.bar.close.to_string());
    assert_eq!(quote.price.scale(), 8);
    assert_eq!(
        (quote.currency.as_str(), quote.symbol.to_string()),
        ("USDT", "BINANCE:BTCUSDT".to_owned())
    );
    assert!(quote.volume.is_some_and(|volume| !volume.is_zero()));
    let freshness = &quote.freshness;
    assert_eq!((freshness.as_of, freshness.received_at), (Millis(now()), Millis(now())));
    assert_eq!((freshness.source.as_str(), freshness.delay), ("simulated", Delay::RealTime));
    assert!(!freshness.stale && freshness.fallback.is_none());
    assert_eq!(fixture.binance.source(), "simulated:7");
}

#[tokio::test(start_paused = true)]
async fn a_fresh_quote_is_not_requested_again() {
    let fixture = fixture().await;
    fixture.latest(&["BTCUSDT", "ETHBTC"]).await.unwrap();
    for codes in [&["ETHBTC"][..], &["BTCUSDT", "ETHBTC", "BTCUSDT"]] {
        fixture.latest(codes).await.unwrap();
    }
    assert_eq!(fixture.requests(Endpoint::TickerDay), 1);
    fixture.clock.advance(Duration::from_secs(1));
    let quote = fixture.quote("BTCUSDT").await;
    assert_eq!(fixture.requests(Endpoint::TickerDay), 2);
    assert_eq!(quote.freshness.received_at, Millis(now() + 1_000));
}

#[tokio::test(start_paused = true)]
async fn unknown_symbols_are_reported_in_order_with_a_suggestion() {
    let fixture = fixture().await;
    let answers = fixture.latest(&["BTCUSTD", "ETHUSDT", "QQQQQQQQQQ"]).await.unwrap();
    let fault = answers[0].as_ref().unwrap_err();
    assert_eq!((fault.kind(), fault.code()), (fault::Kind::NotFound, "unknown_symbol"));
    assert!(fault.message().contains("did you mean BTCUSDT"), "{fault}");
    assert_eq!(answers[1].as_ref().unwrap().symbol.code, "ETHUSDT");
    assert!(!answers[2].as_ref().unwrap_err().message().contains("did you mean"));
    // Only strangers: still an answer, not a failure of the call.
    assert!(fixture.latest(&["NOPE"]).await.unwrap()[0].is_err());
}

#[tokio::test(start_paused = true)]
async fn a_miss_renews_the_listing_once_a_minute() {
    let fixture = fixture_at(day("2026-10-06") + 12 * 3_600_000 - 30_000, |_| {}).await;
    for _ in 0..5 {
        assert!(fixture.latest(&["AGORAUSDT"]).await.unwrap()[0].is_err());
    }
    assert_eq!(fixture.requests(Endpoint::ExchangeInfo), 1);
    // It is listed meanwhile.
    fixture.clock.advance(Duration::from_mins(2));
    assert_eq!(fixture.quote("AGORAUSDT").await.currency, "USDT");
    assert_eq!(fixture.requests(Endpoint::ExchangeInfo), 2);
    fixture.clock.advance(Duration::from_mins(61));
    fixture.quote("BTCUSDT").await;
    assert_eq!(fixture.requests(Endpoint::ExchangeInfo), 3);
}

#[tokio::test(start_paused = true)]
async fn a_halted_pair_is_quoted_as_stale() {
    let fixture = fixture().await;
    let freshness = fixture.quote("LUNAUSDT").await.freshness.clone();
    assert!(freshness.stale && freshness.fallback.unwrap().contains("BREAK"));
    assert_eq!(freshness.as_of, Millis(day("2022-05-13") + 2 * 3_600_000));
    let listing = fixture.binance.listing().await.unwrap();
    assert!(!listing.quote_assets.contains_key("LUNAUSDT"));
    assert_eq!(listing.quote_assets["ETHBTC"], "BTC");
}

#[tokio::test(start_paused = true)]
async fn many_symbols_go_in_batches_of_twenty() {
    let fixture = fixture().await;
    let listing = fixture.binance.listing().await.unwrap();
    let codes: Vec<&str> = listing.quote_assets.keys().map(String::as_str).collect();
    assert!(codes.len() > 40, "{}", codes.len());
    let answers = fixture.latest(&codes).await.unwrap();
    for (answer, code) in answers.iter().zip(&codes) {
        assert_eq!(answer.as_ref().unwrap().symbol.code, *code);
    }
    assert_eq!(fixture.requests(Endpoint::TickerDay), 3);
}

#[tokio::test(start_paused = true)]
async fn a_delisted_symbol_does_not_fail_the_others() {
    let fixture = fixture().await;
    // The adapter's listing is from before; the exchange's own clock has gone back to a time when
    // one of the pairs was not listed.
    fixture.binance.listing().await.unwrap();
    let earlier = Arc::new(FakeClock::new(Millis(day("2026-09-01"))));
    let exchange = InMemoryExchange::new(&Sim::new(SimConfig::new(7, earlier)));
    let older = adapter(&exchange, config(URL), Arc::clone(&fixture.clock) as Arc<dyn Clock>);
    let pairs = fixture.binance.shared.listed_pairs().await.unwrap();
    *older.shared.listed_pairs.write() = Some(pairs);
    let answers = older.latest(&symbols(&["AGORAUSDT", "BTCUSDT"])).await.unwrap();
    assert_eq!(answers[0].as_ref().unwrap_err().code(), "unknown_symbol");
    assert_eq!(answers[1].as_ref().unwrap().symbol.code, "BTCUSDT");
}

#[tokio::test(start_paused = true)]
async fn a_stale_quote_is_returned_when_the_exchange_fails() {
    let fixture = fixture().await;
    let fresh = fixture.quote("BTCUSDT").await;
    fixture.inject(InjectedFault::new(FaultKind::Status500, 1_000));
    fixture.clock.advance(Duration::from_secs(10));
    let answers = fixture.latest(&["BTCUSDT", "ETHUSDT"]).await.unwrap();
    let stale = answers[0].as_ref().unwrap();
    assert_eq!((stale.price, stale.freshness.as_of), (fresh.price, fresh.freshness.as_of));
    assert!(stale.freshness.stale);
    assert!(stale.freshness.fallback.as_ref().unwrap().contains("status 500"));
    assert_eq!(answers[1].as_ref().unwrap_err().code(), "upstream_failed");
    // The cached quote itself is not marked.
    assert!(!fresh.freshness.stale);
    fixture.clock.advance(Duration::from_mins(5));
    assert_eq!(fixture.latest(&["BTCUSDT"]).await.unwrap_err().kind(), fault::Kind::Unavailable);
}

#[tokio::test(start_paused = true)]
async fn identical_concurrent_requests_run_once() {
    let fixture = fixture().await;
    let answers = join_all((0..50).map(|_| fixture.latest(&["BTCUSDT", "SOLUSDT"]))).await;
    assert!(answers.iter().all(|answer| answer.as_ref().unwrap().len() == 2));
    assert_eq!(fixture.requests(Endpoint::ExchangeInfo), 1);
    assert_eq!(fixture.requests(Endpoint::TickerDay), 1);
    let span = TimeRange::new(Millis(day("2026-11-01")), Millis(day("2026-11-02")));
    let bars = |_| fixture.binance.bars("BTCUSDT", Interval::H1, span);
    assert!(
        join_all((0..20).map(bars))
            .await
            .iter()
            .all(|batch| batch.as_ref().unwrap().bars.len() == 24)
    );
    assert_eq!(fixture.requests(Endpoint::Klines), 1);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_caller_does_not_cancel_the_shared_request() {
    let fixture = fixture().await;
    fixture.binance.listing().await.unwrap();
    let requested = symbols(&["BTCUSDT"]);
    let mut first = fixture.binance.latest(&requested);
    assert!(futures_util::poll!(&mut first).is_pending());
    let mut second = fixture.binance.latest(&requested);
    assert!(futures_util::poll!(&mut second).is_pending());
    drop(first);
    assert!(second.await.unwrap()[0].is_ok());
    assert_eq!(fixture.requests(Endpoint::TickerDay), 1);
    fixture.binance.drain().await;
}

#[tokio::test(start_paused = true)]
async fn the_cache_is_bounded() {
    let fixture = fixture_with(|config| config.quotes_max = 20).await;
    let listing = fixture.binance.listing().await.unwrap();
    for code in listing.quote_assets.keys() {
        fixture.quote(code).await;
    }
    assert!(fixture.binance.shared.quotes.len() <= 20);
}

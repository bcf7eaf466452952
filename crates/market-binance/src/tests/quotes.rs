//! Latest prices, their cache, and what stands in for them.

use futures_util::future::join_all;
use market::Delay;

use super::*;

#[tokio::test]
async fn a_quote_says_what_the_ticker_said() {
    let world = world().await;
    let quote = world.quote("BTCUSDT").await;
    let kline = world.binance.klines("BTCUSDT", Interval::M1, 1).await.unwrap()[0];
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
    assert_eq!(world.binance.source(), "simulated:7");
}

#[tokio::test]
async fn a_fresh_quote_is_not_asked_for_again() {
    let world = world().await;
    world.latest(&["BTCUSDT", "ETHBTC"]).await.unwrap();
    for codes in [&["ETHBTC"][..], &["BTCUSDT", "ETHBTC", "BTCUSDT"]] {
        world.latest(codes).await.unwrap();
    }
    assert_eq!(world.requests(Served::TickerDay), 1);
    world.clock.advance(Duration::from_secs(1));
    let quote = world.quote("BTCUSDT").await;
    assert_eq!(world.requests(Served::TickerDay), 2);
    assert_eq!(quote.freshness.received_at, Millis(now() + 1_000));
}

#[tokio::test]
async fn unknown_symbols_are_named_in_their_place_with_a_suggestion() {
    let world = world().await;
    let answers = world.latest(&["BTCUSTD", "ETHUSDT", "QQQQQQQQQQ"]).await.unwrap();
    let fault = answers[0].as_ref().unwrap_err();
    assert_eq!((fault.kind(), fault.code()), (fault::Kind::NotFound, "unknown_symbol"));
    assert!(fault.message().contains("did you mean BTCUSDT"), "{fault}");
    assert_eq!(answers[1].as_ref().unwrap().symbol.code, "ETHUSDT");
    assert!(!answers[2].as_ref().unwrap_err().message().contains("did you mean"));
    // Only strangers: still an answer, not a failure of the call.
    assert!(world.latest(&["NOPE"]).await.unwrap()[0].is_err());
}

#[tokio::test]
async fn a_miss_renews_the_listing_once_a_minute() {
    let world = world_at(day("2026-10-06") + 12 * 3_600_000 - 30_000, |_| {}).await;
    for _ in 0..5 {
        assert!(world.latest(&["AGORAUSDT"]).await.unwrap()[0].is_err());
    }
    assert_eq!(world.requests(Served::ExchangeInfo), 1);
    // It is listed meanwhile.
    world.clock.advance(Duration::from_mins(2));
    assert_eq!(world.quote("AGORAUSDT").await.currency, "USDT");
    assert_eq!(world.requests(Served::ExchangeInfo), 2);
    world.clock.advance(Duration::from_mins(61));
    world.quote("BTCUSDT").await;
    assert_eq!(world.requests(Served::ExchangeInfo), 3);
}

#[tokio::test]
async fn a_pair_that_stopped_still_quotes_but_says_so() {
    let world = world().await;
    let freshness = world.quote("LUNAUSDT").await.freshness.clone();
    assert!(freshness.stale && freshness.fallback.unwrap().contains("BREAK"));
    assert_eq!(freshness.as_of, Millis(day("2022-05-13") + 2 * 3_600_000));
    let listing = world.binance.listing().await.unwrap();
    assert!(!listing.quote_assets.contains_key("LUNAUSDT"));
    assert_eq!(listing.quote_assets["ETHBTC"], "BTC");
}

#[tokio::test]
async fn many_symbols_go_in_batches_of_twenty() {
    let world = world().await;
    let listing = world.binance.listing().await.unwrap();
    let codes: Vec<&str> = listing.quote_assets.keys().map(String::as_str).collect();
    assert!(codes.len() > 40, "{}", codes.len());
    let answers = world.latest(&codes).await.unwrap();
    for (answer, code) in answers.iter().zip(&codes) {
        assert_eq!(answer.as_ref().unwrap().symbol.code, *code);
    }
    assert_eq!(world.requests(Served::TickerDay), 3);
}

#[tokio::test]
async fn a_symbol_that_left_the_listing_does_not_take_the_others_along() {
    let world = world().await;
    // The adapter's listing is from before; the exchange's own clock has gone back to a time when
    // one of the pairs was not listed.
    world.binance.listing().await.unwrap();
    let earlier = FakeClock::at(day("2026-09-01"));
    let sim = Sim::new(SimConfig::new(7, earlier));
    let (url, _server) = serve(&sim).await;
    let older = Binance::new(config(&url), Arc::clone(&world.clock) as Arc<dyn Clock>).unwrap();
    let book = world.binance.inner.book().await.unwrap();
    *older.inner.book.write() = Some(book);
    let answers = older.latest(&symbols(&["AGORAUSDT", "BTCUSDT"])).await.unwrap();
    assert_eq!(answers[0].as_ref().unwrap_err().code(), "unknown_symbol");
    assert_eq!(answers[1].as_ref().unwrap().symbol.code, "BTCUSDT");
}

#[tokio::test]
async fn an_older_quote_stands_in_when_the_exchange_fails() {
    let world = world().await;
    let fresh = world.quote("BTCUSDT").await;
    world.trouble(Trouble::new(FaultKind::Status500, 1_000));
    world.clock.advance(Duration::from_secs(10));
    let answers = world.latest(&["BTCUSDT", "ETHUSDT"]).await.unwrap();
    let stale = answers[0].as_ref().unwrap();
    assert_eq!((stale.price, stale.freshness.as_of), (fresh.price, fresh.freshness.as_of));
    assert!(stale.freshness.stale);
    assert!(stale.freshness.fallback.as_ref().unwrap().contains("status 500"));
    assert_eq!(answers[1].as_ref().unwrap_err().code(), "upstream_failed");
    // The cached quote itself is not marked.
    assert!(!fresh.freshness.stale);
    world.clock.advance(Duration::from_mins(5));
    assert_eq!(world.latest(&["BTCUSDT"]).await.unwrap_err().kind(), fault::Kind::Unavailable);
}

#[tokio::test]
async fn the_same_question_at_the_same_time_is_asked_once() {
    let world = world().await;
    let answers = join_all((0..50).map(|_| world.latest(&["BTCUSDT", "SOLUSDT"]))).await;
    assert!(answers.iter().all(|answer| answer.as_ref().unwrap().len() == 2));
    assert_eq!(world.requests(Served::ExchangeInfo), 1);
    assert_eq!(world.requests(Served::TickerDay), 1);
    let span = TimeRange::new(Millis(day("2026-11-01")), Millis(day("2026-11-02")));
    let bars = |_| world.binance.bars("BTCUSDT", Interval::H1, span);
    assert!(
        join_all((0..20).map(bars))
            .await
            .iter()
            .all(|batch| batch.as_ref().unwrap().bars.len() == 24)
    );
    assert_eq!(world.requests(Served::Klines), 1);
}

#[tokio::test]
async fn a_caller_who_gives_up_leaves_the_answer_to_the_others() {
    let world = world().await;
    world.binance.listing().await.unwrap();
    let asked = symbols(&["BTCUSDT"]);
    let mut first = world.binance.latest(&asked);
    assert!(futures_util::poll!(&mut first).is_pending());
    let mut second = world.binance.latest(&asked);
    assert!(futures_util::poll!(&mut second).is_pending());
    drop(first);
    assert!(second.await.unwrap()[0].is_ok());
    assert_eq!(world.requests(Served::TickerDay), 1);
    world.binance.drain().await;
}

#[tokio::test]
async fn the_cache_is_bounded() {
    let world = world_with(|config| config.quotes_max = 20).await;
    let listing = world.binance.listing().await.unwrap();
    for code in listing.quote_assets.keys() {
        world.quote(code).await;
    }
    assert!(world.binance.inner.quotes.len() <= 20);
}

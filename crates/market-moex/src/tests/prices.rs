//! Snapshots, quotes and the listing.

use clock::DAY_MS;
use fault::Kind;
use market::{Delay, PriceBasis, QuoteSource, SymbolSource, TradingStatus};

use super::*;

#[tokio::test(start_paused = true)]
async fn a_snapshot_has_its_price_and_its_time() {
    let fixture = fixture().await;
    let reply = fixture.snapshot("sber").await.unwrap();
    let is = &reply.value;
    assert_eq!((is.security.code.as_str(), is.security.board.as_str()), ("SBER", "TQBR"));
    assert_eq!((is.security.currency.as_str(), is.basis), ("RUB", PriceBasis::LastTrade));
    assert_eq!(is.last.scale(), is.security.decimals);
    let (low, high) = (is.low.unwrap(), is.high.unwrap());
    assert!(low <= is.last && is.last <= high && low <= is.open.unwrap());
    assert_eq!(is.change, number::change(is.last, is.previous_close.unwrap()));
    assert_eq!(is.change_pct, number::change_pct(is.last, is.previous_close.unwrap()));
    assert_eq!(is.status, TradingStatus::Trading);
    assert_eq!(is.session, Some(date("2026-11-11")));
    assert!(is.volume.is_some() && is.value.is_some());
    let fresh = &reply.freshness;
    assert_eq!((fresh.source.as_str(), fresh.delay), ("simulated", Delay::Delayed15m));
    assert!(!fresh.stale && fresh.fallback.is_none());
    let age = fresh.received_at.0 - fresh.as_of.0;
    assert!((15 * 60_000..30 * 60_000).contains(&age), "{age} ms");
    // A second request within five seconds is answered from the cache.
    fixture.clock.advance(Duration::from_secs(4));
    assert_eq!(fixture.snapshot("SBER").await.unwrap(), reply);
    assert_eq!(fixture.request_count("snapshot"), 1);
    fixture.clock.advance(Duration::from_secs(1));
    fixture.snapshot("SBER").await.unwrap();
    assert_eq!(fixture.request_count("snapshot"), 2);
}

#[tokio::test(start_paused = true)]
async fn before_the_session_the_previous_close_is_returned() {
    let fixture = fixture_at("2026-11-11T05:30:00", |_| {}).await;
    let reply = fixture.snapshot("SBER").await.unwrap();
    if reply.value.basis == PriceBasis::LastTrade {
        // The exchange still shows yesterday's session, with its date.
        assert!(reply.freshness.as_of < moscow("2026-11-11T00:00:00"));
    } else {
        assert!(reply.freshness.stale && reply.value.open.is_none());
        assert!(reply.value.change.unwrap().is_zero());
        assert!(reply.freshness.as_of.0 > moscow("2026-11-10T00:00:00").0);
        assert!(reply.freshness.as_of.0 < moscow("2026-11-10T00:00:00").0 + DAY_MS);
    }
}

#[tokio::test(start_paused = true)]
async fn shares_without_trades_are_marked() {
    let fixture = fixture().await;
    let codes: Vec<String> = {
        let securities = fixture.moex.securities().await.unwrap().value;
        securities.iter().map(|it| it.code.clone()).collect()
    };
    let codes: Vec<&str> = codes.iter().map(String::as_str).collect();
    let answers = fixture.moex.latest(&symbols(&codes)).await.unwrap();
    let stale: Vec<_> = answers.iter().flatten().filter(|quote| quote.freshness.stale).collect();
    assert!(!stale.is_empty() && stale.len() < answers.len() / 4, "{}", stale.len());
    let code = &stale[0].symbol.code;
    let reply = fixture.snapshot(code).await.unwrap();
    assert_eq!(reply.value.basis, PriceBasis::PreviousClose);
    assert!(reply.freshness.fallback.unwrap().contains("has not been traded"));
    assert_eq!((reply.value.open, reply.value.last), (None, stale[0].price));
}

#[tokio::test(start_paused = true)]
async fn many_quotes_are_one_request_and_agree_with_single_ones() {
    let fixture = fixture().await;
    let codes = ["SBER", "GAZP", "LKOH", "ROSN", "NOVATEK", "SBER"];
    let answers = fixture.moex.latest(&symbols(&codes)).await.unwrap();
    assert_eq!(fixture.request_count("board"), 1);
    assert_eq!(fixture.request_count("snapshot"), 0);
    let fault = answers[4].as_ref().unwrap_err();
    assert_eq!((fault.kind(), fault.code()), (Kind::NotFound, "unknown_symbol"));
    assert_eq!(answers[0].as_ref().unwrap(), answers[5].as_ref().unwrap());
    for (at, code) in codes.iter().enumerate().take(4) {
        let quote = answers[at].as_ref().unwrap();
        let reply = fixture.snapshot(code).await.unwrap();
        assert_eq!((quote.price, quote.volume), (reply.value.last, reply.value.volume), "{code}");
        assert_eq!(quote.freshness, reply.freshness, "{code}");
        assert_eq!(quote.symbol.to_string(), format!("MOEX:{code}"));
    }
}

#[tokio::test(start_paused = true)]
async fn indices_are_found_on_their_boards_without_delay() {
    let fixture = fixture().await;
    for (code, board, currency) in [("IMOEX", "SNDX", "RUB"), ("RTSI", "RTSI", "USD")] {
        let reply = fixture.snapshot(code).await.unwrap();
        assert_eq!(reply.value.security.board, board);
        assert_eq!(reply.value.security.currency, currency);
        assert_eq!(reply.freshness.delay, Delay::RealTime);
        let age = reply.freshness.received_at.0 - reply.freshness.as_of.0;
        assert!((0..120_000).contains(&age), "{code} {age} ms");
    }
    let quotes = fixture.moex.latest(&symbols(&["IMOEX"])).await.unwrap();
    assert!(quotes[0].is_ok());
}

#[tokio::test(start_paused = true)]
async fn unknown_codes_are_not_found_and_get_suggestions() {
    let fixture = fixture().await;
    for (code, suggestion) in [
        ("SBERR", "SBER"),
        ("GAZPROM", "GAZP"),
        ("ГАЗПРОМ", "GAZP"),
        ("LKHO", "LKOH"),
        ("../X", ""),
        ("", ""),
    ] {
        let fault = fixture.snapshot(code).await.unwrap_err();
        assert_eq!((fault.kind(), fault.code()), (Kind::NotFound, "unknown_symbol"), "{code}");
        let guessed =
            fault.message().contains("did you mean") && fault.message().contains(suggestion);
        assert_eq!(guessed, !suggestion.is_empty(), "{fault}");
    }
    let fault = fixture.moex.snapshot("SBER", Some("SNDX")).await.unwrap_err();
    assert_eq!((fault.kind(), fault.code()), (Kind::NotFound, "unknown_board"));
    assert!(fault.message().contains("TQBR"), "{fault}");
    let fault = fixture.moex.snapshot("SBERR", Some("TQBR")).await.unwrap_err();
    assert_eq!(fault.code(), "unknown_symbol");
    let reply = fixture.moex.snapshot("SBER", Some("tqbr")).await.unwrap();
    assert_eq!(reply.value.security.board, "TQBR");
}

#[tokio::test(start_paused = true)]
async fn the_listing_has_every_share_and_its_currency() {
    let fixture = fixture().await;
    let listing = fixture.moex.listing().await.unwrap();
    assert_eq!(listing.quote_assets.get("SBER").map(String::as_str), Some("RUB"));
    assert_eq!(listing.quote_assets.get("RTSI").map(String::as_str), Some("USD"));
    assert!(listing.contains("IMOEX") && listing.quote_assets.len() > 100);
    let securities = fixture.moex.securities().await.unwrap().value;
    assert!(securities.is_sorted_by(|left, right| left.code < right.code));
    let gazprom = securities.iter().find(|it| it.code == "GAZP").unwrap();
    assert_eq!(gazprom.isin.as_deref(), Some("RU0007661625"));
    assert_eq!(gazprom.latin_name.as_deref(), Some("Gazprom"));
    // The main board, and three beside it.
    assert_eq!(fixture.request_count("board"), 4);
}

#[tokio::test(start_paused = true)]
async fn a_listing_without_all_boards_expires_early() {
    let fixture = fixture_at(NOON, |config| config.http.retries = 0).await;
    fixture.inject(
        InjectedFault::new(FaultKind::Status500, 1).on("/iss/*/boards/SNDX/securities.json"),
    );
    let listing = fixture.moex.listing().await.unwrap();
    assert!(listing.contains("SBER") && !listing.contains("IMOEX"));
    fixture.clock.advance(Duration::from_mins(1));
    assert!(fixture.moex.listing().await.unwrap().contains("IMOEX"));
    let requests_before = fixture.request_count("board");
    fixture.clock.advance(Duration::from_mins(50));
    let second = fixture.moex.listing().await.unwrap();
    assert_eq!(fixture.request_count("board"), requests_before);
    // The codes of the main board are listed although another board failed.
    assert_eq!(second.received_at, listing.received_at);
    assert!(second.received_at.is_some());
}

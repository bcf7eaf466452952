//! Snapshots, quotes and the listing.

use clock::DAY_MS;
use fault::Kind;
use market::{Delay, PriceBasis, QuoteSource, SymbolSource, TradingStatus};

use super::*;

#[tokio::test(start_paused = true)]
async fn a_snapshot_says_what_stands_and_since_when() {
    let fixture = fixture().await;
    let told = fixture.snapshot("sber").await.unwrap();
    let is = &told.value;
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
    let fresh = &told.freshness;
    assert_eq!((fresh.source.as_str(), fresh.delay), ("simulated", Delay::Delayed15m));
    assert!(!fresh.stale && fresh.fallback.is_none());
    let age = fresh.received_at.0 - fresh.as_of.0;
    assert!((15 * 60_000..30 * 60_000).contains(&age), "{age} ms");
    // A second request within five seconds is answered from the cache.
    fixture.clock.advance(Duration::from_secs(4));
    assert_eq!(fixture.snapshot("SBER").await.unwrap(), told);
    assert_eq!(fixture.asked("snapshot"), 1);
    fixture.clock.advance(Duration::from_secs(1));
    fixture.snapshot("SBER").await.unwrap();
    assert_eq!(fixture.asked("snapshot"), 2);
}

#[tokio::test(start_paused = true)]
async fn before_the_session_the_close_before_stands_in() {
    let fixture = fixture_at("2026-11-11T05:30:00", |_| {}).await;
    let told = fixture.snapshot("SBER").await.unwrap();
    if told.value.basis == PriceBasis::LastTrade {
        // The exchange still shows yesterday's session, with its date.
        assert!(told.freshness.as_of < moscow("2026-11-11T00:00:00"));
    } else {
        assert!(told.freshness.stale && told.value.open.is_none());
        assert!(told.value.change.unwrap().is_zero());
        assert!(told.freshness.as_of.0 > moscow("2026-11-10T00:00:00").0);
        assert!(told.freshness.as_of.0 < moscow("2026-11-10T00:00:00").0 + DAY_MS);
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
    let told = fixture.snapshot(code).await.unwrap();
    assert_eq!(told.value.basis, PriceBasis::PreviousClose);
    assert!(told.freshness.fallback.unwrap().contains("has not been traded"));
    assert_eq!((told.value.open, told.value.last), (None, stale[0].price));
}

#[tokio::test(start_paused = true)]
async fn many_quotes_are_one_request_and_agree_with_single_ones() {
    let fixture = fixture().await;
    let codes = ["SBER", "GAZP", "LKOH", "ROSN", "NOVATEK", "SBER"];
    let answers = fixture.moex.latest(&symbols(&codes)).await.unwrap();
    assert_eq!(fixture.asked("board"), 1);
    assert_eq!(fixture.asked("snapshot"), 0);
    let fault = answers[4].as_ref().unwrap_err();
    assert_eq!((fault.kind(), fault.code()), (Kind::NotFound, "unknown_symbol"));
    assert_eq!(answers[0].as_ref().unwrap(), answers[5].as_ref().unwrap());
    for (at, code) in codes.iter().enumerate().take(4) {
        let quote = answers[at].as_ref().unwrap();
        let told = fixture.snapshot(code).await.unwrap();
        assert_eq!((quote.price, quote.volume), (told.value.last, told.value.volume), "{code}");
        assert_eq!(quote.freshness, told.freshness, "{code}");
        assert_eq!(quote.symbol.to_string(), format!("MOEX:{code}"));
    }
}

#[tokio::test(start_paused = true)]
async fn indices_are_found_where_they_are_and_come_without_delay() {
    let fixture = fixture().await;
    for (code, board, currency) in [("IMOEX", "SNDX", "RUB"), ("RTSI", "RTSI", "USD")] {
        let told = fixture.snapshot(code).await.unwrap();
        assert_eq!(told.value.security.board, board);
        assert_eq!(told.value.security.currency, currency);
        assert_eq!(told.freshness.delay, Delay::RealTime);
        let age = told.freshness.received_at.0 - told.freshness.as_of.0;
        assert!((0..120_000).contains(&age), "{code} {age} ms");
    }
    let quotes = fixture.moex.latest(&symbols(&["IMOEX"])).await.unwrap();
    assert!(quotes[0].is_ok());
}

#[tokio::test(start_paused = true)]
async fn what_is_not_known_is_not_found_and_guessed_at() {
    let fixture = fixture().await;
    for (code, meant) in [
        ("SBERR", "SBER"),
        ("GAZPROM", "GAZP"),
        ("ГАЗПРОМ", "GAZP"),
        ("LKHO", "LKOH"),
        ("../X", ""),
        ("", ""),
    ] {
        let fault = fixture.snapshot(code).await.unwrap_err();
        assert_eq!((fault.kind(), fault.code()), (Kind::NotFound, "unknown_symbol"), "{code}");
        let guessed = fault.message().contains("did you mean") && fault.message().contains(meant);
        assert_eq!(guessed, !meant.is_empty(), "{fault}");
    }
    let fault = fixture.moex.snapshot("SBER", Some("SNDX")).await.unwrap_err();
    assert_eq!((fault.kind(), fault.code()), (Kind::NotFound, "unknown_board"));
    assert!(fault.message().contains("TQBR"), "{fault}");
    let fault = fixture.moex.snapshot("SBERR", Some("TQBR")).await.unwrap_err();
    assert_eq!(fault.code(), "unknown_symbol");
    let told = fixture.moex.snapshot("SBER", Some("tqbr")).await.unwrap();
    assert_eq!(told.value.security.board, "TQBR");
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
    assert_eq!(fixture.asked("board"), 4);
}

#[tokio::test(start_paused = true)]
async fn a_listing_that_lacks_a_board_is_made_again_soon() {
    let fixture = fixture_at(NOON, |config| config.http.retries = 0).await;
    fixture.inject(
        InjectedFault::new(FaultKind::Status500, 1).on("/iss/*/boards/SNDX/securities.json"),
    );
    let listing = fixture.moex.listing().await.unwrap();
    assert!(listing.contains("SBER") && !listing.contains("IMOEX"));
    fixture.clock.advance(Duration::from_mins(1));
    assert!(fixture.moex.listing().await.unwrap().contains("IMOEX"));
    let asked = fixture.asked("board");
    fixture.clock.advance(Duration::from_mins(50));
    let kept = fixture.moex.listing().await.unwrap();
    assert_eq!(fixture.asked("board"), asked);
    // The codes of the main board are listed although another board failed.
    assert_eq!(kept.received_at, listing.received_at);
    assert!(kept.received_at.is_some());
}

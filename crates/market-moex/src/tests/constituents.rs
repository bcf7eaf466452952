//! Index constituents.

use fault::Kind;
use market::{Decimal, Delay};

use super::*;

fn sum(basket: &IndexConstituents) -> Decimal {
    basket
        .constituents
        .iter()
        .map(|it| it.weight_pct)
        .reduce(|left, right| number::sum(left, right).unwrap())
        .unwrap()
}

#[track_caller]
fn check_whole(basket: &IndexConstituents) {
    let sum = sum(basket);
    let (low, high): (Decimal, Decimal) = ("99.5".parse().unwrap(), "100.5".parse().unwrap());
    assert!(low < sum && sum < high, "{sum}");
    assert!(basket.missing.is_empty(), "{:?}", basket.missing);
}

#[tokio::test(start_paused = true)]
async fn all_members_come_with_prices_and_most_with_sectors() {
    let fixture = fixture().await;
    let reply = fixture.constituents("imoex", "2026-11-06").await.unwrap();
    let basket = &reply.value;
    assert_eq!((basket.index.as_str(), basket.effective), ("IMOEX", date("2026-11-06")));
    assert_eq!(basket.name.as_deref(), Some("Индекс МосБиржи"));
    assert!(basket.constituents.len() > 20, "{}", basket.constituents.len());
    check_whole(basket);
    assert!(!reply.freshness.stale && reply.freshness.fallback.is_none());
    assert_eq!(reply.freshness.delay, Delay::EndOfDay);
    // The prices are the closes of that day, against those of the day before.
    for code in ["SBER", "GAZP"] {
        let member = basket.constituents.iter().find(|it| it.code == code).unwrap();
        let days =
            fixture.candles(code, CandleStep::Day, "2026-11-05", "2026-11-06").await.unwrap();
        let [before, day] = days.value.candles.as_slice() else { panic!("{days:?}") };
        assert_eq!(member.price, Some(day.close), "{code}");
        assert_eq!(member.change_pct, number::change_pct(day.close, before.close), "{code}");
    }
    let sector = |code: &str| basket.constituents.iter().find(|it| it.code == code)?.sector;
    assert_eq!((sector("GAZP"), sector("SBER")), (Some("Oil and gas"), Some("Finance")));
    let known = basket.constituents.iter().filter(|it| it.sector.is_some()).count();
    assert!(known * 10 > basket.constituents.len() * 8, "{known}");
}

#[tokio::test(start_paused = true)]
async fn a_day_without_trading_falls_back_to_the_one_before_and_says_so() {
    let fixture = fixture().await;
    for (requested, effective) in
        [("2026-11-08", "2026-11-06"), ("2026-11-04", "2026-11-03"), ("2027-03-01", "2026-11-10")]
    {
        let reply = fixture.constituents("RTSI", requested).await.unwrap();
        assert_eq!(
            (reply.value.requested, reply.value.effective),
            (date(requested), date(effective))
        );
        assert!(reply.freshness.fallback.unwrap().contains(effective), "{requested}");
        check_whole(&reply.value);
    }
}

#[tokio::test(start_paused = true)]
async fn todays_basket_has_the_prices_of_the_session() {
    let fixture = fixture_at("2026-11-11T19:30:00", |_| {}).await;
    let reply = fixture.constituents("IMOEX", "2026-11-11").await.unwrap();
    assert_eq!(reply.value.effective, date("2026-11-11"));
    assert_eq!(reply.freshness.delay, Delay::Delayed15m);
    let member = reply.value.constituents.iter().find(|it| it.code == "LKOH").unwrap();
    let is = fixture.snapshot("LKOH").await.unwrap().value;
    assert_eq!((member.price, member.change_pct), (Some(is.last), is.change_pct));
    check_whole(&reply.value);
}

#[tokio::test(start_paused = true)]
async fn a_split_does_not_count_as_a_fall() {
    let fixture = fixture().await;
    let reply = fixture.constituents("IMOEX", "2024-02-21").await.unwrap();
    let member = reply.value.constituents.iter().find(|it| it.code == "TRNFP").unwrap();
    // The share was not traded on the day before the split, so it has no change.
    assert_eq!((member.price.is_some(), member.change_pct), (true, None));
    let reply = fixture.constituents("IMOEX", "2024-02-22").await.unwrap();
    let member = reply.value.constituents.iter().find(|it| it.code == "TRNFP").unwrap();
    let (low, high): (Decimal, Decimal) = ("-20".parse().unwrap(), "20".parse().unwrap());
    assert!(member.change_pct.is_some_and(|pct| low < pct && pct < high), "{member:?}");
}

#[tokio::test(start_paused = true)]
async fn unknown_indices_and_too_early_dates_are_refused() {
    let fixture = fixture().await;
    for (index, suggestion) in [("IMOEXX", "IMOEX"), ("SBER", ""), ("../X", ""), ("", "")] {
        let fault = fixture.constituents(index, "2026-11-06").await.unwrap_err();
        assert_eq!((fault.kind(), fault.code()), (Kind::NotFound, "unknown_index"), "{index}");
        assert!(fault.message().contains(suggestion), "{fault}");
    }
    assert_eq!(fixture.request_count("analytics"), 0);
    let fault = fixture.constituents("IMOEX", "1990-01-03").await.unwrap_err();
    assert_eq!((fault.kind(), fault.code()), (Kind::NotFound, "no_basket"));
    assert_eq!(
        fault.message(),
        "the first basket of IMOEX is of 2013-03-25; 1990-01-03 is before it"
    );
    assert!(fixture.constituents("IMOEX", "2013-03-25").await.is_ok());
    let indices = fixture.moex.indices().await.unwrap().value;
    assert!(indices.iter().any(|(code, name)| code == "RTSI" && name.is_some()));
}

#[tokio::test(start_paused = true)]
async fn unavailable_data_is_listed_as_missing() {
    let fixture = fixture().await;
    fixture.inject(InjectedFault::new(FaultKind::Status500, 400).on("/iss/history/*"));
    let reply = fixture.constituents("IMOEX", "2026-11-06").await.unwrap();
    let basket = &reply.value;
    assert!(basket.constituents.iter().all(|it| it.price.is_none()));
    assert!(
        basket.missing[0].starts_with("prices: the simulated exchange failed"),
        "{:?}",
        basket.missing
    );
}

#[tokio::test(start_paused = true)]
async fn sectors_without_an_index_on_the_date_are_skipped() {
    let fixture = fixture().await;
    let reply = fixture.constituents("IMOEX", "2016-03-03").await.unwrap();
    check_whole(&reply.value);
    let known = reply.value.constituents.iter().filter(|it| it.sector.is_some()).count();
    assert!(known * 2 > reply.value.constituents.len(), "{known}");
    // Days on which there cannot be data are not requested.
    assert!(fixture.request_count("analytics") < 15, "{}", fixture.request_count("analytics"));
}

#[tokio::test(start_paused = true)]
async fn one_sector_that_fails_is_named_and_the_others_stay() {
    let fixture = fixture_at(NOON, |config| config.http.retries = 0).await;
    fixture.inject(InjectedFault::new(FaultKind::Status500, 1).on("/iss/*/analytics/MOEXFN.json"));
    let reply = fixture.constituents("IMOEX", "2026-11-06").await.unwrap();
    let sector = |code: &str| reply.value.constituents.iter().find(|it| it.code == code)?.sector;
    assert_eq!((sector("GAZP"), sector("SBER")), (Some("Oil and gas"), None));
    let missing = &reply.value.missing;
    assert_eq!(
        missing,
        &["sectors: the simulated exchange failed with status 500 (asked for Finance)"]
    );
}

#[tokio::test(start_paused = true)]
async fn sectors_are_requested_once_a_month() {
    let fixture = fixture().await;
    fixture.constituents("IMOEX", "2026-11-06").await.unwrap();
    let first = fixture.request_count("analytics");
    assert!(first <= 14, "{first}");
    fixture.constituents("IMOEX", "2026-11-05").await.unwrap();
    fixture.constituents("RTSI", "2026-11-03").await.unwrap();
    // The two indices themselves, and the other index at the start of the month.
    assert!(
        fixture.request_count("analytics") <= first + 4,
        "{first} {}",
        fixture.request_count("analytics")
    );
}

#[tokio::test(start_paused = true)]
async fn an_index_that_is_listed_and_empty_is_not_unknown() {
    let fixture = fixture().await;
    fixture.constituents("RTSI", "2026-11-06").await.unwrap();
    fixture
        .inject(InjectedFault::new(FaultKind::EmptyBlocks, 100).on("/iss/*/analytics/IMOEX.json"));
    let fault = fixture.constituents("IMOEX", "2026-11-06").await.unwrap_err();
    assert_eq!((fault.kind(), fault.code()), (Kind::Unavailable, "upstream_incomplete"));
}

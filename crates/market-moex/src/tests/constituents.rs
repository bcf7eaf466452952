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
    let told = fixture.constituents("imoex", "2026-11-06").await.unwrap();
    let basket = &told.value;
    assert_eq!((basket.index.as_str(), basket.effective), ("IMOEX", date("2026-11-06")));
    assert_eq!(basket.name.as_deref(), Some("Индекс МосБиржи"));
    assert!(basket.constituents.len() > 20, "{}", basket.constituents.len());
    check_whole(basket);
    assert!(!told.freshness.stale && told.freshness.fallback.is_none());
    assert_eq!(told.freshness.delay, Delay::EndOfDay);
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
    for (asked, effective) in
        [("2026-11-08", "2026-11-06"), ("2026-11-04", "2026-11-03"), ("2027-03-01", "2026-11-10")]
    {
        let told = fixture.constituents("RTSI", asked).await.unwrap();
        assert_eq!((told.value.requested, told.value.effective), (date(asked), date(effective)));
        assert!(told.freshness.fallback.unwrap().contains(effective), "{asked}");
        check_whole(&told.value);
    }
}

#[tokio::test(start_paused = true)]
async fn todays_basket_has_the_prices_of_the_session() {
    let fixture = fixture_at("2026-11-11T19:30:00", |_| {}).await;
    let told = fixture.constituents("IMOEX", "2026-11-11").await.unwrap();
    assert_eq!(told.value.effective, date("2026-11-11"));
    assert_eq!(told.freshness.delay, Delay::Delayed15m);
    let member = told.value.constituents.iter().find(|it| it.code == "LKOH").unwrap();
    let is = fixture.snapshot("LKOH").await.unwrap().value;
    assert_eq!((member.price, member.change_pct), (Some(is.last), is.change_pct));
    check_whole(&told.value);
}

#[tokio::test(start_paused = true)]
async fn a_split_is_no_fall() {
    let fixture = fixture().await;
    let told = fixture.constituents("IMOEX", "2024-02-21").await.unwrap();
    let member = told.value.constituents.iter().find(|it| it.code == "TRNFP").unwrap();
    // The share was not traded on the day before the split, so it has no change.
    assert_eq!((member.price.is_some(), member.change_pct), (true, None));
    let told = fixture.constituents("IMOEX", "2024-02-22").await.unwrap();
    let member = told.value.constituents.iter().find(|it| it.code == "TRNFP").unwrap();
    let (low, high): (Decimal, Decimal) = ("-20".parse().unwrap(), "20".parse().unwrap());
    assert!(member.change_pct.is_some_and(|pct| low < pct && pct < high), "{member:?}");
}

#[tokio::test(start_paused = true)]
async fn what_is_no_index_and_what_was_before_it() {
    let fixture = fixture().await;
    for (index, meant) in [("IMOEXX", "IMOEX"), ("SBER", ""), ("../X", ""), ("", "")] {
        let fault = fixture.constituents(index, "2026-11-06").await.unwrap_err();
        assert_eq!((fault.kind(), fault.code()), (Kind::NotFound, "unknown_index"), "{index}");
        assert!(fault.message().contains(meant), "{fault}");
    }
    assert_eq!(fixture.asked("analytics"), 0);
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
async fn what_cannot_be_had_is_named_as_missing() {
    let fixture = fixture().await;
    fixture.inject(InjectedFault::new(FaultKind::Status500, 400).on("/iss/history/*"));
    let told = fixture.constituents("IMOEX", "2026-11-06").await.unwrap();
    let basket = &told.value;
    assert!(basket.constituents.iter().all(|it| it.price.is_none()));
    assert!(basket.missing[0].starts_with("prices: the exchange failed"), "{:?}", basket.missing);
}

#[tokio::test(start_paused = true)]
async fn sectors_that_did_not_exist_take_nothing_from_those_that_did() {
    let fixture = fixture().await;
    let told = fixture.constituents("IMOEX", "2016-03-03").await.unwrap();
    check_whole(&told.value);
    let known = told.value.constituents.iter().filter(|it| it.sector.is_some()).count();
    assert!(known * 2 > told.value.constituents.len(), "{known}");
    // Days on which there cannot be data are not requested.
    assert!(fixture.asked("analytics") < 15, "{}", fixture.asked("analytics"));
}

#[tokio::test(start_paused = true)]
async fn one_sector_that_fails_is_named_and_the_others_stay() {
    let fixture = fixture_at(NOON, |config| config.http.retries = 0).await;
    fixture.inject(InjectedFault::new(FaultKind::Status500, 1).on("/iss/*/analytics/MOEXFN.json"));
    let told = fixture.constituents("IMOEX", "2026-11-06").await.unwrap();
    let sector = |code: &str| told.value.constituents.iter().find(|it| it.code == code)?.sector;
    assert_eq!((sector("GAZP"), sector("SBER")), (Some("Oil and gas"), None));
    let missing = &told.value.missing;
    assert_eq!(missing, &["sectors: the exchange failed with status 500 (asked for Finance)"]);
}

#[tokio::test(start_paused = true)]
async fn sectors_are_asked_for_once_a_month() {
    let fixture = fixture().await;
    fixture.constituents("IMOEX", "2026-11-06").await.unwrap();
    let first = fixture.asked("analytics");
    assert!(first <= 14, "{first}");
    fixture.constituents("IMOEX", "2026-11-05").await.unwrap();
    fixture.constituents("RTSI", "2026-11-03").await.unwrap();
    // The two indices themselves, and the other index at the start of the month.
    assert!(fixture.asked("analytics") <= first + 4, "{first} {}", fixture.asked("analytics"));
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

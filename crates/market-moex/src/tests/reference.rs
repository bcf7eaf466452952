//! Search, dividends, splits and the calendar.

use fault::Kind;
use market::{
    DayBasis, DividendSource, SecurityMatch, SecuritySearch, SplitSource, TradingCalendar,
    TradingDay,
};

use super::*;

async fn search(fixture: &Fixture, text: &str) -> Vec<SecurityMatch> {
    fixture.moex.search(text, 10).await.unwrap().value
}

#[tokio::test(start_paused = true)]
async fn names_codes_and_isins_are_found_in_both_languages() {
    let fixture = fixture().await;
    for text in ["SBER", "sber", "Сбербанк", "сбербанк", "Sberbank", "RU0009029540"]
    {
        let found = search(&fixture, text).await;
        assert_eq!(found.first().map(|it| it.code.as_str()), Some("SBER"), "{text}: {found:?}");
        assert!(found[0].traded);
    }
    let found = search(&fixture, "газпром").await;
    assert!(found.iter().any(|it| it.code == "GAZP"), "{found:?}");
    assert!(search(&fixture, "IMOEX").await.iter().any(|it| it.code == "IMOEX"));
    assert!(search(&fixture, "zzzzzz").await.is_empty());
    for text in ["", "   ", &"x".repeat(101)] {
        assert_eq!(fixture.moex.search(text, 10).await.unwrap_err().kind(), Kind::Invalid);
    }
    assert_eq!(fixture.moex.search("ао", 3).await.unwrap().value.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_search_without_the_exchange_is_marked_as_partial() {
    let fixture = fixture().await;
    fixture.moex.securities().await.unwrap();
    fixture.inject(InjectedFault::new(FaultKind::Status503, 4).on("/iss/securities.json"));
    let reply = fixture.moex.search("Лукойл", 10).await.unwrap();
    assert_eq!(reply.value[0].code, "LKOH");
    assert!(reply.freshness.fallback.unwrap().contains("only the main board"));
}

#[tokio::test(start_paused = true)]
async fn dividends_ascend_and_unknown_codes_are_refused() {
    let fixture = fixture().await;
    let reply = fixture.moex.dividends("SBER").await.unwrap();
    assert!(reply.value.len() > 2);
    assert!(reply.value.is_sorted_by_key(|it| it.record_date));
    assert!(reply.value.iter().all(|it| it.currency == "RUB" && !it.value.is_negative()));
    let fault = fixture.moex.dividends("SBERR").await.unwrap_err();
    assert_eq!(fault.code(), "unknown_symbol");
    assert_eq!(fixture.request_count("dividends"), 1);
}

#[tokio::test(start_paused = true)]
async fn splits_are_returned_for_all_or_for_one_code() {
    let fixture = fixture().await;
    let all = fixture.moex.splits(None).await.unwrap().value;
    assert!(all.len() >= 5 && all.is_sorted_by_key(|it| it.date));
    let one = fixture.moex.splits(Some("TRNFP")).await.unwrap().value;
    let shown: Vec<_> =
        one.iter().map(|it| format!("{} {}:{}", it.date, it.before, it.after)).collect();
    assert_eq!(shown, ["2024-02-21 1:100"]);
    assert!(fixture.moex.splits(Some("SBER")).await.unwrap().value.is_empty());
    assert!(fixture.moex.splits(Some("NOPE")).await.is_err());
}

fn on(days: &[TradingDay], text: &str) -> TradingDay {
    *days.iter().find(|day| day.date == date(text)).unwrap()
}

#[tokio::test(start_paused = true)]
async fn past_days_follow_the_record_and_future_days_the_announcements() {
    let fixture = fixture().await;
    let reply = fixture.moex.trading_days(date("2026-10-30"), date("2027-01-12")).await.unwrap();
    let days = &reply.value;
    assert_eq!(days.len(), 75);
    assert!(days.is_sorted_by(|left, right| left.date < right.date));
    for (text, is_trading, basis) in [
        ("2026-11-03", true, DayBasis::Record),
        ("2026-11-04", false, DayBasis::Record),
        ("2026-11-11", true, DayBasis::Weekly),
        ("2026-11-16", true, DayBasis::Weekly),
        // The timetable has no trading on Saturdays, but Saturdays were traded for a year.
        ("2026-11-28", true, DayBasis::Weekly),
        ("2026-12-31", false, DayBasis::Announced),
    ] {
        let day = on(days, text);
        assert_eq!((day.is_trading, day.basis), (is_trading, basis), "{text}");
        assert!(is_trading || day.session.is_none());
    }
    let session = on(days, "2026-11-16").session.unwrap();
    assert!(session.opens < session.closes);
    // Saturdays and Sundays have their own sessions now; the history contains them.
    assert!(on(days, "2026-11-07").is_trading);
}

#[tokio::test(start_paused = true)]
async fn without_a_record_the_weekly_rule_is_used_and_marked() {
    let fixture = fixture().await;
    fixture.moex.securities().await.unwrap();
    fixture.inject(InjectedFault::new(FaultKind::Html, 100).on("/iss/*/candleborders.json"));
    let reply = fixture.moex.trading_days(date("2026-11-02"), date("2026-11-06")).await.unwrap();
    assert!(reply.freshness.stale);
    assert!(reply.freshness.fallback.unwrap().contains("by rule"));
    assert_eq!(on(&reply.value, "2026-11-05").basis, DayBasis::Weekly);
    for (from, to) in [("2026-11-06", "2026-11-02"), ("2006-11-06", "2026-11-02")] {
        let fault = fixture.moex.trading_days(date(from), date(to)).await.unwrap_err();
        assert_eq!((fault.kind(), fault.code()), (Kind::Invalid, "invalid_range"));
    }
}

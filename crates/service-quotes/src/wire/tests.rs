//! The text of a history page: it is cut at a length and names the call for the rest.

use std::sync::Arc;

use contract::Reply as _;
use market::Interval;
use serde_json::Value;

use super::{HistoricalArgs, HistoryPage, without_trailing_zeros};
use crate::reply::{BarRow, HistoryQuery, HistoryReply, LiveReply, QuoteRow};

fn page(bars: usize, digits: usize) -> HistoryPage {
    let number = format!("1.{}", "3".repeat(digits));
    let bar = |at: usize| BarRow {
        ticker: Arc::from("BTCUSDT"),
        timestamp: format!("2024-01-01T{:02}:{:02}:00Z", at / 60, at % 60),
        open: number.clone(),
        high: number.clone(),
        low: number.clone(),
        close: number.clone(),
        volume: None,
    };
    let history = HistoryReply {
        bars: (0..bars).map(bar).collect(),
        total: 1000,
        missing: Vec::new(),
        freshness: None,
        gaps: None,
        request_id: "r".into(),
        source_status: 200,
    };
    let day = clock::parse_date("2024-01-01").unwrap();
    let query = HistoryQuery {
        tickers: vec!["BTCUSDT".to_owned()],
        from: day,
        to: day,
        interval: Interval::M1,
        page: 2,
        page_size: bars,
    };
    HistoryPage { history, query }
}

fn named_call(text: &str, before: &str) -> Option<HistoryQuery> {
    let line = text.lines().find_map(|line| line.strip_prefix(before))?;
    let args: Value = line.strip_prefix("quotes_historical ")?.parse().ok()?;
    let args: HistoricalArgs = serde_json::from_value(args).ok()?;
    HistoryQuery::try_from(args).ok()
}

#[test]
fn the_text_names_the_call_for_the_next_page() {
    let next = named_call(&page(50, 4).text(), "next: ").unwrap();
    assert_eq!((next.page, next.page_size), (3, 50));
    assert!(named_call(&page(50, 4).text(), "cut here; all of it: ").is_none());
}

#[test]
fn a_long_page_is_cut_and_names_the_call_for_the_rest() {
    let page = page(200, 28);
    let text = page.text();
    assert!(text.len() < 24_000, "{}", text.len());
    let rest = named_call(&text, "cut here; all of it: ").unwrap();
    let first = rest.offset();
    assert!(rest.page_size < 200 && first <= page.query.offset());
    assert!(first + rest.page_size as u64 > page.query.offset(), "it begins on another page");
}

#[test]
fn trailing_zeros_are_removed_from_the_text_only() {
    for (exact, read) in [("1.50000000", "1.5"), ("2.00", "2"), ("100", "100"), ("0.0", "0")] {
        assert_eq!(without_trailing_zeros(exact), read);
    }
    assert_eq!(page(1, 4).result()["items"][0]["open"], "1.3333");
    let quote = QuoteRow {
        ticker: "BTCUSDT".to_owned(),
        price: "87070.45000000".to_owned(),
        currency: "USDT".to_owned(),
        as_of: "2024-01-01T00:00:00Z".to_owned(),
        volume: None,
    };
    let live = LiveReply {
        quotes: vec![quote],
        missing: Vec::new(),
        freshness: None,
        request_id: "r".into(),
        source_status: 200,
    };
    assert!(live.text().starts_with("BTCUSDT 87070.45 USDT as of"), "{}", live.text());
    assert_eq!(live.result()["quotes"][0]["price"], "87070.45000000");
}

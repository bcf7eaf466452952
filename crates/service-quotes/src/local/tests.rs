//! `LocalApi` over fake venues and an in-memory archive: order, missing tickers, pages.

use std::collections::HashMap;

use contract::Progress;
use market::{ArchivePage, BarArchive, BarBatch, Decimal, Interval, Listing, Symbol};
use testkit::FakeClock;
use tokio::sync::Barrier;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::*;

const NOW: Millis = Millis(1_700_000_000_000);
const DAY_MS: i64 = 86_400_000;

/// A venue that lists some codes and may wait for another venue before it answers.
struct FakeVenue {
    codes: Vec<&'static str>,
    /// The fault of every call.
    fault: Option<&'static str>,
    /// Where every call waits for a call of another venue.
    barrier: Option<Arc<Barrier>>,
}

fn venue(codes: &[&'static str]) -> FakeVenue {
    FakeVenue { codes: codes.to_vec(), fault: None, barrier: None }
}

fn one() -> Decimal {
    Decimal::from_parts(1, 0).unwrap()
}

#[async_trait]
impl QuoteSource for FakeVenue {
    async fn latest(&self, symbols: &[Symbol]) -> Result<Vec<Result<Arc<Quote>, Fault>>, Fault> {
        if let Some(barrier) = &self.barrier {
            barrier.wait().await;
        }
        if let Some(message) = self.fault {
            return Err(Fault::unavailable("upstream_failed", message));
        }
        let quote = |symbol: &Symbol| {
            if !self.codes.contains(&symbol.code.as_str()) {
                let message = format!("{} is not listed", symbol.code);
                return Err(Fault::not_found("unknown_symbol", message));
            }
            let freshness = Freshness {
                source: "test".to_owned(),
                as_of: NOW,
                received_at: NOW,
                delay: Delay::RealTime,
                stale: false,
                fallback: None,
            };
            let (symbol, currency) = (symbol.clone(), "RUB".to_owned());
            Ok(Arc::new(Quote { symbol, price: one(), currency, volume: None, freshness }))
        };
        Ok(symbols.iter().map(quote).collect())
    }
}

#[async_trait]
impl SymbolSource for FakeVenue {
    async fn listing(&self) -> Result<Arc<Listing>, Fault> {
        let listed = self.codes.iter().map(|code| ((*code).to_owned(), "RUB".to_owned()));
        Ok(Arc::new(Listing { quote_assets: listed.collect(), ..Listing::default() }))
    }
}

/// The days of the bars of each code.
#[derive(Default)]
struct FakeArchive(HashMap<String, Vec<i64>>);

#[async_trait]
impl BarArchive for FakeArchive {
    async fn missing(&self, _: &BarSeries, _: TimeRange) -> Result<Vec<TimeRange>, Fault> {
        Ok(Vec::new())
    }

    async fn append(&self, _: &BarSeries, _: &BarBatch) -> Result<(), Fault> {
        Ok(())
    }

    async fn page(&self, request: &PageRequest<'_>) -> Result<ArchivePage, Fault> {
        let mut all = Vec::new();
        for (at, series) in request.series.iter().enumerate() {
            for day in self.0.get(&series.symbol.code).into_iter().flatten() {
                let open_time = Millis(day * DAY_MS);
                let (open, high, low, close) = (one(), one(), one(), one());
                all.push((at, Bar { open_time, open, high, low, close, volume: None }));
            }
        }
        let total = all.len() as u64;
        let bars = all.into_iter().skip(request.offset as usize).take(request.limit).collect();
        Ok(ArchivePage { bars, total, totals: Vec::new() })
    }

    async fn received_at(&self, series: &[BarSeries]) -> Result<Vec<Option<Millis>>, Fault> {
        Ok(vec![Some(NOW); series.len()])
    }

    async fn codes(&self, _: &str) -> Result<Vec<String>, Fault> {
        Ok(Vec::new())
    }
}

fn api(venues: Vec<(Venue, FakeVenue)>, archive: FakeArchive) -> LocalApi {
    let ports = |venue: FakeVenue| {
        let venue = Arc::new(venue);
        VenuePorts {
            source: "test".to_owned(),
            quotes: Arc::clone(&venue) as _,
            symbols: venue,
            bars: None,
            health: Box::new(|| Box::pin(std::future::ready(VenueHealth::Up))),
        }
    };
    let history = BarHistory::new(
        Arc::new(archive),
        Arc::new(FakeClock::new(NOW)),
        TaskTracker::new(),
        CancellationToken::new(),
    );
    LocalApi::new(LocalApiParts {
        venues: venues.into_iter().map(|(name, venue)| (name, ports(venue))).collect(),
        default_venue: Venue::Moex,
        history: Arc::new(history),
    })
}

fn context() -> ApiContext {
    let deadline = Instant::now() + Duration::from_secs(10);
    ApiContext { request_id: "r".into(), deadline, progress: Progress::default() }
}

fn names(tickers: &[&str]) -> Vec<String> {
    tickers.iter().map(|&it| it.to_owned()).collect()
}

async fn live(api: &LocalApi, tickers: &[&str]) -> Result<LiveReply, Fault> {
    api.live(&context(), &names(tickers)).await
}

#[tokio::test]
async fn venues_of_one_request_are_asked_at_the_same_time() {
    let barrier = Arc::new(Barrier::new(2));
    let waiting = |code| FakeVenue { barrier: Some(Arc::clone(&barrier)), ..venue(&[code]) };
    let api = api(
        vec![(Venue::Moex, waiting("SBER")), (Venue::Binance, waiting("BTCUSDT"))],
        FakeArchive::default(),
    );
    // Each venue answers only after the other one was asked as well.
    let reply = timeout(Duration::from_secs(5), live(&api, &["SBER", "BINANCE:BTCUSDT"])).await;
    assert_eq!(reply.unwrap().unwrap().quotes.len(), 2);
}

#[tokio::test]
async fn quotes_are_ordered_by_ticker_without_duplicates() {
    let api = api(
        vec![(Venue::Moex, venue(&["SBER", "GAZP"])), (Venue::Binance, venue(&["BTCUSDT"]))],
        FakeArchive::default(),
    );
    let reply = live(&api, &["sber", "BINANCE:btcusdt", "GAZP", "SBER"]).await.unwrap();
    let tickers: Vec<_> = reply.quotes.iter().map(|it| it.ticker.as_str()).collect();
    assert_eq!(tickers, ["BINANCE:BTCUSDT", "GAZP", "SBER"]);
    assert!(reply.missing.is_empty());
}

#[tokio::test]
async fn tickers_that_cannot_be_served_are_missing_with_their_reason() {
    let failing = FakeVenue { fault: Some("no answer"), ..venue(&[]) };
    let api = api(
        vec![(Venue::Moex, venue(&["SBER"])), (Venue::Binance, failing)],
        FakeArchive::default(),
    );
    let reply = live(&api, &["SBER", "NONE", "FILE:X", "BINANCE:BTCUSDT"]).await.unwrap();
    let missing: Vec<_> =
        reply.missing.iter().map(|it| (it.ticker.as_str(), it.retryable)).collect();
    assert_eq!(missing, [("BINANCE:BTCUSDT", true), ("FILE:X", false), ("NONE", false)]);
    assert_eq!(reply.missing[0].reason, "no answer");
    assert!(reply.missing[1].reason.contains("is not served here"));
}

#[tokio::test]
async fn when_no_ticker_can_be_served_a_retryable_fault_is_returned_first() {
    let failing = FakeVenue { fault: Some("no answer"), ..venue(&[]) };
    let api = api(
        vec![(Venue::Moex, venue(&["SBER"])), (Venue::Binance, failing)],
        FakeArchive::default(),
    );
    let fault = live(&api, &["NONE", "BINANCE:BTCUSDT"]).await.unwrap_err();
    assert_eq!(fault.code(), "upstream_failed");
    let fault = live(&api, &["NONE", "NADA"]).await.unwrap_err();
    assert_eq!(fault.kind(), Kind::NotFound);
    let reason = "is not listed; the venues are BINANCE, MOEX: write MOEX:SBER, or FILE:NAME for \
                  imported bars";
    assert_eq!(fault.message(), format!("NADA {reason}; NONE {reason}"));
    let fault = live(&api, &["SBER", "A B"]).await.unwrap_err();
    assert_eq!(
        (fault.code(), fault.problems()[0].field.as_str()),
        ("invalid_ticker", "tickers[1]")
    );
}

async fn history(api: &LocalApi, tickers: &[&str], page: u64) -> Result<HistoryReply, Fault> {
    let date = |text: &str| clock::parse_date(text).unwrap();
    let query = HistoryQuery {
        tickers: names(tickers),
        from: date("1970-01-01"),
        to: date("1970-01-31"),
        interval: Interval::D1,
        page,
        page_size: 2,
    };
    api.historical(&context(), &query).await
}

fn ticker_and_day(reply: &HistoryReply) -> Vec<String> {
    reply.bars.iter().map(|bar| format!("{} {}", bar.ticker, &bar.timestamp[8..10])).collect()
}

#[tokio::test]
async fn pages_are_ordered_by_ticker_then_time_and_end_with_an_empty_one() {
    let days = HashMap::from([("SBER".to_owned(), vec![0, 1]), ("GAZP".to_owned(), vec![0, 1, 2])]);
    let api = api(vec![(Venue::Moex, venue(&["SBER", "GAZP"]))], FakeArchive(days));
    for (page, bars) in [
        (1, vec!["GAZP 01", "GAZP 02"]),
        (2, vec!["GAZP 03", "SBER 01"]),
        (3, vec!["SBER 02"]),
        (4, vec![]),
        (u64::MAX, vec![]),
    ] {
        let reply = history(&api, &["SBER", "GAZP"], page).await.unwrap();
        assert_eq!((ticker_and_day(&reply), reply.total), (names(&bars), 5), "page {page}");
    }
}

#[tokio::test]
async fn history_without_a_ticker_lists_it_as_missing_and_without_all_fails() {
    let days = HashMap::from([("SBER".to_owned(), vec![0])]);
    let api = api(vec![(Venue::Moex, venue(&["SBER"]))], FakeArchive(days));
    let reply = history(&api, &["SBER", "SBRE", "FILE:X"], 1).await.unwrap();
    let missing: Vec<_> = reply.missing.iter().map(|it| it.ticker.as_str()).collect();
    assert_eq!((ticker_and_day(&reply), missing), (names(&["SBER 01"]), vec!["FILE:X", "SBRE"]));
    assert!(reply.missing[1].reason.contains("did you mean SBER?"));
    assert_eq!(history(&api, &["SBRE"], 1).await.unwrap_err().code(), "unknown_symbol");
}

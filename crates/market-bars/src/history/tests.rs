//! Fills from a venue that has published all its bars, or is late within or beyond its allowed delay.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};

use crate::BarStore;
use async_trait::async_trait;
use clock::{DAY_MS, Millis, TimeRange};
use fault::Fault;
use market::{
    Bar, BarArchive, BarBatch, BarSeries, BarSource, Decimal, Interval, PageRequest, Symbol,
    TradingHours, Venue,
};
use store::{Db, StoreConfig};
use testkit::{FakeClock, TempFolder};
use tokio::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::{BarHistory, FillOptions};

const MINUTE: i64 = 60_000;
/// Noon of some day.
const NOON: i64 = 20_000 * DAY_MS + DAY_MS / 2;

/// A venue with a bar for every interval that opens before `published_to`.
struct FakeVenue {
    published_to: AtomicI64,
    requests: AtomicUsize,
    publish_delay_min: AtomicU64,
}

#[async_trait]
impl BarSource for FakeVenue {
    fn source(&self) -> &str {
        "test"
    }

    fn trading_hours(&self) -> TradingHours {
        TradingHours::AlwaysOpen
    }

    fn publish_delay_max(&self) -> Duration {
        Duration::from_mins(self.publish_delay_min.load(Ordering::SeqCst))
    }

    async fn bars(&self, _: &str, interval: Interval, range: TimeRange) -> Result<BarBatch, Fault> {
        self.requests.fetch_add(1, Ordering::SeqCst);
        let to = Millis(self.published_to.load(Ordering::SeqCst)).clamp(range.from, range.to);
        let one = Decimal::from_parts(1, 0).unwrap();
        let mut bars = Vec::new();
        let mut at = interval.open_at_or_after(range.from);
        while at < to {
            let bar =
                Bar { open_time: at, open: one, high: one, low: one, close: one, volume: None };
            bars.push(bar);
            at = interval.next_open(at);
        }
        Ok(BarBatch { bars, covered: TimeRange::new(range.from, to), received_at: to })
    }

    async fn first_open(&self, _: &str, _: Interval) -> Result<Option<Millis>, Fault> {
        Ok(Some(Millis(0)))
    }
}

struct Fixture {
    history: BarHistory,
    clock: Arc<FakeClock>,
    venue: Arc<FakeVenue>,
    interval: Interval,
    _folder: TempFolder,
}

impl Fixture {
    async fn new(interval: Interval) -> Self {
        let folder = TempFolder::new();
        let db = Db::open(&StoreConfig::sqlite(folder.path())).await.unwrap();
        db.migrate(&[crate::MIGRATIONS]).await.unwrap();
        let clock = Arc::new(FakeClock::new(Millis(NOON)));
        let archive: Arc<dyn BarArchive> = Arc::new(BarStore::new(db));
        let venue = Arc::new(FakeVenue {
            published_to: AtomicI64::new(NOON),
            requests: AtomicUsize::new(0),
            publish_delay_min: AtomicU64::new(10),
        });
        let shared = Arc::<FakeClock>::clone(&clock);
        let history =
            BarHistory::new(archive, shared, TaskTracker::new(), CancellationToken::new());
        Self { history, clock, venue, interval, _folder: folder }
    }

    fn series(&self) -> BarSeries {
        let symbol = Symbol { venue: Venue::Binance, code: "X".to_owned() };
        BarSeries { source: "test".to_owned(), symbol, interval: self.interval }
    }

    /// Fills the closed part of `[from, to)`; returns the known end and the number of bars.
    async fn fill_and_count(&self, from: i64, to: i64) -> Result<(i64, u64), Fault> {
        let range =
            self.history.closed_part(self.interval, TimeRange::new(Millis(from), Millis(to)));
        let options = FillOptions {
            deadline: Instant::now() + Duration::from_secs(20),
            progress: &|_, _| {},
        };
        let source: Arc<dyn BarSource> = Arc::<FakeVenue>::clone(&self.venue);
        let end = self.history.fill(&source, &self.series(), range, &options).await?;
        let series = [self.series()];
        let page = PageRequest { series: &series, range, offset: 0, limit: 1 };
        Ok((end.0, self.history.page(&page).await?.total))
    }
}

#[tokio::test]
async fn a_bar_is_fetched_as_soon_as_it_has_closed() {
    for (interval, step) in [(Interval::D1, DAY_MS), (Interval::M1, MINUTE)] {
        let fixture = Fixture::new(interval).await;
        let open = interval.open_of(Millis(NOON)).0;
        assert_eq!(
            fixture.fill_and_count(open - 5 * step, NOON + DAY_MS).await.unwrap(),
            (open, 5)
        );
        let next = open + step;
        fixture.clock.set(Millis(next + 1_000));
        fixture.venue.published_to.store(next, Ordering::SeqCst);
        assert_eq!(
            fixture.fill_and_count(open - 5 * step, next + DAY_MS).await.unwrap(),
            (next, 6)
        );
        let requests = fixture.venue.requests.load(Ordering::SeqCst);
        fixture.fill_and_count(open - 5 * step, next + DAY_MS).await.unwrap();
        assert_eq!(fixture.venue.requests.load(Ordering::SeqCst), requests, "nothing was missing");
    }
}

#[tokio::test]
async fn unpublished_bars_make_the_end_earlier_and_are_fetched_later() {
    let fixture = Fixture::new(Interval::M1).await;
    fixture.venue.published_to.store(NOON - 3 * MINUTE, Ordering::SeqCst);
    let from = NOON - 10 * MINUTE;
    assert_eq!(fixture.fill_and_count(from, NOON).await.unwrap(), (NOON - 3 * MINUTE, 7));
    // The same when no bar of the range is published.
    assert_eq!(fixture.fill_and_count(NOON - MINUTE, NOON).await.unwrap(), (NOON - MINUTE, 0));
    fixture.venue.published_to.store(NOON, Ordering::SeqCst);
    assert_eq!(fixture.fill_and_count(from, NOON).await.unwrap(), (NOON, 10));
}

#[tokio::test]
async fn a_venue_that_stopped_publishing_is_incomplete() {
    let fixture = Fixture::new(Interval::M1).await;
    fixture.venue.published_to.store(NOON - 60 * MINUTE, Ordering::SeqCst);
    let fault = fixture.fill_and_count(NOON - 100 * MINUTE, NOON).await.unwrap_err();
    assert_eq!(fault.code(), "upstream_incomplete");
    assert!(fault.kind().is_retryable() && fault.retry_wait().is_some());
    assert_eq!(
        fixture.fill_and_count(NOON - 100 * MINUTE, NOON - 60 * MINUTE).await.unwrap().1,
        40
    );
}

#[tokio::test]
async fn a_venue_may_publish_as_late_as_its_delay_allows() {
    let fixture = Fixture::new(Interval::M1).await;
    fixture.venue.published_to.store(NOON - 20 * MINUTE, Ordering::SeqCst);
    let from = NOON - 30 * MINUTE;
    assert_eq!(fixture.fill_and_count(from, NOON).await.unwrap_err().code(), "upstream_incomplete");
    fixture.venue.publish_delay_min.store(30, Ordering::SeqCst);
    assert_eq!(fixture.fill_and_count(from, NOON).await.unwrap(), (NOON - 20 * MINUTE, 10));
}

#[tokio::test]
async fn a_caller_whose_range_is_longer_than_the_running_fill_gets_all_its_bars() {
    let fixture = Fixture::new(Interval::M1).await;
    // Each range is longer than the one before, so each call first waits for fills that leave bars
    // missing.
    let calls = (1..=40).map(|count| fixture.fill_and_count(NOON - count * MINUTE, NOON));
    for (count, result) in (1..).zip(futures_util::future::join_all(calls).await) {
        assert_eq!(result.unwrap(), (NOON, count));
    }
}

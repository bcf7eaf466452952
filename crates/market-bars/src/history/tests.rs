//! Filling from a venue that is complete, late, or far too late, on a real archive.

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

/// Has a bar for every step up to where it has come.
struct Exchange {
    told_to: AtomicI64,
    asked: AtomicUsize,
    late_min: AtomicU64,
}

#[async_trait]
impl BarSource for Exchange {
    fn source(&self) -> &str {
        "test"
    }

    fn trading_hours(&self) -> TradingHours {
        TradingHours::AlwaysOpen
    }

    fn publish_delay_max(&self) -> Duration {
        Duration::from_mins(self.late_min.load(Ordering::SeqCst))
    }

    async fn bars(&self, _: &str, interval: Interval, span: TimeRange) -> Result<BarBatch, Fault> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let to = Millis(self.told_to.load(Ordering::SeqCst)).clamp(span.from, span.to);
        let one = Decimal::from_parts(1, 0).unwrap();
        let mut bars = Vec::new();
        let mut at = interval.open_at_or_after(span.from);
        while at < to {
            let bar =
                Bar { open_time: at, open: one, high: one, low: one, close: one, volume: None };
            bars.push(bar);
            at = interval.next_open(at);
        }
        Ok(BarBatch { bars, covered: TimeRange::new(span.from, to), received_at: to })
    }

    async fn first_open(&self, _: &str, _: Interval) -> Result<Option<Millis>, Fault> {
        Ok(Some(Millis(0)))
    }
}

struct House {
    history: BarHistory,
    clock: Arc<FakeClock>,
    exchange: Arc<Exchange>,
    interval: Interval,
    _folder: TempFolder,
}

impl House {
    async fn new(interval: Interval) -> Self {
        let folder = TempFolder::new();
        let db = Db::open(&StoreConfig::sqlite(folder.path())).await.unwrap();
        db.migrate(&[crate::MIGRATIONS]).await.unwrap();
        let clock = Arc::new(FakeClock::new(Millis(NOON)));
        let archive: Arc<dyn BarArchive> = Arc::new(BarStore::new(db));
        let exchange = Arc::new(Exchange {
            told_to: AtomicI64::new(NOON),
            asked: AtomicUsize::new(0),
            late_min: AtomicU64::new(10),
        });
        let shared = Arc::<FakeClock>::clone(&clock);
        let history =
            BarHistory::new(archive, shared, TaskTracker::new(), CancellationToken::new());
        Self { history, clock, exchange, interval, _folder: folder }
    }

    fn series(&self) -> BarSeries {
        let symbol = Symbol { venue: Venue::Binance, code: "X".to_owned() };
        BarSeries { source: "test".to_owned(), symbol, interval: self.interval }
    }

    /// Completes `[from, to)` as far as bars have closed; the end, and how many bars there are.
    async fn ask(&self, from: i64, to: i64) -> Result<(i64, u64), Fault> {
        let span =
            self.history.closed_part(self.interval, TimeRange::new(Millis(from), Millis(to)));
        let options = FillOptions {
            deadline: Instant::now() + Duration::from_secs(20),
            progress: &|_, _| {},
        };
        let source: Arc<dyn BarSource> = Arc::<Exchange>::clone(&self.exchange);
        let end = self.history.fill(&source, &self.series(), span, &options).await?;
        let series = [self.series()];
        let page = PageRequest { series: &series, range: span, offset: 0, limit: 1 };
        Ok((end.0, self.history.page(&page).await?.total))
    }
}

#[tokio::test]
async fn a_bar_is_there_as_soon_as_it_has_closed() {
    for (interval, step) in [(Interval::D1, DAY_MS), (Interval::M1, MINUTE)] {
        let house = House::new(interval).await;
        let open = interval.open_of(Millis(NOON)).0;
        assert_eq!(house.ask(open - 5 * step, NOON + DAY_MS).await.unwrap(), (open, 5));
        let next = open + step;
        house.clock.set(Millis(next + 1_000));
        house.exchange.told_to.store(next, Ordering::SeqCst);
        assert_eq!(house.ask(open - 5 * step, next + DAY_MS).await.unwrap(), (next, 6));
        let asked = house.exchange.asked.load(Ordering::SeqCst);
        house.ask(open - 5 * step, next + DAY_MS).await.unwrap();
        assert_eq!(house.exchange.asked.load(Ordering::SeqCst), asked, "nothing was missing");
    }
}

#[tokio::test]
async fn a_late_venue_is_told_as_an_earlier_end_and_mended_later() {
    let house = House::new(Interval::M1).await;
    house.exchange.told_to.store(NOON - 3 * MINUTE, Ordering::SeqCst);
    let from = NOON - 10 * MINUTE;
    assert_eq!(house.ask(from, NOON).await.unwrap(), (NOON - 3 * MINUTE, 7));
    // Even where all of the span is late.
    assert_eq!(house.ask(NOON - MINUTE, NOON).await.unwrap(), (NOON - MINUTE, 0));
    house.exchange.told_to.store(NOON, Ordering::SeqCst);
    assert_eq!(house.ask(from, NOON).await.unwrap(), (NOON, 10));
}

#[tokio::test]
async fn a_venue_that_stopped_telling_is_no_complete_history() {
    let house = House::new(Interval::M1).await;
    house.exchange.told_to.store(NOON - 60 * MINUTE, Ordering::SeqCst);
    let fault = house.ask(NOON - 100 * MINUTE, NOON).await.unwrap_err();
    assert_eq!(fault.code(), "upstream_incomplete");
    assert!(fault.kind().is_retryable() && fault.retry_wait().is_some());
    assert_eq!(house.ask(NOON - 100 * MINUTE, NOON - 60 * MINUTE).await.unwrap().1, 40);
}

#[tokio::test]
async fn a_venue_may_be_as_late_as_it_says() {
    let house = House::new(Interval::M1).await;
    house.exchange.told_to.store(NOON - 20 * MINUTE, Ordering::SeqCst);
    let from = NOON - 30 * MINUTE;
    assert_eq!(house.ask(from, NOON).await.unwrap_err().code(), "upstream_incomplete");
    house.exchange.late_min.store(30, Ordering::SeqCst);
    assert_eq!(house.ask(from, NOON).await.unwrap(), (NOON - 20 * MINUTE, 10));
}

#[tokio::test]
async fn those_who_ask_for_more_than_others_are_not_told_that_the_venue_failed() {
    let house = House::new(Interval::M1).await;
    // Each asks for more than the one before, so that each waits for fills that leave it short.
    let asks = (1..=40).map(|count| house.ask(NOON - count * MINUTE, NOON));
    for (count, told) in (1..).zip(futures_util::future::join_all(asks).await) {
        assert_eq!(told.unwrap(), (NOON, count));
    }
}

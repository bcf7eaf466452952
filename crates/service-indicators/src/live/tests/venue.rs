//! A scripted venue: the opening time determines each candle, and the test decides when it closes.

use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::task::{Context, Poll};

use async_trait::async_trait;
use clock::{DAY_MS, Millis, TimeRange};
use fault::Fault;
use market::{
    Bar, BarArchive, BarBatch, BarSource, Decimal, EndCause, FeedEnd, Interval, Kline, KlineEvent,
    KlineFeed, Listing, LiveKlines, SubscribeOptions, SymbolSource, TradingHours, Venue,
    VenueHealth,
};
use market_bars::BarHistory;
use market_bars::BarStore;
use store::{Db, StoreConfig};
use testkit::{FakeClock, TempFolder};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::super::channel::READ_CHECK_PERIOD;
use super::super::{Live, LiveSetup, StreamLimits, Tasks};
use crate::candles::CandleReader;
use crate::{Market, VenueCandles};

pub(crate) const MINUTE: i64 = 60_000;
/// Opening time of the first candle that closes during a test.
pub(crate) const NOON: i64 = 20_000 * DAY_MS + DAY_MS / 2;

fn bar(at: Millis) -> Bar {
    let minute = at.0 / MINUTE;
    let price = |seed: i64| {
        let wave = (minute * 37 + seed * 11) % 101 + (minute / 7 * 13) % 53;
        Decimal::from_parts((10_000 + wave).into(), 2).unwrap()
    };
    let (open, close) = (price(1), price(2));
    let volume = Some(Decimal::from_parts((100 + minute % 17).into(), 0).unwrap());
    Bar { open_time: at, open, high: open.max(close), low: open.min(close), close, volume }
}

fn kline(at: Millis, closed: bool) -> KlineEvent {
    let kline = Kline { bar: bar(at), close_time: Millis(at.0 + MINUTE - 1), closed };
    KlineEvent::Candle { kline, as_of: at }
}

#[derive(Default)]
struct ScriptedVenue {
    /// Opening time of the forming candle.
    forming: AtomicI64,
    followed: AtomicUsize,
    /// Faults for the next subscriptions, in order; later subscriptions succeed.
    refusals: Mutex<VecDeque<Fault>>,
    feeds: Mutex<Vec<UnboundedSender<Arc<KlineEvent>>>>,
}

impl ScriptedVenue {
    fn forming(&self) -> Millis {
        Millis(self.forming.load(Ordering::SeqCst))
    }

    fn broadcast(&self, event: KlineEvent) {
        let event = Arc::new(event);
        self.feeds.lock().retain(|feed| feed.send(Arc::clone(&event)).is_ok());
    }
}

#[async_trait]
impl SymbolSource for ScriptedVenue {
    async fn listing(&self) -> Result<Arc<Listing>, Fault> {
        let listed = ["BTCUSDT", "ETHUSDT"].map(|code| (code.to_owned(), "USDT".to_owned()));
        Ok(Arc::new(Listing { quote_assets: HashMap::from(listed), ..Listing::default() }))
    }
}

#[async_trait]
impl BarSource for ScriptedVenue {
    fn source(&self) -> &str {
        "test"
    }

    fn trading_hours(&self) -> TradingHours {
        TradingHours::AlwaysOpen
    }

    async fn bars(&self, _: &str, interval: Interval, span: TimeRange) -> Result<BarBatch, Fault> {
        let covered = TimeRange::new(span.from, span.to.min(self.forming()));
        let mut bars = Vec::new();
        let mut at = interval.open_at_or_after(covered.from);
        while at < covered.to {
            bars.push(bar(at));
            at = interval.next_open(at);
        }
        Ok(BarBatch { bars, covered, received_at: covered.to })
    }

    async fn first_open(&self, _: &str, _: Interval) -> Result<Option<Millis>, Fault> {
        Ok(Some(Millis(NOON - 20_000 * MINUTE)))
    }
}

#[async_trait]
impl LiveKlines for ScriptedVenue {
    async fn subscribe(
        &self,
        _: &str,
        _: Interval,
        options: SubscribeOptions,
    ) -> Result<Box<dyn KlineFeed>, Fault> {
        if let Some(refusal) = self.refusals.lock().pop_front() {
            return Err(refusal);
        }
        self.followed.fetch_add(1, Ordering::SeqCst);
        let (sender, receiver) = unbounded_channel();
        let mut at =
            options.resume_after.map_or(self.forming(), |after| Interval::M1.next_open(after));
        while at < self.forming() {
            sender.send(Arc::new(kline(at, true))).unwrap();
            at = Interval::M1.next_open(at);
        }
        self.feeds.lock().push(sender);
        Ok(Box::new(Feed(receiver)))
    }
}

struct Feed(UnboundedReceiver<Arc<KlineEvent>>);

impl KlineFeed for Feed {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Arc<KlineEvent>>> {
        self.0.poll_recv(context)
    }
}

pub(crate) struct Fixture {
    pub(crate) live: Arc<Live>,
    pub(crate) candles: Arc<CandleReader>,
    venue: Arc<ScriptedVenue>,
    clock: Arc<FakeClock>,
    _folder: TempFolder,
}

impl Fixture {
    pub(crate) async fn new() -> Self {
        Self::with(StreamLimits::default()).await
    }

    pub(crate) async fn with(limits: StreamLimits) -> Self {
        let folder = TempFolder::new();
        let db = Db::open(&StoreConfig::sqlite(folder.path())).await.unwrap();
        db.migrate(&[market_bars::MIGRATIONS]).await.unwrap();
        let clock = Arc::new(FakeClock::new(Millis(NOON + 1_000)));
        let archive: Arc<dyn BarArchive> = Arc::new(BarStore::new(db));
        let (tracker, stop) = (TaskTracker::new(), CancellationToken::new());
        let shared = Arc::<FakeClock>::clone(&clock);
        let history = BarHistory::new(archive, shared, tracker.clone(), stop.clone());
        let venue =
            Arc::new(ScriptedVenue { forming: AtomicI64::new(NOON), ..ScriptedVenue::default() });
        let ports = VenueCandles {
            source: "test".to_owned(),
            symbols: Arc::clone(&venue) as _,
            bars: Some(Arc::clone(&venue) as _),
            live: Some(Arc::clone(&venue) as _),
        };
        let candles = Arc::new(CandleReader::new(Market {
            venues: BTreeMap::from([(Venue::Binance, ports)]),
            default_venue: Venue::Binance,
            history: Arc::new(history),
            health: Box::new(|| Box::pin(std::future::ready(VenueHealth::Up))),
        }));
        let shared = Arc::<FakeClock>::clone(&clock);
        let setup = LiveSetup { limits, ..Tasks { tracker, stop }.into() };
        let live = Live::new(Arc::clone(&candles), shared, setup);
        Self { live, candles, venue, clock, _folder: folder }
    }

    /// Closes `count` candles and waits until the channels have published them.
    pub(crate) async fn close(&self, count: i64) {
        for _ in 0..count {
            let at = self.venue.forming();
            let next = Interval::M1.next_open(at);
            self.venue.forming.store(next.0, Ordering::SeqCst);
            self.clock.set(Millis(next.0 + 1_000));
            self.venue.broadcast(kline(at, true));
        }
        settle().await;
    }

    /// Sends `count` updates of the forming candle.
    pub(crate) async fn update_forming(&self, count: usize) {
        for _ in 0..count {
            self.venue.broadcast(kline(self.venue.forming(), false));
        }
        settle().await;
    }

    pub(crate) async fn send(&self, event: KlineEvent) {
        self.venue.broadcast(event);
        settle().await;
    }

    /// Refuses the next venue subscriptions, one for each fault.
    pub(crate) fn refuse(&self, faults: impl IntoIterator<Item = Fault>) {
        self.venue.refusals.lock().extend(faults);
    }

    /// Ends all venue feeds with `TooSlow`, as after a machine's sleep.
    pub(crate) async fn end_feeds(&self) {
        let cause = EndCause::TooSlow;
        let resume_after = Millis(self.venue.forming().0 - MINUTE);
        self.send(KlineEvent::Ended(FeedEnd { cause, resume_after })).await;
        self.venue.feeds.lock().clear();
    }

    /// Waits, on paused time, until every channel has found itself without readers twice and ended.
    pub(crate) async fn retire_channels(&self) {
        tokio::time::pause();
        tokio::time::sleep(4 * READ_CHECK_PERIOD).await;
        tokio::time::resume();
        assert_eq!(self.live.channels().len(), 0, "a channel without readers still runs");
    }

    pub(crate) fn set_time(&self, now: i64) {
        self.clock.set(Millis(now));
    }

    /// Number of successful subscriptions to the venue.
    pub(crate) fn followed(&self) -> usize {
        self.venue.followed.load(Ordering::SeqCst)
    }

    pub(crate) fn bars(&self, from: i64, to: i64) -> Vec<Bar> {
        (from / MINUTE..to / MINUTE).map(|minute| bar(Millis(minute * MINUTE))).collect()
    }
}

/// All tasks run on this thread, so after 1,000 yields every task has processed its input.
async fn settle() {
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
}

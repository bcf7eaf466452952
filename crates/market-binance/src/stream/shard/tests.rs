//! The takeover of one connection by another, frame by frame. Nothing is sent: the connections that are
//! opened here lead nowhere and are never read.

use parking_lot::Mutex;
use std::task::{Context, Poll, Waker};

use clock::SystemClock;
use market::{Bar, Decimal, Kline, KlineFeed};
use market_live::LiveFeed;

use super::*;
use crate::{Binance, BinanceConfig, Observer};

/// The next candle of every series, so far in the future that no history is requested.
const NEXT: Millis = Millis(4_102_444_800_000);

#[derive(Default)]
struct Recorder(Mutex<Vec<&'static str>>);

impl Observer for Recorder {
    fn upstream(&self, _: &'static str, _: &'static str, _: Duration) {}

    fn used_weight(&self, _: u32, _: u32) {}

    fn stream(&self, what: &'static str) {
        self.0.lock().push(what);
    }
}

/// A shard whose connection 0 is to be replaced by connection 1.
struct Renewal {
    shard: Shard,
    /// One subscriber of each series.
    feeds: HashMap<String, LiveFeed>,
    recorder: Arc<Recorder>,
    _new_series: mpsc::Sender<NewSeries>,
}

impl Renewal {
    fn of(streams: &[&str]) -> Self {
        let recorder = Arc::new(Recorder::default());
        let config = BinanceConfig::new("http://127.0.0.1:1", "test");
        let observer = Arc::clone(&recorder) as Arc<dyn Observer>;
        let binance = Binance::observed(config, Arc::new(SystemClock), observer).unwrap();
        let (sender, new_series) = mpsc::channel(1);
        let shard = Shard::new(0, &binance.shared, new_series);
        let mut renewal = Self { shard, feeds: HashMap::new(), recorder, _new_series: sender };
        for stream in streams {
            renewal.follow(stream);
        }
        renewal.on_event(0, ConnectionEvent::Subscribed(names(streams)));
        renewal.on_event(0, ConnectionEvent::Ready);
        renewal.on_event(0, ConnectionEvent::Retiring);
        renewal
    }

    fn follow(&mut self, stream: &str) {
        self.follow_from(stream, NEXT);
    }

    fn follow_from(&mut self, stream: &str, expected: Millis) {
        let broadcast = Arc::new(SeriesBroadcast::new(expected, Arc::default()));
        let feed = LiveFeed::new(None, broadcast.subscribe(100), Millis(0));
        self.feeds.insert(stream.to_owned(), feed);
        let (stream, code) = (stream.to_owned(), stream.to_uppercase());
        self.shard.add_series(NewSeries {
            stream,
            code,
            interval: Interval::M1,
            expected,
            broadcast,
        });
    }

    fn on_event(&mut self, connection: u64, event: ConnectionEvent) {
        self.shard.on_event(connection, event);
    }

    fn candle(&mut self, connection: u64, stream: &str) {
        let one = Decimal::ZERO;
        let bar = Bar { open_time: NEXT, open: one, high: one, low: one, close: one, volume: None };
        let kline = Kline { bar, close_time: Millis(NEXT.0 + 59_999), closed: false };
        let update = Box::new(CandleUpdate { kline, as_of: NEXT });
        self.on_event(connection, ConnectionEvent::Candle { stream: stream.to_owned(), update });
    }

    /// Advances time by the longest that a standby connection may be mute.
    async fn pass(&mut self) {
        tokio::time::advance(self.shard.shared.config.streams.standby_timeout).await;
        assert!(!self.shard.tick());
    }

    /// Whether the standby connection has taken over: the loss of the old one is not noticed.
    fn has_moved(&mut self) -> bool {
        self.on_event(0, ConnectionEvent::Closed("it is over"));
        self.recorder.0.lock().is_empty()
    }

    /// The statuses that the subscriber of a series got.
    fn released(&mut self, stream: &str) -> Vec<KlineEvent> {
        let mut context = Context::from_waker(Waker::noop());
        let feed = self.feeds.get_mut(stream).unwrap();
        let mut all = Vec::new();
        while let Poll::Ready(Some(event)) = feed.poll_next(&mut context) {
            all.push(KlineEvent::clone(&event));
        }
        all.retain(|event| !matches!(event, KlineEvent::Candle { .. }));
        all
    }
}

fn names(streams: &[&str]) -> Vec<String> {
    streams.iter().map(|it| (*it).to_owned()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_late_frame_of_an_unsubscribed_series_does_not_block_the_takeover() {
    let mut renewal = Renewal::of(&["a"]);
    renewal.on_event(1, ConnectionEvent::Subscribed(names(&["a"])));
    renewal.on_event(1, ConnectionEvent::Ready);
    renewal.candle(0, "gone");
    renewal.pass().await;
    assert!(renewal.has_moved());
    // A late frame of a followed series does keep it out.
    let mut renewal = Renewal::of(&["a"]);
    renewal.on_event(1, ConnectionEvent::Subscribed(names(&["a"])));
    renewal.on_event(1, ConnectionEvent::Ready);
    renewal.candle(0, "a");
    renewal.pass().await;
    assert!(!renewal.has_moved());
}

#[tokio::test(start_paused = true)]
async fn a_late_confirmation_of_an_unsubscribed_series_is_not_waited_for() {
    let mut renewal = Renewal::of(&["a"]);
    renewal.on_event(1, ConnectionEvent::Subscribed(names(&["a", "gone"])));
    renewal.on_event(1, ConnectionEvent::Ready);
    renewal.candle(1, "a");
    assert!(renewal.has_moved());
    assert_eq!(renewal.released("a"), [KlineEvent::Connected]);
}

#[tokio::test(start_paused = true)]
async fn a_standby_connection_without_a_stream_takes_over_only_if_the_old_one_is_silent() {
    let lacking = || {
        let mut renewal = Renewal::of(&["a", "b"]);
        renewal.on_event(1, ConnectionEvent::Subscribed(names(&["a"])));
        renewal.on_event(1, ConnectionEvent::Refused);
        renewal.on_event(1, ConnectionEvent::Ready);
        renewal.candle(1, "a");
        assert_eq!(std::mem::take(&mut *renewal.recorder.0.lock()), ["refused"]);
        renewal
    };
    assert!(!lacking().has_moved(), "at once");
    let mut fixture = lacking();
    fixture.candle(0, "b");
    fixture.pass().await;
    assert!(!fixture.has_moved(), "the standby took over while the current connection sends");
    let mut silent = lacking();
    silent.pass().await;
    assert!(silent.has_moved());
    // The subscriber of the missing stream gets a status, and another when the stream is confirmed.
    silent.on_event(1, ConnectionEvent::Subscribed(names(&["b"])));
    use KlineEvent::{Connected, Reconnecting};
    assert_eq!(silent.released("b"), [Connected, Reconnecting, Connected]);
    assert_eq!(silent.released("a"), [Connected]);
}

#[tokio::test(start_paused = true)]
async fn streams_of_the_remaining_connection_are_live_when_the_other_is_lost() {
    let mut renewal = Renewal::of(&["a"]);
    renewal.follow("b");
    renewal.on_event(1, ConnectionEvent::Subscribed(names(&["a", "b"])));
    assert_eq!(renewal.released("b"), []);
    assert!(!renewal.has_moved());
    for stream in ["a", "b"] {
        assert_eq!(renewal.released(stream), [KlineEvent::Connected], "{stream}");
    }
}

/// Its end was announced before it could take over.
#[tokio::test(start_paused = true)]
async fn a_remaining_connection_with_an_announced_end_is_replaced() {
    let mut renewal = Renewal::of(&["a"]);
    renewal.on_event(1, ConnectionEvent::Subscribed(names(&["a"])));
    renewal.on_event(1, ConnectionEvent::Retiring);
    assert_eq!(renewal.shard.connections.retry_at(), None);
    assert!(!renewal.has_moved());
    assert_eq!(renewal.shard.connections.retry_at(), Some(Instant::now()));
    assert_eq!(renewal.released("a"), [KlineEvent::Connected]);
}

/// History without rows that is complete up to this time.
fn empty_page(complete_to: Millis) -> HistoryPage {
    HistoryPage { rows: Vec::new(), complete_to, forming: None, gap: None }
}

#[tokio::test(start_paused = true)]
async fn a_stream_is_connected_only_after_its_gap_is_filled() {
    let mut renewal = Renewal::of(&["a"]);
    renewal.follow_from("b", Millis(0));
    renewal.on_event(0, ConnectionEvent::Subscribed(names(&["b"])));
    assert_eq!(renewal.released("b"), []);
    let failed = Fault::unavailable("upstream_failed", "the history failed");
    renewal.shard.on_backfill("b", Err(failed));
    assert_eq!(renewal.released("b"), []);
    renewal.shard.on_backfill("b", Ok(empty_page(NEXT)));
    assert_eq!(renewal.released("b"), [KlineEvent::Connected]);
}

#[tokio::test(start_paused = true)]
async fn a_symbol_without_candles_is_connected_after_four_empty_answers() {
    let mut renewal = Renewal::of(&["a"]);
    renewal.follow_from("b", Millis(0));
    renewal.on_event(0, ConnectionEvent::Subscribed(names(&["b"])));
    for _ in 1..EMPTY_PAGES_MAX {
        renewal.shard.on_backfill("b", Ok(empty_page(Millis(0))));
        assert_eq!(renewal.released("b"), []);
    }
    renewal.shard.on_backfill("b", Ok(empty_page(Millis(0))));
    assert_eq!(renewal.released("b"), [KlineEvent::Connected]);
}

//! How one connection takes over from another, told frame by frame. Nothing is sent: the
//! connections that are opened here reach nobody and are never listened to.

use parking_lot::Mutex;
use std::task::{Context, Poll, Waker};

use clock::SystemClock;
use market::{Bar, Decimal, Kline, KlineFeed};
use market_live::LiveFeed;

use super::*;
use crate::{Binance, BinanceConfig, Observer};

/// The next candle of every series, far enough from now that the record is not asked for it.
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
    /// One follower of each series.
    feeds: HashMap<String, LiveFeed>,
    seen: Arc<Recorder>,
    _joining: mpsc::Sender<Joining>,
}

impl Renewal {
    fn of(streams: &[&str]) -> Self {
        let seen = Arc::new(Recorder::default());
        let config = BinanceConfig::new("http://127.0.0.1:1", "test");
        let observer = Arc::clone(&seen) as Arc<dyn Observer>;
        let binance = Binance::observed(config, Arc::new(SystemClock), observer).unwrap();
        let (sender, joining) = mpsc::channel(1);
        let shard = Shard::new(0, &binance.inner, joining);
        let mut renewal = Self { shard, feeds: HashMap::new(), seen, _joining: sender };
        for stream in streams {
            renewal.follow(stream);
        }
        renewal.hear(0, Heard::Subscribed(names(streams)));
        renewal.hear(0, Heard::Ready);
        renewal.hear(0, Heard::Retiring);
        renewal
    }

    fn follow(&mut self, stream: &str) {
        let hub = Arc::new(SeriesBroadcast::new(NEXT, Arc::default()));
        let feed = LiveFeed::new(None, hub.subscribe(100), Millis(0));
        self.feeds.insert(stream.to_owned(), feed);
        let (stream, code) = (stream.to_owned(), stream.to_uppercase());
        self.shard.join(Joining { stream, code, interval: Interval::M1, expected: NEXT, hub });
    }

    fn hear(&mut self, line: u64, heard: Heard) {
        self.shard.hear(line, heard);
    }

    fn candle(&mut self, line: u64, stream: &str) {
        let one = Decimal::ZERO;
        let bar = Bar { open_time: NEXT, open: one, high: one, low: one, close: one, volume: None };
        let kline = Kline { bar, close_time: Millis(NEXT.0 + 59_999), closed: false };
        let update = Box::new(Update { kline, as_of: NEXT });
        self.hear(line, Heard::Candle { stream: stream.to_owned(), update });
    }

    /// As long as a new connection may be mute.
    async fn pass(&mut self) {
        tokio::time::advance(self.shard.inner.config.streams.standby_within).await;
        assert!(!self.shard.tick());
    }

    /// Whether the old connection is not missed any more.
    fn has_moved(&mut self) -> bool {
        self.hear(0, Heard::Gone("it is over"));
        self.seen.0.lock().is_empty()
    }

    /// What the follower of a series was told about it.
    fn told(&mut self, stream: &str) -> Vec<KlineEvent> {
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
async fn a_late_frame_of_what_nobody_follows_does_not_keep_a_new_connection_out() {
    let mut renewal = Renewal::of(&["a"]);
    renewal.hear(1, Heard::Subscribed(names(&["a"])));
    renewal.hear(1, Heard::Ready);
    renewal.candle(0, "gone");
    renewal.pass().await;
    assert!(renewal.has_moved());
    // Of what is followed, it does.
    let mut renewal = Renewal::of(&["a"]);
    renewal.hear(1, Heard::Subscribed(names(&["a"])));
    renewal.hear(1, Heard::Ready);
    renewal.candle(0, "a");
    renewal.pass().await;
    assert!(!renewal.has_moved());
}

#[tokio::test(start_paused = true)]
async fn a_late_confirmation_of_what_nobody_follows_is_not_waited_for() {
    let mut renewal = Renewal::of(&["a"]);
    renewal.hear(1, Heard::Subscribed(names(&["a", "gone"])));
    renewal.hear(1, Heard::Ready);
    renewal.candle(1, "a");
    assert!(renewal.has_moved());
    assert_eq!(renewal.told("a"), [KlineEvent::Connected]);
}

#[tokio::test(start_paused = true)]
async fn a_new_connection_that_lacks_a_stream_takes_over_only_where_the_old_one_is_silent() {
    let lacking = || {
        let mut renewal = Renewal::of(&["a", "b"]);
        renewal.hear(1, Heard::Subscribed(names(&["a"])));
        renewal.hear(1, Heard::Refused);
        renewal.hear(1, Heard::Ready);
        renewal.candle(1, "a");
        assert_eq!(std::mem::take(&mut *renewal.seen.0.lock()), ["refused"]);
        renewal
    };
    assert!(!lacking().has_moved(), "at once");
    let mut heard = lacking();
    heard.candle(0, "b");
    heard.pass().await;
    assert!(!heard.has_moved(), "while the old one is heard");
    let mut silent = lacking();
    silent.pass().await;
    assert!(silent.has_moved());
    // Whose stream it lacks is told, and told again when that has changed.
    silent.hear(1, Heard::Subscribed(names(&["b"])));
    use KlineEvent::{Connected, Reconnecting};
    assert_eq!(silent.told("b"), [Connected, Reconnecting, Connected]);
    assert_eq!(silent.told("a"), [Connected]);
}

#[tokio::test(start_paused = true)]
async fn what_only_the_remaining_connection_carries_is_live_when_the_other_is_lost() {
    let mut renewal = Renewal::of(&["a"]);
    renewal.follow("b");
    renewal.hear(1, Heard::Subscribed(names(&["a", "b"])));
    assert_eq!(renewal.told("b"), []);
    assert!(!renewal.has_moved());
    for stream in ["a", "b"] {
        assert_eq!(renewal.told(stream), [KlineEvent::Connected], "{stream}");
    }
}

/// It was announced that it will end, before it had a random_unit to take over.
#[tokio::test(start_paused = true)]
async fn a_remaining_connection_that_is_to_end_is_replaced_in_time() {
    let mut renewal = Renewal::of(&["a"]);
    renewal.hear(1, Heard::Subscribed(names(&["a"])));
    renewal.hear(1, Heard::Retiring);
    assert_eq!(renewal.shard.lines.retry_at(), None);
    assert!(!renewal.has_moved());
    assert_eq!(renewal.shard.lines.retry_at(), Some(Instant::now()));
    assert_eq!(renewal.told("a"), [KlineEvent::Connected]);
}

//! Live candles against the simulated exchange, with the settings of production on paused time.

mod faults;
mod readers;
mod refusals;
mod renewal;
mod soak;

use market::{Bar, EndCause, FeedEnd, KlineEvent, KlineFeed, LiveKlines, SubscribeOptions};
use market_sim::StreamRules;
use tokio::time::Instant;

use super::*;

/// How long a test waits, in paused time, before it fails.
const TIMEOUT: Duration = Duration::from_hours(2);

/// An exchange and an adapter that follows it, both on tokio's time.
struct LiveFixture {
    sim: Sim,
    binance: Binance,
    exchange: Arc<InMemoryExchange>,
}

fn start() -> Millis {
    Millis(day("2026-11-10") + 6 * 3_600_000 + 30_500)
}

async fn live_fixture() -> LiveFixture {
    live_fixture_with(start(), |_| {}, |_| {}).await
}

async fn live_fixture_with(
    start: Millis,
    rules: impl FnOnce(&mut StreamRules),
    change: impl FnOnce(&mut BinanceConfig),
) -> LiveFixture {
    let clock: Arc<dyn Clock> = Arc::new(TokioClock::new(start));
    let mut sim_config = SimConfig::new(7, Arc::clone(&clock));
    rules(&mut sim_config.streams);
    let sim = Sim::new(sim_config);
    let exchange = InMemoryExchange::new(&sim);
    let mut config = config(URL);
    change(&mut config);
    let binance = adapter(&exchange, config, clock);
    LiveFixture { sim, binance, exchange }
}

impl LiveFixture {
    fn inject(&self, fault: InjectedFault) {
        self.sim.faults().add(fault).unwrap();
    }

    /// Stops the exchange for `away` after the subscriber has noticed it.
    async fn stop_exchange(&mut self, reader: &mut Reader, away: Duration) {
        self.exchange.stop();
        // A connection that was lost before was reported before, so nothing more may come.
        while let Ok(event) = tokio::time::timeout(Duration::from_mins(5), reader.next()).await {
            if is_down(&event.expect("the feed ended")) {
                break;
            }
        }
        tokio::time::sleep(away).await;
        self.exchange.start();
    }

    /// Reads on until `wanted` is true of the exchange.
    async fn until(&self, reader: &mut Reader, matches: impl Fn(&Sim) -> bool) {
        let deadline = Instant::now() + TIMEOUT;
        while !matches(&self.sim) {
            assert!(Instant::now() < deadline, "{:?}", self.sim.stream_counts());
            let next = tokio::time::timeout(Duration::from_secs(3), reader.next()).await;
            assert!(!matches!(next, Ok(None)), "the feed ended");
        }
    }

    /// Reads on until the exchange has one connection with `streams` streams.
    async fn settle(&self, reader: &mut Reader, streams: u64) {
        let one = |sim: &Sim| {
            (sim.stream_counts().connections, sim.stream_counts().streams) == (1, streams)
        };
        self.until(reader, one).await;
    }

    async fn follow(&self, code: &str, interval: Interval) -> Reader {
        self.follow_with(code, interval, SubscribeOptions::default()).await
    }

    async fn follow_with(
        &self,
        code: &str,
        interval: Interval,
        options: SubscribeOptions,
    ) -> Reader {
        // A replay also comes from history and is no gap, and a small queue drops gap events.
        let gaps = (options.resume_after.is_none() && options.queue_max >= 100).then(Vec::new);
        let feed = self.binance.subscribe(code, interval, options).await.unwrap();
        let (code, closed, statuses) = (code.to_owned(), Vec::new(), Vec::new());
        Reader { code, interval, feed, closed, gaps, statuses }
    }

    /// The closed candles that the reader got are exactly those of the exchange's history.
    async fn check(&self, reader: &Reader) {
        let (first, last) = (reader.closed.first().unwrap(), reader.closed.last().unwrap());
        let span = TimeRange::new(first.open_time, reader.interval.next_open(last.open_time));
        let deadline = Instant::now() + TIMEOUT;
        let record = loop {
            // The newest row is not final for a second.
            let record = self.binance.bars(&reader.code, reader.interval, span).await.unwrap();
            if record.covered == span {
                break record;
            }
            assert!(Instant::now() < deadline, "the history does not reach as far");
            tokio::time::sleep(Duration::from_secs(1)).await;
        };
        assert_eq!(opens(&reader.closed), opens(&record.bars), "{}", reader.code);
        assert_eq!(reader.closed, record.bars, "{}", reader.code);
    }
}

fn opens(bars: &[Bar]) -> Vec<i64> {
    bars.iter().map(|bar| bar.open_time.0 / 1_000).collect()
}

/// A subscriber that records what it got.
struct Reader {
    code: String,
    interval: Interval,
    feed: Box<dyn KlineFeed>,
    closed: Vec<Bar>,
    /// Candles that came from history since the last `GapFilled` event.
    gaps: Option<Vec<Millis>>,
    statuses: Vec<KlineEvent>,
}

impl Reader {
    async fn next(&mut self) -> Option<Arc<KlineEvent>> {
        let next = tokio::time::timeout(TIMEOUT, self.feed.next()).await;
        let event = next.unwrap_or_else(|_| panic!("{}: nothing came", self.code))?;
        match &*event {
            KlineEvent::Candle { kline, as_of } if kline.closed => {
                self.closed.push(kline.bar);
                // LiveFixture, a candle is said to be closed after its end.
                if let Some(gap) = self.gaps.as_mut().filter(|_| *as_of == kline.close_time) {
                    gap.push(kline.bar.open_time);
                }
            }
            KlineEvent::Candle { kline, .. } => {
                if let Some(last) = self.closed.last() {
                    assert!(kline.bar.open_time > last.open_time, "a closed candle forms again");
                }
            }
            status => {
                if let (KlineEvent::GapFilled(span), Some(gap)) = (status, &mut self.gaps) {
                    let (first, last) = (gap.first().unwrap(), gap.last().unwrap());
                    assert_eq!(
                        *span,
                        TimeRange::new(*first, self.interval.next_open(*last)),
                        "{gap:?}"
                    );
                    gap.clear();
                }
                self.statuses.push(status.clone());
            }
        }
        Some(event)
    }

    /// Reads until `closed` more candles have closed.
    async fn read(&mut self, closed: usize) {
        let expected = self.closed.len() + closed;
        while self.closed.len() < expected {
            assert!(self.next().await.is_some(), "{}: the feed ended", self.code);
        }
    }

    /// Reads until an event is `wanted`.
    async fn read_until(&mut self, matches: impl Fn(&KlineEvent) -> bool) {
        let deadline = Instant::now() + TIMEOUT;
        while !matches(&self.next().await.expect("the feed ended")) {
            assert!(Instant::now() < deadline, "{}: {:?}", self.code, self.statuses);
        }
    }

    fn count(&self, matches: impl Fn(&KlineEvent) -> bool) -> usize {
        self.statuses.iter().filter(|status| matches(status)).count()
    }

    /// Reads up to the end of the feed.
    async fn end(&mut self) -> FeedEnd {
        while let Some(event) = self.next().await {
            if let KlineEvent::Ended(end) = &*event {
                assert!(self.next().await.is_none(), "something came after the end");
                return *end;
            }
        }
        panic!("the feed has no end event");
    }
}

fn is_gap(event: &KlineEvent) -> bool {
    matches!(event, KlineEvent::GapFilled(_))
}

fn is_down(event: &KlineEvent) -> bool {
    *event == KlineEvent::Reconnecting
}

#[tokio::test(start_paused = true)]
async fn candles_form_and_close_like_the_history() {
    let fixture = live_fixture().await;
    let mut reader = fixture.follow("BTCUSDT", Interval::M1).await;
    // Before it, only candles that closed before the subscription.
    reader.read_until(|event| *event == KlineEvent::Connected).await;
    assert!(reader.closed.len() < 4, "{:?}", reader.closed);
    let mut forming = 0;
    while reader.closed.len() < 5 {
        let event = reader.next().await.unwrap();
        forming += u32::from(matches!(&*event, KlineEvent::Candle { kline, .. } if !kline.closed));
    }
    assert!(forming >= 10, "{forming} states of forming candles");
    fixture.check(&reader).await;
    assert_eq!(reader.count(is_down), 0);
}

#[tokio::test(start_paused = true)]
async fn subscribers_of_a_series_share_one_stream_and_series_share_a_connection() {
    let fixture = live_fixture().await;
    let mut readers = Vec::new();
    for _ in 0..20 {
        readers.push(fixture.follow("BTCUSDT", Interval::M1).await);
        readers.push(fixture.follow("ETHUSDT", Interval::M3).await);
    }
    for reader in &mut readers {
        reader.read(2).await;
        fixture.check(reader).await;
    }
    let counts = fixture.sim.stream_counts();
    assert_eq!((counts.opened, counts.connections, counts.streams), (1, 1, 2));
    // An event is built once and shared.
    let (mut left, mut right) = (
        fixture.follow("SOLUSDT", Interval::M1).await,
        fixture.follow("SOLUSDT", Interval::M1).await,
    );
    let is_closed =
        |event: &KlineEvent| matches!(event, KlineEvent::Candle { kline, .. } if kline.closed);
    let same = async |reader: &mut Reader| loop {
        let event = reader.next().await.unwrap();
        if is_closed(&event) {
            return event;
        }
    };
    let (one, two) = (same(&mut left).await, same(&mut right).await);
    assert!(Arc::ptr_eq(&one, &two));
}

#[tokio::test(start_paused = true)]
async fn streams_spread_over_connections_and_idle_ones_are_unsubscribed() {
    let fixture =
        live_fixture_with(start(), |_| {}, |config| config.streams.streams_per_connection = 2)
            .await;
    let mut readers = Vec::new();
    for code in ["BTCUSDT", "ETHUSDT", "SOLUSDT", "XRPUSDT", "ADAUSDT"] {
        readers.push(fixture.follow(code, Interval::M1).await);
    }
    for reader in &mut readers {
        reader.read(1).await;
    }
    let counts = fixture.sim.stream_counts();
    assert_eq!((counts.connections, counts.streams), (3, 5));
    let mut remaining = readers.remove(0);
    drop(readers);
    while fixture.sim.stream_counts().connections > 1 || fixture.sim.stream_counts().streams > 1 {
        remaining.read(1).await;
    }
    // A series can be followed again after its stream was given up.
    let mut again = fixture.follow("ETHUSDT", Interval::M1).await;
    again.read(2).await;
    fixture.check(&again).await;
    fixture.check(&remaining).await;
}

#[tokio::test(start_paused = true)]
async fn symbols_are_checked_before_a_stream_is_opened() {
    let fixture = live_fixture().await;
    for (code, hint) in [("BTCUSTD", "did you mean BTCUSDT"), ("QQQQQQQQ", "not listed")] {
        let fault = fixture
            .binance
            .subscribe(code, Interval::M1, SubscribeOptions::default())
            .await
            .err()
            .unwrap();
        assert_eq!((fault.kind(), fault.code()), (fault::Kind::NotFound, "unknown_symbol"));
        assert!(fault.message().contains(hint), "{fault}");
    }
    assert_eq!(fixture.sim.stream_counts().opened, 0);
}

#[tokio::test(start_paused = true)]
async fn series_and_subscribers_are_limited() {
    let change = |config: &mut BinanceConfig| {
        config.streams.series_max = 2;
        config.streams.subscribers_max = 3;
    };
    let fixture = live_fixture_with(start(), |_| {}, change).await;
    let _one = fixture.follow("BTCUSDT", Interval::M1).await;
    let two = fixture.follow("ETHUSDT", Interval::M1).await;
    let full =
        fixture.binance.subscribe("SOLUSDT", Interval::M1, SubscribeOptions::default()).await;
    assert_eq!(full.err().unwrap().code(), "too_many_streams");
    let _three = fixture.follow("ETHUSDT", Interval::M1).await;
    let full =
        fixture.binance.subscribe("ETHUSDT", Interval::M1, SubscribeOptions::default()).await;
    assert_eq!(full.err().unwrap().code(), "too_many_streams");
    drop(two);
    fixture.follow("ETHUSDT", Interval::M1).await.read(1).await;
}

#[tokio::test(start_paused = true)]
async fn subscribers_get_an_end_event_at_shutdown() {
    let fixture = live_fixture().await;
    let mut reader = fixture.follow("BTCUSDT", Interval::M1).await;
    reader.read(2).await;
    fixture.binance.drain().await;
    let end = reader.end().await;
    let last = reader.closed.last().unwrap().open_time;
    assert_eq!(end, FeedEnd { cause: EndCause::Closed, resume_after: last });
    let late =
        fixture.binance.subscribe("BTCUSDT", Interval::M1, SubscribeOptions::default()).await;
    assert_eq!(late.err().unwrap().code(), "closing");
}

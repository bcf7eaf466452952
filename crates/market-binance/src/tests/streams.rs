//! Live candles against the simulated exchange, on a clock that runs six hundred times as fast: a
//! minute lasts a tenth of a second.

mod faults;
mod readers;
mod refusals;
mod renewal;
mod soak;

use market::{Bar, EndCause, FeedEnd, KlineEvent, KlineFeed, LiveKlines, SubscribeOptions};
use market_sim::StreamRules;
use tokio::time::Instant;
use tokio_util::sync::DropGuard;

use super::*;

const SCALE: i64 = 600;
const PATIENCE: Duration = Duration::from_secs(30);

struct FastClock {
    began: Instant,
    start: Millis,
    scale: i64,
}

impl Clock for FastClock {
    fn now(&self) -> Millis {
        Millis(self.start.0 + self.began.elapsed().as_micros() as i64 * self.scale / 1_000)
    }
}

/// An exchange in a hurry, and an adapter that follows it.
struct Live {
    sim: Sim,
    binance: Binance,
    /// Where the exchange is.
    address: String,
    /// Ends the exchange, its connections included.
    stop: DropGuard,
}

/// Everything as it is for real, divided by the speed of the clock where it is real time.
fn hurried(config: &mut BinanceConfig) {
    let streams = &mut config.streams;
    streams.connect_timeout = Duration::from_secs(2);
    streams.ack_within = Duration::from_secs(2);
    streams.silence_max = Duration::from_millis(250);
    streams.stream_silence = Duration::from_secs(2);
    streams.behind_record = Duration::from_millis(30);
    streams.standby_within = Duration::from_millis(150);
    streams.message_gap = Duration::from_millis(1);
    streams.backoff = Duration::from_millis(2);
    streams.backoff_max = Duration::from_millis(20);
    streams.gap_wait = Duration::from_millis(4);
    streams.close_grace = Duration::from_secs(6);
    streams.lag_wait = Duration::from_millis(4);
    streams.lag_wait_max = Duration::from_millis(30);
    streams.tick = Duration::from_millis(2);
    streams.linger = Duration::from_millis(50);
}

fn start() -> Millis {
    Millis(day("2026-11-10") + 6 * 3_600_000 + 30_500)
}

async fn live() -> Live {
    live_with(start(), |_| {}, |_| {}).await
}

async fn live_with(
    start: Millis,
    rules: impl FnOnce(&mut StreamRules),
    change: impl FnOnce(&mut BinanceConfig),
) -> Live {
    live_scaled(SCALE, start, rules, change).await
}

async fn live_scaled(
    scale: i64,
    start: Millis,
    rules: impl FnOnce(&mut StreamRules),
    change: impl FnOnce(&mut BinanceConfig),
) -> Live {
    let clock = Arc::new(FastClock { began: Instant::now(), start, scale });
    let mut sim_config = SimConfig::new(7, Arc::clone(&clock) as Arc<dyn Clock>);
    sim_config.streams = StreamRules {
        time_scale: scale as f64,
        ping_every: Duration::from_millis(50),
        shutdown_notice: Duration::from_secs(1),
        messages_per_second: 100_000,
        ..StreamRules::default()
    };
    rules(&mut sim_config.streams);
    let sim = Sim::new(sim_config);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let stop = open_exchange(&sim, listener);
    let mut config = config(&format!("http://{address}"));
    hurried(&mut config);
    change(&mut config);
    let binance = Binance::new(config, clock).unwrap();
    Live { sim, binance, address, stop }
}

fn open_exchange(sim: &Sim, listener: TcpListener) -> DropGuard {
    let stop = CancellationToken::new();
    TaskTracker::new().spawn(sim.clone().serve(listener, stop.clone()));
    stop.drop_guard()
}

impl Live {
    fn trouble(&self, trouble: Trouble) {
        self.sim.faults().add(trouble).unwrap();
    }

    /// The exchange closes and stays away for a while.
    async fn leave(&mut self, reader: &mut Reader, away: Duration) {
        drop(std::mem::replace(&mut self.stop, CancellationToken::new().drop_guard()));
        // A connection that was lost before, and told of, says nothing more.
        let quiet = Duration::from_millis(500);
        while let Ok(event) = tokio::time::timeout(quiet, reader.next()).await {
            if is_down(&event.expect("the feed ended")) {
                break;
            }
        }
        tokio::time::sleep(away).await;
        let listener = TcpListener::bind(&self.address).await.unwrap();
        self.stop = open_exchange(&self.sim, listener);
    }

    /// Reads on until this is true of the exchange.
    async fn until(&self, reader: &mut Reader, wanted: impl Fn(&Sim) -> bool) {
        let patience = Instant::now() + PATIENCE;
        while !wanted(&self.sim) {
            assert!(Instant::now() < patience, "{:?}", self.sim.stream_counts());
            let next = tokio::time::timeout(Duration::from_millis(5), reader.next()).await;
            assert!(!matches!(next, Ok(None)), "the feed ended");
        }
    }

    /// Reads on until the exchange has no connection but one, with so many streams.
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
        // What was missed before comes from the record, too, and is no gap; and who has hardly room
        // for candles is not told of gaps.
        let gaps = (options.resume_after.is_none() && options.queue_max >= 100).then(Vec::new);
        let feed = self.binance.subscribe(code, interval, options).await.unwrap();
        let (code, closed, statuses) = (code.to_owned(), Vec::new(), Vec::new());
        Reader { code, interval, feed, closed, gaps, statuses }
    }

    /// What the reader saw closed is exactly what the record holds from its first candle to its
    /// last, in the same order.
    async fn check(&self, reader: &Reader) {
        let (first, last) = (reader.closed.first().unwrap(), reader.closed.last().unwrap());
        let span = TimeRange::new(first.open_time, reader.interval.next_open(last.open_time));
        let patience = Instant::now() + PATIENCE;
        let record = loop {
            // What we know of the exchange's time is a little behind it, and time flies here.
            let record = self.binance.bars(&reader.code, reader.interval, span).await.unwrap();
            if record.covered == span {
                break record;
            }
            assert!(Instant::now() < patience, "the record does not reach as far");
            tokio::time::sleep(Duration::from_millis(2)).await;
        };
        assert_eq!(opens(&reader.closed), opens(&record.bars), "{}", reader.code);
        assert_eq!(reader.closed, record.bars, "{}", reader.code);
    }
}

fn opens(bars: &[Bar]) -> Vec<i64> {
    bars.iter().map(|bar| bar.open_time.0 / 1_000).collect()
}

/// Somebody who follows a series and remembers what came.
struct Reader {
    code: String,
    interval: Interval,
    feed: Box<dyn KlineFeed>,
    closed: Vec<Bar>,
    /// What came from the record since a gap was last said to be filled.
    gaps: Option<Vec<Millis>>,
    statuses: Vec<KlineEvent>,
}

impl Reader {
    async fn next(&mut self) -> Option<Arc<KlineEvent>> {
        let next = tokio::time::timeout(PATIENCE, self.feed.next()).await;
        let event = next.unwrap_or_else(|_| panic!("{}: nothing came", self.code))?;
        match &*event {
            KlineEvent::Candle { kline, as_of } if kline.closed => {
                self.closed.push(kline.bar);
                // Live, a candle is said to be closed after its end.
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

    /// Reads until so many more candles have closed.
    async fn read(&mut self, closed: usize) {
        let wanted = self.closed.len() + closed;
        while self.closed.len() < wanted {
            assert!(self.next().await.is_some(), "{}: the feed ended", self.code);
        }
    }

    /// Reads until this was said.
    async fn read_until(&mut self, wanted: impl Fn(&KlineEvent) -> bool) {
        let patience = Instant::now() + PATIENCE;
        while !wanted(&self.next().await.expect("the feed ended")) {
            assert!(Instant::now() < patience, "{}: {:?}", self.code, self.statuses);
        }
    }

    fn count(&self, wanted: impl Fn(&KlineEvent) -> bool) -> usize {
        self.statuses.iter().filter(|status| wanted(status)).count()
    }

    /// Everything up to the end, which is told.
    async fn end(&mut self) -> FeedEnd {
        while let Some(event) = self.next().await {
            if let KlineEvent::Ended(end) = &*event {
                assert!(self.next().await.is_none(), "something came after the end");
                return *end;
            }
        }
        panic!("the end was not told");
    }
}

fn is_gap(event: &KlineEvent) -> bool {
    matches!(event, KlineEvent::GapFilled(_))
}

fn is_down(event: &KlineEvent) -> bool {
    *event == KlineEvent::Reconnecting
}

#[tokio::test]
async fn candles_form_and_close_as_the_record_says() {
    let live = live().await;
    let mut reader = live.follow("BTCUSDT", Interval::M1).await;
    // Before it, only what closed while nobody listened.
    reader.read_until(|event| *event == KlineEvent::Connected).await;
    assert!(reader.closed.len() < 4, "{:?}", reader.closed);
    let mut forming = 0;
    while reader.closed.len() < 5 {
        let event = reader.next().await.unwrap();
        forming += u32::from(matches!(&*event, KlineEvent::Candle { kline, .. } if !kline.closed));
    }
    assert!(forming >= 10, "{forming} states of forming candles");
    live.check(&reader).await;
    assert_eq!(reader.count(is_down), 0);
}

#[tokio::test]
async fn followers_of_a_series_share_one_stream_and_series_one_connection() {
    let live = live().await;
    let mut readers = Vec::new();
    for _ in 0..20 {
        readers.push(live.follow("BTCUSDT", Interval::M1).await);
        readers.push(live.follow("ETHUSDT", Interval::M3).await);
    }
    for reader in &mut readers {
        reader.read(2).await;
        live.check(reader).await;
    }
    let counts = live.sim.stream_counts();
    assert_eq!((counts.opened, counts.connections, counts.streams), (1, 1, 2));
    // An event is built once: everybody holds the same one.
    let (mut left, mut right) =
        (live.follow("SOLUSDT", Interval::M1).await, live.follow("SOLUSDT", Interval::M1).await);
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

#[tokio::test]
async fn streams_spread_over_connections_and_are_given_up_after_a_while() {
    let live = live_with(start(), |_| {}, |config| config.streams.streams_per_connection = 2).await;
    let mut readers = Vec::new();
    for code in ["BTCUSDT", "ETHUSDT", "SOLUSDT", "XRPUSDT", "ADAUSDT"] {
        readers.push(live.follow(code, Interval::M1).await);
    }
    for reader in &mut readers {
        reader.read(1).await;
    }
    let counts = live.sim.stream_counts();
    assert_eq!((counts.connections, counts.streams), (3, 5));
    let mut kept = readers.remove(0);
    drop(readers);
    while live.sim.stream_counts().connections > 1 || live.sim.stream_counts().streams > 1 {
        kept.read(1).await;
    }
    // Back again before it was missed, and after.
    let mut again = live.follow("ETHUSDT", Interval::M1).await;
    again.read(2).await;
    live.check(&again).await;
    live.check(&kept).await;
}

#[tokio::test]
async fn symbols_are_checked_before_anything_is_subscribed_to() {
    let live = live().await;
    for (code, hint) in [("BTCUSTD", "did you mean BTCUSDT"), ("QQQQQQQQ", "not listed")] {
        let fault = live
            .binance
            .subscribe(code, Interval::M1, SubscribeOptions::default())
            .await
            .err()
            .unwrap();
        assert_eq!((fault.kind(), fault.code()), (fault::Kind::NotFound, "unknown_symbol"));
        assert!(fault.message().contains(hint), "{fault}");
    }
    assert_eq!(live.sim.stream_counts().opened, 0);
}

#[tokio::test]
async fn there_are_only_so_many_series_and_followers() {
    let change = |config: &mut BinanceConfig| {
        config.streams.series_max = 2;
        config.streams.followers_max = 3;
    };
    let live = live_with(start(), |_| {}, change).await;
    let _one = live.follow("BTCUSDT", Interval::M1).await;
    let two = live.follow("ETHUSDT", Interval::M1).await;
    let full = live.binance.subscribe("SOLUSDT", Interval::M1, SubscribeOptions::default()).await;
    assert_eq!(full.err().unwrap().code(), "too_many_streams");
    let _three = live.follow("ETHUSDT", Interval::M1).await;
    let full = live.binance.subscribe("ETHUSDT", Interval::M1, SubscribeOptions::default()).await;
    assert_eq!(full.err().unwrap().code(), "too_many_streams");
    drop(two);
    live.follow("ETHUSDT", Interval::M1).await.read(1).await;
}

#[tokio::test]
async fn followers_are_told_when_the_house_closes() {
    let live = live().await;
    let mut reader = live.follow("BTCUSDT", Interval::M1).await;
    reader.read(2).await;
    live.binance.drain().await;
    let end = reader.end().await;
    let last = reader.closed.last().unwrap().open_time;
    assert_eq!(end, FeedEnd { cause: EndCause::Closed, resume_after: last });
    let late = live.binance.subscribe("BTCUSDT", Interval::M1, SubscribeOptions::default()).await;
    assert_eq!(late.err().unwrap().code(), "closing");
}

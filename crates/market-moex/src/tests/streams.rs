//! Live candles against the simulated exchange, on a test clock that advances whenever no event
//! arrives and every task waits.

mod faults;
mod readers;

use clock::TimeRange;
use market::{
    Bar, BarSource, EndCause, FeedEnd, KlineEvent, KlineFeed, LiveKlines, SubscribeOptions,
};
use tokio::time::Instant;

use super::*;

/// How long a test waits, in paused time, before it fails.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The wait, in paused time, before the clock advances: two polls and more.
const STEP: Duration = Duration::from_millis(5);
const CANDLES: &str = "/iss/*/candles.json";

/// An exchange and an adapter that polls it without a pause.
async fn live() -> Fixture {
    live_at(NOON, |_| {}).await
}

async fn live_at(now: &str, change: impl FnOnce(&mut MoexConfig)) -> Fixture {
    let fixture = fixture_at(now, |config| {
        config.live.every = Duration::from_millis(2);
        config.live.gap_retry_wait = Duration::from_millis(1);
        config.live.linger = Duration::from_millis(40);
        config.live.queue_wait = Duration::from_millis(100);
        change(config);
    })
    .await;
    fixture.sim.set_iss_limit(1_000_000);
    fixture
}

impl Fixture {
    async fn follow(&self, code: &str, interval: Interval) -> Reader {
        self.follow_with(code, interval, SubscribeOptions::default()).await
    }

    async fn follow_with(
        &self,
        code: &str,
        interval: Interval,
        options: SubscribeOptions,
    ) -> Reader {
        let feed = self.moex.subscribe(code, interval, options).await.unwrap();
        let (code, clock) = (code.to_owned(), Arc::clone(&self.clock));
        Reader { code, interval, feed, clock, closed: Vec::new(), statuses: Vec::new() }
    }

    /// The closed candles that the reader got equal the history from its first candle to its last,
    /// in the same order.
    async fn check(&self, reader: &Reader) {
        let (first, last) = (reader.closed.first().unwrap(), reader.closed.last().unwrap());
        let span = TimeRange::new(first.open_time, reader.interval.next_open(last.open_time));
        let record = loop {
            let record = self.moex.bars(&reader.code, reader.interval, span).await.unwrap();
            if record.covered == span {
                break record;
            }
            // The history request cannot see later candles, so it needs more time to confirm the
            // last one.
            self.clock.advance(Duration::from_mins(1));
        };
        assert_eq!(opens(&reader.closed), opens(&record.bars), "{}", reader.code);
        for (published, recorded) in reader.closed.iter().zip(&record.bars) {
            assert_eq!(published, recorded, "{}", reader.code);
        }
    }

    fn series(&self) -> usize {
        self.moex.inner.live.len()
    }
}

fn opens(bars: &[Bar]) -> Vec<String> {
    bars.iter().map(|bar| bar.open_time.to_rfc3339()).collect()
}

/// A reader that follows a series and records its events.
struct Reader {
    code: String,
    interval: Interval,
    feed: Box<dyn KlineFeed>,
    clock: Arc<FakeClock>,
    closed: Vec<Bar>,
    statuses: Vec<KlineEvent>,
}

impl Reader {
    async fn next(&mut self) -> Option<Arc<KlineEvent>> {
        let deadline = Instant::now() + TIMEOUT;
        let event = loop {
            if let Ok(next) = tokio::time::timeout(STEP, self.feed.next()).await {
                break next?;
            }
            assert!(Instant::now() < deadline, "{}: nothing came", self.code);
            self.clock.advance(Duration::from_secs(2));
        };
        self.note(&event);
        Some(event)
    }

    /// Takes the queued events and those that arrive within a moment.
    async fn drain(&mut self) {
        while let Ok(Some(event)) = tokio::time::timeout(STEP, self.feed.next()).await {
            self.note(&event);
        }
    }

    fn note(&mut self, event: &KlineEvent) {
        match event {
            KlineEvent::Candle { kline, .. } => {
                if let Some(last) = self.closed.last() {
                    assert!(kline.bar.open_time > last.open_time, "a closed candle comes again");
                }
                if kline.closed {
                    self.closed.push(kline.bar);
                }
            }
            status => self.statuses.push(status.clone()),
        }
    }

    /// Reads until `closed` more candles have closed.
    async fn read(&mut self, closed: usize) {
        let expected = self.closed.len() + closed;
        while self.closed.len() < expected {
            assert!(self.next().await.is_some(), "{}: the feed ended", self.code);
        }
    }

    /// Reads until this event.
    async fn read_until(&mut self, matches: impl Fn(&KlineEvent) -> bool) -> Arc<KlineEvent> {
        loop {
            let event = self.next().await.expect("the feed ended");
            if matches(&event) {
                return event;
            }
        }
    }

    /// Reads until this candle or a later one is forming.
    async fn read_to(&mut self, open: Millis) {
        let there = |event: &KlineEvent| matches!(event, KlineEvent::Candle { kline, .. } if kline.bar.open_time >= open);
        self.read_until(there).await;
    }

    fn count(&self, matches: impl Fn(&KlineEvent) -> bool) -> usize {
        self.statuses.iter().filter(|status| matches(status)).count()
    }

    /// Reads everything up to the end and returns the end.
    async fn end(&mut self) -> FeedEnd {
        while let Some(event) = self.next().await {
            if let KlineEvent::Ended(end) = &*event {
                assert!(self.next().await.is_none(), "something came after the end");
                return *end;
            }
        }
        panic!("the feed did not end");
    }
}

fn is_forming(event: &KlineEvent) -> bool {
    matches!(event, KlineEvent::Candle { kline, .. } if !kline.closed)
}

fn is_gap(event: &KlineEvent) -> bool {
    matches!(event, KlineEvent::GapFilled(_))
}

fn is_down(event: &KlineEvent) -> bool {
    *event == KlineEvent::Reconnecting
}

#[tokio::test(start_paused = true)]
async fn live_candles_equal_the_history() {
    let fixture = live().await;
    let mut reader = fixture.follow("SBER", Interval::M1).await;
    assert_eq!(*reader.next().await.unwrap(), KlineEvent::Connected);
    // It is 12:20:31, and the exchange shows 12:05:31.
    let event = reader.next().await.unwrap();
    let KlineEvent::Candle { kline, as_of } = *event else { panic!("{event:?}") };
    assert_eq!((kline.bar.open_time, kline.closed), (moscow("2026-11-11T12:05:00"), false));
    assert!((0..20_000).contains(&(as_of.0 - moscow("2026-11-11T12:05:31").0)), "{as_of}");
    let mut grew = 0;
    while reader.closed.len() < 10 {
        grew += usize::from(is_forming(&reader.next().await.unwrap()));
    }
    assert_eq!(reader.closed[0].open_time, moscow("2026-11-11T12:05:00"));
    assert!(grew >= 20, "{grew} states of forming candles");
    fixture.check(&reader).await;
    assert_eq!(reader.count(is_down), 0);
}

#[tokio::test(start_paused = true)]
async fn every_interval_with_bars_can_be_subscribed() {
    for (interval, minutes, count) in [
        (Interval::M3, 1, 8),
        (Interval::M5, 1, 6),
        (Interval::M15, 5, 4),
        (Interval::M30, 5, 3),
        (Interval::H1, 15, 3),
        (Interval::H4, 60, 3),
        (Interval::D1, 360, 4),
        (Interval::D3, 360, 2),
        (Interval::W1, 1_440, 2),
        (Interval::Month, 10_000, 2),
    ] {
        let fixture = live().await;
        // The clock advances while the test waits for the first candle.
        let first = interval
            .open_of(bars::bar_clock(data_time(&fixture), bars::step_of(interval).unwrap()));
        let mut reader = fixture.follow("GAZP", interval).await;
        reader.read_until(is_forming).await;
        while reader.closed.len() < count {
            fixture.clock.advance(Duration::from_mins(minutes));
            reader.drain().await;
        }
        assert_eq!(reader.closed[0].open_time, first, "{interval}");
        fixture.check(&reader).await;
    }
}

/// The exchange's delayed clock.
fn data_time(fixture: &Fixture) -> Millis {
    Millis(fixture.clock.now().0 - 15 * 60_000)
}

#[tokio::test(start_paused = true)]
async fn index_candles_have_no_delay() {
    let fixture = live().await;
    let share = fixture.follow("SBER", Interval::M1).await;
    let mut reader = fixture.follow("IMOEX", Interval::M1).await;
    assert_eq!((share.feed.delay(), reader.feed.delay()), (Delay::Delayed15m, Delay::RealTime));
    reader.read_to(moscow("2026-11-11T12:20:00")).await;
    fixture.clock.advance(Duration::from_mins(3));
    reader.read_to(moscow("2026-11-11T12:23:00")).await;
    fixture.check(&reader).await;
}

#[tokio::test(start_paused = true)]
async fn a_closed_exchange_is_connected_without_candles() {
    // An hour after the end of the evening.
    let fixture = live_at("2026-11-12T01:00:00", |_| {}).await;
    let after = Some(moscow("2026-11-11T23:45:00"));
    let options = SubscribeOptions { resume_after: after, ..SubscribeOptions::default() };
    let mut reader = fixture.follow_with("SBER", Interval::M1, options).await;
    let mut late = fixture.follow("SBER", Interval::M1).await;
    assert_eq!(*late.next().await.unwrap(), KlineEvent::Connected);
    reader.drain().await;
    let requests_before = fixture.request_count("candles");
    while fixture.request_count("candles") < requests_before + 5 {
        let nothing = tokio::time::timeout(STEP, reader.feed.next()).await;
        assert!(nothing.is_err(), "{nothing:?}");
    }
    fixture.clock.advance(Duration::from_hours(10));
    reader.read_to(moscow("2026-11-12T10:45:00")).await;
    late.read_to(moscow("2026-11-12T10:45:00")).await;
    // The night has no candles; the morning has all of them.
    assert!(reader.closed[0].open_time < moscow("2026-11-11T23:50:00"), "{:?}", reader.closed[0]);
    fixture.check(&reader).await;
    assert!(late.closed[0].open_time >= moscow("2026-11-12T06:50:00"), "{:?}", late.closed[0]);
    fixture.check(&late).await;
}

#[tokio::test(start_paused = true)]
async fn invalid_subscriptions_are_refused_without_a_request() {
    let fixture = live().await;
    for (code, interval, kind, word) in [
        ("SBRE", Interval::M1, fault::Kind::NotFound, "unknown_symbol"),
        ("QQQQQQQQ", Interval::M1, fault::Kind::NotFound, "unknown_symbol"),
        ("SBER", Interval::S1, fault::Kind::Invalid, "interval_not_served"),
    ] {
        let fault = fixture
            .moex
            .subscribe(code, interval, SubscribeOptions::default())
            .await
            .err()
            .unwrap();
        assert_eq!((fault.kind(), fault.code()), (kind, word), "{code} {fault}");
    }
    for after in [Millis(-1), Millis(0), Millis(i64::MIN)] {
        let options = SubscribeOptions { resume_after: Some(after), ..SubscribeOptions::default() };
        let fault = fixture.moex.subscribe("SBER", Interval::M1, options).await.err().unwrap();
        assert_eq!(fault.code(), "resume_too_far");
    }
    assert_eq!((fixture.series(), fixture.request_count("candles")), (0, 0));
}

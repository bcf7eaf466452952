//! Which requests the cache answers, and warm-up of windows, on an archive that counts its reads.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use clock::{DAY_MS, Millis, TimeRange};
use contract::{CpuPool, POOLED_VALUES_MIN};
use fault::Fault;
use futures_util::FutureExt as _;
use market::{
    ArchivePage, Bar, BarArchive, BarBatch, BarSeries, BarSource, Decimal, Interval, Listing,
    PageRequest, SymbolSource, TradingHours, Venue, VenueHealth,
};
use market_bars::BarHistory;
use ta::{Arg, Spec};

use crate::windows::Window;
use testkit::FakeClock;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{CandleReader, CandleSelection, Range};
use crate::ports::{Market, VenueCandles};
use crate::tools::compute_indicators::{compute, compute_in};

const MINUTE: i64 = 60_000;
const NOON: i64 = 20_000 * DAY_MS + DAY_MS / 2;
/// The venue was closed for 400 minutes before noon of the previous day.
const GAP: TimeRange =
    TimeRange { from: Millis(NOON - DAY_MS - 400 * MINUTE), to: Millis(NOON - DAY_MS) };

/// A venue with one-minute bars from `listed` to `available_to` except `GAP`, and an archive that
/// records the appended range and counts its reads.
struct FakeVenue {
    listed: i64,
    available_to: AtomicI64,
    known: Mutex<Option<TimeRange>>,
    read: AtomicUsize,
}

fn bar(open_time: Millis) -> Bar {
    let wave = |period: i64, size: i64| (open_time.0 / MINUTE * 7919) % period * size;
    let price =
        |cents: i64| Decimal::from_parts((10_000 + cents + wave(997, 3)).into(), 2).unwrap();
    Bar {
        open_time,
        open: price(0),
        high: price(90 + wave(13, 1)),
        low: price(-70 - wave(11, 1)),
        close: price(wave(17, 2)),
        volume: Decimal::from_parts((100 + wave(29, 1)).into(), 0),
    }
}

impl FakeVenue {
    fn bars_in(&self, span: TimeRange) -> Vec<Bar> {
        let from = span.from.0.max(self.listed);
        let opens =
            (from + MINUTE - 1).div_euclid(MINUTE)..(span.to.0 + MINUTE - 1).div_euclid(MINUTE);
        let traded = |at: &Millis| !GAP.contains(*at);
        opens.map(|minute| Millis(minute * MINUTE)).filter(traded).map(bar).collect()
    }
}

#[async_trait]
impl BarSource for FakeVenue {
    fn source(&self) -> &str {
        "test"
    }

    fn trading_hours(&self) -> TradingHours {
        TradingHours::AlwaysOpen
    }

    async fn bars(&self, _: &str, _: Interval, span: TimeRange) -> Result<BarBatch, Fault> {
        let to = Millis(self.available_to.load(Ordering::SeqCst)).clamp(span.from, span.to);
        let covered = TimeRange::new(span.from, to);
        Ok(BarBatch { bars: self.bars_in(covered), covered, received_at: to })
    }

    async fn first_open(&self, _: &str, _: Interval) -> Result<Option<Millis>, Fault> {
        Ok(Some(Millis(self.listed)))
    }
}

#[async_trait]
impl SymbolSource for FakeVenue {
    async fn listing(&self) -> Result<Arc<Listing>, Fault> {
        let mut listing = Listing::default();
        listing.quote_assets.insert("X".to_owned(), "USDT".to_owned());
        Ok(Arc::new(listing))
    }
}

#[async_trait]
impl BarArchive for FakeVenue {
    async fn missing(&self, _: &BarSeries, span: TimeRange) -> Result<Vec<TimeRange>, Fault> {
        self.read.fetch_add(1, Ordering::SeqCst);
        let Some(known) = *self.known.lock() else { return Ok(vec![span]) };
        let parts = [
            TimeRange::new(span.from, span.to.min(known.from)),
            TimeRange::new(span.from.max(known.to), span.to),
        ];
        Ok(parts.into_iter().filter(|part| !part.is_empty()).collect())
    }

    async fn append(&self, _: &BarSeries, batch: &BarBatch) -> Result<(), Fault> {
        let mut known = self.known.lock();
        let (from, to) = (batch.covered.from, batch.covered.to);
        *known = Some(
            known.map_or(batch.covered, |it| TimeRange::new(it.from.min(from), it.to.max(to))),
        );
        Ok(())
    }

    async fn page(&self, request: &PageRequest<'_>) -> Result<ArchivePage, Fault> {
        self.read.fetch_add(1, Ordering::SeqCst);
        let known = self.known.lock().unwrap_or(TimeRange::new(Millis(0), Millis(0)));
        let bars = self.bars_in(request.range.overlap(known));
        let total = bars.len() as u64;
        let page = bars.into_iter().skip(request.offset as usize).take(request.limit);
        let count = |series: &BarSeries| if series.interval == Interval::M1 { total } else { 0 };
        let totals = request.series.iter().map(count).collect();
        Ok(ArchivePage { bars: page.map(|bar| (0, bar)).collect(), total, totals })
    }

    async fn received_at(&self, _: &[BarSeries]) -> Result<Vec<Option<Millis>>, Fault> {
        Ok(Vec::new())
    }

    async fn codes(&self, _: &str) -> Result<Vec<String>, Fault> {
        Ok(Vec::new())
    }
}

struct Fixture {
    reader: CandleReader,
    venue: Arc<FakeVenue>,
    clock: Arc<FakeClock>,
}

impl Fixture {
    fn new(listed: i64) -> Self {
        let available_to = AtomicI64::new(NOON);
        let venue = Arc::new(FakeVenue {
            listed,
            available_to,
            known: Mutex::default(),
            read: AtomicUsize::new(0),
        });
        let clock = Arc::new(FakeClock::new(Millis(NOON + 1_000)));
        let archive: Arc<dyn BarArchive> = Arc::<FakeVenue>::clone(&venue);
        let shared = Arc::<FakeClock>::clone(&clock);
        let history =
            BarHistory::new(archive, shared, TaskTracker::new(), CancellationToken::new());
        let ports = VenueCandles {
            source: "test".to_owned(),
            symbols: Arc::clone(&venue) as _,
            bars: Some(Arc::clone(&venue) as _),
            live: None,
        };
        let reader = CandleReader::new(Market {
            venues: BTreeMap::from([(Venue::Binance, ports)]),
            default_venue: Venue::Binance,
            history: Arc::new(history),
            health: Box::new(|| Box::pin(std::future::ready(VenueHealth::Up))),
        });
        Self { reader, venue, clock }
    }

    async fn find(&self, range: Range, warmed: &[Window]) -> Result<CandleSelection, Fault> {
        let deadline = Instant::now() + Duration::from_secs(20);
        let ticker = self.reader.ticker("X")?;
        self.reader.find(ticker, Interval::M1, range, warmed, deadline).await
    }

    /// The opening times of the requested candles, and whether the archive was read.
    async fn times(&self, range: Range) -> (Vec<i64>, bool) {
        let before = self.venue.read.load(Ordering::SeqCst);
        let found = self.find(range, &[]).await.unwrap();
        let read = self.venue.read.load(Ordering::SeqCst) > before;
        (found.requested().iter().map(|it| it.t).collect(), read)
    }
}

fn newest(limit: usize) -> Range {
    Range { start: None, end: None, limit: Some(limit) }
}

fn between(start: i64, end: i64) -> Range {
    Range { start: Some(Millis(start)), end: Some(Millis(end)), limit: None }
}

#[tokio::test]
async fn the_newest_candles_are_read_once_until_another_closes() {
    let fixture = Fixture::new(0);
    let minutes = |from: i64, to: i64| (from..to).map(|at| NOON + at * MINUTE).collect::<Vec<_>>();
    assert_eq!(fixture.times(newest(50)).await, (minutes(-50, 0), true));
    assert_eq!(fixture.times(newest(50)).await, (minutes(-50, 0), false));
    assert_eq!(fixture.times(newest(3)).await, (minutes(-3, 0), false));
    let part = between(NOON - 9 * MINUTE, NOON - 7 * MINUTE);
    assert_eq!(fixture.times(part).await, (minutes(-9, -7), false));
    let since = Range { start: Some(Millis(NOON - 9 * MINUTE)), end: None, limit: Some(2) };
    assert_eq!(fixture.times(since).await, (minutes(-9, -7), false));
    assert_eq!(fixture.times(newest(51)).await, (minutes(-51, 0), true), "more than is kept");
    fixture.clock.set(Millis(NOON + MINUTE + 1));
    fixture.venue.available_to.store(NOON + MINUTE, Ordering::SeqCst);
    assert_eq!(fixture.times(newest(50)).await, (minutes(-49, 1), true), "another closed");
    assert_eq!(fixture.times(newest(50)).await, (minutes(-49, 1), false));
}

#[tokio::test]
async fn a_late_venue_is_requested_again() {
    let fixture = Fixture::new(0);
    fixture.venue.available_to.store(NOON - 2 * MINUTE, Ordering::SeqCst);
    let (times, _) = fixture.times(newest(5)).await;
    assert_eq!(times.last(), Some(&(NOON - 3 * MINUTE)));
    fixture.venue.available_to.store(NOON, Ordering::SeqCst);
    let (times, read) = fixture.times(newest(5)).await;
    assert_eq!((times.last(), read), (Some(&(NOON - MINUTE)), true));
}

fn windows() -> Vec<Window> {
    let period = |n| vec![("period", Arg::Number(n))];
    [("rsi", period(14.0)), ("macd", vec![]), ("sma", period(300.0)), ("vwap", vec![])]
        .iter()
        .chain(&[("obv", vec![]), ("bollinger", vec![]), ("stochRsi", vec![])])
        .map(|(name, args)| Spec::parse(name, args).unwrap().into())
        .collect()
}

/// Each key with its values at the requested candles.
async fn series(fixture: &Fixture, range: Range, warm: bool) -> BTreeMap<Arc<str>, Vec<f64>> {
    let warmed = if warm { windows() } else { Vec::new() };
    let found = fixture.find(range, &warmed).await.unwrap();
    let computed = compute(windows(), &found, Interval::M1, &CancellationToken::new()).unwrap();
    computed
        .into_iter()
        .flat_map(|it| it.window.keys().to_vec().into_iter().zip(it.series))
        .collect()
}

#[track_caller]
fn same(warm: &BTreeMap<Arc<str>, Vec<f64>>, long: &BTreeMap<Arc<str>, Vec<f64>>) {
    for (key, warm) in warm.iter().filter(|(key, _)| &***key != "obv") {
        let long = &long[key][long[key].len() - warm.len()..];
        for (at, (warm, long)) in warm.iter().zip(long).enumerate() {
            let near = (warm - long).abs() <= 1e-9 * long.abs().max(1e-3);
            assert!(near, "{key}[{at}]: {warm} is not {long}");
        }
    }
}

/// Whether the computation of these candles ends while the only thread of the pool is busy.
async fn ends_without_the_pool(fixture: &Fixture, candles: usize) -> bool {
    let pool = CpuPool::new(1);
    let (release, held) = std::sync::mpsc::channel::<()>();
    let mut busy = Box::pin(pool.compute(POOLED_VALUES_MIN, move || held.recv().is_ok()));
    assert!((&mut busy).now_or_never().is_none());
    let found = fixture.find(newest(candles), &[]).await.unwrap();
    let mut computing = Box::pin(compute_in(&pool, windows(), found, Interval::M1));
    if let Some(computed) = (&mut computing).now_or_never() {
        assert_eq!(computed.unwrap().1.requested().len(), candles);
        return true;
    }
    release.send(()).unwrap();
    assert!(busy.await.unwrap());
    let (computed, found) = computing.await.unwrap();
    assert_eq!(computed[0].series[0].len(), candles);
    assert_eq!(found.requested().len(), candles);
    false
}

#[tokio::test]
async fn many_values_are_computed_beside_the_workers_and_few_at_once() {
    let fixture = Fixture::new(0);
    assert!(ends_without_the_pool(&fixture, 100).await);
    assert!(!ends_without_the_pool(&fixture, 5_000).await);
}

#[tokio::test]
async fn a_computation_stops_when_its_call_has_ended() {
    let fixture = Fixture::new(0);
    let found = fixture.find(newest(100), &[]).await.unwrap();
    let stop = CancellationToken::new();
    stop.cancel();
    let fault = compute(windows(), &found, Interval::M1, &stop).err().unwrap();
    assert_eq!(fault.code(), "cancelled");
}

#[tokio::test]
async fn a_warmed_window_equals_the_end_of_a_long_one() {
    let fixture = Fixture::new(0);
    let long = series(&fixture, newest(5_000), false).await;
    for range in [newest(40), between(NOON - 40 * MINUTE, NOON)] {
        let warm = series(&fixture, range, true).await;
        assert_eq!(warm["rsi"].len(), 40);
        same(&warm, &long);
        // A cumulative sum starts with the window, with and without warm-up.
        assert_eq!(warm["obv"], series(&fixture, range, false).await["obv"]);
    }
    assert!(series(&fixture, newest(40), false).await["rsi"][0].is_nan());
}

#[tokio::test]
async fn gaps_of_the_venue_leave_a_window_warm() {
    let fixture = Fixture::new(0);
    let end = GAP.to.0 + 20 * MINUTE;
    let long = series(&fixture, between(end - 4_900 * MINUTE, end), false).await;
    let across = Range { start: None, end: Some(Millis(end)), limit: Some(30) };
    let warm = series(&fixture, across, true).await;
    assert_eq!(warm["vwap"].len(), 30);
    same(&warm, &long);
}

#[tokio::test]
async fn a_young_symbol_is_as_warm_as_it_can_be() {
    let fixture = Fixture::new(NOON - 100 * MINUTE);
    let warm = series(&fixture, newest(30), true).await;
    assert!(warm["rsi"].iter().all(|value| value.is_finite()));
    assert!(warm["sma"].iter().all(|value| value.is_nan()));
    let all = series(&fixture, newest(300), true).await;
    assert_eq!((all["rsi"].len(), all["rsi"].iter().filter(|it| it.is_nan()).count()), (100, 13));
}

#[tokio::test]
async fn a_file_is_read_only_at_the_intervals_it_was_imported_at() {
    let mut fixture = Fixture::new(0);
    let venue = fixture.reader.market.venues.get_mut(&Venue::Binance).unwrap();
    venue.bars = None;
    *fixture.venue.known.lock() = Some(TimeRange::new(Millis(NOON - DAY_MS), Millis(NOON)));
    assert_eq!(fixture.times(newest(3)).await.0.len(), 3);
    let since = Range { start: Some(Millis(NOON - DAY_MS)), end: None, limit: Some(2) };
    for range in [newest(3), since, between(NOON - DAY_MS, NOON)] {
        let (ticker, until) = (fixture.reader.ticker("X").unwrap(), Instant::now());
        let found = fixture.reader.find(ticker, Interval::M5, range, &[], until).await;
        let fault = found.err().unwrap();
        assert_eq!(fault.message(), "X was not imported at 5m, only at 1m");
        assert_eq!((fault.kind(), fault.code()), (fault::Kind::Invalid, "interval_not_imported"));
        assert_eq!(fault.problems()[0].field, "interval");
    }
}

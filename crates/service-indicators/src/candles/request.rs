//! One request for bars: completes the archive from the venue, then reads the archive.

use std::sync::Arc;
use std::time::Duration;

use clock::{DAY_MS, Millis, TimeRange};
use fault::Fault;
use market::{Bar, BarSeries, BarSource, Interval, PageRequest, Ticker};
use market_bars::{BarHistory, FillOptions};
use tokio::time::{Instant, timeout};

use super::columns::Candles;
use crate::ports::VenueCandles;

/// Maximum number of attempts to widen the searched range across a venue's gaps.
const ATTEMPTS_MAX: u32 = 6;
/// How long a reply waits for the opening time of the first bar, which it can do without.
const FIRST_OPEN_TIMEOUT: Duration = Duration::from_secs(1);
const ALL_TIME: TimeRange = TimeRange { from: Millis(i64::MIN), to: Millis(i64::MAX) };

pub(crate) struct BarRequest<'a> {
    pub(crate) history: &'a BarHistory,
    pub(crate) venue: &'a VenueCandles,
    pub(crate) ticker: &'a Ticker,
    pub(crate) series: &'a BarSeries,
    pub(crate) deadline: Instant,
}

/// The newest bars before a time, with the range in which they are complete.
pub(crate) struct CompleteBars {
    pub(crate) bars: Vec<Bar>,
    /// Start of the complete range; `None` if the series has no bar before these.
    pub(crate) from: Option<Millis>,
    /// End of the complete range. It is before the requested end if the venue publishes late.
    pub(crate) to: Millis,
}

impl BarRequest<'_> {
    /// Every bar of the span. The caller bounds the span so that its bars fit in memory.
    pub(crate) async fn within(&self, span: TimeRange, most: usize) -> Result<Vec<Bar>, Fault> {
        Ok(self.known_within(span, most).await?.0)
    }

    /// Every bar of the span, and the time up to which they are known.
    pub(crate) async fn known_within(
        &self,
        span: TimeRange,
        most: usize,
    ) -> Result<(Vec<Bar>, Millis), Fault> {
        let known_to = self.complete(span).await?;
        Ok((self.page(span, 0, most).await?, known_to))
    }

    /// How many candles the venue's hours would have beyond `found` within the span, or between the
    /// first and the last candle where there is no span; `None` if the hours are not known.
    pub(crate) async fn gaps(&self, found: &Candles, span: Option<TimeRange>) -> Option<u64> {
        let source = self.venue.bars.as_ref()?;
        let interval = self.series.interval;
        let between = found
            .first()
            .zip(found.last())
            .map(|(first, last)| TimeRange::new(first, Millis(last.0.saturating_add(1))));
        let mut span = span.or(between).unwrap_or(TimeRange::new(Millis(0), Millis(0)));
        let count = found.len() as u64;
        if source.trading_hours().expected_bars(interval, span)? <= count {
            return Some(0);
        }
        // Nothing is missing before the symbol was listed. The answer is usually cached.
        let listed = source.first_open(&self.series.symbol.code, interval);
        let listed = timeout(FIRST_OPEN_TIMEOUT, listed).await.ok()?.ok()?;
        if let Some(listed) = listed {
            span = TimeRange::new(span.from.max(listed).min(span.to), span.to);
        }
        let expected = source.trading_hours().expected_bars(interval, span)?;
        Some(expected.saturating_sub(count))
    }

    /// The first `limit` bars of the span. Each attempt that finds fewer searches a four times
    /// longer range, because the venue may have gaps.
    pub(crate) async fn first(&self, span: TimeRange, limit: usize) -> Result<Vec<Bar>, Fault> {
        let Some(source) = &self.venue.bars else { return self.within(span, limit).await };
        self.require_listed().await?;
        // The search starts at the venue's first bar, because no bar precedes it.
        let code = &self.series.symbol.code;
        let listed = source.first_open(code, self.series.interval).await?.unwrap_or(span.from);
        let span = TimeRange::new(span.from.max(listed).min(span.to), span.to);
        let mut length = self.duration(limit);
        for _ in 0..ATTEMPTS_MAX {
            let part =
                TimeRange::new(span.from, Millis(span.from.0.saturating_add(length)).min(span.to));
            let bars = self.within(part, limit).await?;
            if bars.len() == limit || part.to >= span.to {
                return Ok(bars);
            }
            length = length.saturating_mul(4);
        }
        self.page(span, 0, limit).await
    }

    /// The newest bars before `end`.
    pub(crate) async fn last(&self, end: Millis, limit: usize) -> Result<CompleteBars, Fault> {
        self.require_listed().await?;
        let Some(source) = &self.venue.bars else {
            // Imported files have no other source than the archive.
            self.require_imported_interval().await?;
            let span = TimeRange::new(Millis(0), end);
            let bars = self.newest(span, limit).await?;
            return Ok(CompleteBars { bars, from: None, to: end });
        };
        let code = &self.series.symbol.code;
        let listed = source.first_open(code, self.series.interval).await?.unwrap_or(Millis(0));
        let mut length = self.duration(limit);
        let mut found = CompleteBars { bars: Vec::new(), from: Some(end), to: end };
        for _ in 0..ATTEMPTS_MAX {
            let span = TimeRange::new(Millis(end.0.saturating_sub(length)).max(listed), end);
            let to = self.complete(span).await?;
            let bars = self.newest(span, limit).await?;
            let full = bars.len() == limit;
            let from = match bars.first() {
                Some(first) if full => Some(first.open_time),
                _ => (span.from > listed).then_some(span.from),
            };
            found = CompleteBars { bars, from, to };
            if full || span.from <= listed {
                break;
            }
            length = length.saturating_mul(4);
        }
        Ok(found)
    }

    /// The time that `candles` candles take without gaps, in milliseconds.
    fn duration(&self, candles: usize) -> i64 {
        let step = self.series.interval.fixed_ms().unwrap_or(31 * DAY_MS);
        step.saturating_mul(i64::try_from(candles).unwrap_or(i64::MAX))
    }

    /// Fills the archive for the span and returns the time up to which the archive is complete.
    async fn complete(&self, span: TimeRange) -> Result<Millis, Fault> {
        let Some(source) = self.venue.bars.as_ref().filter(|_| !span.is_empty()) else {
            // No fetch follows that would detect an unknown symbol, so this branch checks it.
            self.require_listed().await?;
            if self.venue.bars.is_none() {
                self.require_imported_interval().await?;
            }
            return Ok(span.to);
        };
        if self.history.is_complete(self.series, span).await? {
            return Ok(span.to);
        }
        self.require_listed().await?;
        self.fill(source, span).await
    }

    async fn fill(&self, source: &Arc<dyn BarSource>, span: TimeRange) -> Result<Millis, Fault> {
        let options = FillOptions { deadline: self.deadline, progress: &|_, _| {} };
        self.history.fill(source, self.series, span, &options).await
    }

    async fn newest(&self, span: TimeRange, limit: usize) -> Result<Vec<Bar>, Fault> {
        let series = std::slice::from_ref(self.series);
        let request = PageRequest { series, range: span, offset: 0, limit: 0 };
        let count = self.history.page(&request).await?.total;
        self.page(span, count.saturating_sub(limit as u64), limit).await
    }

    async fn page(&self, span: TimeRange, offset: u64, limit: usize) -> Result<Vec<Bar>, Fault> {
        let series = std::slice::from_ref(self.series);
        let request = PageRequest { series, range: span, offset, limit };
        let page = self.history.page(&request).await?;
        Ok(page.bars.into_iter().map(|(_, bar)| bar).collect())
    }

    /// Refuses a symbol that its venue does not list.
    async fn require_listed(&self) -> Result<(), Fault> {
        let listing = self.venue.symbols.listing().await?;
        let listed = listing.require(self.ticker, "symbol");
        listed.map_err(|fault| fault.problem("symbol", "a symbol of the venue"))
    }

    /// Refuses an interval at which the file was not imported. The service does not aggregate
    /// imported bars into longer ones: a missing minute may be a minute without trades or a hole in
    /// the file, and an hour with such a hole would look complete.
    async fn require_imported_interval(&self) -> Result<(), Fault> {
        let every = Interval::ALL.map(|interval| BarSeries { interval, ..self.series.clone() });
        let count = PageRequest { series: &every, range: ALL_TIME, offset: 0, limit: 0 };
        let totals = self.history.page(&count).await?.totals;
        let intervals = every.iter().zip(totals).filter(|(_, total)| *total > 0);
        let intervals: Vec<Interval> = intervals.map(|(series, _)| series.interval).collect();
        if intervals.is_empty() || intervals.contains(&self.series.interval) {
            return Ok(());
        }
        let names = intervals.iter().map(|it| it.as_str()).collect::<Vec<_>>().join(", ");
        let (ticker, interval) = (&self.ticker.name, self.series.interval);
        let message = format!("{ticker} was not imported at {interval}, only at {names}");
        Err(Fault::invalid("interval_not_imported", message).problem("interval", names))
    }
}

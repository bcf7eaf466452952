//! One request for bars on its way through venue and archive.

use std::sync::Arc;

use clock::{DAY_MS, Millis, TimeRange};
use fault::Fault;
use market::{Bar, BarSeries, BarSource, Interval, PageRequest, Ticker};
use market_bars::{BarHistory, FillOptions};
use tokio::time::Instant;

use crate::ports::VenueCandles;

/// How often the search for more candles goes further back over a venue's gaps.
const STRIDES_MAX: u32 = 6;
const EVER: TimeRange = TimeRange { from: Millis(i64::MIN), to: Millis(i64::MAX) };

pub(crate) struct Request<'a> {
    pub(crate) history: &'a BarHistory,
    pub(crate) venue: &'a VenueCandles,
    pub(crate) ticker: &'a Ticker,
    pub(crate) series: &'a BarSeries,
    pub(crate) deadline: Instant,
}

/// Bars up to a time, with how much of the past is known by them.
pub(crate) struct Known {
    pub(crate) bars: Vec<Bar>,
    /// Since when there are no others; `None` where there is nothing before them.
    pub(crate) from: Option<Millis>,
    /// Until when there are no others. Earlier than was asked where the venue is late.
    pub(crate) to: Millis,
}

impl Request<'_> {
    /// Every bar of the span, which the caller keeps to a size that fits in memory.
    pub(crate) async fn within(&self, span: TimeRange, most: usize) -> Result<Vec<Bar>, Fault> {
        self.complete(span).await?;
        self.page(span, 0, most).await
    }

    /// The first bars from the start of the span. A venue's gaps may make it look further.
    pub(crate) async fn first(&self, span: TimeRange, limit: usize) -> Result<Vec<Bar>, Fault> {
        let Some(source) = &self.venue.bars else { return self.within(span, limit).await };
        self.known().await?;
        // Before the first bar there is nothing, however far the strides go.
        let code = &self.series.symbol.code;
        let listed = source.first_open(code, self.series.interval).await?.unwrap_or(span.from);
        let span = TimeRange::new(span.from.max(listed).min(span.to), span.to);
        let mut reach = self.stride(limit);
        for _ in 0..STRIDES_MAX {
            let part =
                TimeRange::new(span.from, Millis(span.from.0.saturating_add(reach)).min(span.to));
            let bars = self.within(part, limit).await?;
            if bars.len() == limit || part.to >= span.to {
                return Ok(bars);
            }
            reach = reach.saturating_mul(4);
        }
        self.page(span, 0, limit).await
    }

    /// The newest bars before `end`.
    pub(crate) async fn last(&self, end: Millis, limit: usize) -> Result<Known, Fault> {
        self.known().await?;
        let Some(source) = &self.venue.bars else {
            // The archive is all there is.
            self.imported().await?;
            let span = TimeRange::new(Millis(0), end);
            let bars = self.newest(span, limit).await?;
            return Ok(Known { bars, from: None, to: end });
        };
        let code = &self.series.symbol.code;
        let listed = source.first_open(code, self.series.interval).await?.unwrap_or(Millis(0));
        let mut reach = self.stride(limit);
        let mut found = Known { bars: Vec::new(), from: Some(end), to: end };
        for _ in 0..STRIDES_MAX {
            let span = TimeRange::new(Millis(end.0.saturating_sub(reach)).max(listed), end);
            let to = self.complete(span).await?;
            let bars = self.newest(span, limit).await?;
            let full = bars.len() == limit;
            let from = match bars.first() {
                Some(first) if full => Some(first.open_time),
                _ => (span.from > listed).then_some(span.from),
            };
            found = Known { bars, from, to };
            if full || span.from <= listed {
                break;
            }
            reach = reach.saturating_mul(4);
        }
        Ok(found)
    }

    /// Time enough for so many candles.
    fn stride(&self, candles: usize) -> i64 {
        let step = self.series.interval.fixed_ms().unwrap_or(31 * DAY_MS);
        step.saturating_mul(i64::try_from(candles).unwrap_or(i64::MAX))
    }

    /// Returns when the archive has all of the span, and until when that is.
    async fn complete(&self, span: TimeRange) -> Result<Millis, Fault> {
        let Some(source) = self.venue.bars.as_ref().filter(|_| !span.is_empty()) else {
            // There is nothing to fetch, so nobody else would notice an unknown symbol.
            self.known().await?;
            if self.venue.bars.is_none() {
                self.imported().await?;
            }
            return Ok(span.to);
        };
        if self.history.is_complete(self.series, span).await? {
            return Ok(span.to);
        }
        self.known().await?;
        self.fill(source, span).await
    }

    async fn fill(&self, source: &Arc<dyn BarSource>, span: TimeRange) -> Result<Millis, Fault> {
        let patience = FillOptions { deadline: self.deadline, progress: &|_, _| {} };
        self.history.fill(source, self.series, span, &patience).await
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
    async fn known(&self) -> Result<(), Fault> {
        let listing = self.venue.symbols.listing().await?;
        let listed = listing.require(self.ticker, "symbol");
        listed.map_err(|fault| fault.problem("symbol", "a symbol of the venue"))
    }

    /// Refuses an interval that a file was not imported at. Bars of other lengths are not made of
    /// those there are: where a file lacks a minute, nobody knows whether it is a minute without
    /// trades, and an hour made of the others would look like any other hour.
    async fn imported(&self) -> Result<(), Fault> {
        let every = Interval::ALL.map(|interval| BarSeries { interval, ..self.series.clone() });
        let count = PageRequest { series: &every, range: EVER, offset: 0, limit: 0 };
        let totals = self.history.page(&count).await?.totals;
        let there = every.iter().zip(totals).filter(|(_, total)| *total > 0);
        let there: Vec<Interval> = there.map(|(series, _)| series.interval).collect();
        if there.is_empty() || there.contains(&self.series.interval) {
            return Ok(());
        }
        let names = there.iter().map(|it| it.as_str()).collect::<Vec<_>>().join(", ");
        let (ticker, interval) = (&self.ticker.name, self.series.interval);
        let message = format!("{ticker} was not imported at {interval}, only at {names}");
        Err(Fault::invalid("interval_not_imported", message).problem("interval", names))
    }
}

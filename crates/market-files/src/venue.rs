//! The `FILE:` venue: imported bars as a source of quotes, bars and symbols.
//!
//! It serves bars that are in the archive, so the archive cannot be filled from it.

use std::sync::Arc;

use async_trait::async_trait;
use clock::{Millis, TimeRange};
use fault::Fault;
use market::{
    BarArchive, BarBatch, BarSeries, BarSource, Delay, Freshness, Interval, Listing, PageRequest,
    Quote, QuoteSource, Symbol, SymbolSource, TradingHours, Venue, VenueAdapter,
};
use market_bars::BarStore;

use crate::SOURCE;

/// The venue of imported bars.
pub struct FileVenue {
    store: Arc<BarStore>,
}

/// The currency of series that were imported without one.
const DEFAULT_CURRENCY: &str = "USD";
const ALL_TIME: TimeRange = TimeRange { from: Millis(i64::MIN), to: Millis(i64::MAX) };

impl FileVenue {
    pub fn new(store: Arc<BarStore>) -> Self {
        Self { store }
    }

    /// A quote with the newest close of all intervals in which the symbol was imported.
    async fn quote(&self, symbol: &Symbol) -> Result<Arc<Quote>, Fault> {
        let series: Vec<BarSeries> =
            Interval::ALL.map(|interval| series(symbol.clone(), interval)).to_vec();
        let count = PageRequest { series: &series, range: ALL_TIME, offset: 0, limit: 0 };
        let totals = self.store.page(&count).await?.totals;
        let mut newest: Option<(Millis, Quote)> = None;
        for (series, total) in series.iter().zip(totals).filter(|(_, total)| *total > 0) {
            let one_series = std::slice::from_ref(series);
            let last =
                PageRequest { series: one_series, range: ALL_TIME, offset: total - 1, limit: 1 };
            let page = self.store.page(&last).await?;
            let Some((_, bar)) = page.bars.first() else { continue };
            let as_of = series.interval.next_open(bar.open_time);
            if newest.as_ref().is_some_and(|(at, _)| *at >= as_of) {
                continue;
            }
            let received = self.store.received_at(one_series).await?.into_iter().next().flatten();
            let freshness = Freshness {
                source: SOURCE.to_owned(),
                as_of,
                received_at: received.unwrap_or(as_of),
                delay: Delay::Static,
                stale: false,
                fallback: None,
            };
            let currency = self.store.currency(series).await?;
            let quote = Quote {
                symbol: symbol.clone(),
                price: bar.close,
                currency: currency.unwrap_or_else(|| DEFAULT_CURRENCY.to_owned()),
                volume: None,
                freshness,
            };
            newest = Some((as_of, quote));
        }
        newest.map(|(_, quote)| Arc::new(quote)).ok_or_else(|| {
            let message = format!("no bars were imported for {symbol}");
            Fault::not_found("unknown_ticker", message)
        })
    }
}

fn series(symbol: Symbol, interval: Interval) -> BarSeries {
    BarSeries { source: SOURCE.to_owned(), symbol, interval }
}

#[async_trait]
impl VenueAdapter for FileVenue {
    fn venue(&self) -> Venue {
        Venue::File
    }

    fn source(&self) -> &str {
        SOURCE
    }
}

#[async_trait]
impl QuoteSource for FileVenue {
    async fn latest(&self, symbols: &[Symbol]) -> Result<Vec<Result<Arc<Quote>, Fault>>, Fault> {
        let mut quotes = Vec::with_capacity(symbols.len());
        for symbol in symbols {
            quotes.push(self.quote(symbol).await);
        }
        Ok(quotes)
    }
}

#[async_trait]
impl BarSource for FileVenue {
    fn source(&self) -> &str {
        SOURCE
    }

    fn trading_hours(&self) -> TradingHours {
        TradingHours::Unknown
    }

    /// No bars and an empty covered range, because all imported bars are in the archive already.
    async fn bars(
        &self,
        _code: &str,
        _interval: Interval,
        range: TimeRange,
    ) -> Result<BarBatch, Fault> {
        let covered = TimeRange::new(range.from, range.from);
        Ok(BarBatch { bars: Vec::new(), covered, received_at: Millis(0) })
    }

    async fn first_open(&self, code: &str, interval: Interval) -> Result<Option<Millis>, Fault> {
        let symbol = Symbol { venue: Venue::File, code: code.to_owned() };
        let series = [series(symbol, interval)];
        let first = PageRequest { series: &series, range: ALL_TIME, offset: 0, limit: 1 };
        let page = self.store.page(&first).await?;
        Ok(page.bars.first().map(|(_, bar)| bar.open_time))
    }
}

#[async_trait]
impl SymbolSource for FileVenue {
    async fn listing(&self) -> Result<Arc<Listing>, Fault> {
        let quote_assets = self.store.currencies(SOURCE, DEFAULT_CURRENCY).await?;
        Ok(Arc::new(Listing { quote_assets, ..Listing::default() }))
    }
}

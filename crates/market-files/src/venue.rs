//! The `FILE:` venue: imported bars as a source of quotes, bars and symbols.
//!
//! It never has more than the archive has, so it is no place to complete history from.

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

pub struct FileVenue {
    store: Arc<BarStore>,
}

/// For series that were imported without saying what their prices are counted in.
const CURRENCY: &str = "USD";
const ALWAYS: TimeRange = TimeRange { from: Millis(i64::MIN), to: Millis(i64::MAX) };

impl FileVenue {
    pub fn new(store: Arc<BarStore>) -> Self {
        Self { store }
    }

    /// The newest close among the intervals the symbol was imported in.
    async fn quote(&self, symbol: &Symbol) -> Result<Arc<Quote>, Fault> {
        let series: Vec<BarSeries> =
            Interval::ALL.map(|interval| series(symbol.clone(), interval)).to_vec();
        let count = PageRequest { series: &series, range: ALWAYS, offset: 0, limit: 0 };
        let totals = self.store.page(&count).await?.totals;
        let mut newest: Option<(Millis, Quote)> = None;
        for (series, total) in series.iter().zip(totals).filter(|(_, total)| *total > 0) {
            let one = std::slice::from_ref(series);
            let last = PageRequest { series: one, range: ALWAYS, offset: total - 1, limit: 1 };
            let page = self.store.page(&last).await?;
            let Some((_, bar)) = page.bars.first() else { continue };
            let as_of = series.interval.next_open(bar.open_time);
            if newest.as_ref().is_some_and(|(at, _)| *at >= as_of) {
                continue;
            }
            let received = self.store.received_at(one).await?.into_iter().next().flatten();
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
                currency: currency.unwrap_or_else(|| CURRENCY.to_owned()),
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

    /// Nothing, and nothing of it known: what was imported is in the archive already.
    async fn bars(
        &self,
        _code: &str,
        _interval: Interval,
        span: TimeRange,
    ) -> Result<BarBatch, Fault> {
        let covered = TimeRange::new(span.from, span.from);
        Ok(BarBatch { bars: Vec::new(), covered, received_at: Millis(0) })
    }

    async fn first_open(&self, code: &str, interval: Interval) -> Result<Option<Millis>, Fault> {
        let symbol = Symbol { venue: Venue::File, code: code.to_owned() };
        let series = [series(symbol, interval)];
        let first = PageRequest { series: &series, range: ALWAYS, offset: 0, limit: 1 };
        let page = self.store.page(&first).await?;
        Ok(page.bars.first().map(|(_, bar)| bar.open_time))
    }
}

#[async_trait]
impl SymbolSource for FileVenue {
    async fn listing(&self) -> Result<Arc<Listing>, Fault> {
        let quote_assets = self.store.currencies(SOURCE, CURRENCY).await?;
        Ok(Arc::new(Listing { quote_assets, ..Listing::default() }))
    }
}

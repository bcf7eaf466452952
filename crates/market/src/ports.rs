//! What services need from venues and from history, said without naming any venue.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use fault::Fault;

use crate::bar::{Bar, BarBatch, Series};
use crate::calendar::Calendar;
use crate::interval::Interval;
use crate::quote::Quote;
use crate::symbol::Symbol;
use crate::time::{Millis, Span};

/// Latest prices. Cached answers are fine as long as their freshness says so.
#[async_trait]
pub trait QuoteSource: Send + Sync {
    /// One result per symbol, in the order asked. An unknown symbol is a `NotFound` fault in its
    /// place; a fault of the whole call means that nothing could be served.
    async fn latest(&self, symbols: &[Symbol]) -> Result<Vec<Result<Arc<Quote>, Fault>>, Fault>;
}

/// Closed bars straight from a venue.
#[async_trait]
pub trait BarSource: Send + Sync {
    /// The name its bars are kept under; see [`Series::source`].
    fn source(&self) -> &str;

    fn calendar(&self) -> Calendar;

    /// Every closed bar that opens within the span, pages followed to the end. The caller keeps
    /// spans to a size that fits in memory.
    async fn bars(&self, code: &str, interval: Interval, span: Span) -> Result<BarBatch, Fault>;

    /// When the venue's first bar of this series opened, where it can be known cheaply; spares the
    /// caller from asking for the years before a listing.
    async fn first_open(&self, code: &str, interval: Interval) -> Result<Option<Millis>, Fault>;
}

/// What a venue trades.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    /// The currency each traded code is priced in.
    pub quote_assets: HashMap<String, String>,
}

#[async_trait]
pub trait SymbolSource: Send + Sync {
    async fn listing(&self) -> Result<Arc<Listing>, Fault>;
}

/// A candle that may still be forming.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kline {
    pub bar: Bar,
    pub close_time: Millis,
    pub closed: bool,
}

/// Recent candles, the forming one included and marked.
#[async_trait]
pub trait KlineSource: Send + Sync {
    async fn klines(
        &self,
        code: &str,
        interval: Interval,
        limit: usize,
    ) -> Result<Vec<Kline>, Fault>;
}

/// What a live subscription tells. Closed candles come in order, once each, without gaps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KlineEvent {
    Kline(Kline),
    Connected,
    Reconnecting,
    GapFilled(Span),
}

/// Candles as they form.
#[async_trait]
pub trait LiveKlines: Send + Sync {
    /// Fills `events` until the receiver is dropped.
    async fn follow(
        &self,
        code: &str,
        interval: Interval,
        events: Box<dyn Fn(KlineEvent) + Send + Sync>,
    ) -> Result<(), Fault>;
}

/// Whether a venue can be relied on right now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VenueHealth {
    Up,
    /// Answers come, but from caches or after failures.
    Degraded,
    Down,
}

/// Bars that are kept, with the knowledge of which spans are complete.
#[async_trait]
pub trait BarArchive: Send + Sync {
    /// The parts of `span` that are not known to be complete, ascending.
    async fn missing(&self, series: &Series, span: Span) -> Result<Vec<Span>, Fault>;

    /// Keeps bars and marks their span as complete, both or neither. Bars already there are
    /// replaced, so doing it twice is the same as doing it once.
    async fn append(&self, series: &Series, batch: &BarBatch) -> Result<(), Fault>;

    /// One page of the bars of all series, ordered by the series' position in the request and then
    /// by time, with the exact number of bars on all pages. Both come from one snapshot.
    async fn page(&self, request: &PageRequest<'_>) -> Result<ArchivePage, Fault>;

    /// When each series was last told something by its source, in the order asked.
    async fn received_at(&self, series: &[Series]) -> Result<Vec<Option<Millis>>, Fault>;

    /// The codes kept for a source, for suggestions.
    async fn codes(&self, source: &str) -> Result<Vec<String>, Fault>;
}

#[derive(Debug, Clone, Copy)]
pub struct PageRequest<'a> {
    pub series: &'a [Series],
    pub span: Span,
    pub offset: u64,
    pub limit: usize,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ArchivePage {
    /// Each bar with the position of its series in the request.
    pub bars: Vec<(usize, Bar)>,
    pub total: u64,
    /// How many of `total` each series holds, in the order asked.
    pub totals: Vec<u64>,
}

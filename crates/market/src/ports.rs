//! What services need from venues and from history, said without naming any venue.

use std::collections::{HashMap, HashSet};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use async_trait::async_trait;
use fault::Fault;

use crate::bar::{Bar, BarBatch, BarSeries};
use crate::calendar::TradingHours;
use crate::freshness::Delay;
use crate::interval::Interval;
use crate::quote::Quote;
use crate::symbol::{Symbol, Ticker, closest_codes};
use clock::{Millis, TimeRange};

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
    /// The name its bars are kept under; see [`BarSeries::source`].
    fn source(&self) -> &str;

    fn trading_hours(&self) -> TradingHours;

    /// How late the venue may be with a bar that has closed: its clock runs behind ours, its
    /// records behind its trading, or its free data behind the market.
    fn publish_delay_max(&self) -> Duration {
        Duration::from_mins(10)
    }

    /// Every closed bar that opens within the span, pages followed to the end. The caller keeps
    /// spans to a size that fits in memory.
    async fn bars(
        &self,
        code: &str,
        interval: Interval,
        span: TimeRange,
    ) -> Result<BarBatch, Fault>;

    /// When the venue's first bar of this series opened, where it can be known cheaply; spares the
    /// caller from asking for the years before a listing.
    async fn first_open(&self, code: &str, interval: Interval) -> Result<Option<Millis>, Fault>;
}

/// How many spellings an unknown symbol is answered with.
const SUGGESTIONS_MAX: usize = 3;

/// What a venue trades.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    /// The currency each traded code is priced in.
    pub quote_assets: HashMap<String, String>,
    /// Codes that are listed and not traded at present; they have a past.
    pub halted: HashSet<String>,
    /// When the venue said so; `None` where nobody has to be asked and it is so right now.
    pub received_at: Option<Millis>,
}

impl Listing {
    /// Whether the venue has ever listed it, as far as it tells.
    pub fn contains(&self, code: &str) -> bool {
        self.quote_assets.contains_key(code) || self.halted.contains(code)
    }

    /// Refuses what the venue does not list, with what may have been meant; `what` is the caller's
    /// word for it.
    pub fn require(&self, ticker: &Ticker, what: &str) -> Result<(), Fault> {
        let code = ticker.symbol.code.as_str();
        if self.contains(code) {
            return Ok(());
        }
        let traded = self.quote_assets.keys().map(String::as_str);
        let near = closest_codes(code, traded, SUGGESTIONS_MAX);
        let mut message = format!("{what} {:?} is not known", ticker.name);
        if !near.is_empty() {
            // As they would have to be written where this one was.
            let venue = ticker.name.rfind(':').and_then(|at| ticker.name.get(..=at)).unwrap_or("");
            let near: Vec<_> = near.iter().map(|code| format!("{venue}{code}")).collect();
            message.push_str(&format!("; did you mean {}?", near.join(", ")));
        }
        Err(Fault::not_found("unknown_symbol", message))
    }
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

/// What a live subscription tells. An event is built once, however many read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KlineEvent {
    /// A candle as it forms, any number of times, and once as it closed. Closed candles come in
    /// order and without gaps; a forming one never comes before all older ones have closed.
    Candle {
        kline: Kline,
        /// When the venue said so.
        as_of: Millis,
    },
    /// Candles are heard as they form.
    Connected,
    /// They are not, for now. Nothing closed will be lost.
    Reconnecting,
    /// The closed candles of this span were not heard live. They came from the venue's record,
    /// just before this event.
    GapFilled(TimeRange),
    /// Always the last event.
    Ended(FeedEnd),
}

/// How a subscription ended, and where the next one continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FeedEnd {
    pub cause: EndCause,
    /// Following again with this as [`SubscribeOptions::resume_after`] misses and repeats no closed candle.
    pub resume_after: Millis,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndCause {
    /// The reader could not even take the closed candles.
    TooSlow,
    /// The house closes.
    Closed,
}

/// How to follow candles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SubscribeOptions {
    /// The opening time of the last closed candle the reader has; all later ones come first.
    /// Without it, the subscription begins with the candle that is forming.
    pub resume_after: Option<Millis>,
    /// How many events wait for a slow reader. When they are too many, forming candles are left
    /// out first, then what was said about the connection, and closed candles never.
    pub queue_max: usize,
}

impl SubscribeOptions {
    pub const QUEUE_MAX: usize = 1_000;
}

impl Default for SubscribeOptions {
    fn default() -> Self {
        Self { resume_after: None, queue_max: Self::QUEUE_MAX }
    }
}

/// One subscription; dropping it ends it.
pub trait KlineFeed: Send + Unpin {
    /// The next event; `None` after [`KlineEvent::Ended`].
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Arc<KlineEvent>>>;

    /// How far behind the market its candles run.
    fn delay(&self) -> Delay {
        Delay::RealTime
    }
}

impl dyn KlineFeed {
    /// The next event; `None` after [`KlineEvent::Ended`]. Nothing is lost by giving up waiting.
    pub async fn next(&mut self) -> Option<Arc<KlineEvent>> {
        std::future::poll_fn(|context| self.poll_next(context)).await
    }
}

/// Candles as they form.
#[async_trait]
pub trait LiveKlines: Send + Sync {
    /// Begins to follow a symbol, which is `NotFound` where the venue does not list it.
    async fn subscribe(
        &self,
        code: &str,
        interval: Interval,
        options: SubscribeOptions,
    ) -> Result<Box<dyn KlineFeed>, Fault>;
}

/// Whether a venue can be relied on right now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VenueHealth {
    Up,
    /// Answers come, but from caches or after failures.
    Degraded,
    Down,
}

/// Asks a venue how it is; cheap enough for every health check.
pub type HealthProbe =
    Box<dyn Fn() -> Pin<Box<dyn Future<Output = VenueHealth> + Send>> + Send + Sync>;

/// Bars that are kept, with the knowledge of which spans are complete.
#[async_trait]
pub trait BarArchive: Send + Sync {
    /// The parts of `span` that are not known to be complete, ascending.
    async fn missing(&self, series: &BarSeries, span: TimeRange) -> Result<Vec<TimeRange>, Fault>;

    /// Keeps bars and marks their span as complete, both or neither. Bars already there are
    /// replaced, so doing it twice is the same as doing it once.
    async fn append(&self, series: &BarSeries, batch: &BarBatch) -> Result<(), Fault>;

    /// One page of the bars of all series, ordered by the series' position in the request and then
    /// by time, with the exact number of bars on all pages. Both come from one snapshot.
    async fn page(&self, request: &PageRequest<'_>) -> Result<ArchivePage, Fault>;

    /// When each series was last told something by its source, in the order asked.
    async fn received_at(&self, series: &[BarSeries]) -> Result<Vec<Option<Millis>>, Fault>;

    /// The codes kept for a source, for suggestions.
    async fn codes(&self, source: &str) -> Result<Vec<String>, Fault>;
}

#[derive(Debug, Clone, Copy)]
pub struct PageRequest<'a> {
    pub series: &'a [BarSeries],
    pub range: TimeRange,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Venue;

    #[test]
    fn what_may_have_been_meant_is_written_like_what_was_asked_for() {
        let listing = Listing {
            quote_assets: HashMap::from([("SBER".into(), "RUB".into())]),
            ..Listing::default()
        };
        for (asked, told) in [
            ("MOEX:SBRE", "symbol \"MOEX:SBRE\" is not known; did you mean MOEX:SBER?"),
            ("sbre", "symbol \"SBRE\" is not known; did you mean SBER?"),
            ("MOEX:GOLD", "symbol \"MOEX:GOLD\" is not known"),
        ] {
            let ticker = Ticker::parse(asked, Venue::Moex).unwrap();
            assert_eq!(listing.require(&ticker, "symbol").unwrap_err().to_string(), told);
        }
    }
}

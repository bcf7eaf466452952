//! The ports through which services reach venues and the bar archive; no venue is named here.

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

/// Latest prices. A cached quote is allowed; its freshness says how old it is.
#[async_trait]
pub trait QuoteSource: Send + Sync {
    /// One result per symbol, in the order of the request. An unknown symbol is a `NotFound` fault
    /// at its position; a fault of the whole call means that no symbol could be served.
    async fn latest(&self, symbols: &[Symbol]) -> Result<Vec<Result<Arc<Quote>, Fault>>, Fault>;
}

/// Closed bars straight from a venue.
#[async_trait]
pub trait BarSource: Send + Sync {
    /// The source name of its bars; see [`BarSeries::source`].
    fn source(&self) -> &str;

    /// When the venue trades.
    fn trading_hours(&self) -> TradingHours;

    /// Whether the venue has candles of this length.
    fn has_interval(&self, _: Interval) -> bool {
        true
    }

    /// The longest time between the close of a bar and its publication, caused by the venue's
    /// clock, its processing, and the delay of free data.
    fn publish_delay_max(&self) -> Duration {
        Duration::from_mins(10)
    }

    /// Every closed bar that opens within the range, all pages followed. The caller limits the
    /// range to what fits in memory.
    async fn bars(
        &self,
        code: &str,
        interval: Interval,
        range: TimeRange,
    ) -> Result<BarBatch, Fault>;

    /// When the first bar of this series opened, if the venue can tell cheaply; the caller then does
    /// not request the years before the listing.
    async fn first_open(&self, code: &str, interval: Interval) -> Result<Option<Millis>, Fault>;
}

/// The most suggestions for an unknown symbol.
const SUGGESTIONS_MAX: usize = 3;

/// The symbols that a venue lists.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    /// The currency of the prices of each traded code.
    pub quote_assets: HashMap<String, String>,
    /// Codes that are listed but not traded at present; they may have history.
    pub halted: HashSet<String>,
    /// When the venue sent the listing; `None` when it is read locally and always current.
    pub received_at: Option<Millis>,
}

impl Listing {
    /// Whether the code is listed, traded or halted.
    pub fn contains(&self, code: &str) -> bool {
        self.quote_assets.contains_key(code) || self.halted.contains(code)
    }

    /// A `NotFound` fault with suggestions when the ticker is not listed; `what` is the caller's noun
    /// for it.
    pub fn require(&self, ticker: &Ticker, what: &str) -> Result<(), Fault> {
        let code = ticker.symbol.code.as_str();
        if self.contains(code) {
            return Ok(());
        }
        let traded = self.quote_assets.keys().map(String::as_str);
        let near = closest_codes(code, traded, SUGGESTIONS_MAX);
        let mut message = format!("{what} {:?} is not known", ticker.name);
        if !near.is_empty() {
            // Suggestions get the venue prefix that the ticker was written with.
            let venue = ticker.name.rfind(':').and_then(|at| ticker.name.get(..=at)).unwrap_or("");
            let near: Vec<_> = near.iter().map(|code| format!("{venue}{code}")).collect();
            message.push_str(&format!("; did you mean {}?", near.join(", ")));
        }
        Err(Fault::not_found("unknown_symbol", message))
    }
}

/// The symbols of a venue.
#[async_trait]
pub trait SymbolSource: Send + Sync {
    /// The current listing, possibly cached.
    async fn listing(&self) -> Result<Arc<Listing>, Fault>;
}

/// A candle that may still be forming.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kline {
    /// Opening time, prices and volume.
    pub bar: Bar,
    /// The last millisecond of the candle.
    pub close_time: Millis,
    /// Whether it has closed.
    pub closed: bool,
}

/// Recent candles, including the one that is forming.
#[async_trait]
pub trait KlineSource: Send + Sync {
    /// The last `limit` candles, ascending.
    async fn klines(
        &self,
        code: &str,
        interval: Interval,
        limit: usize,
    ) -> Result<Vec<Kline>, Fault>;
}

/// An event of a live subscription. Subscribers share one copy of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KlineEvent {
    /// A candle while it forms, any number of times, and once when it has closed. Closed candles
    /// come in order without gaps; a forming candle comes only after all older ones have closed.
    Candle {
        /// The candle.
        kline: Kline,
        /// The instant that the venue's data describes.
        as_of: Millis,
    },
    /// The feed receives candles as they form.
    Connected,
    /// The feed is interrupted. No closed candle will be lost.
    Reconnecting,
    /// The closed candles of this range were missed live and were sent from the venue's history
    /// just before this event.
    GapFilled(TimeRange),
    /// The last event.
    Ended(FeedEnd),
}

/// How a subscription ended, and where the next one continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FeedEnd {
    /// Why it ended.
    pub cause: EndCause,
    /// A new subscription with this [`SubscribeOptions::resume_after`] misses and repeats no closed
    /// candle.
    pub resume_after: Millis,
}

/// Why a subscription ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndCause {
    /// The queue of the subscriber was full of closed candles.
    TooSlow,
    /// The server shuts down.
    Closed,
}

/// The options of a live subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SubscribeOptions {
    /// The resume point: the opening time of the last closed candle the subscriber has. All later
    /// ones are replayed first. `None` begins with the candle that is forming.
    pub resume_after: Option<Millis>,
    /// The most events that wait for a slow subscriber. A full queue drops forming candles first,
    /// then status events, and never closed candles.
    pub queue_max: usize,
}

impl SubscribeOptions {
    /// The default of `queue_max`.
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
    /// The next event; `None` after [`KlineEvent::Ended`]. Cancel safe.
    pub async fn next(&mut self) -> Option<Arc<KlineEvent>> {
        std::future::poll_fn(|context| self.poll_next(context)).await
    }
}

/// Live candles of a venue.
#[async_trait]
pub trait LiveKlines: Send + Sync {
    /// Subscribes to the candles of a symbol; `NotFound` when the venue does not list it.
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
    /// It answers.
    Up,
    /// It answers from caches, or some requests fail.
    Degraded,
    /// It does not answer.
    Down,
}

/// Checks the health of a venue; cheap enough for every health request.
pub type HealthProbe =
    Box<dyn Fn() -> Pin<Box<dyn Future<Output = VenueHealth> + Send>> + Send + Sync>;

/// Stored bars, with the time ranges that are known to be complete.
#[async_trait]
pub trait BarArchive: Send + Sync {
    /// The parts of `range` that are not known to be complete, ascending.
    async fn missing(&self, series: &BarSeries, range: TimeRange) -> Result<Vec<TimeRange>, Fault>;

    /// Stores bars and marks their range as complete, in one transaction. Existing bars are
    /// replaced, so the operation is idempotent.
    async fn append(&self, series: &BarSeries, batch: &BarBatch) -> Result<(), Fault>;

    /// One page of the bars of all series, ordered by the series' position in the request and then
    /// by time, with the exact number of bars on all pages. Both come from one snapshot.
    async fn page(&self, request: &PageRequest<'_>) -> Result<ArchivePage, Fault>;

    /// When bars of each series were last received, in the order of the request.
    async fn received_at(&self, series: &[BarSeries]) -> Result<Vec<Option<Millis>>, Fault>;

    /// The codes stored for a source, for suggestions.
    async fn codes(&self, source: &str) -> Result<Vec<String>, Fault>;

    /// Whether the archive can be read and written, for health tools; cheap to call often.
    async fn check(&self) -> Result<(), Fault> {
        self.codes("").await.map(drop)
    }
}

/// A request for one page of bars.
#[derive(Debug, Clone, Copy)]
pub struct PageRequest<'a> {
    /// The series, in the order of the page.
    pub series: &'a [BarSeries],
    /// Bars that open within it are counted.
    pub range: TimeRange,
    /// How many bars to skip.
    pub offset: u64,
    /// The most bars to return.
    pub limit: usize,
}

/// One page of bars.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ArchivePage {
    /// Each bar with the position of its series in the request.
    pub bars: Vec<(usize, Bar)>,
    /// The number of bars on all pages.
    pub total: u64,
    /// How many of `total` each series has, in the order of the request.
    pub totals: Vec<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Venue;

    #[test]
    fn suggestions_have_the_prefix_of_the_request() {
        let listing = Listing {
            quote_assets: HashMap::from([("SBER".into(), "RUB".into())]),
            ..Listing::default()
        };
        for (asked, message) in [
            ("MOEX:SBRE", "symbol \"MOEX:SBRE\" is not known; did you mean MOEX:SBER?"),
            ("sbre", "symbol \"SBRE\" is not known; did you mean SBER?"),
            ("MOEX:GOLD", "symbol \"MOEX:GOLD\" is not known"),
        ] {
            let ticker = Ticker::parse(asked, Venue::Moex).unwrap();
            assert_eq!(listing.require(&ticker, "symbol").unwrap_err().to_string(), message);
        }
    }
}

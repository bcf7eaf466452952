//! Market vocabulary: decimals, symbols, intervals, bars, quotes, freshness, and the ports through
//! which services reach venues and history.
//!
//! The crate does no I/O and no serialization: adapters convert venue payloads into these types, and
//! services convert these types into their contracts.

#![warn(missing_docs)]

mod bar;
mod calendar;
mod decimal;
mod freshness;
mod interval;
mod ports;
mod quote;
mod securities;
mod symbol;
mod trading_days;
mod venue_adapter;
mod venue_hint;

pub use bar::{Bar, BarBatch, BarSeries};
pub use calendar::TradingHours;
pub use clock::{Clock, DAY_MS, Millis, SystemClock, TimeRange, parse_date};
pub use decimal::{Decimal, DecimalError};
pub use freshness::{Delay, Freshness, SIMULATED};
pub use interval::Interval;
pub use ports::{
    ArchivePage, BarArchive, BarSource, EndCause, FeedEnd, HealthProbe, Kline, KlineEvent,
    KlineFeed, KlineSource, Listing, LiveKlines, PageRequest, QuoteSource, SubscribeOptions,
    SymbolSource, VenueHealth,
};
pub use quote::Quote;
pub use securities::{
    CandleRequest, CandleSource, CandleStep, Constituent, Dividend, DividendSource,
    IndexConstituents, IndexSource, PriceBasis, Security, SecurityCandle, SecurityCandles,
    SecurityMatch, SecuritySearch, SecuritySnapshot, SecuritySource, Split, SplitSource,
    StockExchange, TradingStatus, WithFreshness,
};
pub use symbol::{Symbol, Ticker, Venue, closest_codes};
pub use trading_days::{DayBasis, TradingCalendar, TradingDay, TradingSession};
pub use venue_adapter::{VenueAdapter, health_probe};
pub use venue_hint::hint_venues;

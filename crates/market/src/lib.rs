//! The words of the market: decimals, symbols, intervals, bars, quotes, freshness, time, and the
//! ports through which services reach venues and history.
//!
//! No I/O and no serialisation happens here: venues translate their payloads into these types, and
//! services translate these types into their contracts.

mod bar;
mod calendar;
mod decimal;
mod freshness;
mod interval;
mod ports;
mod quote;
mod securities;
mod symbol;

pub use bar::{Bar, BarBatch, Series};
pub use calendar::Calendar;
pub use clock::{Clock, DAY_MS, Millis, SystemClock, TimeRange, parse_date};
pub use decimal::{Decimal, DecimalError};
pub use freshness::{Delay, Freshness};
pub use interval::Interval;
pub use ports::{
    ArchivePage, BarArchive, BarSource, EndCause, FeedEnd, Follow, HealthProbe, Kline, KlineEvent,
    KlineFeed, KlineSource, Listing, LiveKlines, PageRequest, QuoteSource, SymbolSource,
    VenueHealth,
};
pub use quote::Quote;
pub use securities::{
    Basket, Candle, CandleRequest, CandleSource, CandleStep, Candles, Constituent, DayBasis,
    Dividend, DividendSource, IndexSource, PriceBasis, Security, SecurityMatch, SecuritySearch,
    SecuritySource, Session, Snapshot, Split, SplitSource, StockExchange, TradingCalendar,
    TradingDay, TradingStatus, WithFreshness,
};
pub use symbol::{Symbol, Ticker, Venue, closest};

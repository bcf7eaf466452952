//! The ports of a stock exchange beyond quotes and bars: snapshots, candles with turnover, index
//! constituents, search, dividends, trading days and splits. No exchange is named here.
//! Every answer is a [`WithFreshness`]: it says where it came from and how old it is.

use std::sync::Arc;

use async_trait::async_trait;
use fault::Fault;
use jiff::civil::{Date, DateTime};

use crate::decimal::Decimal;
use crate::freshness::Freshness;
use clock::Millis;

use crate::trading_days::TradingCalendar;

/// A value with the source and age of its data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WithFreshness<T> {
    /// The value.
    pub value: T,
    /// Its source and age.
    pub freshness: Freshness,
}

/// An instrument as it is listed on one board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Security {
    /// The exchange's code: `SBER`.
    pub code: String,
    /// The board it is listed on; a security may be listed on several.
    pub board: String,
    /// The short name, usually in Russian.
    pub short_name: String,
    /// The full name.
    pub name: Option<String>,
    /// The name in Latin letters.
    pub latin_name: Option<String>,
    /// The ISIN.
    pub isin: Option<String>,
    /// Pieces in one lot.
    pub lot: Option<u64>,
    /// Digits after the point in its prices.
    pub decimals: u8,
    /// An ISO code.
    pub currency: String,
    /// Whether it is listed but not traded at present.
    pub suspended: bool,
}

/// Which price is given as the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PriceBasis {
    /// A trade of the session that is shown.
    LastTrade,
    /// The last trade of the session before, because nothing was traded yet.
    PreviousClose,
    /// The official close of the session before.
    PreviousOfficialClose,
    /// The exchange's own estimate.
    Estimate,
}

impl PriceBasis {
    /// The word that contracts use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::LastTrade => "last_trade",
            Self::PreviousClose => "previous_close",
            Self::PreviousOfficialClose => "previous_official_close",
            Self::Estimate => "estimate",
        }
    }
}

/// The trading status that the exchange reports. It need not report a halt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TradingStatus {
    /// Trading goes on.
    Trading,
    /// The opening auction.
    Opening,
    /// The closing auction.
    Closing,
    /// A break between sessions.
    Break,
    /// The session has ended.
    Closed,
    /// The security is not traded in this session.
    NotTrading,
    /// The exchange suspended trading of the security.
    Suspended,
    /// The exchange reported no status that is known here.
    Unknown,
}

impl TradingStatus {
    /// The word that contracts use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Trading => "trading",
            Self::Opening => "opening",
            Self::Closing => "closing",
            Self::Break => "break",
            Self::Closed => "closed",
            Self::NotTrading => "not_trading",
            Self::Suspended => "suspended",
            Self::Unknown => "unknown",
        }
    }
}

/// The current state of a security. Its freshness is stale, with the reason, when the price is not
/// from a trade of the session shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecuritySnapshot {
    /// The security.
    pub security: Arc<Security>,
    /// The last price.
    pub last: Decimal,
    /// Which price `last` is.
    pub basis: PriceBasis,
    /// Difference to the last price of the session before.
    pub change: Option<Decimal>,
    /// The difference in percent of that price.
    pub change_pct: Option<Decimal>,
    /// The first price of the session; `None`, like `high` and `low`, while nothing was traded.
    pub open: Option<Decimal>,
    /// The highest price of the session.
    pub high: Option<Decimal>,
    /// The lowest price of the session.
    pub low: Option<Decimal>,
    /// Pieces traded in this session.
    pub volume: Option<Decimal>,
    /// Turnover of this session in money.
    pub value: Option<Decimal>,
    /// The number of trades of this session.
    pub trades: Option<u64>,
    /// The last price of the session before.
    pub previous_close: Option<Decimal>,
    /// The trading status.
    pub status: TradingStatus,
    /// The date of the session that is shown.
    pub session: Option<Date>,
}

/// Snapshots of securities and the list of securities.
#[async_trait]
pub trait SecuritySource: Send + Sync {
    /// The snapshot on a board, or on the main board of the security. An unknown security is a
    /// `NotFound` fault whose message has suggestions.
    async fn snapshot(
        &self,
        code: &str,
        board: Option<&str>,
    ) -> Result<WithFreshness<Arc<SecuritySnapshot>>, Fault>;

    /// The securities of the main board, sorted by code.
    async fn securities(&self) -> Result<WithFreshness<Arc<Vec<Arc<Security>>>>, Fault>;
}

/// The candle lengths that stock exchanges publish.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CandleStep {
    /// One minute.
    Minute,
    /// 10 minutes.
    TenMinutes,
    /// One hour.
    Hour,
    /// One day.
    Day,
    /// One week.
    Week,
    /// One month.
    Month,
}

impl CandleStep {
    /// Every length, shortest first.
    pub const ALL: [Self; 6] =
        [Self::Minute, Self::TenMinutes, Self::Hour, Self::Day, Self::Week, Self::Month];

    /// The word that contracts use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Minute => "1m",
            Self::TenMinutes => "10m",
            Self::Hour => "1h",
            Self::Day => "1d",
            Self::Week => "1w",
            Self::Month => "1M",
        }
    }

    /// Parses the spelling of contracts.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|step| step.as_str() == text)
    }
}

/// Which candles to fetch: all that begin on the exchange's dates `from` to `to`, both included.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CandleRequest {
    /// The exchange's code of the security.
    pub code: String,
    /// The board; `None` is the main board of the security.
    pub board: Option<String>,
    /// The length of the candles.
    pub step: CandleStep,
    /// The first date.
    pub from: Date,
    /// The last date.
    pub to: Date,
}

/// A candle of a stock exchange, with turnover; it may still be forming.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SecurityCandle {
    /// When it begins, in the exchange's local time.
    pub begins: DateTime,
    /// Minutes that the local time was ahead of UTC then.
    pub offset_min: i16,
    /// The first price.
    pub open: Decimal,
    /// The highest price.
    pub high: Decimal,
    /// The lowest price.
    pub low: Decimal,
    /// The last price.
    pub close: Decimal,
    /// Pieces traded.
    pub volume: Option<Decimal>,
    /// Turnover in money.
    pub value: Option<Decimal>,
    /// Whether its time is over and all of its trades are counted.
    pub closed: bool,
}

impl SecurityCandle {
    /// The instant at which it begins.
    pub fn opens_at(&self) -> Millis {
        let local = Millis::start_of(self.begins.date()).0;
        let time = self.begins.time();
        let seconds = i64::from(time.hour()) * 3_600
            + i64::from(time.minute()) * 60
            + i64::from(time.second());
        Millis(local + seconds * 1_000 - i64::from(self.offset_min) * 60_000)
    }

    /// When it begins, as in `2024-02-15T10:00:00+03:00`.
    pub fn begins_rfc3339(&self) -> String {
        let sign = if self.offset_min < 0 { '-' } else { '+' };
        let offset = self.offset_min.unsigned_abs();
        let (date, time) = (self.begins.date(), self.begins.time());
        format!(
            "{date}T{:02}:{:02}:{:02}{sign}{:02}:{:02}",
            time.hour(),
            time.minute(),
            time.second(),
            offset / 60,
            offset % 60
        )
    }
}

/// All requested candles, all pages followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecurityCandles {
    /// The security.
    pub security: Arc<Security>,
    /// Ascending; the last one may be forming.
    pub candles: Vec<SecurityCandle>,
    /// Past trading days for which candles are missing, all or some of them.
    pub missing: Vec<Date>,
    /// Why missing days could not be determined, if they could not.
    pub unchecked: Option<String>,
}

/// Candles of securities.
#[async_trait]
pub trait CandleSource: Send + Sync {
    /// The requested candles.
    async fn candles(
        &self,
        request: &CandleRequest,
    ) -> Result<WithFreshness<Arc<SecurityCandles>>, Fault>;
}

/// One member of an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Constituent {
    /// The exchange's code.
    pub code: String,
    /// Its name.
    pub name: Option<String>,
    /// Its weight in percent.
    pub weight_pct: Decimal,
    /// The last price of the running session, or the close of a past one.
    pub price: Option<Decimal>,
    /// Change in percent to the session before, adjusted for splits.
    pub change_pct: Option<Decimal>,
    /// The sector of the exchange's sector index that contains it.
    pub sector: Option<&'static str>,
}

/// The constituents of an index on a date.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexConstituents {
    /// The code of the index.
    pub index: String,
    /// Its name.
    pub name: Option<String>,
    /// The requested date.
    pub requested: Date,
    /// The trading day of the weights: the requested date, or the last trading day before it.
    pub effective: Date,
    /// All constituents, in the exchange's order.
    pub constituents: Vec<Constituent>,
    /// Fields of the constituents that could not be fetched, with the reason.
    pub missing: Vec<String>,
}

/// Indices and their constituents.
#[async_trait]
pub trait IndexSource: Send + Sync {
    /// The constituents on a date. `NotFound` for an index that the exchange does not publish and
    /// for a date before its first.
    async fn constituents(
        &self,
        index: &str,
        date: Date,
    ) -> Result<WithFreshness<Arc<IndexConstituents>>, Fault>;

    /// The codes of the indices whose constituents are published, with their names.
    async fn indices(&self) -> Result<WithFreshness<Vec<(String, Option<String>)>>, Fault>;
}

/// A security found by a search; it may no longer be traded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecurityMatch {
    /// The exchange's code.
    pub code: String,
    /// The short name.
    pub short_name: Option<String>,
    /// The full name.
    pub name: Option<String>,
    /// The name in Latin letters.
    pub latin_name: Option<String>,
    /// The ISIN.
    pub isin: Option<String>,
    /// The issuer.
    pub issuer: Option<String>,
    /// The exchange's type: `common_share`, `stock_index`.
    pub kind: Option<String>,
    /// The main board.
    pub board: Option<String>,
    /// Whether it is traded at present.
    pub traded: bool,
}

/// Search for securities.
#[async_trait]
pub trait SecuritySearch: Send + Sync {
    /// Searches by name, code or ISIN, in any case, in Russian or English; best match first.
    async fn search(
        &self,
        text: &str,
        limit: usize,
    ) -> Result<WithFreshness<Vec<SecurityMatch>>, Fault>;
}

/// A dividend of a security.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dividend {
    /// Holders at the end of this date are paid.
    pub record_date: Date,
    /// The amount for one piece.
    pub value: Decimal,
    /// The currency of the amount.
    pub currency: String,
}

/// Dividends of securities.
#[async_trait]
pub trait DividendSource: Send + Sync {
    /// All dividends that the exchange lists, ascending by date.
    async fn dividends(&self, code: &str) -> Result<WithFreshness<Arc<Vec<Dividend>>>, Fault>;
}

/// A split: from `date` on, `before` old pieces are `after` new pieces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// The exchange's code of the security.
    pub code: String,
    /// The first date of the new pieces.
    pub date: Date,
    /// Old pieces.
    pub before: u64,
    /// New pieces.
    pub after: u64,
}

/// Splits of securities.
#[async_trait]
pub trait SplitSource: Send + Sync {
    /// The splits of one security, or of all when `code` is `None`, ascending by date. Prices of
    /// other calls are not adjusted for them.
    async fn splits(&self, code: Option<&str>) -> Result<WithFreshness<Vec<Split>>, Fault>;
}

/// All ports of a stock exchange as one trait object.
pub trait StockExchange:
    SecuritySource
    + CandleSource
    + IndexSource
    + SecuritySearch
    + DividendSource
    + TradingCalendar
    + SplitSource
{
}

impl<T> StockExchange for T where
    T: SecuritySource
        + CandleSource
        + IndexSource
        + SecuritySearch
        + DividendSource
        + TradingCalendar
        + SplitSource
{
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(begins: &str, offset_min: i16, written: &str, instant: &str) {
        let one = Decimal::from_parts(1, 0).unwrap();
        let candle = SecurityCandle {
            begins: begins.parse().unwrap(),
            offset_min,
            open: one,
            high: one,
            low: one,
            close: one,
            volume: None,
            value: None,
            closed: true,
        };
        assert_eq!(candle.begins_rfc3339(), written);
        assert_eq!(candle.opens_at().to_rfc3339(), instant);
    }

    #[test]
    fn a_candle_has_a_local_time_and_an_instant() {
        check("2024-02-15T00:00:00", 180, "2024-02-15T00:00:00+03:00", "2024-02-14T21:00:00Z");
        check("2012-07-02T10:30:05", 240, "2012-07-02T10:30:05+04:00", "2012-07-02T06:30:05Z");
        check("1969-12-31T23:00:00", -150, "1969-12-31T23:00:00-02:30", "1970-01-01T01:30:00Z");
    }

    #[test]
    fn every_step_parses_its_own_spelling() {
        for step in CandleStep::ALL {
            assert_eq!(CandleStep::parse(step.as_str()), Some(step));
        }
        assert_eq!(CandleStep::parse("5m"), None);
    }
}

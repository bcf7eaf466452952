//! What services need from a stock exchange beyond quotes and bars: snapshots, candles with
//! turnover, the baskets of indices, search, dividends, the calendar and splits.
//!
//! No exchange is named here. Every answer travels as [`WithFreshness`], with where it came from and how
//! old it is.

use std::sync::Arc;

use async_trait::async_trait;
use fault::Fault;
use jiff::civil::{Date, DateTime};

use crate::decimal::Decimal;
use crate::freshness::Freshness;
use clock::Millis;

/// An answer of a venue's, and how far it can be relied on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WithFreshness<T> {
    pub value: T,
    pub freshness: Freshness,
}

/// What is traded on one board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Security {
    pub code: String,
    /// Where on the exchange it trades; the same security may trade on several.
    pub board: String,
    pub short_name: String,
    pub name: Option<String>,
    pub latin_name: Option<String>,
    pub isin: Option<String>,
    /// How many are traded at once.
    pub lot: Option<u64>,
    /// Digits after the point in its prices.
    pub decimals: u8,
    /// An ISO code.
    pub currency: String,
    /// Listed and not traded at present.
    pub suspended: bool,
}

/// Which price stands for the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PriceBasis {
    /// A trade of the session that is shown.
    LastTrade,
    /// Nothing was traded yet; the last trade of the session before.
    PreviousClose,
    /// The official close of the session before.
    PreviousOfficialClose,
    /// The exchange's own estimate.
    Estimate,
}

impl PriceBasis {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::LastTrade => "last_trade",
            Self::PreviousClose => "previous_close",
            Self::PreviousOfficialClose => "previous_official_close",
            Self::Estimate => "estimate",
        }
    }
}

/// What the exchange says of trading right now. It need not reveal a halt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TradingStatus {
    Trading,
    Opening,
    Closing,
    Break,
    Closed,
    NotTrading,
    Suspended,
    Unknown,
}

impl TradingStatus {
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

/// A security at a moment. Its freshness is stale where the price is not from a trade of the
/// session shown, and says why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecuritySnapshot {
    pub security: Arc<Security>,
    pub last: Decimal,
    pub basis: PriceBasis,
    /// Against the last price of the session before.
    pub change: Option<Decimal>,
    /// The same in percent of that price.
    pub change_pct: Option<Decimal>,
    /// Absent while nothing has been traded, like the other prices of the session.
    pub open: Option<Decimal>,
    pub high: Option<Decimal>,
    pub low: Option<Decimal>,
    /// Traded in this session, in pieces.
    pub volume: Option<Decimal>,
    /// Traded in this session, in money.
    pub value: Option<Decimal>,
    pub trades: Option<u64>,
    pub previous_close: Option<Decimal>,
    pub status: TradingStatus,
    /// The session that is shown, as the exchange dates it.
    pub session: Option<Date>,
}

/// Snapshots of securities, and what there is to ask for.
#[async_trait]
pub trait SecuritySource: Send + Sync {
    /// Without a board, the one where the security is mainly traded. An unknown security is
    /// `NotFound`, and the message names what may have been meant.
    async fn snapshot(
        &self,
        code: &str,
        board: Option<&str>,
    ) -> Result<WithFreshness<Arc<SecuritySnapshot>>, Fault>;

    /// Everything on the main board, by code, for those who look for names.
    async fn securities(&self) -> Result<WithFreshness<Arc<Vec<Arc<Security>>>>, Fault>;
}

/// The candle lengths that stock exchanges keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CandleStep {
    Minute,
    TenMinutes,
    Hour,
    Day,
    Week,
    Month,
}

impl CandleStep {
    pub const ALL: [Self; 6] =
        [Self::Minute, Self::TenMinutes, Self::Hour, Self::Day, Self::Week, Self::Month];

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

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|step| step.as_str() == text)
    }
}

/// Which candles to fetch: all that begin on these days of the exchange's, both included.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CandleRequest {
    pub code: String,
    /// Without one, the board where the security is mainly traded.
    pub board: Option<String>,
    pub step: CandleStep,
    pub from: Date,
    pub to: Date,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SecurityCandle {
    /// When it begins, on the exchange's own clocks.
    pub begins: DateTime,
    /// How far those clocks were ahead of UTC then.
    pub offset_min: i16,
    pub open: Decimal,
    pub high: Decimal,
    pub low: Decimal,
    pub close: Decimal,
    /// In pieces.
    pub volume: Option<Decimal>,
    /// In money.
    pub value: Option<Decimal>,
    /// Whether its time is over and everything that was traded in it is in it.
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

/// All candles asked for, pages followed to the end, ascending; the last one may be forming.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecurityCandles {
    pub security: Arc<Security>,
    pub candles: Vec<SecurityCandle>,
    /// Past days on which the exchange traded and of which there is no candle, or not all of them.
    pub missing: Vec<Date>,
    /// Why nobody could tell what is missing.
    pub unchecked: Option<String>,
}

#[async_trait]
pub trait CandleSource: Send + Sync {
    async fn candles(
        &self,
        request: &CandleRequest,
    ) -> Result<WithFreshness<Arc<SecurityCandles>>, Fault>;
}

/// One member of an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Constituent {
    pub code: String,
    pub name: Option<String>,
    pub weight_pct: Decimal,
    /// At the basket's date: the last price of the running session, or the close of a past one.
    pub price: Option<Decimal>,
    /// Against the session before, splits taken out.
    pub change_pct: Option<Decimal>,
    /// Where a sector index of the exchange holds it.
    pub sector: Option<&'static str>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexConstituents {
    pub index: String,
    pub name: Option<String>,
    pub asked: Date,
    /// The trading day the weights are of: the one asked for, or the last one before it.
    pub effective: Date,
    /// All of them, in the exchange's order.
    pub constituents: Vec<Constituent>,
    /// What could not be had and is therefore missing from the constituents.
    pub missing: Vec<String>,
}

#[async_trait]
pub trait IndexSource: Send + Sync {
    /// `NotFound` for an index the exchange does not publish, and for a day before its first.
    async fn constituents(
        &self,
        index: &str,
        date: Date,
    ) -> Result<WithFreshness<Arc<IndexConstituents>>, Fault>;

    /// The indices whose baskets are published, with their names.
    async fn indices(&self) -> Result<WithFreshness<Vec<(String, Option<String>)>>, Fault>;
}

/// A security as a search finds it; it need not trade any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecurityMatch {
    pub code: String,
    pub short_name: Option<String>,
    pub name: Option<String>,
    pub latin_name: Option<String>,
    pub isin: Option<String>,
    pub issuer: Option<String>,
    /// The exchange's word for its kind: `common_share`, `stock_index`.
    pub kind: Option<String>,
    pub board: Option<String>,
    pub traded: bool,
}

#[async_trait]
pub trait SecuritySearch: Send + Sync {
    /// By name, code or ISIN, in any case, in Russian or in English; best first.
    async fn search(
        &self,
        text: &str,
        limit: usize,
    ) -> Result<WithFreshness<Vec<SecurityMatch>>, Fault>;
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dividend {
    /// Holders at the end of this day are paid.
    pub record_date: Date,
    /// On one piece.
    pub value: Decimal,
    pub currency: String,
}

#[async_trait]
pub trait DividendSource: Send + Sync {
    /// All that the exchange knows of, ascending by date.
    async fn dividends(&self, code: &str) -> Result<WithFreshness<Arc<Vec<Dividend>>>, Fault>;
}

/// Why a day is said to be one of trading, or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DayBasis {
    /// It was traded, or it was not.
    Record,
    /// The exchange named this very date.
    Announced,
    /// The rule for its day of the week; holidays may still be announced.
    Weekly,
}

impl DayBasis {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Record => "record",
            Self::Announced => "announced",
            Self::Weekly => "weekly",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TradingSession {
    pub opens: Millis,
    pub closes: Millis,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TradingDay {
    pub date: Date,
    pub is_trading: bool,
    pub basis: DayBasis,
    /// Where it is known.
    pub session: Option<TradingSession>,
}

#[async_trait]
pub trait TradingCalendar: Send + Sync {
    /// Every day from the first to the last, both included.
    async fn trading_days(
        &self,
        from: Date,
        to: Date,
    ) -> Result<WithFreshness<Vec<TradingDay>>, Fault>;
}

/// From this day on, `after` pieces stand for what were `before`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    pub code: String,
    pub date: Date,
    pub before: u64,
    pub after: u64,
}

#[async_trait]
pub trait SplitSource: Send + Sync {
    /// All of one security's, or of everybody's, ascending by date. Prices are never adjusted.
    async fn splits(&self, code: Option<&str>) -> Result<WithFreshness<Vec<Split>>, Fault>;
}

/// Everything a stock exchange offers, as one thing to hold.
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
    fn candles_say_their_time_on_both_clocks() {
        check("2024-02-15T00:00:00", 180, "2024-02-15T00:00:00+03:00", "2024-02-14T21:00:00Z");
        check("2012-07-02T10:30:05", 240, "2012-07-02T10:30:05+04:00", "2012-07-02T06:30:05Z");
        check("1969-12-31T23:00:00", -150, "1969-12-31T23:00:00-02:30", "1970-01-01T01:30:00Z");
    }

    #[test]
    fn steps_are_spelled_back() {
        for step in CandleStep::ALL {
            assert_eq!(CandleStep::parse(step.as_str()), Some(step));
        }
        assert_eq!(CandleStep::parse("5m"), None);
    }
}

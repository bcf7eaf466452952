//! Trading days and sessions of an exchange, and the port that lists them.

use async_trait::async_trait;
use clock::Millis;
use fault::Fault;
use jiff::civil::Date;

use crate::securities::WithFreshness;

/// How it is known whether a date is a trading day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DayBasis {
    /// The date is past, and the record shows whether it was traded.
    Record,
    /// The exchange announced this date.
    Announced,
    /// The rule for the day of the week; a holiday may still be announced.
    Weekly,
}

impl DayBasis {
    /// The word that contracts use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Record => "record",
            Self::Announced => "announced",
            Self::Weekly => "weekly",
        }
    }
}

/// The trading session of a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TradingSession {
    /// When it opens.
    pub opens: Millis,
    /// When it closes.
    pub closes: Millis,
}

/// Whether the exchange trades on a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TradingDay {
    /// The date.
    pub date: Date,
    /// Whether it is a trading day.
    pub is_trading: bool,
    /// How that is known.
    pub basis: DayBasis,
    /// The session, if its hours are known.
    pub session: Option<TradingSession>,
}

/// The trading days of an exchange.
#[async_trait]
pub trait TradingCalendar: Send + Sync {
    /// Every date from `from` to `to`, both included.
    async fn trading_days(
        &self,
        from: Date,
        to: Date,
    ) -> Result<WithFreshness<Vec<TradingDay>>, Fault>;
}

//! Where an answer came from and how old it is; every market answer carries one.

use clock::Millis;

/// How far behind the market a venue's free data runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delay {
    RealTime,
    Delayed15m,
    EndOfDay,
    /// Imported once; it does not move.
    Static,
}

impl Delay {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::RealTime => "realtime",
            Self::Delayed15m => "delayed_15m",
            Self::EndOfDay => "eod",
            Self::Static => "static",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Freshness {
    /// Who said it: `binance`, `moex`, `file`, or `simulated` for the simulated exchange.
    pub source: String,
    /// When it was true.
    pub as_of: Millis,
    /// When we were told.
    pub received_at: Millis,
    pub delay: Delay,
    /// Older than the age this kind of data is allowed to have.
    pub stale: bool,
    /// Why an older answer stands in for a fresh one, if it does.
    pub fallback: Option<String>,
}

//! Where an answer came from and how old it is; every market answer carries a [`Freshness`].

use clock::Millis;

/// How far behind the market a venue's free data runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delay {
    /// No delay.
    RealTime,
    /// Fifteen minutes.
    Delayed15m,
    /// Values of finished days.
    EndOfDay,
    /// Imported once; it does not change.
    Static,
}

impl Delay {
    /// The word that contracts use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::RealTime => "realtime",
            Self::Delayed15m => "delayed_15m",
            Self::EndOfDay => "eod",
            Self::Static => "static",
        }
    }
}

/// The source of everything that the simulated exchange gives.
pub const SIMULATED: &str = "simulated";

/// Source and age of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Freshness {
    /// `binance`, `moex`, `file`, or `simulated` for the simulated exchange.
    pub source: String,
    /// The instant that the data describes.
    pub as_of: Millis,
    /// When the server received it.
    pub received_at: Millis,
    /// How far behind the market the source runs.
    pub delay: Delay,
    /// Whether it is older than this kind of data may be.
    pub stale: bool,
    /// Why an older or less complete answer was returned, if it was.
    pub fallback: Option<String>,
}

impl Freshness {
    /// Whether the simulated exchange gave the answer.
    pub fn is_simulated(&self) -> bool {
        self.source == SIMULATED
    }
}

//! The ports of this service: venues that supply bars, live candles and symbol lists.

use std::collections::BTreeMap;
use std::sync::Arc;

use market::{
    BarSeries, BarSource, HealthProbe, Interval, LiveKlines, SymbolSource, Ticker, Venue,
    VenueAdapter,
};
use market_bars::BarHistory;

/// The ports of one venue.
pub struct VenueCandles {
    /// The source name under which the archive stores this venue's bars.
    pub source: String,
    pub symbols: Arc<dyn SymbolSource>,
    /// `None` for imported files: the archive holds all their bars.
    pub bars: Option<Arc<dyn BarSource>>,
    /// `None` for imported files: they have no live candles.
    pub live: Option<Arc<dyn LiveKlines>>,
}

impl From<Arc<dyn VenueAdapter>> for VenueCandles {
    fn from(adapter: Arc<dyn VenueAdapter>) -> Self {
        Self {
            source: adapter.source().to_owned(),
            bars: Arc::clone(&adapter).bars(),
            live: Arc::clone(&adapter).live(),
            symbols: adapter,
        }
    }
}

impl VenueCandles {
    /// The source without the part that tells one simulation from another, as answers show it.
    pub(crate) fn label(&self) -> &str {
        self.source.split(':').next().unwrap_or_default()
    }

    pub(crate) fn series(&self, ticker: &Ticker, interval: Interval) -> BarSeries {
        BarSeries { source: self.source.clone(), symbol: ticker.symbol.clone(), interval }
    }
}

pub struct Market {
    pub venues: BTreeMap<Venue, VenueCandles>,
    /// The venue of a symbol without a venue prefix.
    pub default_venue: Venue,
    pub history: Arc<BarHistory>,
    pub health: HealthProbe,
}

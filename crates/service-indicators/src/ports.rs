//! What this service needs from the world: venues that give bars and list symbols.

use std::collections::BTreeMap;
use std::sync::Arc;

use market::{
    BarSeries, BarSource, HealthProbe, Interval, LiveKlines, SymbolSource, Ticker, Venue,
    VenueAdapter,
};
use market_bars::BarHistory;

/// A venue as this service needs it.
pub struct VenueCandles {
    /// The name its bars are kept under.
    pub source: String,
    pub symbols: Arc<dyn SymbolSource>,
    /// Absent where the archive is all there is, as for imported files.
    pub bars: Option<Arc<dyn BarSource>>,
    /// Absent where nothing is traded, as for imported files.
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
    pub(crate) fn series(&self, ticker: &Ticker, interval: Interval) -> BarSeries {
        BarSeries { source: self.source.clone(), symbol: ticker.symbol.clone(), interval }
    }
}

pub struct Market {
    pub venues: BTreeMap<Venue, VenueCandles>,
    /// Where a bare symbol belongs.
    pub default_venue: Venue,
    pub history: Arc<BarHistory>,
    pub health: HealthProbe,
}

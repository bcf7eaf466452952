//! What this service needs from the world: venues that give bars and list symbols.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;

use history::History;
use market::{BarSource, SymbolSource, Venue, VenueHealth};

/// Asks a venue how it is; cheap enough for every health check.
pub type HealthProbe =
    Box<dyn Fn() -> Pin<Box<dyn Future<Output = VenueHealth> + Send>> + Send + Sync>;

/// A venue as this service needs it.
pub struct VenueCandles {
    /// The name its bars are kept under.
    pub source: String,
    pub symbols: Arc<dyn SymbolSource>,
    /// Absent where the archive is all there is, as for imported files.
    pub bars: Option<Arc<dyn BarSource>>,
}

pub struct Market {
    pub venues: BTreeMap<Venue, VenueCandles>,
    /// Where a bare symbol belongs.
    pub default_venue: Venue,
    pub history: Arc<History>,
    pub health: HealthProbe,
}

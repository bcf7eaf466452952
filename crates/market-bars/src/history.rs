//! Complete bars of any venue: reads the archive and fetches the bars that it lacks from the venue.
//!
//! All services share one [`BarHistory`], so that each series is fetched once.

mod fill;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use clock::{Clock, Millis, TimeRange};
use fault::Fault;
use market::{ArchivePage, BarArchive, BarSeries, BarSource, PageRequest};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use fill::FillOptions;
use fill::Filler;

/// The bar archive with fills from venues.
pub struct BarHistory {
    archive: Arc<dyn BarArchive>,
    clock: Arc<dyn Clock>,
    filler: Filler,
}

impl BarHistory {
    /// Fills run on `tasks` until `shutdown`; a fill continues after its caller timed out.
    pub fn new(
        archive: Arc<dyn BarArchive>,
        clock: Arc<dyn Clock>,
        tasks: TaskTracker,
        shutdown: CancellationToken,
    ) -> Self {
        let filler = Filler::new(Arc::clone(&archive), Arc::clone(&clock), tasks, shutdown);
        Self { archive, clock, filler }
    }

    /// The part of a range in which every bar has closed.
    pub fn closed_part(&self, interval: market::Interval, range: TimeRange) -> TimeRange {
        let forming = interval.open_of(self.clock.now());
        TimeRange::new(range.from, range.to.min(forming.max(range.from)))
    }

    /// Whether the archive has all bars of the range.
    pub async fn is_complete(&self, series: &BarSeries, range: TimeRange) -> Result<bool, Fault> {
        Ok(self.archive.missing(series, range).await?.is_empty())
    }

    /// Fetches the bars of the range that the archive lacks. Returns the end of the known range: the
    /// end of `range`, or an earlier instant when the venue has not published its newest bars yet.
    /// At the deadline the fill continues in the background and the fault says how far it is.
    pub async fn fill(
        &self,
        source: &Arc<dyn BarSource>,
        series: &BarSeries,
        range: TimeRange,
        options: &FillOptions<'_>,
    ) -> Result<Millis, Fault> {
        self.filler.fill(source, series, range, options).await
    }

    pub async fn page(&self, request: &PageRequest<'_>) -> Result<ArchivePage, Fault> {
        self.archive.page(request).await
    }

    pub async fn received_at(&self, series: &[BarSeries]) -> Result<Vec<Option<Millis>>, Fault> {
        self.archive.received_at(series).await
    }

    /// How many series are being filled or are queued.
    pub fn active_fills(&self) -> usize {
        self.filler.active()
    }

    /// Whether the archive can be read and written, for health tools; cheap to call often.
    pub async fn check(&self) -> Result<(), Fault> {
        self.archive.check().await
    }
}

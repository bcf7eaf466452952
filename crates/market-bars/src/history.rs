//! Bars of any venue, complete: the archive, filled through from the venue where it lacks something.
//!
//! Services that need history share one of these, so that a series is fetched once whoever asks.
//! What a caller does with the bars, and how it spells a failure, is not known here.

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

pub struct BarHistory {
    archive: Arc<dyn BarArchive>,
    clock: Arc<dyn Clock>,
    filler: Filler,
}

impl BarHistory {
    /// Fills run on `tasks` until `shutdown`: they go on after the caller that started them left.
    pub fn new(
        archive: Arc<dyn BarArchive>,
        clock: Arc<dyn Clock>,
        tasks: TaskTracker,
        shutdown: CancellationToken,
    ) -> Self {
        let filler = Filler::new(Arc::clone(&archive), Arc::clone(&clock), tasks, shutdown);
        Self { archive, clock, filler }
    }

    /// The part of a span in which every bar has closed: one that is forming is not history yet.
    pub fn closed_part(&self, interval: market::Interval, span: TimeRange) -> TimeRange {
        let forming = interval.open_of(self.clock.now());
        TimeRange::new(span.from, span.to.min(forming.max(span.from)))
    }

    /// Whether the archive has all of the span already.
    pub async fn is_complete(&self, series: &BarSeries, span: TimeRange) -> Result<bool, Fault> {
        Ok(self.archive.missing(series, span).await?.is_empty())
    }

    /// Returns when the archive has every closed bar of the span that the venue has, and until when
    /// that is: the span's end, or a little before where the venue is late with its newest bars.
    /// When the caller's patience ends first, the fill goes on and the fault says how far it is.
    pub async fn fill(
        &self,
        source: &Arc<dyn BarSource>,
        series: &BarSeries,
        span: TimeRange,
        options: &FillOptions<'_>,
    ) -> Result<Millis, Fault> {
        self.filler.fill(source, series, span, options).await
    }

    pub async fn page(&self, request: &PageRequest<'_>) -> Result<ArchivePage, Fault> {
        self.archive.page(request).await
    }

    pub async fn received_at(&self, series: &[BarSeries]) -> Result<Vec<Option<Millis>>, Fault> {
        self.archive.received_at(series).await
    }

    /// How many series are being filled or wait for their turn.
    pub fn active_fills(&self) -> usize {
        self.filler.active()
    }

    /// Whether the archive answers at all.
    pub async fn check(&self) -> Result<(), Fault> {
        self.archive.codes("").await.map(drop)
    }
}

//! Fills the archive from a venue: fetches the missing bars of a series, stores them, and marks their
//! time range as complete.
//!
//! A series has one fill at a time; all callers that need the series wait for it. When a caller's
//! deadline passes, the fill continues in the background, so a later call finds more bars. A range is
//! marked as complete only if the venue reported it as covered.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use clock::{Clock, Millis, TimeRange};
use fault::Fault;
use market::{BarArchive, BarBatch, BarSeries, BarSource};
use tokio::sync::{Semaphore, watch};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// What a caller of [`crate::BarHistory::fill`] chooses.
pub struct FillOptions<'a> {
    /// When the caller stops waiting; the fill then continues in the background.
    pub deadline: Instant,
    /// Called with the number of bars stored and of bars wanted whenever the fill advances.
    pub progress: &'a (dyn Fn(u64, u64) + Send + Sync),
}

/// How many series are filled at the same time; further fills wait.
const FILLS_AT_ONCE: usize = 4;
/// The most series that are being filled or wait; a call that needs one more gets `Retry-After`.
const FILLS_MAX: usize = 256;
/// How many bars are fetched before they are stored: ten of Binance's pages.
const PIECE_BARS: i64 = 10_000;
/// How long before its deadline a caller stops waiting, to read the page after the fill.
const READ_MARGIN: Duration = Duration::from_millis(500);
/// The `Retry-After` of a request whose fill continues.
const RETRY_AFTER: Duration = Duration::from_secs(5);
/// The most fills that one call starts; fills of other calls that it waits for are not counted.
const FILLS_PER_CALL: usize = 3;

/// The progress of a fill; `result` once it has ended.
#[derive(Debug, Clone, Default)]
struct FillState {
    stored: u64,
    wanted: u64,
    result: Option<Arc<Result<(), Fault>>>,
}

type Running = Arc<Mutex<HashMap<BarSeries, watch::Receiver<FillState>>>>;

pub(crate) struct Filler {
    archive: Arc<dyn BarArchive>,
    clock: Arc<dyn Clock>,
    tasks: TaskTracker,
    shutdown: CancellationToken,
    slots: Arc<Semaphore>,
    running: Running,
}

impl Filler {
    pub(crate) fn new(
        archive: Arc<dyn BarArchive>,
        clock: Arc<dyn Clock>,
        tasks: TaskTracker,
        shutdown: CancellationToken,
    ) -> Self {
        let slots = Arc::new(Semaphore::new(FILLS_AT_ONCE));
        Self { archive, clock, tasks, shutdown, slots, running: Running::default() }
    }

    /// Returns when the archive has every closed bar of the range that the venue has published. The
    /// result is the end of the known range: the end of `range`, or an earlier instant if the venue has
    /// not published its newest bars yet.
    pub(crate) async fn fill(
        &self,
        source: &Arc<dyn BarSource>,
        series: &BarSeries,
        range: TimeRange,
        options: &FillOptions<'_>,
    ) -> Result<Millis, Fault> {
        let wait_until = options.deadline.checked_sub(READ_MARGIN).unwrap_or_else(Instant::now);
        // Another call's fill may have had another range; then this call starts its own.
        let mut started_fills = 0;
        while started_fills < FILLS_PER_CALL {
            let missing = self.archive.missing(series, range).await?;
            if missing.is_empty() {
                return Ok(range.to);
            }
            let (mut state, started) = self.join_or_start(source, series, missing)?;
            started_fills += usize::from(started);
            match timeout_at(wait_until, wait_for_end(&mut state, options)).await {
                Ok(outcome) => outcome?,
                Err(_) => return Err(still_filling(series, &state.borrow())),
            }
            // The venue has answered; bars it has not published yet make the range end earlier.
            let missing = self.archive.missing(series, range).await?;
            let delay_max = source.publish_delay_max();
            if let Some(end) = self.known_end(delay_max, series, range, &missing) {
                return Ok(end);
            }
        }
        Err(Fault::unavailable(
            "upstream_incomplete",
            format!("the venue did not complete the history of {}", series.symbol),
        )
        .retry_after(RETRY_AFTER))
    }

    /// How many series are being filled or wait.
    pub(crate) fn active(&self) -> usize {
        self.running.lock().len()
    }

    /// The end of the known part of the range, if the only missing bars are the newest ones and the
    /// first of them closed at most `publish_delay_max` ago.
    fn known_end(
        &self,
        publish_delay_max: Duration,
        series: &BarSeries,
        range: TimeRange,
        missing: &[TimeRange],
    ) -> Option<Millis> {
        match missing {
            [] => Some(range.to),
            [only] => {
                let closed = series.interval.next_open(only.from);
                let delay_ms = i64::try_from(publish_delay_max.as_millis()).unwrap_or(i64::MAX);
                let unpublished = closed.0.saturating_add(delay_ms) >= self.clock.now().0;
                (only.to == range.to && unpublished).then_some(only.from)
            }
            _ => None,
        }
    }

    /// The state of the running fill of the series, and whether this call started it.
    fn join_or_start(
        &self,
        source: &Arc<dyn BarSource>,
        series: &BarSeries,
        missing: Vec<TimeRange>,
    ) -> Result<(watch::Receiver<FillState>, bool), Fault> {
        let mut running = self.running.lock();
        if let Some(state) = running.get(series) {
            return Ok((state.clone(), false));
        }
        if running.len() >= FILLS_MAX {
            return Err(Fault::unavailable("overloaded", "too many histories are being filled")
                .retry_after(RETRY_AFTER));
        }
        let wanted = missing.iter().map(|range| series.interval.count_in(*range)).sum();
        let (sender, receiver) = watch::channel(FillState { wanted, ..FillState::default() });
        running.insert(series.clone(), receiver.clone());
        let fill = Fill {
            archive: Arc::clone(&self.archive),
            source: Arc::clone(source),
            series: series.clone(),
            state: sender,
        };
        let (slots, shutdown) = (Arc::clone(&self.slots), self.shutdown.clone());
        // Dropped however the task ends, so that a fill that panicked does not block its series.
        let entry = RunningEntry { running: Arc::clone(&self.running), series: series.clone() };
        self.tasks.spawn(async move {
            let work = async {
                let _slot = slots.acquire().await;
                fill.run(&missing).await
            };
            let outcome = tokio::select! {
                outcome = work => outcome,
                () = shutdown.cancelled() => {
                    Err(Fault::unavailable("shutting_down", "the server is shutting down"))
                }
            };
            drop(entry);
            fill.state.send_modify(|state| state.result = Some(Arc::new(outcome)));
        });
        Ok((receiver, true))
    }
}

/// The entry of a series in the table of running fills; dropping it removes the series.
struct RunningEntry {
    running: Running,
    series: BarSeries,
}

impl Drop for RunningEntry {
    fn drop(&mut self) {
        self.running.lock().remove(&self.series);
    }
}

/// One fill of one series.
struct Fill {
    archive: Arc<dyn BarArchive>,
    source: Arc<dyn BarSource>,
    series: BarSeries,
    state: watch::Sender<FillState>,
}

impl Fill {
    async fn run(&self, missing: &[TimeRange]) -> Result<(), Fault> {
        let (code, interval) = (&self.series.symbol.code, self.series.interval);
        let first = self.source.first_open(code, interval).await?;
        for range in missing {
            let mut from = self.skip_unlisted(*range, first).await?;
            while from < range.to {
                let piece = TimeRange::new(from, self.piece_end(from).min(range.to));
                let batch = self.source.bars(code, interval, piece).await?;
                self.archive.append(&self.series, &batch).await?;
                let stored = batch.bars.len() as u64;
                self.state.send_modify(|state| state.stored += stored);
                if batch.covered.to < piece.to {
                    break;
                }
                from = piece.to;
            }
        }
        Ok(())
    }

    /// Marks the time before the series' first bar as complete, and returns where fetching begins.
    async fn skip_unlisted(
        &self,
        range: TimeRange,
        first: Option<Millis>,
    ) -> Result<Millis, Fault> {
        let listed = first.map_or(range.from, |first| first.clamp(range.from, range.to));
        if listed > range.from {
            let covered = TimeRange::new(range.from, listed);
            let empty = BarBatch { bars: Vec::new(), covered, received_at: listed };
            self.archive.append(&self.series, &empty).await?;
        }
        Ok(listed)
    }

    fn piece_end(&self, from: Millis) -> Millis {
        // Months have no fixed length; 10,000 months of 31 days are longer than any history.
        let step = self.series.interval.fixed_ms().unwrap_or(31 * clock::DAY_MS);
        Millis(from.0.saturating_add(step.saturating_mul(PIECE_BARS)))
    }
}

/// Waits for the end of a fill and reports its progress to the caller.
async fn wait_for_end(
    state: &mut watch::Receiver<FillState>,
    options: &FillOptions<'_>,
) -> Result<(), Fault> {
    loop {
        let now = state.borrow_and_update().clone();
        (options.progress)(now.stored, now.wanted);
        if let Some(result) = now.result {
            return result.as_ref().as_ref().map_err(Fault::shared).copied();
        }
        if state.changed().await.is_err() {
            return Err(Fault::internal("a history fill ended without a result"));
        }
    }
}

fn still_filling(series: &BarSeries, state: &FillState) -> Fault {
    let percent = (state.stored * 100).checked_div(state.wanted).unwrap_or(0).min(99);
    let message = format!(
        "the history of {} is being fetched ({percent}% so far); call again in a few seconds",
        series.symbol
    );
    Fault::unavailable("history_filling", message).retry_after(RETRY_AFTER)
}

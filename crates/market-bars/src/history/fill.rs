//! Completing the archive from a venue: what is missing is fetched, kept and marked as complete.
//!
//! A fill belongs to a series, not to a request: everybody who asks for the same series waits for
//! the same fill, and it goes on in the background when a request's patience ends, so that asking
//! again finds more. It never guesses: a span counts as complete only when the venue said so.

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

/// How long a caller waits, and whom it tells how far a fill is: bars kept, bars wanted.
pub struct FillOptions<'a> {
    pub deadline: Instant,
    pub progress: &'a (dyn Fn(u64, u64) + Send + Sync),
}

/// How many series are filled at the same time; the rest wait their turn.
const FILLS_AT_ONCE: usize = 4;
/// Fills that may wait; a request for one more gets `Retry-After`.
const FILLS_WAITING_MAX: usize = 256;
/// Bars fetched before they are kept: ten pages of the largest venue's.
const PIECE_BARS: i64 = 10_000;
/// Left of a request's time to read the page after the fill.
const READ_MARGIN: Duration = Duration::from_millis(500);
/// The `Retry-After` of a request whose fill continues.
const COME_BACK: Duration = Duration::from_secs(5);
/// Fills of its own that one call may need; others' that it waits for are not counted.
const FILLS_PER_CALL: usize = 3;

/// How far a fill has come; `done` once it has ended.
#[derive(Debug, Clone, Default)]
struct FillState {
    kept: u64,
    wanted: u64,
    done: Option<Arc<Result<(), Fault>>>,
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

    /// Returns when the archive has every closed bar of the span that the venue has, and until when
    /// that is: the end of the span, or a little before it where the venue is late with its newest.
    pub(crate) async fn fill(
        &self,
        source: &Arc<dyn BarSource>,
        series: &BarSeries,
        span: TimeRange,
        options: &FillOptions<'_>,
    ) -> Result<Millis, Fault> {
        let until = options.deadline.checked_sub(READ_MARGIN).unwrap_or_else(Instant::now);
        // A fill that was under way for another span may leave ours incomplete; then comes our own.
        let mut own = 0;
        while own < FILLS_PER_CALL {
            let missing = self.archive.missing(series, span).await?;
            if missing.is_empty() {
                return Ok(span.to);
            }
            let (mut state, started) = self.join_or_start(source, series, missing)?;
            own += usize::from(started);
            match timeout_at(until, finished(&mut state, options)).await {
                Ok(outcome) => outcome?,
                Err(_) => return Err(still_filling(series, &state.borrow())),
            }
            // The venue has answered; bars it has not published yet make the range end earlier.
            let missing = self.archive.missing(series, span).await?;
            if let Some(end) = self.young_tail(source.publish_delay_max(), series, span, &missing) {
                return Ok(end);
            }
        }
        Err(Fault::unavailable(
            "upstream_incomplete",
            format!("the venue did not complete the history of {}", series.symbol),
        )
        .retry_after(COME_BACK))
    }

    /// How many series are being filled or wait for their turn.
    pub(crate) fn active(&self) -> usize {
        self.running.lock().len()
    }

    /// Where the known part of the span ends, if nothing is missing but bars that closed so recently
    /// that a venue may not show them yet.
    fn young_tail(
        &self,
        late: Duration,
        series: &BarSeries,
        span: TimeRange,
        missing: &[TimeRange],
    ) -> Option<Millis> {
        match missing {
            [] => Some(span.to),
            [only] => {
                let closed = series.interval.next_open(only.from);
                let late = i64::try_from(late.as_millis()).unwrap_or(i64::MAX);
                let young = closed.0.saturating_add(late) >= self.clock.now().0;
                (only.to == span.to && young).then_some(only.from)
            }
            _ => None,
        }
    }

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
        if running.len() >= FILLS_WAITING_MAX {
            return Err(Fault::unavailable("overloaded", "too many histories are being filled")
                .retry_after(COME_BACK));
        }
        let wanted = missing.iter().map(|span| series.interval.count_in(*span)).sum();
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
        let ticket = Ticket { running: Arc::clone(&self.running), series: series.clone() };
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
            drop(ticket);
            fill.state.send_modify(|state| state.done = Some(Arc::new(outcome)));
        });
        Ok((receiver, true))
    }
}

/// Takes the series off the table of running fills when dropped.
struct Ticket {
    running: Running,
    series: BarSeries,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.running.lock().remove(&self.series);
    }
}

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
        for span in missing {
            let mut from = self.skip_unlisted(*span, first).await?;
            while from < span.to {
                let piece = TimeRange::new(from, self.piece_end(from).min(span.to));
                let batch = self.source.bars(code, interval, piece).await?;
                self.archive.append(&self.series, &batch).await?;
                let kept = batch.bars.len() as u64;
                self.state.send_modify(|state| state.kept += kept);
                if batch.covered.to < piece.to {
                    break;
                }
                from = piece.to;
            }
        }
        Ok(())
    }

    /// Marks the time before a listing as known to be empty, and returns where to go on.
    async fn skip_unlisted(&self, span: TimeRange, first: Option<Millis>) -> Result<Millis, Fault> {
        let listed = first.map_or(span.from, |first| first.clamp(span.from, span.to));
        if listed > span.from {
            let covered = TimeRange::new(span.from, listed);
            let empty = BarBatch { bars: Vec::new(), covered, received_at: listed };
            self.archive.append(&self.series, &empty).await?;
        }
        Ok(listed)
    }

    fn piece_end(&self, from: Millis) -> Millis {
        // Months have no fixed length; ten thousand of them are more than there is.
        let step = self.series.interval.fixed_ms().unwrap_or(31 * clock::DAY_MS);
        Millis(from.0.saturating_add(step.saturating_mul(PIECE_BARS)))
    }
}

/// Waits for the end of a fill, telling the caller how far it is.
async fn finished(
    state: &mut watch::Receiver<FillState>,
    options: &FillOptions<'_>,
) -> Result<(), Fault> {
    loop {
        let now = state.borrow_and_update().clone();
        (options.progress)(now.kept, now.wanted);
        if let Some(done) = now.done {
            return done.as_ref().as_ref().map_err(Fault::shared).copied();
        }
        if state.changed().await.is_err() {
            return Err(Fault::internal("a history fill ended without a word"));
        }
    }
}

fn still_filling(series: &BarSeries, state: &FillState) -> Fault {
    let percent = (state.kept * 100).checked_div(state.wanted).unwrap_or(0).min(99);
    let message = format!(
        "the history of {} is being fetched ({percent}% so far); ask again shortly",
        series.symbol
    );
    Fault::unavailable("history_filling", message).retry_after(COME_BACK)
}

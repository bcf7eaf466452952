//! Writes bars. The newest bars go to the hot table and are sealed into chunks when 1,024 have come
//! together; bars that are not later than the last sealed one rewrite the chunks they belong to.

use clock::{Millis, TimeRange};
use fault::Fault;
use market::BarSeries;
use store::Tx;

use crate::chunk::{self, ROWS_PER_CHUNK, SealedChunk};
use crate::columns::BarColumns;
use crate::coverage;
use crate::sql::{self, HotSummary, SeriesState};

/// From this many new bars on, a batch is sealed directly.
const BULK_ROWS: usize = ROWS_PER_CHUNK / 2;
/// A remainder with fewer rows stays in the hot table.
const TAIL_ROWS: usize = ROWS_PER_CHUNK / 4;
/// A rewritten chunk with more rows is cut into several.
const SPLIT_ROWS: usize = ROWS_PER_CHUNK + ROWS_PER_CHUNK / 2;

/// Bars of one series, already packed into chunks. Packing needs no database, so it may run on any
/// thread before the write.
#[derive(Debug, Clone)]
pub struct PackedBatch {
    pub(crate) series: BarSeries,
    pub(crate) columns: BarColumns,
    pub(crate) sealed: Vec<SealedChunk>,
    /// The first row that is not in `sealed`.
    pub(crate) tail: usize,
    pub(crate) covered: TimeRange,
    pub(crate) received_at: Millis,
    pub(crate) currency: Option<String>,
}

impl PackedBatch {
    /// Sorts and packs the bars; of bars with the same time the last one wins.
    pub fn new(
        series: BarSeries,
        columns: BarColumns,
        covered: TimeRange,
        received_at: Millis,
    ) -> Result<Self, Fault> {
        let columns = columns.sort_and_dedup();
        let (sealed, tail) =
            if columns.len() >= BULK_ROWS { seal_chunks(&columns)? } else { (Vec::new(), 0) };
        Ok(Self { series, columns, sealed, tail, covered, received_at, currency: None })
    }

    /// Sets the currency of the prices, when the source of the bars does not imply it.
    #[must_use]
    pub fn with_currency(mut self, currency: &str) -> Self {
        self.currency = Some(currency.to_owned());
        self
    }
}

/// Seals the rows into chunks of 1,024; returns the chunks and the first row of a remainder of
/// fewer than 256 rows, which stays unsealed.
fn seal_chunks(columns: &BarColumns) -> Result<(Vec<SealedChunk>, usize), Fault> {
    let mut sealed = Vec::with_capacity(columns.len() / ROWS_PER_CHUNK + 1);
    let mut at = 0;
    while columns.len() - at >= TAIL_ROWS {
        let end = columns.len().min(at + ROWS_PER_CHUNK);
        sealed.push(chunk::seal(columns, at..end).map_err(Fault::internal)?);
        at = end;
    }
    Ok((sealed, at))
}

/// Writes a batch within the caller's transaction.
pub(crate) async fn write(tx: &mut Tx, batch: &PackedBatch) -> Result<(), Fault> {
    let mut state = sql::lock_series(tx, &batch.series).await?;
    let saved_head = state;
    let old_rows =
        state.sealed_to.map_or(0, |last| batch.columns.rows_before(last.saturating_add(1)));
    if old_rows > 0 && rewrite_chunks(tx, state.id, &batch.columns.slice(0..old_rows)).await? {
        state.version += 1;
    }
    if old_rows == 0 && state.hot.count == 0 && !batch.sealed.is_empty() {
        let tail = batch.columns.slice(batch.tail..batch.columns.len());
        add_sealed(tx, &mut state, &batch.sealed, &tail).await?;
    } else if old_rows < batch.columns.len() {
        write_tail(tx, &mut state, &batch.columns.slice(old_rows..batch.columns.len())).await?;
    }
    coverage::add(tx, state.id, batch.covered).await?;
    state.received_at = state.received_at.max(Some(batch.received_at.0));
    if let Some(currency) = &batch.currency {
        sql::save_currency(tx, state.id, currency).await?;
    }
    if state != saved_head { sql::save_series_state(tx, &state).await } else { Ok(()) }
}

/// Writes bars that are later than every sealed one.
async fn write_tail(tx: &mut Tx, state: &mut SeriesState, new: &BarColumns) -> Result<(), Fault> {
    if new.len() < BULK_ROWS && state.hot.count as usize + new.len() < ROWS_PER_CHUNK {
        return add_hot(tx, state, new).await;
    }
    let mut all = new.clone();
    if state.hot.count > 0 {
        all = BarColumns::merge(&sql::hot_bars(tx, state.id).await?, new);
        sql::delete_hot(tx, state.id).await?;
        state.hot = HotSummary { version: state.hot.version + 1, ..HotSummary::default() };
    }
    // A short last chunk is merged, so that many small batches do not leave many short chunks.
    if let Some(last) = state.sealed_to
        && let Some(entry) = sql::chunk_entries_from(tx, state.id, last).await?.first()
        && (entry.count as usize) < BULK_ROWS
    {
        for (id, columns) in sql::chunks(tx, &[entry.id]).await? {
            all = BarColumns::merge(&columns, &all);
            sql::delete_chunk(tx, id).await?;
        }
    }
    let (sealed, tail) = seal_chunks(&all)?;
    add_sealed(tx, state, &sealed, &all.slice(tail..all.len())).await
}

/// Inserts sealed chunks, and `tail` into the hot table.
async fn add_sealed(
    tx: &mut Tx,
    state: &mut SeriesState,
    sealed: &[SealedChunk],
    tail: &BarColumns,
) -> Result<(), Fault> {
    sql::insert_chunks(tx, state.id, sealed).await?;
    state.version += 1;
    state.sealed_to = sealed.last().map(|chunk| chunk.last).or(state.sealed_to);
    if tail.is_empty() { Ok(()) } else { add_hot(tx, state, tail).await }
}

/// Inserts or replaces bars in the hot table.
async fn add_hot(tx: &mut Tx, state: &mut SeriesState, new: &BarColumns) -> Result<(), Fault> {
    sql::insert_hot(tx, state.id, new).await?;
    state.hot.version += 1;
    let (first, last) = (new.times.first().copied(), new.times.last().copied());
    // Bars after the last hot bar only add to the count; for others the table is counted again.
    if state.hot.last < first {
        state.hot.count += new.len() as u64;
        state.hot.first = state.hot.first.or(first);
        state.hot.last = last;
    } else {
        (state.hot.count, state.hot.first, state.hot.last) =
            sql::count_all_hot(tx, state.id).await?;
    }
    Ok(())
}

/// Writes bars that are not later than the last sealed one. Each chunk takes the bars after the end
/// of the chunk before it up to its own end. Returns whether anything changed.
async fn rewrite_chunks(tx: &mut Tx, series: i64, old: &BarColumns) -> Result<bool, Fault> {
    let mut changed = false;
    let mut done = 0;
    let from = old.times.first().copied().unwrap_or_default();
    for entry in sql::chunk_entries_from(tx, series, from).await? {
        let end = old.rows_before(entry.last.saturating_add(1));
        if end == done {
            continue;
        }
        let part = old.slice(done..end);
        done = end;
        for (id, columns) in sql::chunks(tx, &[entry.id]).await? {
            if columns.contains(&part) {
                continue;
            }
            let merged = BarColumns::merge(&columns, &part);
            sql::delete_chunk(tx, id).await?;
            sql::insert_chunks(tx, series, &seal_evenly(&merged)?).await?;
            changed = true;
        }
        if done == old.len() {
            break;
        }
    }
    Ok(changed)
}

/// Seals the rows in chunks of nearly equal size.
fn seal_evenly(columns: &BarColumns) -> Result<Vec<SealedChunk>, Fault> {
    let rows = columns.len();
    let pieces = if rows <= SPLIT_ROWS { 1 } else { rows.div_ceil(ROWS_PER_CHUNK) };
    (0..pieces)
        .map(|at| rows * at / pieces..rows * (at + 1) / pieces)
        .map(|part| chunk::seal(columns, part).map_err(Fault::internal))
        .collect()
}

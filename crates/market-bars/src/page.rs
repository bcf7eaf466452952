//! Reads a page: the states and indexes of its series, mostly from the cache, and the chunks
//! that have its bars.

use std::collections::HashMap;
use std::sync::Arc;

use clock::TimeRange;
use fault::Fault;
use market::{ArchivePage, Bar, PageRequest};
use store::Tx;

use crate::cache::Cache;
use crate::columns::BarColumns;
use crate::index::ChunkIndex;
use crate::sql::{self, SeriesState};

/// The most bars of one page; bounds its memory.
const PAGE_BARS_MAX: usize = 100_000;

/// The bars of one series that lie within the requested range.
struct SeriesPart {
    state: SeriesState,
    index: Arc<ChunkIndex>,
    /// The position of the first sealed bar within the range.
    sealed_from: u64,
    /// How many sealed and how many hot bars are within the range.
    sealed: u64,
    hot: u64,
}

pub(crate) async fn read(
    tx: &mut Tx,
    cache: &Cache,
    request: &PageRequest<'_>,
) -> Result<ArchivePage, Fault> {
    if request.limit > PAGE_BARS_MAX {
        let message = format!("a page holds at most {PAGE_BARS_MAX} bars, not {}", request.limit);
        return Err(Fault::invalid("page_too_large", message));
    }
    let series_states = sql::series_states(tx, request.series).await?;
    let parts = locate(tx, cache, &series_states, request.range).await?;
    let total_of =
        |part: &Option<SeriesPart>| part.as_ref().map_or(0, |part| part.sealed + part.hot);
    let totals: Vec<u64> = parts.iter().map(total_of).collect();
    let mut page = ArchivePage { bars: Vec::new(), total: totals.iter().sum(), totals };
    let (mut skip, mut left) = (request.offset, request.limit);
    for (at, part) in parts.iter().enumerate() {
        let Some(part) = part else { continue };
        let total = part.sealed + part.hot;
        if skip >= total {
            skip -= total;
            continue;
        }
        if left == 0 {
            break;
        }
        let bars = read_bars(tx, cache, part, request.range, skip, left).await?;
        left -= bars.len();
        skip = 0;
        page.bars.extend(bars.into_iter().map(|bar| (at, bar)));
    }
    Ok(page)
}

/// Finds where the bars of each series lie and counts them; `None` for series without bars.
async fn locate(
    tx: &mut Tx,
    cache: &Cache,
    series_states: &[Option<SeriesState>],
    range: TimeRange,
) -> Result<Vec<Option<SeriesPart>>, Fault> {
    if range.is_empty() {
        return Ok(series_states.iter().map(|_| None).collect());
    }
    let indexes = indexes(tx, cache, series_states).await?;
    let positions = positions(tx, cache, &indexes, range).await?;
    // The state has the number of all hot bars; only a range that has some of them needs a query.
    let has_all_hot = |state: &SeriesState| {
        state.hot.first.is_some_and(|first| range.from.0 <= first)
            && state.hot.last.is_some_and(|last| last < range.to.0)
    };
    let to_count: Vec<i64> = series_states
        .iter()
        .flatten()
        .filter(|state| state.hot.count > 0 && !has_all_hot(state))
        .map(|state| state.id)
        .collect();
    let counted: HashMap<i64, u64> =
        sql::count_hot(tx, &to_count, range).await?.into_iter().collect();
    let part = |(state, index): (&Option<SeriesState>, &Option<Arc<ChunkIndex>>),
                (from, to): (u64, u64)| {
        let (state, index) = ((*state)?, index.clone()?);
        let hot = if has_all_hot(&state) {
            state.hot.count
        } else {
            counted.get(&state.id).copied().unwrap_or(0)
        };
        Some(SeriesPart { state, index, sealed_from: from, sealed: to.saturating_sub(from), hot })
    };
    let known = series_states.iter().zip(&indexes);
    Ok(known.zip(positions).map(|(known, position)| part(known, position)).collect())
}

/// The index of each series; from the cache if it has the version of the state.
async fn indexes(
    tx: &mut Tx,
    cache: &Cache,
    series_states: &[Option<SeriesState>],
) -> Result<Vec<Option<Arc<ChunkIndex>>>, Fault> {
    let mut found: HashMap<i64, Arc<ChunkIndex>> = HashMap::with_capacity(series_states.len());
    let mut stale: HashMap<i64, i64> = HashMap::new();
    for state in series_states.iter().flatten() {
        match cache.index(state.id, state.version) {
            Some(index) => drop(found.insert(state.id, index)),
            None => drop(stale.insert(state.id, state.version)),
        }
    }
    if !stale.is_empty() {
        let ids: Vec<i64> = stale.keys().copied().collect();
        let mut entries: HashMap<i64, Vec<_>> = HashMap::with_capacity(ids.len());
        for (series, entry) in sql::chunk_entries(tx, &ids).await? {
            entries.entry(series).or_default().push(entry);
        }
        for (series, version) in stale {
            let entries = entries.remove(&series).unwrap_or_default();
            let index = Arc::new(ChunkIndex::new(version, entries));
            cache.put_index(series, &index);
            found.insert(series, index);
        }
    }
    let of = |state: &Option<SeriesState>| state.and_then(|state| found.get(&state.id).cloned());
    Ok(series_states.iter().map(of).collect())
}

/// The positions at which the range begins and ends in each series. Reads only chunks with uneven
/// steps in which the range begins or ends.
async fn positions(
    tx: &mut Tx,
    cache: &Cache,
    indexes: &[Option<Arc<ChunkIndex>>],
    range: TimeRange,
) -> Result<Vec<(u64, u64)>, Fault> {
    let ends = [range.from.0, range.to.0];
    let mut needed: Vec<i64> = Vec::new();
    for index in indexes.iter().flatten() {
        needed.extend(ends.iter().filter_map(|&end| index.position(end).err()).map(|it| it.id));
    }
    needed.sort_unstable();
    needed.dedup();
    let chunks = chunks(tx, cache, &needed).await?;
    let position = |index: &ChunkIndex, time: i64| match index.position(time) {
        Ok(position) => Ok(position),
        Err(needed) => chunks
            .get(&needed.id)
            .map(|columns| index.position_with_chunk(time, columns))
            .ok_or_else(|| sql::damaged("a chunk of the index is missing")),
    };
    indexes
        .iter()
        .map(|index| match index {
            None => Ok((0, 0)),
            Some(index) => Ok((position(index, ends[0])?, position(index, ends[1])?)),
        })
        .collect()
}

/// The chunks with these ids, from the cache or the database.
async fn chunks(
    tx: &mut Tx,
    cache: &Cache,
    ids: &[i64],
) -> Result<HashMap<i64, Arc<BarColumns>>, Fault> {
    let mut found = HashMap::with_capacity(ids.len());
    let mut absent = Vec::new();
    for &id in ids {
        match cache.chunk(id) {
            Some(columns) => drop(found.insert(id, columns)),
            None => absent.push(id),
        }
    }
    for (id, columns) in sql::chunks(tx, &absent).await? {
        let columns = Arc::new(columns);
        cache.put_chunk(id, &columns);
        found.insert(id, columns);
    }
    Ok(found)
}

/// At most `limit` bars of one series within the range, after the first `skip` of them.
async fn read_bars(
    tx: &mut Tx,
    cache: &Cache,
    part: &SeriesPart,
    range: TimeRange,
    skip: u64,
    limit: usize,
) -> Result<Vec<Bar>, Fault> {
    let mut bars = Vec::with_capacity(limit.min((part.sealed + part.hot) as usize));
    let from_sealed = part.sealed.saturating_sub(skip).min(limit as u64);
    let chunk_rows = part.index.chunk_rows(part.sealed_from + skip, from_sealed);
    // 16 chunks at a time, which bounds the memory of a large page.
    for group in chunk_rows.chunks(16) {
        let ids: Vec<i64> = group.iter().map(|(id, _)| *id).collect();
        let chunks = chunks(tx, cache, &ids).await?;
        for (id, rows) in group {
            let columns = chunks.get(id).filter(|columns| rows.end <= columns.len());
            let columns =
                columns.ok_or_else(|| sql::damaged("a chunk does not match its index"))?;
            for row in rows.clone() {
                let bar = columns.bar(row);
                bars.push(bar.ok_or_else(|| sql::damaged("a row of a chunk is not a bar"))?);
            }
        }
    }
    let left = limit - bars.len();
    if left > 0 && part.hot > 0 {
        let hot = hot_bars(tx, cache, &part.state).await?;
        let first = hot.rows_before(range.from.0) + skip.saturating_sub(part.sealed) as usize;
        for row in first..hot.rows_before(range.to.0).min(first + left) {
            bars.push(
                hot.bar(row).ok_or_else(|| sql::damaged("a row of the hot table is not a bar"))?,
            );
        }
    }
    Ok(bars)
}

/// All hot bars of a series, from the cache or the database.
async fn hot_bars(
    tx: &mut Tx,
    cache: &Cache,
    state: &SeriesState,
) -> Result<Arc<BarColumns>, Fault> {
    if let Some(columns) = cache.hot(state.id, state.hot.version) {
        return Ok(columns);
    }
    let columns = Arc::new(sql::hot_bars(tx, state.id).await?);
    cache.put_hot(state.id, state.hot.version, &columns);
    Ok(columns)
}

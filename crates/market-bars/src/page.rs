//! Reading a page: heads, indexes (mostly from memory), and the one or two chunks the page lies in.

use std::collections::HashMap;
use std::sync::Arc;

use clock::TimeRange;
use fault::Fault;
use market::{ArchivePage, Bar, PageRequest};
use store::Tx;

use crate::cache::Cache;
use crate::columns::BarColumns;
use crate::index::Index;
use crate::sql::{self, Head};

/// More than any caller shows at once; a bound on what one page may take.
const LIMIT_MAX: usize = 100_000;

/// One series as the request sees it.
struct Part {
    head: Head,
    index: Arc<Index>,
    /// The position of the first sealed bar in the span, and how many are in it.
    sealed_from: u64,
    sealed: u64,
    hot: u64,
}

pub(crate) async fn read(
    tx: &mut Tx,
    cache: &Cache,
    request: &PageRequest<'_>,
) -> Result<ArchivePage, Fault> {
    if request.limit > LIMIT_MAX {
        let message = format!("a page holds at most {LIMIT_MAX} bars, not {}", request.limit);
        return Err(Fault::invalid("page_too_large", message));
    }
    let heads = sql::heads(tx, request.series).await?;
    let parts = measure(tx, cache, &heads, request.range).await?;
    let total_of = |part: &Option<Part>| part.as_ref().map_or(0, |part| part.sealed + part.hot);
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
        let bars = take(tx, cache, part, request.range, skip, left).await?;
        left -= bars.len();
        skip = 0;
        page.bars.extend(bars.into_iter().map(|bar| (at, bar)));
    }
    Ok(page)
}

async fn measure(
    tx: &mut Tx,
    cache: &Cache,
    heads: &[Option<Head>],
    span: TimeRange,
) -> Result<Vec<Option<Part>>, Fault> {
    if span.is_empty() {
        return Ok(heads.iter().map(|_| None).collect());
    }
    let indexes = indexes(tx, cache, heads).await?;
    let positions = positions(tx, cache, &indexes, span).await?;
    // A span that holds a series' whole tail needs no count: the head knows it.
    let holds = |head: &Head| {
        head.hot.first.is_some_and(|first| span.from.0 <= first)
            && head.hot.last.is_some_and(|last| last < span.to.0)
    };
    let unsure: Vec<i64> = heads
        .iter()
        .flatten()
        .filter(|head| head.hot.count > 0 && !holds(head))
        .map(|head| head.id)
        .collect();
    let counted: HashMap<i64, u64> = sql::count_hot(tx, &unsure, span).await?.into_iter().collect();
    let part = |(head, index): (&Option<Head>, &Option<Arc<Index>>), (from, to): (u64, u64)| {
        let (head, index) = ((*head)?, index.clone()?);
        let hot =
            if holds(&head) { head.hot.count } else { counted.get(&head.id).copied().unwrap_or(0) };
        Some(Part { head, index, sealed_from: from, sealed: to.saturating_sub(from), hot })
    };
    let known = heads.iter().zip(&indexes);
    Ok(known.zip(positions).map(|(known, position)| part(known, position)).collect())
}

/// The index of each series, from memory where it is still true.
async fn indexes(
    tx: &mut Tx,
    cache: &Cache,
    heads: &[Option<Head>],
) -> Result<Vec<Option<Arc<Index>>>, Fault> {
    let mut found: HashMap<i64, Arc<Index>> = HashMap::with_capacity(heads.len());
    let mut stale: HashMap<i64, i64> = HashMap::new();
    for head in heads.iter().flatten() {
        match cache.index(head.id, head.version) {
            Some(index) => drop(found.insert(head.id, index)),
            None => drop(stale.insert(head.id, head.version)),
        }
    }
    if !stale.is_empty() {
        let ids: Vec<i64> = stale.keys().copied().collect();
        let mut entries: HashMap<i64, Vec<_>> = HashMap::with_capacity(ids.len());
        for (series, entry) in sql::entries(tx, &ids).await? {
            entries.entry(series).or_default().push(entry);
        }
        for (series, version) in stale {
            let entries = entries.remove(&series).unwrap_or_default();
            let index = Arc::new(Index::new(version, entries));
            cache.keep_index(series, &index);
            found.insert(series, index);
        }
    }
    let of = |head: &Option<Head>| head.and_then(|head| found.get(&head.id).cloned());
    Ok(heads.iter().map(of).collect())
}

/// Where the span begins and ends in each series. Only chunks that the span cuts and whose steps
/// are uneven must be looked into.
async fn positions(
    tx: &mut Tx,
    cache: &Cache,
    indexes: &[Option<Arc<Index>>],
    span: TimeRange,
) -> Result<Vec<(u64, u64)>, Fault> {
    let ends = [span.from.0, span.to.0];
    let mut cut: Vec<i64> = Vec::new();
    for index in indexes.iter().flatten() {
        cut.extend(ends.iter().filter_map(|&end| index.position(end).err()).map(|it| it.chunk));
    }
    cut.sort_unstable();
    cut.dedup();
    let chunks = chunks(tx, cache, &cut).await?;
    let position = |index: &Index, time: i64| match index.position(time) {
        Ok(position) => Ok(position),
        Err(inside) => chunks
            .get(&inside.chunk)
            .map(|columns| index.position_in(time, columns))
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
        cache.keep_chunk(id, &columns);
        found.insert(id, columns);
    }
    Ok(found)
}

/// Up to `most` bars of one series within the span, after skipping some.
async fn take(
    tx: &mut Tx,
    cache: &Cache,
    part: &Part,
    span: TimeRange,
    skip: u64,
    most: usize,
) -> Result<Vec<Bar>, Fault> {
    let mut bars = Vec::with_capacity(most.min((part.sealed + part.hot) as usize));
    let from_sealed = part.sealed.saturating_sub(skip).min(most as u64);
    let places = part.index.rows(part.sealed_from + skip, from_sealed);
    // A few chunks at a time, so that a large page does not hold all of them at once.
    for places in places.chunks(16) {
        let ids: Vec<i64> = places.iter().map(|(id, _)| *id).collect();
        let chunks = chunks(tx, cache, &ids).await?;
        for (id, rows) in places {
            let columns = chunks.get(id).filter(|columns| rows.end <= columns.len());
            let columns =
                columns.ok_or_else(|| sql::damaged("a chunk does not match its index"))?;
            for row in rows.clone() {
                let bar = columns.bar(row);
                bars.push(bar.ok_or_else(|| sql::damaged("a chunk holds what is no bar"))?);
            }
        }
    }
    let left = most - bars.len();
    if left > 0 && part.hot > 0 {
        let hot = hot(tx, cache, &part.head).await?;
        let first = hot.before(span.from.0) + skip.saturating_sub(part.sealed) as usize;
        for row in first..hot.before(span.to.0).min(first + left) {
            bars.push(hot.bar(row).ok_or_else(|| sql::damaged("a recent bar is no bar"))?);
        }
    }
    Ok(bars)
}

/// The whole tail of a series; there is never much of it.
async fn hot(tx: &mut Tx, cache: &Cache, head: &Head) -> Result<Arc<BarColumns>, Fault> {
    if let Some(columns) = cache.hot(head.id, head.hot.version) {
        return Ok(columns);
    }
    let columns = Arc::new(sql::all_hot(tx, head.id).await?);
    cache.keep_hot(head.id, head.hot.version, &columns);
    Ok(columns)
}

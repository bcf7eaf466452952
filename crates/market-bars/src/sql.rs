//! Every statement of the bar store.

use clock::{Millis, TimeRange};
use fault::Fault;
use market::{Bar, BarSeries, Decimal};
use store::{Sql, SqlRow, Tx, placeholders, sql, sql_built};

use crate::chunk::{self, SealedChunk};
use crate::columns::BarColumns;
use crate::index::ChunkEntry;

/// The row of a series: all that is needed to append bars after its last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SeriesState {
    pub(crate) id: i64,
    /// Raised by every change of the sealed chunks.
    pub(crate) version: i64,
    /// The last sealed bar; every hot bar is later.
    pub(crate) sealed_to: Option<i64>,
    pub(crate) hot: HotSummary,
    pub(crate) received_at: Option<i64>,
}

/// The hot bars of a series, without the bars themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct HotSummary {
    pub(crate) count: u64,
    pub(crate) first: Option<i64>,
    pub(crate) last: Option<i64>,
    /// Raised by every change of the hot bars.
    pub(crate) version: i64,
}

const SERIES_STATE_COLUMNS: &str =
    "id, version, sealed_to, hot_count, hot_first, hot_last, hot_version, received_at";

fn read_series_state(row: &SqlRow) -> Result<SeriesState, Fault> {
    let hot = HotSummary {
        count: row.count(3)?,
        first: row.int_or_null(4)?,
        last: row.int_or_null(5)?,
        version: row.int(6)?,
    };
    Ok(SeriesState {
        id: row.int(0)?,
        version: row.int(1)?,
        sealed_to: row.int_or_null(2)?,
        hot,
        received_at: row.int_or_null(7)?,
    })
}

/// The unique key of a series in its table. Codes and intervals have no slash.
pub(crate) fn series_key(series: &BarSeries) -> String {
    format!("{}/{}/{}", series.source, series.symbol, series.interval)
}

/// Repeats the last value until the length is a power of two, so that a few prepared statements
/// serve lists of every length.
fn pad_to_power_of_two<T: Clone>(values: &[T]) -> Vec<T> {
    let mut values = values.to_vec();
    if let Some(last) = values.last().cloned() {
        values.resize(values.len().next_power_of_two(), last);
    }
    values
}

/// Splits `0..count` into ranges whose lengths are powers of two of at most `length_max`, so that a
/// few prepared statements serve inserts of every length.
fn power_of_two_ranges(count: usize, length_max: usize) -> Vec<std::ops::Range<usize>> {
    let (mut at, mut ranges) = (0, Vec::new());
    while at < count {
        let left = (count - at).min(length_max);
        let size = if left.is_power_of_two() { left } else { left.next_power_of_two() / 2 };
        ranges.push(at..at + size);
        at += size;
    }
    ranges
}

/// The most values in one `IN (...)` list.
const LIST_MAX: usize = 256;

/// The state of each series, in the order given; `None` for series that do not exist.
pub(crate) async fn series_states(
    tx: &mut Tx,
    series: &[BarSeries],
) -> Result<Vec<Option<SeriesState>>, Fault> {
    let keys: Vec<String> = series.iter().map(series_key).collect();
    let mut found = std::collections::HashMap::with_capacity(keys.len());
    for part in keys.chunks(LIST_MAX) {
        let part = pad_to_power_of_two(part);
        let list = placeholders(1, part.len());
        let select =
            format!("SELECT {SERIES_STATE_COLUMNS}, key FROM bar_series WHERE key IN ({list})");
        for row in tx.fetch_all(sql_built(select).bind_all(part)).await? {
            found.insert(row.text(8)?, read_series_state(&row)?);
        }
    }
    Ok(keys.iter().map(|key| found.get(key).copied()).collect())
}

/// The state of a series, inserted if it is new. Its row stays locked until the transaction ends,
/// so that writers of one series wait for each other.
pub(crate) async fn lock_series(tx: &mut Tx, series: &BarSeries) -> Result<SeriesState, Fault> {
    let lock = "INSERT INTO bar_series (key, source, code) VALUES ($1, $2, $3)
        ON CONFLICT (key) DO UPDATE SET key = excluded.key
        RETURNING id, version, sealed_to, hot_count, hot_first, hot_last, hot_version, received_at";
    let lock = sql(lock).bind(series_key(series)).bind(&series.source).bind(&series.symbol.code);
    let row = tx.fetch_optional(lock).await?;
    read_series_state(&row.ok_or_else(|| Fault::internal("the series row was not returned"))?)
}

pub(crate) async fn save_series_state(tx: &mut Tx, state: &SeriesState) -> Result<(), Fault> {
    let save = "UPDATE bar_series SET version = $2, sealed_to = $3, hot_count = $4,
        hot_first = $5, hot_last = $6, hot_version = $7, received_at = $8 WHERE id = $1";
    let hot_count = i64::try_from(state.hot.count).map_err(Fault::internal)?;
    let save = sql(save).bind(state.id).bind(state.version).bind(state.sealed_to).bind(hot_count);
    let save = save.bind(state.hot.first).bind(state.hot.last).bind(state.hot.version);
    let save = save.bind(state.received_at);
    tx.execute(save).await.map(drop)
}

pub(crate) async fn save_currency(tx: &mut Tx, id: i64, currency: &str) -> Result<(), Fault> {
    let save = "UPDATE bar_series SET currency = $2 WHERE id = $1";
    tx.execute(sql(save).bind(id).bind(currency)).await.map(drop)
}

pub(crate) fn currency(series: &BarSeries) -> Sql {
    sql("SELECT currency FROM bar_series WHERE key = $1").bind(series_key(series))
}

pub(crate) fn codes(source: &str, limit: i64) -> Sql {
    sql("SELECT DISTINCT code FROM bar_series WHERE source = $1 ORDER BY code LIMIT $2")
        .bind(source)
        .bind(limit)
}

pub(crate) fn currencies(source: &str, default_currency: &str, limit: i64) -> Sql {
    let select = "SELECT code, COALESCE(MAX(currency), $2) FROM bar_series
        WHERE source = $1 GROUP BY code ORDER BY code LIMIT $3";
    sql(select).bind(source).bind(default_currency).bind(limit)
}

fn read_entry(row: &SqlRow) -> Result<ChunkEntry, Fault> {
    Ok(ChunkEntry {
        id: row.int(1)?,
        first: row.int(2)?,
        last: row.int(3)?,
        count: row.count(4)?,
        step: row.int(5)?,
    })
}

/// The chunks of several series without their data, each with its series' id, ascending.
pub(crate) async fn chunk_entries(
    tx: &mut Tx,
    ids: &[i64],
) -> Result<Vec<(i64, ChunkEntry)>, Fault> {
    let mut found = Vec::new();
    for part in ids.chunks(LIST_MAX) {
        let part = pad_to_power_of_two(part);
        let select = format!(
            "SELECT series_id, id, first_ts, last_ts, count, step FROM bar_chunk
             WHERE series_id IN ({}) ORDER BY series_id, first_ts",
            placeholders(1, part.len())
        );
        for row in tx.fetch_all(sql_built(select).bind_all(part)).await? {
            found.push((row.int(0)?, read_entry(&row)?));
        }
    }
    Ok(found)
}

/// The chunks of a series whose last bar opens at or after `from`, without their data, ascending.
pub(crate) async fn chunk_entries_from(
    tx: &mut Tx,
    id: i64,
    from: i64,
) -> Result<Vec<ChunkEntry>, Fault> {
    let select = "SELECT series_id, id, first_ts, last_ts, count, step FROM bar_chunk
        WHERE series_id = $1 AND last_ts >= $2 ORDER BY first_ts";
    let rows = tx.fetch_all(sql(select).bind(id).bind(from)).await?;
    rows.iter().map(read_entry).collect()
}

/// Reads and decodes chunks by id.
pub(crate) async fn chunks(tx: &mut Tx, ids: &[i64]) -> Result<Vec<(i64, BarColumns)>, Fault> {
    let mut found = Vec::with_capacity(ids.len());
    for part in ids.chunks(LIST_MAX) {
        let part = pad_to_power_of_two(part);
        let list = placeholders(1, part.len());
        let select = format!("SELECT id, data FROM bar_chunk WHERE id IN ({list})");
        for row in tx.fetch_all(sql_built(select).bind_all(part)).await? {
            let id = row.int(0)?;
            let columns = chunk::decode(row.bytes_ref(1)?)
                .map_err(|_| damaged(&format!("chunk {id} of the bar store is damaged")))?;
            found.push((id, columns));
        }
    }
    Ok(found)
}

/// The stored bars contradict each other or cannot be decoded.
pub(crate) fn damaged(what: &str) -> Fault {
    Fault::internal(what.to_owned()).while_doing("reading stored bars")
}

pub(crate) async fn insert_chunks(
    tx: &mut Tx,
    series: i64,
    chunks: &[SealedChunk],
) -> Result<(), Fault> {
    for range in power_of_two_ranges(chunks.len(), 16) {
        let rows: Vec<String> =
            (0..range.len()).map(|row| format!("({})", placeholders(row * 6 + 1, 6))).collect();
        let mut insert = sql_built(format!(
            "INSERT INTO bar_chunk (series_id, first_ts, last_ts, count, step, data) VALUES {}",
            rows.join(", ")
        ));
        for chunk in &chunks[range] {
            let count = i64::try_from(chunk.count).map_err(Fault::internal)?;
            insert = insert.bind(series).bind(chunk.first).bind(chunk.last).bind(count);
            insert = insert.bind(chunk.step).bind(chunk.data.as_slice());
        }
        tx.execute(insert).await?;
    }
    Ok(())
}

pub(crate) async fn delete_chunk(tx: &mut Tx, id: i64) -> Result<(), Fault> {
    tx.execute(sql("DELETE FROM bar_chunk WHERE id = $1").bind(id)).await.map(drop)
}

pub(crate) async fn insert_hot(
    tx: &mut Tx,
    series: i64,
    columns: &BarColumns,
) -> Result<(), Fault> {
    // SQLite searches all placeholders for each one, so statements with more than 32 rows are
    // slower.
    for range in power_of_two_ranges(columns.len(), 32) {
        let rows: Vec<String> =
            (0..range.len()).map(|row| format!("({})", placeholders(row * 7 + 1, 7))).collect();
        let mut insert = sql_built(format!(
            "INSERT INTO bar_hot (series_id, ts, open, high, low, close, volume) VALUES {}
             ON CONFLICT (series_id, ts) DO UPDATE SET open = excluded.open, high = excluded.high,
             low = excluded.low, close = excluded.close, volume = excluded.volume",
            rows.join(", ")
        ));
        for row in range {
            let bar = columns
                .bar(row)
                .ok_or_else(|| damaged("a bar has a value that is not a decimal"))?;
            insert = insert.bind(series).bind(bar.open_time.0).bind(bar.open.to_string());
            insert = insert.bind(bar.high.to_string()).bind(bar.low.to_string());
            insert = insert.bind(bar.close.to_string()).bind(bar.volume.map(|v| v.to_string()));
        }
        tx.execute(insert).await?;
    }
    Ok(())
}

pub(crate) async fn delete_hot(tx: &mut Tx, series: i64) -> Result<(), Fault> {
    tx.execute(sql("DELETE FROM bar_hot WHERE series_id = $1").bind(series)).await.map(drop)
}

/// Every hot bar of a series; fewer than 1,024.
pub(crate) async fn hot_bars(tx: &mut Tx, series: i64) -> Result<BarColumns, Fault> {
    let select = "SELECT ts, open, high, low, close, volume FROM bar_hot
        WHERE series_id = $1 ORDER BY ts";
    let mut columns = BarColumns::default();
    for row in tx.fetch_all(sql(select).bind(series)).await? {
        columns.push(&read_hot_bar(&row)?);
    }
    Ok(columns)
}

fn read_hot_bar(row: &SqlRow) -> Result<Bar, Fault> {
    let parse = |text: &str| {
        text.parse::<Decimal>()
            .map_err(|_| damaged("a hot bar has a price or volume that is not a decimal"))
    };
    let price = |column: usize| row.text_ref(column).and_then(parse);
    Ok(Bar {
        open_time: Millis(row.int(0)?),
        open: price(1)?,
        high: price(2)?,
        low: price(3)?,
        close: price(4)?,
        volume: row.text_ref_or_null(5)?.map(parse).transpose()?,
    })
}

/// The number of hot bars of a series, and the times of the first and the last.
pub(crate) async fn count_all_hot(
    tx: &mut Tx,
    series: i64,
) -> Result<(u64, Option<i64>, Option<i64>), Fault> {
    let select = "SELECT COUNT(*), MIN(ts), MAX(ts) FROM bar_hot WHERE series_id = $1";
    match tx.fetch_optional(sql(select).bind(series)).await? {
        Some(row) => Ok((row.count(0)?, row.int_or_null(1)?, row.int_or_null(2)?)),
        None => Ok((0, None, None)),
    }
}

/// How many hot bars each series has within the range; series without one are left out.
pub(crate) async fn count_hot(
    tx: &mut Tx,
    ids: &[i64],
    range: TimeRange,
) -> Result<Vec<(i64, u64)>, Fault> {
    let mut found = Vec::new();
    for part in ids.chunks(LIST_MAX) {
        let part = pad_to_power_of_two(part);
        let select = format!(
            "SELECT series_id, COUNT(*) FROM bar_hot
             WHERE ts >= $1 AND ts < $2 AND series_id IN ({}) GROUP BY series_id",
            placeholders(3, part.len())
        );
        let select = sql_built(select).bind(range.from.0).bind(range.to.0).bind_all(part);
        for row in tx.fetch_all(select).await? {
            found.push((row.int(0)?, row.count(1)?));
        }
    }
    Ok(found)
}

/// The known ranges of a series that touch or overlap this one, ascending.
pub(crate) async fn known_ranges(
    tx: &mut Tx,
    series: i64,
    range: TimeRange,
) -> Result<Vec<TimeRange>, Fault> {
    let select = "SELECT from_ts, to_ts FROM bar_span
        WHERE series_id = $1 AND from_ts <= $3 AND to_ts >= $2 ORDER BY from_ts";
    let select = sql(select).bind(series).bind(range.from.0).bind(range.to.0);
    let rows = tx.fetch_all(select).await?;
    let read = |row: &SqlRow| Ok(TimeRange::new(Millis(row.int(0)?), Millis(row.int(1)?)));
    rows.iter().map(read).collect()
}

pub(crate) async fn replace_known_ranges(
    tx: &mut Tx,
    series: i64,
    old: &[TimeRange],
    new: TimeRange,
) -> Result<(), Fault> {
    if let (Some(first), Some(last)) = (old.first(), old.last()) {
        let delete = "DELETE FROM bar_span WHERE series_id = $1 AND from_ts BETWEEN $2 AND $3";
        tx.execute(sql(delete).bind(series).bind(first.from.0).bind(last.from.0)).await?;
    }
    let insert = "INSERT INTO bar_span (series_id, from_ts, to_ts) VALUES ($1, $2, $3)";
    tx.execute(sql(insert).bind(series).bind(new.from.0).bind(new.to.0)).await.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_cover_the_count_in_powers_of_two() {
        for (count, length_max, expected) in [
            (0, 16, vec![]),
            (3, 16, vec![0..2, 2..3]),
            (23, 16, vec![0..16, 16..20, 20..22, 22..23]),
            (32, 16, vec![0..16, 16..32]),
        ] {
            assert_eq!(power_of_two_ranges(count, length_max), expected, "{count}");
        }
        assert_eq!(pad_to_power_of_two(&[1, 2, 3]), [1, 2, 3, 3]);
        assert_eq!(pad_to_power_of_two::<i32>(&[]), []);
    }
}

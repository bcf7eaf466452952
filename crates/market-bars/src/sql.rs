//! Every statement of the bar store.

use clock::{Millis, TimeRange};
use fault::Fault;
use market::{Bar, BarSeries, Decimal};
use store::{Sql, SqlRow, Tx, placeholders, sql, sql_built};

use crate::chunk::{self, Sealed};
use crate::columns::BarColumns;
use crate::index::Entry;

/// What a series' own row says: enough to append to its tail without looking further.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) id: i64,
    /// Changes with every change of the sealed chunks.
    pub(crate) version: i64,
    /// The last sealed bar; every hot bar is later.
    pub(crate) sealed_to: Option<i64>,
    pub(crate) hot: Hot,
    pub(crate) received_at: Option<i64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Hot {
    pub(crate) count: u64,
    pub(crate) first: Option<i64>,
    pub(crate) last: Option<i64>,
    /// Changes with every change of the hot bars.
    pub(crate) version: i64,
}

const HEAD: &str =
    "id, version, sealed_to, hot_count, hot_first, hot_last, hot_version, received_at";

fn head(row: &SqlRow) -> Result<Head, Fault> {
    let hot = Hot {
        count: row.count(3)?,
        first: row.int_or_null(4)?,
        last: row.int_or_null(5)?,
        version: row.int(6)?,
    };
    Ok(Head {
        id: row.int(0)?,
        version: row.int(1)?,
        sealed_to: row.int_or_null(2)?,
        hot,
        received_at: row.int_or_null(7)?,
    })
}

/// The name of a series in its table. Codes and intervals hold no slash.
pub(crate) fn key(series: &BarSeries) -> String {
    format!("{}/{}/{}", series.source, series.symbol, series.interval)
}

/// Lists of values come in sizes of powers of two, the last value repeated, so that a few prepared
/// statements serve all of them.
fn padded<T: Clone>(values: &[T]) -> Vec<T> {
    let mut values = values.to_vec();
    if let Some(last) = values.last().cloned() {
        values.resize(values.len().next_power_of_two(), last);
    }
    values
}

/// Splits a count into runs of powers of two, none above `most`.
fn runs(count: usize, most: usize) -> Vec<std::ops::Range<usize>> {
    let (mut at, mut runs) = (0, Vec::new());
    while at < count {
        let left = (count - at).min(most);
        let size = if left.is_power_of_two() { left } else { left.next_power_of_two() / 2 };
        runs.push(at..at + size);
        at += size;
    }
    runs
}

/// More series than any request names.
const LIST_MAX: usize = 256;

/// The heads of those series that exist, by position.
pub(crate) async fn heads(tx: &mut Tx, series: &[BarSeries]) -> Result<Vec<Option<Head>>, Fault> {
    let keys: Vec<String> = series.iter().map(key).collect();
    let mut found = std::collections::HashMap::with_capacity(keys.len());
    for part in keys.chunks(LIST_MAX) {
        let part = padded(part);
        let list = placeholders(1, part.len());
        let select = format!("SELECT {HEAD}, key FROM bar_series WHERE key IN ({list})");
        for row in tx.fetch_all(sql_built(select).bind_all(part)).await? {
            found.insert(row.text(8)?, head(&row)?);
        }
    }
    Ok(keys.iter().map(|key| found.get(key).copied()).collect())
}

/// The head of a series, made if it is new, and locked until the transaction ends: writers of one
/// series take turns.
pub(crate) async fn lock_head(tx: &mut Tx, series: &BarSeries) -> Result<Head, Fault> {
    let lock = "INSERT INTO bar_series (key, source, code) VALUES ($1, $2, $3)
        ON CONFLICT (key) DO UPDATE SET key = excluded.key
        RETURNING id, version, sealed_to, hot_count, hot_first, hot_last, hot_version, received_at";
    let lock = sql(lock).bind(key(series)).bind(&series.source).bind(&series.symbol.code);
    let row = tx.fetch_optional(lock).await?;
    head(&row.ok_or_else(|| Fault::internal("the series row was not returned"))?)
}

pub(crate) async fn save_head(tx: &mut Tx, head: &Head) -> Result<(), Fault> {
    let save = "UPDATE bar_series SET version = $2, sealed_to = $3, hot_count = $4,
        hot_first = $5, hot_last = $6, hot_version = $7, received_at = $8 WHERE id = $1";
    let hot_count = i64::try_from(head.hot.count).map_err(Fault::internal)?;
    let save = sql(save).bind(head.id).bind(head.version).bind(head.sealed_to).bind(hot_count);
    let save = save.bind(head.hot.first).bind(head.hot.last).bind(head.hot.version);
    let save = save.bind(head.received_at);
    tx.execute(save).await.map(drop)
}

pub(crate) async fn save_currency(tx: &mut Tx, id: i64, currency: &str) -> Result<(), Fault> {
    let save = "UPDATE bar_series SET currency = $2 WHERE id = $1";
    tx.execute(sql(save).bind(id).bind(currency)).await.map(drop)
}

pub(crate) fn currency(series: &BarSeries) -> Sql {
    sql("SELECT currency FROM bar_series WHERE key = $1").bind(key(series))
}

pub(crate) fn codes(source: &str, most: i64) -> Sql {
    sql("SELECT DISTINCT code FROM bar_series WHERE source = $1 ORDER BY code LIMIT $2")
        .bind(source)
        .bind(most)
}

pub(crate) fn currencies(source: &str, otherwise: &str, most: i64) -> Sql {
    let select = "SELECT code, COALESCE(MAX(currency), $2) FROM bar_series
        WHERE source = $1 GROUP BY code ORDER BY code LIMIT $3";
    sql(select).bind(source).bind(otherwise).bind(most)
}

fn entry(row: &SqlRow) -> Result<Entry, Fault> {
    Ok(Entry {
        id: row.int(1)?,
        first: row.int(2)?,
        last: row.int(3)?,
        count: row.count(4)?,
        step: row.int(5)?,
    })
}

/// The chunks of several series, each with its series' id, ascending.
pub(crate) async fn entries(tx: &mut Tx, ids: &[i64]) -> Result<Vec<(i64, Entry)>, Fault> {
    let mut found = Vec::new();
    for part in ids.chunks(LIST_MAX) {
        let part = padded(part);
        let select = format!(
            "SELECT series_id, id, first_ts, last_ts, count, step FROM bar_chunk
             WHERE series_id IN ({}) ORDER BY series_id, first_ts",
            placeholders(1, part.len())
        );
        for row in tx.fetch_all(sql_built(select).bind_all(part)).await? {
            found.push((row.int(0)?, entry(&row)?));
        }
    }
    Ok(found)
}

/// The chunks whose last bar opens at or after `from`, ascending.
pub(crate) async fn entries_from(tx: &mut Tx, id: i64, from: i64) -> Result<Vec<Entry>, Fault> {
    let select = "SELECT series_id, id, first_ts, last_ts, count, step FROM bar_chunk
        WHERE series_id = $1 AND last_ts >= $2 ORDER BY first_ts";
    let rows = tx.fetch_all(sql(select).bind(id).bind(from)).await?;
    rows.iter().map(entry).collect()
}

/// Reads and decodes chunks by id.
pub(crate) async fn chunks(tx: &mut Tx, ids: &[i64]) -> Result<Vec<(i64, BarColumns)>, Fault> {
    let mut found = Vec::with_capacity(ids.len());
    for part in ids.chunks(LIST_MAX) {
        let part = padded(part);
        let list = placeholders(1, part.len());
        let select = format!("SELECT id, data FROM bar_chunk WHERE id IN ({list})");
        for row in tx.fetch_all(sql_built(select).bind_all(part)).await? {
            let id = row.int(0)?;
            let columns = chunk::open(row.bytes_ref(1)?)
                .map_err(|_| damaged(&format!("chunk {id} of the bar store is damaged")))?;
            found.push((id, columns));
        }
    }
    Ok(found)
}

pub(crate) fn damaged(what: &str) -> Fault {
    Fault::internal(what.to_owned()).while_doing("reading kept bars")
}

pub(crate) async fn insert_chunks(
    tx: &mut Tx,
    series: i64,
    chunks: &[Sealed],
) -> Result<(), Fault> {
    for run in runs(chunks.len(), 16) {
        let rows: Vec<String> =
            (0..run.len()).map(|row| format!("({})", placeholders(row * 6 + 1, 6))).collect();
        let mut insert = sql_built(format!(
            "INSERT INTO bar_chunk (series_id, first_ts, last_ts, count, step, data) VALUES {}",
            rows.join(", ")
        ));
        for chunk in &chunks[run] {
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
    // SQLite looks each placeholder up among all of them, so longer statements are slower.
    for run in runs(columns.len(), 32) {
        let rows: Vec<String> =
            (0..run.len()).map(|row| format!("({})", placeholders(row * 7 + 1, 7))).collect();
        let mut insert = sql_built(format!(
            "INSERT INTO bar_hot (series_id, ts, open, high, low, close, volume) VALUES {}
             ON CONFLICT (series_id, ts) DO UPDATE SET open = excluded.open, high = excluded.high,
             low = excluded.low, close = excluded.close, volume = excluded.volume",
            rows.join(", ")
        ));
        for row in run {
            let bar = columns.bar(row).ok_or_else(|| damaged("a bar that cannot be written"))?;
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

/// Every hot bar; a series never has many.
pub(crate) async fn all_hot(tx: &mut Tx, series: i64) -> Result<BarColumns, Fault> {
    let select = "SELECT ts, open, high, low, close, volume FROM bar_hot
        WHERE series_id = $1 ORDER BY ts";
    let mut columns = BarColumns::default();
    for row in tx.fetch_all(sql(select).bind(series)).await? {
        columns.push(&hot_bar(&row)?);
    }
    Ok(columns)
}

fn hot_bar(row: &SqlRow) -> Result<Bar, Fault> {
    let parse = |text: &str| {
        text.parse::<Decimal>().map_err(|_| damaged("a recent bar holds what is no decimal"))
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

/// How many hot bars there are, the first and the last of them.
pub(crate) async fn measure_hot(
    tx: &mut Tx,
    series: i64,
) -> Result<(u64, Option<i64>, Option<i64>), Fault> {
    let select = "SELECT COUNT(*), MIN(ts), MAX(ts) FROM bar_hot WHERE series_id = $1";
    match tx.fetch_optional(sql(select).bind(series)).await? {
        Some(row) => Ok((row.count(0)?, row.int_or_null(1)?, row.int_or_null(2)?)),
        None => Ok((0, None, None)),
    }
}

/// How many hot bars each of the series has within the span; series with none are left out.
pub(crate) async fn count_hot(
    tx: &mut Tx,
    ids: &[i64],
    span: TimeRange,
) -> Result<Vec<(i64, u64)>, Fault> {
    let mut found = Vec::new();
    for part in ids.chunks(LIST_MAX) {
        let part = padded(part);
        let select = format!(
            "SELECT series_id, COUNT(*) FROM bar_hot
             WHERE ts >= $1 AND ts < $2 AND series_id IN ({}) GROUP BY series_id",
            placeholders(3, part.len())
        );
        let select = sql_built(select).bind(span.from.0).bind(span.to.0).bind_all(part);
        for row in tx.fetch_all(select).await? {
            found.push((row.int(0)?, row.count(1)?));
        }
    }
    Ok(found)
}

/// The known spans that touch or overlap this one, ascending.
pub(crate) async fn spans(
    tx: &mut Tx,
    series: i64,
    span: TimeRange,
) -> Result<Vec<TimeRange>, Fault> {
    let select = "SELECT from_ts, to_ts FROM bar_span
        WHERE series_id = $1 AND from_ts <= $3 AND to_ts >= $2 ORDER BY from_ts";
    let select = sql(select).bind(series).bind(span.from.0).bind(span.to.0);
    let rows = tx.fetch_all(select).await?;
    let span = |row: &SqlRow| Ok(TimeRange::new(Millis(row.int(0)?), Millis(row.int(1)?)));
    rows.iter().map(span).collect()
}

pub(crate) async fn replace_spans(
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
    fn runs_cover_everything_in_powers_of_two() {
        for (count, most, expected) in [
            (0, 16, vec![]),
            (3, 16, vec![0..2, 2..3]),
            (23, 16, vec![0..16, 16..20, 20..22, 22..23]),
            (32, 16, vec![0..16, 16..32]),
        ] {
            assert_eq!(runs(count, most), expected, "{count}");
        }
        assert_eq!(padded(&[1, 2, 3]), [1, 2, 3, 3]);
        assert_eq!(padded::<i32>(&[]), []);
    }
}

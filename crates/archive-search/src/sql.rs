//! All SQL of the index.

use fault::Fault;
use serde_json::Value;
use store::{Db, Engine, Sql, SqlRow, SqlValue, Tx, placeholders, sql, sql_built};

use crate::segment::{EncodedSegment, FileEntry, FileId, read_files};

/// Rows of one statement.
const BATCH: usize = 50;

/// An id for a new segment. On SQLite the transaction is the only writer, so it may increment a
/// counter; PostgreSQL uses a sequence.
pub(crate) async fn next_segment_id(db: &Db, tx: &mut Tx) -> Result<i64, Fault> {
    let next = db.choose(
        "UPDATE search_next SET next = next + 1 RETURNING next",
        "SELECT nextval('search_next')",
    );
    let row = tx.fetch_optional(sql(next)).await?;
    row.ok_or_else(|| Fault::internal("the counter of segments is gone"))?.int(0)
}

/// Waits until no other transaction changes the segments of these scopes. SQLite needs no lock,
/// because it has one writing transaction at a time.
pub(crate) async fn lock(db: &Db, tx: &mut Tx, scopes: &[i64]) -> Result<(), Fault> {
    if db.engine() == Engine::Sqlite {
        return Ok(());
    }
    // Sorted, so that two transactions cannot deadlock.
    let mut scopes = scopes.to_vec();
    scopes.sort_unstable();
    scopes.dedup();
    for scope in scopes {
        let lock = sql("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))");
        tx.fetch_all(lock.bind(format!("search {scope}"))).await?;
    }
    Ok(())
}

/// Inserts a segment with its dictionary, its blocks and the list of its files.
pub(crate) async fn insert_segment(
    db: &Db,
    tx: &mut Tx,
    scope: i64,
    segment: EncodedSegment,
) -> Result<(), Fault> {
    let id = next_segment_id(db, tx).await?;
    let weight = i64::try_from(segment.weight).unwrap_or(i64::MAX);
    let row = "INSERT INTO search_segment (id, scope, weight, files, facts) \
               VALUES ($1, $2, $3, $4, $5)";
    let row = sql(row).bind(id).bind(scope).bind(weight).bind(segment.files);
    tx.execute(row.bind(segment.facts)).await?;
    let row = "INSERT INTO search_dictionary (segment, terms) VALUES ($1, $2)";
    tx.execute(sql(row).bind(id).bind(segment.dictionary)).await?;
    let mut blocks = segment.blocks.into_iter().peekable();
    while blocks.peek().is_some() {
        let values: Vec<SqlValue> = blocks
            .by_ref()
            .take(BATCH)
            .flat_map(|it| [id.into(), it.first.into(), it.page_bytes.into(), it.positions.into()])
            .collect();
        let into = "INSERT INTO search_block (segment, first, docs, positions) VALUES";
        tx.execute(insertion(into, 4, values)).await?;
    }
    for ids in segment.file_ids.chunks(BATCH) {
        let row = |it: &FileId| [SqlValue::from(&it.id), id.into(), it.has_facts.into()];
        let values = ids.iter().flat_map(row).collect();
        let into = "INSERT INTO search_file (file_id, segment, has_facts) VALUES";
        tx.execute(insertion(into, 3, values)).await?;
    }
    Ok(())
}

/// An insertion of rows with `width` values each.
fn insertion(into: &str, width: usize, values: Vec<SqlValue>) -> Sql {
    let row = |at| format!("({})", placeholders(at * width + 1, width));
    let rows: Vec<String> = (0..values.len() / width).map(row).collect();
    sql_built(format!("{into} {}", rows.join(", "))).bind_all(values)
}

pub(crate) async fn delete_segment(tx: &mut Tx, segment: i64) -> Result<(), Fault> {
    for delete in [
        "DELETE FROM search_block WHERE segment = $1",
        "DELETE FROM search_dictionary WHERE segment = $1",
        "DELETE FROM search_file WHERE segment = $1",
        "DELETE FROM search_segment WHERE id = $1",
    ] {
        tx.execute(sql(delete).bind(segment)).await?;
    }
    Ok(())
}

/// Records that an owner has files in a scope.
pub(crate) async fn record_owner_scope(tx: &mut Tx, owner: i64, scope: i64) -> Result<(), Fault> {
    let insert = "INSERT INTO search_home (owner, scope) VALUES ($1, $2) ON CONFLICT DO NOTHING";
    tx.execute(sql(insert).bind(owner).bind(scope)).await.map(drop)
}

/// The scopes in which an owner has or had files.
pub(crate) async fn scopes_of_owner(tx: &mut Tx, owner: i64) -> Result<Vec<i64>, Fault> {
    let select = sql("SELECT scope FROM search_home WHERE owner = $1").bind(owner);
    tx.fetch_all(select).await?.iter().map(|row| row.int(0)).collect()
}

/// The segments with pages of a file: id, scope, files.
pub(crate) async fn segments_of_file(
    tx: &mut Tx,
    file_id: &str,
) -> Result<Vec<(i64, i64, Vec<FileEntry>)>, Fault> {
    let select = "SELECT s.id, s.scope, s.files, s.facts FROM search_file f \
                  JOIN search_segment s ON s.id = f.segment WHERE f.file_id = $1 ORDER BY s.id";
    let rows = tx.fetch_all(sql(select).bind(file_id)).await?;
    let read = |row: &SqlRow| {
        let files = read_files(row.bytes_ref(2)?, row.bytes_ref(3)?)?;
        Ok((row.int(0)?, row.int(1)?, files))
    };
    rows.iter().map(read).collect()
}

/// The id and the weight of every segment of a scope.
pub(crate) async fn segment_weights(tx: &mut Tx, scope: i64) -> Result<Vec<(i64, u64)>, Fault> {
    let select = "SELECT id, weight FROM search_segment WHERE scope = $1 ORDER BY id";
    let rows = tx.fetch_all(sql(select).bind(scope)).await?;
    rows.iter().map(|row| Ok((row.int(0)?, row.count(1)?))).collect()
}

/// The files of a segment.
pub(crate) async fn segment_files(tx: &mut Tx, segment: i64) -> Result<Vec<FileEntry>, Fault> {
    let select = sql("SELECT files, facts FROM search_segment WHERE id = $1").bind(segment);
    let row = tx.fetch_optional(select).await?;
    let row = row.ok_or_else(|| Fault::internal("a segment of the search index is gone"))?;
    read_files(row.bytes_ref(0)?, row.bytes_ref(1)?)
}

/// Writes the facts of the files of a segment.
pub(crate) async fn update_facts(tx: &mut Tx, segment: i64, facts: Vec<u8>) -> Result<(), Fault> {
    let update = sql("UPDATE search_segment SET facts = $2 WHERE id = $1");
    tx.execute(update.bind(segment).bind(facts)).await.map(drop)
}

/// Records that the facts of a file are known.
pub(crate) async fn record_facts(tx: &mut Tx, file_id: &str) -> Result<(), Fault> {
    let update = sql("UPDATE search_file SET has_facts = TRUE WHERE file_id = $1");
    tx.execute(update.bind(file_id)).await.map(drop)
}

/// The next 50 blocks of a segment after a term: first term, pages and counts, positions.
pub(crate) async fn blocks_after(
    tx: &mut Tx,
    segment: i64,
    after: &str,
) -> Result<Vec<SqlRow>, Fault> {
    let select = "SELECT first, docs, positions FROM search_block \
                  WHERE segment = $1 AND first > $2 ORDER BY first LIMIT 50";
    tx.fetch_all(sql(select).bind(segment).bind(after)).await
}

/// The segments of these scopes: id, scope, files, facts. With a file id only the segments of that
/// file.
pub(crate) async fn segments(
    db: &Db,
    tx: &mut Tx,
    scopes: &[i64],
    file_id: Option<&str>,
) -> Result<Vec<SqlRow>, Fault> {
    let list = selected_numbers(db, 1);
    let select = match file_id {
        None => {
            format!("SELECT id, scope, files, facts FROM search_segment WHERE scope IN ({list})")
        }
        Some(_) => format!(
            "SELECT id, scope, files, facts FROM search_segment WHERE scope IN ({list}) \
             AND id IN (SELECT segment FROM search_file WHERE file_id = $2)"
        ),
    };
    let select = sql_built(select).bind(json(scopes.iter().copied()));
    tx.fetch_all(match file_id {
        None => select,
        Some(file_id) => select.bind(file_id),
    })
    .await
}

pub(crate) async fn dictionaries(
    db: &Db,
    tx: &mut Tx,
    segments: &[i64],
) -> Result<Vec<SqlRow>, Fault> {
    let list = selected_numbers(db, 1);
    let select = format!("SELECT terms FROM search_dictionary WHERE segment IN ({list})");
    tx.fetch_all(sql_built(select).bind(json(segments.iter().copied()))).await
}

/// The blocks that have these terms, if any has: segment, pages and counts and, if wanted,
/// positions.
pub(crate) async fn blocks(
    db: &Db,
    tx: &mut Tx,
    segments: &[i64],
    terms: &[&str],
    with_positions: bool,
) -> Result<Vec<SqlRow>, Fault> {
    let positions = if with_positions { ", b.positions" } else { "" };
    let (each_segment, each_term) = db.choose(
        ("json_each($1) s", "json_each($2) t"),
        (
            "(SELECT CAST(jsonb_array_elements_text(CAST($1 AS jsonb)) AS BIGINT) AS value) s",
            "(SELECT jsonb_array_elements_text(CAST($2 AS jsonb)) COLLATE \"C\" AS value) t",
        ),
    );
    let select = format!(
        "SELECT b.segment, b.docs{positions} FROM (
             SELECT DISTINCT s.value AS segment, (
                 SELECT x.first FROM search_block x
                 WHERE x.segment = s.value AND x.first <= t.value
                 ORDER BY x.first DESC LIMIT 1
             ) AS first FROM {each_segment} CROSS JOIN {each_term}
         ) k JOIN search_block b ON b.segment = k.segment AND b.first = k.first"
    );
    let select = sql_built(select).bind(json(segments.iter().copied()));
    tx.fetch_all(select.bind(json(terms.iter().copied()))).await
}

/// Which of these files have index entries.
pub(crate) async fn indexed(db: &Db, ids: &[String]) -> Result<Vec<String>, Fault> {
    let list = placeholders(1, ids.len());
    let select = format!("SELECT DISTINCT file_id FROM search_file WHERE file_id IN ({list})");
    let rows = db.fetch_all(sql_built(select).bind_all(ids)).await?;
    rows.iter().map(|row| row.text(0)).collect()
}

/// Which of these files have facts in the index.
pub(crate) async fn with_facts(db: &Db, ids: &[String]) -> Result<Vec<String>, Fault> {
    let list = placeholders(1, ids.len());
    let select = format!(
        "SELECT DISTINCT file_id FROM search_file WHERE file_id IN ({list}) AND has_facts = TRUE"
    );
    let rows = db.fetch_all(sql_built(select).bind_all(ids)).await?;
    rows.iter().map(|row| row.text(0)).collect()
}

/// A selection of the numbers in a JSON array, because there may be thousands.
fn selected_numbers(db: &Db, parameter: usize) -> String {
    match db.engine() {
        Engine::Sqlite => format!("SELECT value FROM json_each(${parameter})"),
        Engine::Postgres => {
            format!("SELECT CAST(jsonb_array_elements_text(CAST(${parameter} AS jsonb)) AS BIGINT)")
        }
    }
}

fn json<V: Into<Value>>(values: impl Iterator<Item = V>) -> String {
    Value::Array(values.map(Into::into).collect()).to_string()
}

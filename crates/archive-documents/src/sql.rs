//! All SQL for files, pages and upload times.

use std::collections::{HashMap, HashSet};

use clock::Millis;
use fault::Fault;
use store::{Db, Engine, Sql, SqlRow, SqlValue, Tx, placeholders, sql, sql_built};

use crate::file::{FileFilter, FileRecord, FileStatus};
use crate::name;
use crate::page::{PageChunk, PageRecord, split, storable};

const COLUMNS: &str = "id, owner, case_id, name, size, mime, hash, tags, description, \
     uploaded_at, status, job_id, error, page_count, word_count, problems";
const COLUMN_COUNT: usize = 16;

/// Rows and bytes of pages that go into one statement.
const BATCH_ROWS: usize = 64;
const BATCH_BYTES: usize = 1 << 20;
/// Rows of pages that are read at once.
pub(crate) const CHUNKS_PER_QUERY: u32 = 64;

/// The columns of [`COLUMNS`], in their order.
fn file(row: &SqlRow) -> Result<FileRecord, Fault> {
    let count = |column: usize| {
        row.int_or_null(column)?.map(u64::try_from).transpose().map_err(Fault::internal)
    };
    let word = row.text_ref(10)?;
    let status = FileStatus::parse(word)
        .ok_or_else(|| Fault::internal(format!("a file's status is {word:?}")))?;
    Ok(FileRecord {
        id: row.text(0)?,
        owner: row.text(1)?,
        case_id: row.text_or_null(2)?,
        name: row.text(3)?,
        size: row.count(4)?,
        mime: row.text(5)?,
        hash: row.text(6)?,
        tags: texts(row.text_ref(7)?)?,
        description: row.text_or_null(8)?,
        uploaded_at: Millis(row.int(9)?),
        status,
        job_id: row.text_or_null(11)?,
        error: row.text_or_null(12)?,
        page_count: count(13)?,
        word_count: count(14)?,
        problems: texts(row.text_ref(15)?)?,
    })
}

fn texts(json: &str) -> Result<Vec<String>, Fault> {
    serde_json::from_str(json).map_err(Fault::internal)
}

pub(crate) fn json(texts: &[impl AsRef<str>]) -> Result<String, Fault> {
    let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
    serde_json::to_string(&texts).map_err(Fault::internal)
}

fn whole(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Locks `what` `of` until the transaction ends. SQLite needs no lock: a writing transaction is the
/// only one in all processes.
pub(crate) async fn lock(db: &Db, tx: &mut Tx, what: &str, of: &str) -> Result<(), Fault> {
    if db.engine() == Engine::Postgres {
        let key = format!("documents {what} {of}");
        let lock = sql("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))");
        tx.fetch_all(lock.bind(key)).await?;
    }
    Ok(())
}

pub(crate) async fn insert(tx: &mut Tx, file: &FileRecord) -> Result<(), Fault> {
    let insert =
        format!("INSERT INTO archive_files ({COLUMNS}) VALUES ({})", placeholders(1, COLUMN_COUNT));
    let insert = sql_built(insert)
        .bind(&file.id)
        .bind(&file.owner)
        .bind(file.case_id.as_ref())
        .bind(&file.name)
        .bind(whole(file.size))
        .bind(&file.mime)
        .bind(&file.hash)
        .bind(json(&file.tags)?)
        .bind(file.description.as_ref())
        .bind(file.uploaded_at.0)
        .bind(file.status.word())
        .bind(file.job_id.as_ref())
        .bind(file.error.as_ref())
        .bind(file.page_count.map(whole))
        .bind(file.word_count.map(whole))
        .bind(json(&file.problems)?);
    tx.execute(insert).await.map(drop)
}

pub(crate) async fn by_id(db: &Db, id: &str) -> Result<Option<FileRecord>, Fault> {
    let select = sql_built(format!("SELECT {COLUMNS} FROM archive_files WHERE id = $1"));
    db.fetch_optional(select.bind(id)).await?.as_ref().map(file).transpose()
}

/// The records with these ids that exist, in no order.
pub(crate) async fn by_ids(tx: &mut Tx, ids: &[String]) -> Result<Vec<FileRecord>, Fault> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let list = placeholders(1, ids.len());
    let select = format!("SELECT {COLUMNS} FROM archive_files WHERE id IN ({list})");
    tx.fetch_all(sql_built(select).bind_all(ids)).await?.iter().map(file).collect()
}

/// The next ids of all files, in their order.
pub(crate) async fn ids_after(db: &Db, after: &str, limit: u32) -> Result<Vec<String>, Fault> {
    let select = "SELECT id FROM archive_files WHERE id > $1 ORDER BY id LIMIT $2";
    let rows = db.fetch_all(sql(select).bind(after).bind(limit)).await?;
    rows.iter().map(|row| row.text(0)).collect()
}

/// The record, locked until the transaction ends.
pub(crate) async fn by_id_locked(
    db: &Db,
    tx: &mut Tx,
    id: &str,
) -> Result<Option<FileRecord>, Fault> {
    let lock = db.choose("", "FOR UPDATE");
    let select = sql_built(format!("SELECT {COLUMNS} FROM archive_files WHERE id = $1 {lock}"));
    tx.fetch_optional(select.bind(id)).await?.as_ref().map(file).transpose()
}

/// The name with the letters A to Z in lower case. SQLite knows no other letters, so the
/// collation of PostgreSQL is set to change no others.
fn ascii_lower(db: &Db) -> &'static str {
    db.choose(
        "lower(name)",
        "translate(name, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')",
    )
}

/// One page of the visible files, newest first, and their total, from one statement.
pub(crate) async fn list(
    db: &Db,
    (owner, case_ids): (&str, &[&str]),
    filter: &FileFilter,
    (limit, offset): (u32, u64),
) -> Result<(Vec<FileRecord>, u64), Fault> {
    let cases = db.choose(
        "SELECT value FROM json_each($2)",
        "SELECT jsonb_array_elements_text(CAST($2 AS jsonb))",
    );
    let mut conditions = format!("(owner = $1 OR case_id IN ({cases}))");
    let mut values: Vec<SqlValue> = vec![owner.into(), json(case_ids)?.into()];
    let narrow = [
        ("case_id", filter.case_id.as_deref()),
        ("status", filter.status.map(FileStatus::word)),
        ("hash", filter.hash.as_deref()),
    ];
    for (column, value) in narrow {
        let Some(value) = value else { continue };
        values.push(value.into());
        conditions.push_str(&format!(" AND {column} = ${}", values.len()));
    }
    if let Some(tag) = &filter.tag {
        values.push(tag.into());
        let tags = db.choose("json_each(tags)", "jsonb_array_elements_text(CAST(tags AS jsonb))");
        let value = db.choose("t.value", "t");
        let at = values.len();
        conditions
            .push_str(&format!(" AND EXISTS (SELECT 1 FROM {tags} AS t WHERE {value} = ${at})"));
    }
    if let Some(part) = &filter.name {
        let spellings: Vec<String> = name::spellings(part)
            .into_iter()
            .map(|pattern| {
                values.push(pattern.into());
                format!("{} LIKE ${} ESCAPE '!'", ascii_lower(db), values.len())
            })
            .collect();
        conditions.push_str(&format!(" AND ({})", spellings.join(" OR ")));
    }
    let count = format!("SELECT COUNT(*) FROM archive_files WHERE {conditions}");
    let count = sql_built(count).bind_all(values.clone());
    let (first, second) = (values.len() + 1, values.len() + 2);
    let select = format!(
        "SELECT {COLUMNS} FROM archive_files WHERE {conditions} \
         ORDER BY id DESC LIMIT ${first} OFFSET ${second}"
    );
    let select = sql_built(select).bind_all(values).bind(limit).bind(whole(offset));
    let mut tx = db.snapshot().await?;
    let total = tx.fetch_optional(count).await?.map_or(Ok(0), |row| row.count(0))?;
    let files = tx.fetch_all(select).await?.iter().map(file).collect::<Result<_, _>>()?;
    tx.commit().await?;
    Ok((files, total))
}

/// How many files each of the cases has; a case without files is left out.
pub(crate) async fn count_by_case(
    db: &Db,
    case_ids: &[&str],
) -> Result<HashMap<String, u64>, Fault> {
    if case_ids.is_empty() {
        return Ok(HashMap::new());
    }
    let list = placeholders(1, case_ids.len());
    let count = format!(
        "SELECT case_id, COUNT(*) FROM archive_files WHERE case_id IN ({list}) GROUP BY case_id"
    );
    let rows = db.fetch_all(sql_built(count).bind_all(case_ids.iter().copied())).await?;
    rows.iter().map(|row| Ok((row.text(0)?, row.count(1)?))).collect()
}

pub(crate) fn set_status(id: &str, status: FileStatus) -> Sql {
    sql("UPDATE archive_files SET status = $2 WHERE id = $1").bind(id).bind(status.word())
}

pub(crate) fn set_case(id: &str, case_id: Option<&str>) -> Sql {
    sql("UPDATE archive_files SET case_id = $2 WHERE id = $1").bind(id).bind(case_id)
}

pub(crate) fn begin_processing(id: &str, job_id: &str) -> Sql {
    sql("UPDATE archive_files SET status = 'processing', job_id = $2, error = NULL WHERE id = $1")
        .bind(id)
        .bind(job_id)
}

pub(crate) fn finish(id: &str, job_id: &str, counts: (u64, u64), problems: String) -> Sql {
    sql("UPDATE archive_files SET status = 'processed', error = NULL, page_count = $3, \
             word_count = $4, problems = $5 WHERE id = $1 AND job_id = $2")
    .bind(id)
    .bind(job_id)
    .bind(whole(counts.0))
    .bind(whole(counts.1))
    .bind(problems)
}

pub(crate) fn fail(id: &str, job_id: &str, error: String) -> Sql {
    sql("UPDATE archive_files SET status = 'failed', error = $3 WHERE id = $1 AND job_id = $2")
        .bind(id)
        .bind(job_id)
        .bind(error)
}

pub(crate) fn stop_processing(id: &str, job_id: &str) -> Sql {
    sql("UPDATE archive_files SET status = \
             CASE WHEN page_count IS NULL THEN 'uploaded' ELSE 'processed' END \
         WHERE id = $1 AND job_id = $2 AND status = 'processing'")
    .bind(id)
    .bind(job_id)
}

/// Deletes the record before the pages: a concurrent writer of pages has either committed them, and
/// they are deleted here, or finds no record.
pub(crate) async fn delete(tx: &mut Tx, id: &str) -> Result<Option<FileRecord>, Fault> {
    let delete = sql_built(format!("DELETE FROM archive_files WHERE id = $1 RETURNING {COLUMNS}"));
    let deleted = tx.fetch_optional(delete.bind(id)).await?.as_ref().map(file).transpose()?;
    delete_pages(tx, id).await?;
    Ok(deleted)
}

/// Links a job to a file, and removes links older than `forget`.
pub(crate) async fn link_quoting_job(
    tx: &mut Tx,
    (file_id, job_id): (&str, &str),
    now: Millis,
    forget: Millis,
) -> Result<(), Fault> {
    let old = "DELETE FROM archive_traces WHERE file_id = $1 AND noted_at < $2";
    tx.execute(sql(old).bind(file_id).bind(forget.0)).await?;
    let insert = "INSERT INTO archive_traces (file_id, job_id, noted_at) VALUES ($1, $2, $3)";
    tx.execute(sql(insert).bind(file_id).bind(job_id).bind(now.0)).await.map(drop)
}

pub(crate) async fn quoting_jobs(tx: &mut Tx, file_id: &str) -> Result<Vec<String>, Fault> {
    let select = sql("SELECT job_id FROM archive_traces WHERE file_id = $1").bind(file_id);
    tx.fetch_all(select).await?.iter().map(|row| row.text(0)).collect()
}

pub(crate) async fn take_quoting_jobs(tx: &mut Tx, file_id: &str) -> Result<Vec<String>, Fault> {
    let take = sql("DELETE FROM archive_traces WHERE file_id = $1 RETURNING job_id").bind(file_id);
    tx.fetch_all(take).await?.iter().map(|row| row.text(0)).collect()
}

pub(crate) async fn delete_pages(tx: &mut Tx, id: &str) -> Result<(), Fault> {
    tx.execute(sql("DELETE FROM archive_pages WHERE file_id = $1").bind(id)).await.map(drop)
}

pub(crate) async fn has_record(tx: &mut Tx, hash: &str) -> Result<bool, Fault> {
    let look = sql("SELECT id FROM archive_files WHERE hash = $1 LIMIT 1").bind(hash);
    Ok(tx.fetch_optional(look).await?.is_some())
}

/// The contents that have a record.
pub(crate) async fn with_record(db: &Db, hashes: &[String]) -> Result<HashSet<String>, Fault> {
    let list = placeholders(1, hashes.len());
    let look = format!("SELECT DISTINCT hash FROM archive_files WHERE hash IN ({list})");
    let rows = db.fetch_all(sql_built(look).bind_all(hashes)).await?;
    rows.iter().map(|row| row.text(0)).collect()
}

/// The contents that the owner has.
pub(crate) async fn owned(
    tx: &mut Tx,
    owner: &str,
    hashes: &[String],
) -> Result<HashSet<String>, Fault> {
    let list = placeholders(2, hashes.len());
    let look =
        format!("SELECT DISTINCT hash FROM archive_files WHERE owner = $1 AND hash IN ({list})");
    let rows = tx.fetch_all(sql_built(look).bind(owner).bind_all(hashes)).await?;
    rows.iter().map(|row| row.text(0)).collect()
}

pub(crate) async fn bytes_of(tx: &mut Tx, owner: &str) -> Result<u64, Fault> {
    let sum = "SELECT CAST(COALESCE(SUM(size), 0) AS BIGINT) FROM archive_files WHERE owner = $1";
    tx.fetch_optional(sql(sum).bind(owner)).await?.map_or(Ok(0), |row| row.count(0))
}

/// The time of the owner's `nth` newest upload, counted from 1; `None` for 0, or if there are fewer.
pub(crate) async fn nth_upload(
    tx: &mut Tx,
    owner: &str,
    nth: u32,
) -> Result<Option<Millis>, Fault> {
    let Some(before) = nth.checked_sub(1) else { return Ok(None) };
    let select = "SELECT sent_at FROM archive_uploads WHERE owner = $1 \
                  ORDER BY sent_at DESC LIMIT 1 OFFSET $2";
    let row = tx.fetch_optional(sql(select).bind(owner).bind(before)).await?;
    row.map(|row| row.int(0).map(Millis)).transpose()
}

pub(crate) async fn record_upload(tx: &mut Tx, owner: &str, now: Millis) -> Result<(), Fault> {
    let insert = sql("INSERT INTO archive_uploads (owner, sent_at) VALUES ($1, $2)");
    tx.execute(insert.bind(owner).bind(now.0)).await.map(drop)
}

pub(crate) fn delete_uploads_of(owner: &str, before: Millis) -> Sql {
    sql("DELETE FROM archive_uploads WHERE owner = $1 AND sent_at <= $2").bind(owner).bind(before.0)
}

pub(crate) fn delete_uploads_before(before: Millis) -> Sql {
    sql("DELETE FROM archive_uploads WHERE sent_at <= $1").bind(before.0)
}

/// Collects rows of pages and inserts them in few statements.
pub(crate) struct PageRows<'a> {
    file_id: &'a str,
    values: Vec<SqlValue>,
    rows: usize,
    bytes: usize,
}

impl<'a> PageRows<'a> {
    pub(crate) fn of(file_id: &'a str) -> Self {
        Self { file_id, values: Vec::new(), rows: 0, bytes: 0 }
    }

    pub(crate) async fn add(&mut self, tx: &mut Tx, page: &PageRecord) -> Result<(), Fault> {
        let text = storable(&page.page.text);
        for (chunk, text) in (0_i64..).zip(split(&text)) {
            self.values.extend([
                SqlValue::from(self.file_id),
                page.page.number.into(),
                chunk.into(),
                storable(&page.part).into_owned().into(),
                page.part_page.into(),
                page.ocr_confidence.into(),
                text.into(),
            ]);
            self.rows += 1;
            self.bytes += text.len();
            if self.rows >= BATCH_ROWS || self.bytes >= BATCH_BYTES {
                self.write(tx).await?;
            }
        }
        Ok(())
    }

    /// Inserts the collected rows; call it at the end.
    pub(crate) async fn write(&mut self, tx: &mut Tx) -> Result<(), Fault> {
        if self.rows == 0 {
            return Ok(());
        }
        let rows: Vec<String> =
            (0..self.rows).map(|row| format!("({})", placeholders(row * 7 + 1, 7))).collect();
        let insert = format!(
            "INSERT INTO archive_pages (file_id, page, piece, part, part_page, ocr_confidence, \
                 text) VALUES {}",
            rows.join(", ")
        );
        tx.execute(sql_built(insert).bind_all(std::mem::take(&mut self.values))).await?;
        (self.rows, self.bytes) = (0, 0);
        Ok(())
    }
}

/// The next chunks after a page and chunk number, up to `last_page`.
pub(crate) fn chunks(file_id: &str, after: (i64, i64), last_page: u32) -> Sql {
    sql("SELECT page, piece, part, part_page, ocr_confidence, text FROM archive_pages \
         WHERE file_id = $1 AND (page, piece) > ($2, $3) AND page <= $4 \
         ORDER BY page, piece LIMIT $5")
    .bind(file_id)
    .bind(after.0)
    .bind(after.1)
    .bind(last_page)
    .bind(CHUNKS_PER_QUERY)
}

pub(crate) fn chunk(row: &SqlRow) -> Result<PageChunk, Fault> {
    let small = |column: usize| u32::try_from(row.int(column)?).map_err(Fault::internal);
    Ok(PageChunk {
        page: small(0)?,
        chunk: small(1)?,
        part: row.text(2)?,
        part_page: small(3)?,
        ocr_confidence: row.real_or_null(4)?,
        text: row.text(5)?,
    })
}

/// A chunk of a page.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ChunkAddress {
    pub file_id: String,
    pub page: u32,
    pub chunk: u32,
}

/// These chunks and the one after each, with their files, in the order of pages.
pub(crate) async fn chunks_at(
    tx: &mut Tx,
    wanted: &[ChunkAddress],
) -> Result<Vec<(String, PageChunk)>, Fault> {
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let rows: Vec<String> =
        (0..wanted.len()).map(|row| format!("({})", placeholders(row * 3 + 1, 3))).collect();
    let select = format!(
        "WITH wanted (file_id, page, piece) AS (VALUES {}) \
         SELECT p.page, p.piece, p.part, p.part_page, p.ocr_confidence, p.text, p.file_id \
         FROM wanted w CROSS JOIN archive_pages p \
         WHERE p.file_id = w.file_id AND p.page = w.page \
           AND p.piece >= w.piece AND p.piece <= w.piece + 1 \
         ORDER BY p.file_id, p.page, p.piece",
        rows.join(", ")
    );
    let values = wanted.iter().flat_map(|it| {
        [SqlValue::from(&it.file_id), SqlValue::from(it.page), SqlValue::from(it.chunk)]
    });
    let rows = tx.fetch_all(sql_built(select).bind_all(values)).await?;
    rows.iter().map(|row| Ok((row.text(6)?, chunk(row)?))).collect()
}

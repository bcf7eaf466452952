//! Indexes insights of an earlier version again, whose words were cut in another way, and lists what
//! jobs found in a file.

use fault::Fault;
use serde_json::{Map, Value};
use store::{SqlRow, sql, sql_built};

use crate::Insights;
use crate::index::IndexEntry;
use crate::insight::{COLUMNS, Insight, NewInsight};
use crate::scope;

/// Insights of one transaction, which takes about 50 ms.
const BATCH: i64 = 200;

impl Insights {
    /// Indexes up to 200 insights of an earlier version again, the newest first; false if there is
    /// none left. Queries find the others by their old words meanwhile.
    pub async fn reindex_some(&self) -> Result<bool, Fault> {
        let db = &self.0.db;
        let pending = "SELECT seq FROM insight_reindex";
        let left = |rows: Vec<SqlRow>| rows.first().map_or(Ok(0), |row| row.int(0));
        if left(db.fetch_all(sql(pending)).await?)? <= 0 {
            return Ok(false);
        }
        let lock = db.choose("", " FOR UPDATE");
        let mut tx = db.begin().await?;
        let last = left(tx.fetch_all(sql_built(format!("{pending}{lock}"))).await?)?;
        let some = sql_built(format!(
            "SELECT b.seq, {COLUMNS} FROM insight_body b WHERE b.seq <= $1
             ORDER BY b.seq DESC LIMIT $2{lock}"
        ));
        let rows = tx.fetch_all(some.bind(last).bind(BATCH)).await?;
        let mut entries: Vec<(i64, IndexEntry)> = Vec::with_capacity(rows.len());
        for row in &rows {
            let seq = row.int(0)?;
            self.remove_entry(&mut tx, seq).await?;
            entries.push((seq, IndexEntry::of(&Insight::read(row, 1)?.fields)));
        }
        if !entries.is_empty() {
            self.insert_entries(&mut tx, &entries).await?;
        }
        let next = entries.last().map_or(0, |(seq, _)| seq - 1);
        tx.execute(sql("UPDATE insight_reindex SET seq = $1").bind(next)).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Category and entities of the insights that jobs found in a file, without rejected ones.
    pub async fn found_by_jobs(
        &self,
        file_id: &str,
    ) -> Result<Vec<(String, Map<String, Value>)>, Fault> {
        let select = sql_built(format!(
            "SELECT {COLUMNS} FROM insight_body b JOIN insight i ON i.seq = b.seq
             WHERE i.file = $1 ORDER BY i.seq"
        ));
        let mut found = Vec::new();
        for row in self.0.db.fetch_all(select.bind(scope::file(file_id))).await? {
            let fields: NewInsight = Insight::read(&row, 0)?.fields;
            let corrected = fields.correction.as_ref();
            let is_found = corrected.map_or(fields.job_id.is_some(), |it| it.found_as.is_some());
            if is_found && !fields.is_rejected() && fields.file_id == file_id {
                found.push((fields.category.unwrap_or_default(), fields.entities));
            }
        }
        Ok(found)
    }
}

//! Deletes insights, and moves the insights of a file to another case.

use std::collections::HashSet;

use clock::Millis;
use fault::Fault;
use store::{Engine, SqlRow, Tx, sql, sql_built};

use crate::Insights;
use crate::index::IndexEntry;
use crate::insight::{COLUMNS, Insight, NewInsight};
use crate::scope;

/// Insights moved per statement.
const MOVE_BATCH: i64 = 200;
/// The index of fewer insights is merged in less than 1 s.
const MERGE_ALL_BELOW: i64 = 10_000;

impl Insights {
    /// Replaces the insights that earlier processing made of the file. What a caller corrected or
    /// rejected is kept, and is not found a second time.
    pub async fn replace_extracted(
        &self,
        tx: &mut Tx,
        file_id: &str,
        new: Vec<NewInsight>,
    ) -> Result<Vec<(String, Millis)>, Fault> {
        new.iter().try_for_each(NewInsight::check)?;
        self.delete(tx, file_id, "AND made = TRUE").await?;
        let corrected = self.corrected(tx, file_id).await?;
        let is_new = |it: &NewInsight| {
            !corrected.contains(&(it.category.clone().unwrap_or_default(), it.title.clone()))
        };
        self.add(tx, new.into_iter().filter(is_new).collect()).await
    }

    /// The categories and titles under which jobs found the insights that callers have corrected.
    async fn corrected(
        &self,
        tx: &mut Tx,
        file_id: &str,
    ) -> Result<HashSet<(String, String)>, Fault> {
        let select = sql_built(format!(
            "SELECT {COLUMNS} FROM insight_body b JOIN insight i ON i.seq = b.seq
             WHERE i.file = $1 AND i.made = FALSE"
        ));
        let mut found = HashSet::new();
        for row in tx.fetch_all(select.bind(scope::file(file_id))).await? {
            let fields = Insight::read(&row, 0)?.fields;
            let found_as = fields.correction.and_then(|it| it.found_as);
            found.extend(found_as.map(|title| (fields.category.unwrap_or_default(), title)));
        }
        Ok(found)
    }

    /// Deletes all insights of a file and returns their number.
    pub async fn delete_by_file(&self, tx: &mut Tx, file_id: &str) -> Result<u64, Fault> {
        self.delete(tx, file_id, "").await
    }

    /// Removes the words of deleted insights from the SQLite index, whose segments keep them until a
    /// merge: all segments of a small index, one step of a large one.
    pub async fn purge_deleted_words(&self) -> Result<(), Fault> {
        let db = &self.0.db;
        if db.engine() == Engine::Postgres {
            return Ok(());
        }
        let look = "SELECT COUNT(*) FROM (SELECT 1 FROM insight LIMIT $1)";
        let rows = db.fetch_all(sql(look).bind(MERGE_ALL_BELOW)).await?;
        let count = rows.first().map_or(Ok(0), |row| row.int(0))?;
        let merge = match count < MERGE_ALL_BELOW {
            true => "INSERT INTO insight_text (insight_text) VALUES ('optimize')",
            false => "INSERT INTO insight_text (insight_text, rank) VALUES ('merge', 500)",
        };
        db.execute(sql(merge)).await.map(drop)
    }

    async fn delete(&self, tx: &mut Tx, file_id: &str, which: &str) -> Result<u64, Fault> {
        let those = format!("(SELECT seq FROM insight WHERE file = $1 {which})");
        let index = self.0.db.choose("rowid", "seq");
        for from in [format!("insight_text WHERE {index}"), "insight_body WHERE seq".to_owned()] {
            let delete = sql_built(format!("DELETE FROM {from} IN {those}"));
            tx.execute(delete.bind(scope::file(file_id))).await?;
        }
        let delete = format!("DELETE FROM insight WHERE file = $1 {which}");
        tx.execute(sql_built(delete).bind(scope::file(file_id))).await
    }

    /// Moves the insights of a file from its old case to the new one and returns their number.
    /// Insights about the file in other cases stay there.
    pub async fn move_case(
        &self,
        tx: &mut Tx,
        file_id: &str,
        from: Option<&str>,
        to: Option<&str>,
    ) -> Result<u64, Fault> {
        let (mut after, mut moved) = (0, 0);
        loop {
            let some = sql_built(format!(
                "SELECT b.seq, {COLUMNS} FROM insight_body b JOIN insight i ON i.seq = b.seq
                 WHERE i.file = $1 AND i.seq > $2 ORDER BY i.seq LIMIT $3"
            ));
            let some = some.bind(scope::file(file_id)).bind(after).bind(MOVE_BATCH);
            let rows = tx.fetch_all(some).await?;
            let Some(last) = rows.last() else { return Ok(moved) };
            after = last.int(0)?;
            let read = |row: &SqlRow| Ok((row.int(0)?, Insight::read(row, 1)?.fields));
            let mut step: Vec<(i64, NewInsight)> =
                rows.iter().map(read).collect::<Result<_, Fault>>()?;
            step.retain(|(_, it)| it.case_id.as_deref() == from);
            step.iter_mut().for_each(|(_, it)| it.case_id = to.map(str::to_owned));
            moved += step.len() as u64;
            self.move_step(tx, step).await?;
        }
    }

    async fn move_step(&self, tx: &mut Tx, step: Vec<(i64, NewInsight)>) -> Result<(), Fault> {
        for (seq, insight) in &step {
            self.remove_entry(tx, *seq).await?;
            let row = "UPDATE insight SET scope = $2 WHERE seq = $1";
            tx.execute(sql(row).bind(*seq).bind(insight.scope())).await?;
            let body = "UPDATE insight_body SET rest = $2 WHERE seq = $1";
            tx.execute(sql(body).bind(*seq).bind(insight.rest()?)).await?;
        }
        let entries: Vec<(i64, IndexEntry)> =
            step.iter().map(|(seq, insight)| (*seq, IndexEntry::of(insight))).collect();
        self.insert_entries(tx, &entries).await?;
        let moved: Vec<NewInsight> = step.into_iter().map(|(_, insight)| insight).collect();
        self.record_scopes(tx, &moved).await
    }
}

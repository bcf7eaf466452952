//! Inserts insights: rows and index entries, in the caller's transaction.

use clock::Millis;
use fault::Fault;
use store::{Engine, SqlValue, Tx, placeholders, sql, sql_built};

use crate::Insights;
use crate::index::IndexEntry;
use crate::insight::NewInsight;
use crate::scope;

/// Rows per statement.
const BATCH: usize = 100;

impl Insights {
    /// Stores the insights in the given order, with ascending ids. They can be found after the commit.
    pub async fn add(
        &self,
        tx: &mut Tx,
        new: Vec<NewInsight>,
    ) -> Result<Vec<(String, Millis)>, Fault> {
        new.iter().try_for_each(NewInsight::check)?;
        let mut stored = Vec::with_capacity(new.len());
        self.record_scopes(tx, &new).await?;
        for batch in new.chunks(BATCH) {
            let now = self.0.clock.now();
            let numbers = self.numbers(tx, batch.len()).await?;
            let mut rows = Vec::with_capacity(batch.len());
            for (insight, seq) in batch.iter().zip(numbers) {
                let id = self.0.ids.next(now);
                stored.push((id.clone(), now));
                rows.push(NumberedInsight { seq, id, created_at: now, insight });
            }
            insert_rows(tx, &rows).await?;
            insert_bodies(tx, &rows).await?;
            let entries: Vec<(i64, IndexEntry)> =
                rows.iter().map(|row| (row.seq, IndexEntry::of(row.insight))).collect();
            self.insert_entries(tx, &entries).await?;
        }
        Ok(stored)
    }

    /// New row numbers. On SQLite the transaction is the only writer, so it may increment a counter;
    /// PostgreSQL uses a sequence.
    async fn numbers(&self, tx: &mut Tx, count: usize) -> Result<Vec<i64>, Fault> {
        let count = i64::try_from(count).map_err(Fault::internal)?;
        if self.0.db.engine() == Engine::Postgres {
            let next = "SELECT nextval('insight_next') FROM generate_series(1, $1)";
            let rows = tx.fetch_all(sql(next).bind(count)).await?;
            let mut numbers: Vec<i64> =
                rows.iter().map(|row| row.int(0)).collect::<Result<_, _>>()?;
            numbers.sort_unstable();
            return Ok(numbers);
        }
        let next = "UPDATE insight_next SET next = next + $1 RETURNING next";
        let row = tx.fetch_optional(sql(next).bind(count)).await?;
        let end = row.ok_or_else(|| Fault::internal("the counter of insights is gone"))?.int(0)?;
        Ok((end - count..end).collect())
    }

    /// Records which owner wrote into which scope. Rejected insights are recorded under the scope
    /// they had before, so that no query takes their own scope for one of the owner's.
    pub(crate) async fn record_scopes(&self, tx: &mut Tx, new: &[NewInsight]) -> Result<(), Fault> {
        let pair = |it: &NewInsight| {
            (scope::owner(&it.owner), scope::scope_of(&it.owner, it.case_id.as_deref()))
        };
        // Sorted, so that two transactions cannot deadlock.
        let mut pairs: Vec<(i64, i64)> = new.iter().map(pair).collect();
        pairs.sort_unstable();
        pairs.dedup();
        for (owner, scope) in pairs {
            let keep =
                "INSERT INTO insight_home (owner, scope) VALUES ($1, $2) ON CONFLICT DO NOTHING";
            tx.execute(sql(keep).bind(owner).bind(scope)).await?;
        }
        Ok(())
    }

    pub(crate) async fn insert_entries(
        &self,
        tx: &mut Tx,
        entries: &[(i64, IndexEntry)],
    ) -> Result<(), Fault> {
        let postgres = self.0.db.engine() == Engine::Postgres;
        let (into, row, width) = if postgres {
            ("INSERT INTO insight_text (seq, words) VALUES ", "($a, $b::tsvector)", 2)
        } else {
            ("INSERT INTO insight_text (rowid, title, content, keys) VALUES ", "", 4)
        };
        let rows: Vec<String> = (0..entries.len())
            .map(|at| match row {
                "" => format!("({})", placeholders(at * width + 1, width)),
                row => row
                    .replace("$a", &format!("${}", at * width + 1))
                    .replace("$b", &format!("${}", at * width + 2)),
            })
            .collect();
        let values = entries.iter().flat_map(|(seq, entry)| {
            let mut values = vec![SqlValue::from(*seq)];
            if postgres {
                values.push(SqlValue::from(entry.vector()));
            } else {
                values.extend(entry.columns().map(SqlValue::from));
            }
            values
        });
        tx.execute(sql_built(format!("{into}{}", rows.join(", "))).bind_all(values)).await?;
        Ok(())
    }
}

/// An insight with its row number and id.
struct NumberedInsight<'a> {
    seq: i64,
    id: String,
    created_at: Millis,
    insight: &'a NewInsight,
}

fn rows_of(count: usize, width: usize) -> String {
    let row = |at| format!("({})", placeholders(at * width + 1, width));
    (0..count).map(row).collect::<Vec<_>>().join(", ")
}

async fn insert_rows(tx: &mut Tx, rows: &[NumberedInsight<'_>]) -> Result<(), Fault> {
    let into = "INSERT INTO insight \
                (seq, scope, created_at, confidence, owner, file, model, category, made) VALUES ";
    let values = rows.iter().flat_map(|row| {
        let it = row.insight;
        [
            SqlValue::from(row.seq),
            SqlValue::from(it.scope()),
            SqlValue::from(row.created_at.0),
            SqlValue::from(it.confidence),
            SqlValue::from(scope::owner(&it.owner)),
            SqlValue::from(scope::file(&it.file_id)),
            SqlValue::from(scope::model(&it.source_llm)),
            SqlValue::from(scope::category(it.category.as_deref())),
            SqlValue::from(it.job_id.is_some()),
        ]
    });
    tx.execute(sql_built(format!("{into}{}", rows_of(rows.len(), 9))).bind_all(values)).await?;
    Ok(())
}

async fn insert_bodies(tx: &mut Tx, rows: &[NumberedInsight<'_>]) -> Result<(), Fault> {
    let into = "INSERT INTO insight_body \
                (seq, id, created_at, confidence, title, content, rest) VALUES ";
    let mut values = Vec::with_capacity(rows.len() * 7);
    for row in rows {
        let it = row.insight;
        values.extend([
            SqlValue::from(row.seq),
            SqlValue::from(&row.id),
            SqlValue::from(row.created_at.0),
            SqlValue::from(it.confidence),
            SqlValue::from(without_nul(&it.title)),
            SqlValue::from(without_nul(&it.content)),
            SqlValue::from(it.rest()?),
        ]);
    }
    tx.execute(sql_built(format!("{into}{}", rows_of(rows.len(), 7))).bind_all(values)).await?;
    Ok(())
}

/// PostgreSQL cannot store NUL in text.
fn without_nul(text: &str) -> String {
    text.replace('\0', "")
}

//! A transaction, on both engines. Dropping it without [`Tx::commit`] rolls it back.

use fault::Fault;
use sqlx::{AssertSqlSafe, Executor as _, query_with, raw_sql};

use crate::error::fault;
use crate::future::StoreFuture;
use crate::row::{AnyRow, SqlRow};
use crate::sql::{PostgresTx, Sql, SqliteTx};

/// A transaction.
pub struct Tx(AnyTx);

enum AnyTx {
    Sqlite(SqliteTx),
    Postgres(PostgresTx),
}

impl Tx {
    pub(crate) fn sqlite(tx: SqliteTx) -> Self {
        Self(AnyTx::Sqlite(tx))
    }

    pub(crate) fn postgres(tx: PostgresTx) -> Self {
        Self(AnyTx::Postgres(tx))
    }

    /// All rows of a statement.
    pub fn fetch_all(&mut self, statement: Sql) -> StoreFuture<'_, Vec<SqlRow>> {
        Box::pin(async move {
            match &mut self.0 {
                AnyTx::Sqlite(tx) => {
                    let (text, values) = statement.sqlite().map_err(fault)?;
                    let rows = tx.fetch_all(query_with(text, values)).await.map_err(fault)?;
                    Ok(rows.into_iter().map(|row| SqlRow(AnyRow::Sqlite(row))).collect())
                }
                AnyTx::Postgres(tx) => {
                    let (text, values) = statement.postgres().map_err(fault)?;
                    let rows = tx.fetch_all(query_with(text, values)).await.map_err(fault)?;
                    Ok(rows.into_iter().map(|row| SqlRow(AnyRow::Postgres(row))).collect())
                }
            }
        })
    }

    /// The first row of a statement.
    pub fn fetch_optional(&mut self, statement: Sql) -> StoreFuture<'_, Option<SqlRow>> {
        Box::pin(async move { Ok(self.fetch_all(statement).await?.into_iter().next()) })
    }

    /// Runs a writing statement and returns the number of changed rows.
    pub fn execute(&mut self, statement: Sql) -> StoreFuture<'_, u64> {
        Box::pin(async move {
            match &mut self.0 {
                AnyTx::Sqlite(tx) => {
                    let (text, values) = statement.sqlite().map_err(fault)?;
                    let done = tx.execute(query_with(text, values)).await.map_err(fault)?;
                    Ok(done.rows_affected())
                }
                AnyTx::Postgres(tx) => {
                    let (text, values) = statement.postgres().map_err(fault)?;
                    let done = tx.execute(query_with(text, values)).await.map_err(fault)?;
                    Ok(done.rows_affected())
                }
            }
        })
    }

    /// Runs several statements without values, for migrations.
    pub(crate) async fn execute_script(&mut self, script: &str) -> Result<(), Fault> {
        let script = raw_sql(AssertSqlSafe(script.to_owned()));
        match &mut self.0 {
            AnyTx::Sqlite(tx) => tx.execute(script).await.map(drop).map_err(fault),
            AnyTx::Postgres(tx) => tx.execute(script).await.map(drop).map_err(fault),
        }
    }

    /// Commits; once this returns, the changes survive a crash.
    pub fn commit(self) -> StoreFuture<'static, ()> {
        Box::pin(async move {
            match self.0 {
                AnyTx::Sqlite(tx) => tx.commit().await.map_err(fault),
                AnyTx::Postgres(tx) => tx.commit().await.map_err(fault),
            }
        })
    }
}

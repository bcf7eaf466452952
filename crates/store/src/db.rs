//! The database handle over the pools of both engines.

use std::time::Duration;

use fault::Fault;
use sqlx::postgres::PgPool;
use sqlx::sqlite::SqlitePool;
use sqlx::{Executor as _, query_with};

use crate::error::fault;
use crate::future::StoreFuture;
use crate::row::{AnyRow, SqlRow};
use crate::sql::{Sql, sql};
use crate::tx::Tx;

/// A database engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// SQLite, in the data folder.
    Sqlite,
    /// PostgreSQL, by URL.
    Postgres,
}

impl Engine {
    /// The name of the engine.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgresql",
        }
    }
}

/// A handle to the database; cloning it is cheap.
#[derive(Clone)]
pub struct Db(Pools);

#[derive(Clone)]
enum Pools {
    Sqlite { writer: SqlitePool, reader: SqlitePool },
    Postgres(PgPool),
}

impl Db {
    pub(crate) fn from_sqlite(writer: SqlitePool, reader: SqlitePool) -> Self {
        Self(Pools::Sqlite { writer, reader })
    }

    pub(crate) fn from_postgres(pool: PgPool) -> Self {
        Self(Pools::Postgres(pool))
    }

    /// The engine of this database.
    pub fn engine(&self) -> Engine {
        match self.0 {
            Pools::Sqlite { .. } => Engine::Sqlite,
            Pools::Postgres(_) => Engine::Postgres,
        }
    }

    /// The value for the engine of this database, where one text cannot serve both.
    pub fn choose<T>(&self, sqlite: T, postgres: T) -> T {
        match self.0 {
            Pools::Sqlite { .. } => sqlite,
            Pools::Postgres(_) => postgres,
        }
    }

    /// All rows of a reading statement.
    pub fn fetch_all(&self, statement: Sql) -> StoreFuture<'_, Vec<SqlRow>> {
        Box::pin(async move {
            match &self.0 {
                Pools::Sqlite { reader, .. } => fetch_from_sqlite(reader, statement).await,
                Pools::Postgres(pool) => {
                    let (text, values) = statement.postgres().map_err(fault)?;
                    let rows = pool.fetch_all(query_with(text, values)).await.map_err(fault)?;
                    Ok(rows.into_iter().map(|row| SqlRow(AnyRow::Postgres(row))).collect())
                }
            }
        })
    }

    /// Like [`Db::fetch_all`], over the connection that is open already: the writer of SQLite. It
    /// takes no lock of the file.
    pub(crate) fn fetch_by_writer(&self, statement: Sql) -> StoreFuture<'_, Vec<SqlRow>> {
        match &self.0 {
            Pools::Sqlite { writer, .. } => Box::pin(fetch_from_sqlite(writer, statement)),
            Pools::Postgres(_) => self.fetch_all(statement),
        }
    }

    /// The first row of a reading statement.
    pub fn fetch_optional(&self, statement: Sql) -> StoreFuture<'_, Option<SqlRow>> {
        Box::pin(async move { Ok(self.fetch_all(statement).await?.into_iter().next()) })
    }

    /// Runs one writing statement in its own transaction and returns the number of changed rows.
    pub fn execute(&self, statement: Sql) -> StoreFuture<'_, u64> {
        Box::pin(async move {
            match &self.0 {
                Pools::Sqlite { writer, .. } => {
                    let (text, values) = statement.sqlite().map_err(fault)?;
                    let done = writer.execute(query_with(text, values)).await.map_err(fault)?;
                    Ok(done.rows_affected())
                }
                Pools::Postgres(pool) => {
                    let (text, values) = statement.postgres().map_err(fault)?;
                    let done = pool.execute(query_with(text, values)).await.map_err(fault)?;
                    Ok(done.rows_affected())
                }
            }
        })
    }

    /// A transaction that may write. On SQLite it holds the only writer until it ends, so it must be
    /// short. Dropping it rolls back.
    pub fn begin(&self) -> StoreFuture<'_, Tx> {
        Box::pin(async move {
            match &self.0 {
                // Immediate, because a transaction that reads first fails when another writer commits
                // before its first write.
                Pools::Sqlite { writer, .. } => {
                    writer.begin_with("BEGIN IMMEDIATE").await.map(Tx::sqlite).map_err(fault)
                }
                Pools::Postgres(pool) => pool.begin().await.map(Tx::postgres).map_err(fault),
            }
        })
    }

    /// A transaction whose reads all see the same snapshot.
    pub fn snapshot(&self) -> StoreFuture<'_, Tx> {
        Box::pin(async move {
            match &self.0 {
                Pools::Sqlite { reader, .. } => reader.begin().await.map(Tx::sqlite).map_err(fault),
                Pools::Postgres(pool) => pool
                    .begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
                    .await
                    .map(Tx::postgres)
                    .map_err(fault),
            }
        })
    }

    /// Truncates SQLite's write-ahead log, so that deleted data is gone from it too. Does nothing on
    /// PostgreSQL.
    pub fn truncate_wal(&self) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            match &self.0 {
                Pools::Sqlite { writer, .. } => {
                    writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").await.map_err(fault)?;
                    Ok(())
                }
                Pools::Postgres(_) => Ok(()),
            }
        })
    }

    /// Whether the database answers, for health checks.
    pub fn ping(&self) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            let answer = self.fetch_all(sql("SELECT CAST(1 AS BIGINT)"));
            match tokio::time::timeout(Duration::from_secs(3), answer).await {
                Ok(rows) => rows.map(drop),
                Err(_) => {
                    Err(Fault::unavailable("store_unavailable", "the database does not answer"))
                }
            }
        })
    }

    /// Waits for running statements and closes all connections.
    pub async fn close(&self) {
        match &self.0 {
            Pools::Sqlite { writer, reader } => {
                reader.close().await;
                writer.close().await;
            }
            Pools::Postgres(pool) => pool.close().await,
        }
    }
}

async fn fetch_from_sqlite(pool: &SqlitePool, statement: Sql) -> Result<Vec<SqlRow>, Fault> {
    let (text, values) = statement.sqlite().map_err(fault)?;
    let rows = pool.fetch_all(query_with(text, values)).await.map_err(fault)?;
    Ok(rows.into_iter().map(|row| SqlRow(AnyRow::Sqlite(row))).collect())
}

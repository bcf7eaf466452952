//! Schema changes, owned by the crates whose tables they are, applied once and in order.

use data_encoding::HEXLOWER;
use fault::{Fault, Kind};
use sha2::{Digest as _, Sha256};

use crate::db::{Db, Engine};
use crate::probe;
use crate::sql::sql;
use crate::tx::Tx;

/// The migrations of one owner's tables. Version 1 is the first text. Texts are only ever added: the
/// database stores a checksum of every text that it was given.
#[derive(Debug, Clone, Copy)]
pub struct Migrations {
    /// The name of the owner, unique in the database.
    pub owner: &'static str,
    /// The texts for SQLite.
    pub sqlite: &'static [&'static str],
    /// The texts for PostgreSQL.
    pub postgres: &'static [&'static str],
}

/// The key of PostgreSQL's advisory lock, the same in every process.
const LOCK_KEY: i64 = 0x0053_746f_614d_6967;

impl Db {
    /// Applies the missing migrations of all owners. Several processes may do it at once: each step
    /// holds a lock and is skipped where another process has applied it.
    pub async fn migrate(&self, all: &[Migrations]) -> Result<(), Fault> {
        let mut tx = self.begin_locked().await?;
        tx.execute_script(
            "CREATE TABLE IF NOT EXISTS store_migration (
                 owner TEXT NOT NULL,
                 version BIGINT NOT NULL,
                 checksum TEXT NOT NULL,
                 PRIMARY KEY (owner, version)
             )",
        )
        .await?;
        tx.execute_script(probe::TABLE).await?;
        tx.commit().await?;
        for migrations in all {
            self.migrate_owner(migrations).await?;
        }
        Ok(())
    }

    async fn migrate_owner(&self, migrations: &Migrations) -> Result<(), Fault> {
        let owner = migrations.owner;
        let steps = match self.engine() {
            Engine::Sqlite => migrations.sqlite,
            Engine::Postgres => migrations.postgres,
        };
        for (version, step) in (1_i64..).zip(steps) {
            let mut tx = self.begin_locked().await?;
            let known = "SELECT checksum FROM store_migration WHERE owner = $1 AND version = $2";
            let known = tx.fetch_optional(sql(known).bind(owner).bind(version)).await?;
            let checksum = checksum(step);
            if let Some(row) = known {
                if row.text_ref(0)? != checksum {
                    return Err(changed(owner, version));
                }
                continue;
            }
            tx.execute_script(step)
                .await
                .map_err(|fault| fault.while_doing(&format!("migrating {owner} to {version}")))?;
            let note = "INSERT INTO store_migration (owner, version, checksum) VALUES ($1, $2, $3)";
            tx.execute(sql(note).bind(owner).bind(version).bind(checksum)).await?;
            tx.commit().await?;
            tracing::debug!(owner, version, "migrated the database");
        }
        self.refuse_newer(owner, steps.len()).await
    }

    async fn refuse_newer(&self, owner: &'static str, known: usize) -> Result<(), Fault> {
        let newest = "SELECT COALESCE(MAX(version), 0) FROM store_migration WHERE owner = $1";
        let newest = self.fetch_optional(sql(newest).bind(owner)).await?;
        let found = newest.map_or(Ok(0), |row| row.count(0))?;
        if found <= known as u64 {
            return Ok(());
        }
        Err(Fault::new(
            Kind::Conflict,
            "store_newer",
            format!(
                "the database was written by a newer Stoa: its {owner} tables are at version \
                 {found} and this program knows {known}; upgrade Stoa, or restore a backup made \
                 before the upgrade"
            ),
        ))
    }

    async fn begin_locked(&self) -> Result<Tx, Fault> {
        let mut tx = self.begin().await?;
        if self.engine() == Engine::Postgres {
            tx.fetch_all(sql("SELECT pg_advisory_xact_lock($1)").bind(LOCK_KEY)).await?;
        }
        Ok(tx)
    }
}

fn changed(owner: &str, version: i64) -> Fault {
    Fault::new(
        Kind::Conflict,
        "store_changed",
        format!(
            "the database's {owner} tables at version {version} were made by a different text \
             than this program holds; use the Stoa that made them, or start with a new data folder"
        ),
    )
}

fn checksum(text: &str) -> String {
    HEXLOWER.encode(&Sha256::digest(text.as_bytes()))
}

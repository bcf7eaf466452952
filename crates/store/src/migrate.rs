//! Schema changes, owned by the crates whose tables they are, applied once and in order.

use std::collections::BTreeMap;

use data_encoding::HEXLOWER;
use fault::{Fault, Kind};
use sha2::{Digest as _, Sha256};

use crate::db::{Db, Engine};
use crate::probe;
use crate::row::SqlRow;
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

const TABLE: &str = "CREATE TABLE IF NOT EXISTS store_migration (
     owner TEXT NOT NULL,
     version BIGINT NOT NULL,
     checksum TEXT NOT NULL,
     PRIMARY KEY (owner, version)
 )";

impl Db {
    /// Applies the missing migrations of all owners in one transaction, so that either all are applied
    /// or none. Several processes may do it at once: the transaction holds a lock. Where nothing is
    /// missing, one statement reads the versions, without the lock.
    pub async fn migrate(&self, all: &[Migrations]) -> Result<(), Fault> {
        if self.is_migrated(all).await {
            return Ok(());
        }
        let mut tx = self.begin_locked().await?;
        tx.execute_script(TABLE).await?;
        tx.execute_script(probe::TABLE).await?;
        let rows = "SELECT owner, version, checksum FROM store_migration";
        let applied = Applied::of(&tx.fetch_all(sql(rows)).await?)?;
        for migrations in all {
            let (owner, steps) = (migrations.owner, self.steps(migrations));
            for (version, step) in applied.missing(owner, steps)? {
                tx.execute_script(step).await.map_err(|fault| {
                    fault.while_doing(&format!("migrating {owner} to {version}"))
                })?;
                let note =
                    "INSERT INTO store_migration (owner, version, checksum) VALUES ($1, $2, $3)";
                tx.execute(sql(note).bind(owner).bind(version).bind(checksum(step))).await?;
                tracing::debug!(owner, version, "migrating the database");
            }
        }
        tx.commit().await
    }

    /// Whether every migration is applied. Says no on a failure, which the attempt to migrate repeats.
    async fn is_migrated(&self, all: &[Migrations]) -> bool {
        // The second table is older than its place among the migrations, so it is asked for as well.
        let rows = "SELECT owner, version, checksum, (SELECT COUNT(*) FROM store_probe)
             FROM store_migration";
        let Ok(rows) = self.fetch_by_writer(sql(rows)).await else { return false };
        let Ok(applied) = Applied::of(&rows) else { return false };
        let is_done = |it: &Migrations| applied.missing(it.owner, self.steps(it));
        all.iter().all(|it| is_done(it).is_ok_and(|missing| missing.is_empty()))
    }

    fn steps(&self, migrations: &Migrations) -> &'static [&'static str] {
        self.choose(migrations.sqlite, migrations.postgres)
    }

    async fn begin_locked(&self) -> Result<Tx, Fault> {
        let mut tx = self.begin().await?;
        if self.engine() == Engine::Postgres {
            tx.fetch_all(sql("SELECT pg_advisory_xact_lock($1)").bind(LOCK_KEY)).await?;
        }
        Ok(tx)
    }
}

/// The checksums of the applied migrations, by owner and version.
struct Applied(BTreeMap<(String, i64), String>);

impl Applied {
    fn of(rows: &[SqlRow]) -> Result<Self, Fault> {
        let entry = |row: &SqlRow| Ok(((row.text(0)?, row.int(1)?), row.text(2)?));
        rows.iter().map(entry).collect::<Result<_, Fault>>().map(Self)
    }

    /// The versions that were not applied, with their texts. Fails if an applied one has another text,
    /// or if there are versions that this program does not know.
    fn missing(
        &self,
        owner: &str,
        steps: &'static [&'static str],
    ) -> Result<Vec<(i64, &'static str)>, Fault> {
        let mut missing = Vec::new();
        for (version, step) in (1_i64..).zip(steps) {
            match self.0.get(&(owner.to_owned(), version)) {
                Some(known) if *known == checksum(step) => {}
                Some(_) => return Err(changed(owner, version)),
                None => missing.push((version, *step)),
            }
        }
        let versions = self.0.keys().filter(|(it, _)| it == owner).map(|(_, version)| *version);
        let newest = versions.max().unwrap_or_default();
        match usize::try_from(newest).is_ok_and(|newest| newest <= steps.len()) {
            true => Ok(missing),
            false => Err(newer(owner, newest, steps.len())),
        }
    }
}

fn newer(owner: &str, found: i64, known: usize) -> Fault {
    Fault::new(
        Kind::Conflict,
        "store_newer",
        format!(
            "the database was written by a newer Stoa: its {owner} tables are at version {found} \
             and this program knows {known}; upgrade Stoa, or restore a backup made before the \
             upgrade"
        ),
    )
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

//! Revoked token ids in the database, so that every server on this database refuses them.

use async_trait::async_trait;
use fault::Fault;
use store::{Db, Migrations, placeholders, sql, sql_built};

use super::{RevocationId, Revocations};
use crate::records;

/// The tables of revoked token ids and of minted tokens.
pub const MIGRATIONS: Migrations = Migrations {
    owner: "tokens",
    sqlite: &[CREATE_TABLE, records::CREATE_TABLE],
    postgres: &[CREATE_TABLE, records::CREATE_TABLE],
};

const CREATE_TABLE: &str = "CREATE TABLE token_revoked (
    id TEXT PRIMARY KEY,
    expires_at BIGINT NOT NULL
)";

/// Revocations in SQLite or PostgreSQL.
pub struct SqlRevocations(Db);

impl SqlRevocations {
    pub fn new(db: Db) -> Self {
        Self(db)
    }
}

#[async_trait]
impl Revocations for SqlRevocations {
    async fn contains_any(&self, ids: &[RevocationId]) -> Result<bool, Fault> {
        if ids.is_empty() {
            return Ok(false);
        }
        let ids_list = placeholders(1, ids.len());
        let query =
            sql_built(format!("SELECT id FROM token_revoked WHERE id IN ({ids_list}) LIMIT 1"));
        let row =
            self.0.fetch_optional(query.bind_all(ids.iter().map(ToString::to_string))).await?;
        Ok(row.is_some())
    }

    async fn revoke(&self, id: RevocationId, expires_at: i64) -> Result<(), Fault> {
        let insert = sql(
            "INSERT INTO token_revoked (id, expires_at) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING",
        );
        self.0.execute(insert.bind(id.to_string()).bind(expires_at)).await.map(drop)
    }
}

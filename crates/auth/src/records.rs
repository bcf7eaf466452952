//! The records of minted tokens: what each token allows, never the token itself.

use fault::Fault;
use store::{Db, SqlRow, sql};

use crate::revocation::RevocationId;
use crate::token::Inspection;

/// The most tokens on record that have not expired.
const RECORDS_MAX: u64 = 10_000;

pub(crate) const CREATE_TABLE: &str = "CREATE TABLE token_minted (
    id TEXT PRIMARY KEY,
    subject TEXT NOT NULL,
    username TEXT,
    scopes TEXT NOT NULL,
    issued_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    revocation_id TEXT NOT NULL
);
CREATE INDEX token_minted_expiry ON token_minted (expires_at);
CREATE INDEX token_revoked_expiry ON token_revoked (expires_at)";

/// A minted token on record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenRecord {
    /// The id of the token's root, as `stoa token inspect` shows it.
    pub id: String,
    pub subject: String,
    /// The user for whom the token acts, if it was minted for one.
    pub username: Option<String>,
    pub scopes: String,
    /// Unix seconds.
    pub issued_at: i64,
    /// Unix seconds.
    pub expires_at: i64,
    pub revocation_id: RevocationId,
    pub revoked: bool,
}

/// The records of minted tokens in SQLite or PostgreSQL. Records of expired tokens are deleted.
pub struct TokenRecords(Db);

impl TokenRecords {
    pub fn new(db: Db) -> Self {
        Self(db)
    }

    /// Records a token that was just minted, with the user for whom it acts.
    pub async fn insert(
        &self,
        token: &Inspection,
        username: Option<&str>,
        now: i64,
    ) -> Result<(), Fault> {
        self.delete_expired(now).await?;
        let count = self.0.fetch_optional(sql("SELECT COUNT(*) FROM token_minted")).await?;
        if count.map_or(Ok(0), |row| row.count(0))? >= RECORDS_MAX {
            let message = format!(
                "{RECORDS_MAX} minted tokens have not expired; mint with a shorter --ttl, or wait"
            );
            return Err(Fault::unavailable("too_many_tokens", message));
        }
        let insert = sql("INSERT INTO token_minted \
                 (id, subject, username, scopes, issued_at, expires_at, revocation_id) \
             VALUES ($1, $2, $3, $4, $5, $6, $7)")
        .bind(token.id.as_str())
        .bind(token.subject.as_str())
        .bind(username)
        .bind(token.scopes.to_string())
        .bind(token.issued_at)
        .bind(token.expires_at)
        .bind(token.revocation_id.to_string());
        self.0.execute(insert).await.map(drop)
    }

    /// The tokens that have not expired, the newest first.
    pub async fn list(&self, now: i64) -> Result<Vec<TokenRecord>, Fault> {
        let select = sql("SELECT m.id, m.subject, m.username, m.scopes, m.issued_at, \
                 m.expires_at, m.revocation_id, r.id \
             FROM token_minted m LEFT JOIN token_revoked r ON r.id = m.revocation_id \
             WHERE m.expires_at > $1 ORDER BY m.issued_at DESC, m.id");
        self.0.fetch_all(select.bind(now)).await?.iter().map(read_record).collect()
    }

    /// Deletes the records of expired tokens, and the revocations of tokens that expired a day ago.
    async fn delete_expired(&self, now: i64) -> Result<(), Fault> {
        self.0.execute(sql("DELETE FROM token_minted WHERE expires_at <= $1").bind(now)).await?;
        let yesterday = now.saturating_sub(86_400);
        let delete = sql("DELETE FROM token_revoked WHERE expires_at <= $1").bind(yesterday);
        self.0.execute(delete).await.map(drop)
    }
}

fn read_record(row: &SqlRow) -> Result<TokenRecord, Fault> {
    Ok(TokenRecord {
        id: row.text(0)?,
        subject: row.text(1)?,
        username: row.text_or_null(2)?,
        scopes: row.text(3)?,
        issued_at: row.int(4)?,
        expires_at: row.int(5)?,
        revocation_id: RevocationId::parse(row.text_ref(6)?)?,
        revoked: row.text_or_null(7)?.is_some(),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use testkit::on_every_engine;

    use super::*;
    use crate::{
        Authority, Keyring, MIGRATIONS, MintRequest, ScopeSet, SqlRevocations, TokenLimits, inspect,
    };

    #[tokio::test]
    async fn a_minted_token_is_listed_until_it_expires() {
        on_every_engine(async |db| {
            db.migrate(&[MIGRATIONS]).await.unwrap();
            let records = TokenRecords::new(db.clone());
            let revocations = Arc::new(SqlRevocations::new(db.clone()));
            let authority = Authority::new(Keyring::generate().unwrap(), revocations);
            let mint = |subject: &str, ttl: u64| MintRequest {
                subject: subject.to_owned(),
                scopes: ScopeSet::parse("write,read").unwrap(),
                ttl: Duration::from_secs(ttl),
                limits: TokenLimits::default(),
            };
            let (brief, long) = (mint("ci", 10), mint("user:1", 100));
            let brief = authority.mint(&brief, 1_000).unwrap();
            let long = authority.mint(&long, 1_001).unwrap();
            records.insert(&inspect(brief.reveal()).unwrap(), None, 1_000).await.unwrap();
            records.insert(&inspect(long.reveal()).unwrap(), Some("ada"), 1_001).await.unwrap();
            let listed = records.list(1_005).await.unwrap();
            let shown = |it: &TokenRecord| (it.subject.clone(), it.expires_at, it.revoked);
            assert_eq!(
                listed.iter().map(shown).collect::<Vec<_>>(),
                [("user:1".to_owned(), 1_101, false), ("ci".to_owned(), 1_010, false)]
            );
            assert_eq!(listed[0].username.as_deref(), Some("ada"));
            assert_eq!(listed[0].scopes, "read,write");
            authority.revoke_id(listed[0].revocation_id, 1_101).await.unwrap();
            assert_eq!(
                authority.verify(long.reveal(), 1_005).await.unwrap_err().code(),
                "token_revoked"
            );
            let listed = records.list(1_010).await.unwrap();
            assert_eq!(listed.len(), 1);
            assert!(listed[0].revoked);
        })
        .await;
    }
}

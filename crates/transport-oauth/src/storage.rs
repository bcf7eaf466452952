//! The registered clients and the grants, in SQLite or PostgreSQL. Codes are stored as hashes; the
//! refresh tokens of a grant are those of its session.

use std::sync::Arc;

use auth::RevocationId;
use clock::{DAY_MS, Millis};
use fault::Fault;
use store::{Db, Migrations, SqlRow, sql};

use crate::redirect_uri::is_same_loopback;

const TABLES: &str = "
CREATE TABLE oauth_clients (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    redirect_uris TEXT NOT NULL,
    used BOOLEAN NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX oauth_clients_expiry ON oauth_clients (used, expires_at);
CREATE TABLE oauth_grants (
    session_id TEXT NOT NULL PRIMARY KEY,
    user_id TEXT NOT NULL,
    client_id TEXT NOT NULL,
    scopes TEXT NOT NULL,
    service TEXT,
    redirect_uri TEXT NOT NULL,
    challenge TEXT NOT NULL,
    code_hash TEXT NOT NULL UNIQUE,
    code_expires_at BIGINT NOT NULL,
    code_used_at BIGINT,
    access_id TEXT,
    access_expires_at BIGINT,
    expires_at BIGINT NOT NULL
);
CREATE INDEX oauth_grants_user ON oauth_grants (user_id, expires_at);
CREATE INDEX oauth_grants_expiry ON oauth_grants (expires_at)";

/// The tables of OAuth; apply before the first use.
pub const MIGRATIONS: Migrations =
    Migrations { owner: "oauth", sqlite: &[TABLES], postgres: &[TABLES] };

/// The most registered clients. Beyond it the oldest one that was never used is deleted.
const CLIENTS_MAX: u64 = 10_000;
/// The most grants of one user; the oldest are deleted.
const GRANTS_PER_USER_MAX: u32 = 100;
/// How long a client stays registered that no user has allowed anything yet.
pub(crate) const UNUSED_CLIENT_MS: i64 = DAY_MS;
/// How long a client stays registered after it was last used.
const USED_CLIENT_MS: i64 = 90 * DAY_MS;

/// A client that may ask users.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Client {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) redirect_uris: Vec<String>,
    pub(crate) kind: ClientKind,
}

/// How a client made itself known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClientKind {
    /// It registered itself here.
    Registered,
    /// Its id is the address of the document that describes it.
    Document,
}

impl Client {
    /// Whether the client may be answered at this redirect URI. A document cannot know which port a
    /// program gets, so it stands for any port of its loopback addresses (RFC 8252, section 7.3).
    pub(crate) fn allows_redirect(&self, uri: &str) -> bool {
        self.redirect_uris.iter().any(|known| {
            let any_port = self.kind == ClientKind::Document;
            known == uri || (any_port && is_same_loopback(known, uri))
        })
    }
}

/// What a user allowed a client, with the code that the client exchanges for the first tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ClientGrant {
    pub(crate) session_id: String,
    pub(crate) user_id: String,
    pub(crate) client_id: String,
    /// With commas between them.
    pub(crate) scopes: String,
    /// The one service that the tokens are for.
    pub(crate) service: Option<Arc<str>>,
    pub(crate) redirect_uri: String,
    pub(crate) challenge: String,
    pub(crate) code_hash: String,
    pub(crate) code_expires_at: Millis,
    pub(crate) code_used: bool,
    /// The newest access token, which is revoked with the grant, and its expiry in seconds.
    pub(crate) access: Option<(RevocationId, i64)>,
}

#[derive(Clone)]
pub(crate) struct Storage(pub(crate) Db);

impl Storage {
    pub(crate) async fn insert_client(&self, client: &Client, now: Millis) -> Result<(), Fault> {
        let db = &self.0;
        db.execute(sql("DELETE FROM oauth_clients WHERE expires_at <= $1").bind(now.0)).await?;
        let count = db.fetch_optional(sql("SELECT COUNT(*) FROM oauth_clients")).await?;
        if count.map_or(Ok(0), |row| row.count(0))? >= CLIENTS_MAX {
            let delete =
                sql("DELETE FROM oauth_clients WHERE id IN (SELECT id FROM oauth_clients \
                 WHERE used = FALSE ORDER BY expires_at LIMIT 1)");
            if db.execute(delete).await? == 0 {
                let message = format!("{CLIENTS_MAX} clients are registered already");
                return Err(Fault::unavailable("too_many_clients", message));
            }
        }
        let uris = serde_json::to_string(&client.redirect_uris).map_err(Fault::internal)?;
        let insert = sql("INSERT INTO oauth_clients (id, name, redirect_uris, used, expires_at) \
             VALUES ($1, $2, $3, FALSE, $4)");
        let insert = insert.bind(client.id.as_str()).bind(client.name.as_str()).bind(uris);
        db.execute(insert.bind(now.0.saturating_add(UNUSED_CLIENT_MS))).await.map(drop)
    }

    pub(crate) async fn client(&self, id: &str, now: Millis) -> Result<Option<Client>, Fault> {
        let select = sql("SELECT id, name, redirect_uris FROM oauth_clients \
             WHERE id = $1 AND expires_at > $2");
        let row = self.0.fetch_optional(select.bind(id).bind(now.0)).await?;
        row.map(|row| {
            let redirect_uris = serde_json::from_str(row.text_ref(2)?).map_err(Fault::internal)?;
            let (id, name) = (row.text(0)?, row.text(1)?);
            Ok(Client { id, name, redirect_uris, kind: ClientKind::Registered })
        })
        .transpose()
    }

    /// Keeps a client registered for another 90 days.
    pub(crate) async fn touch_client(&self, id: &str, now: Millis) -> Result<(), Fault> {
        let update = sql("UPDATE oauth_clients SET used = TRUE, expires_at = $2 WHERE id = $1");
        let expires_at = now.0.saturating_add(USED_CLIENT_MS);
        self.0.execute(update.bind(id).bind(expires_at)).await.map(drop)
    }

    pub(crate) async fn insert_grant(&self, grant: &ClientGrant, now: Millis) -> Result<(), Fault> {
        let db = &self.0;
        db.execute(sql("DELETE FROM oauth_grants WHERE expires_at <= $1").bind(now.0)).await?;
        let delete = sql("DELETE FROM oauth_grants WHERE user_id = $1 AND session_id NOT IN \
             (SELECT session_id FROM oauth_grants WHERE user_id = $1 \
                 ORDER BY expires_at DESC, session_id DESC LIMIT $2)");
        db.execute(delete.bind(grant.user_id.as_str()).bind(GRANTS_PER_USER_MAX - 1)).await?;
        let insert = sql("INSERT INTO oauth_grants (session_id, user_id, client_id, scopes, \
                 service, redirect_uri, challenge, code_hash, code_expires_at, expires_at) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)")
        .bind(grant.session_id.as_str())
        .bind(grant.user_id.as_str())
        .bind(grant.client_id.as_str())
        .bind(grant.scopes.as_str())
        .bind(grant.service.as_deref())
        .bind(grant.redirect_uri.as_str())
        .bind(grant.challenge.as_str())
        .bind(grant.code_hash.as_str())
        .bind(grant.code_expires_at.0)
        .bind(grant.code_expires_at.0);
        db.execute(insert).await.map(drop)
    }

    pub(crate) async fn grant_of_code(
        &self,
        code_hash: &str,
    ) -> Result<Option<ClientGrant>, Fault> {
        let select = sql("SELECT session_id, user_id, client_id, scopes, service, redirect_uri, \
                 challenge, code_hash, code_expires_at, code_used_at, access_id, \
                 access_expires_at FROM oauth_grants WHERE code_hash = $1");
        self.0.fetch_optional(select.bind(code_hash)).await?.as_ref().map(grant).transpose()
    }

    pub(crate) async fn grant(&self, session_id: &str) -> Result<Option<ClientGrant>, Fault> {
        let select = sql("SELECT session_id, user_id, client_id, scopes, service, redirect_uri, \
                 challenge, code_hash, code_expires_at, code_used_at, access_id, \
                 access_expires_at FROM oauth_grants WHERE session_id = $1");
        self.0.fetch_optional(select.bind(session_id)).await?.as_ref().map(grant).transpose()
    }

    /// Marks the code as used; `false` if it was used before.
    pub(crate) async fn use_code(&self, code_hash: &str, now: Millis) -> Result<bool, Fault> {
        let update = sql("UPDATE oauth_grants SET code_used_at = $2 \
             WHERE code_hash = $1 AND code_used_at IS NULL");
        Ok(self.0.execute(update.bind(code_hash).bind(now.0)).await? == 1)
    }

    /// Remembers the newest access token, and keeps the grant as long as its refresh token.
    pub(crate) async fn extend_grant(
        &self,
        session_id: &str,
        access: (RevocationId, i64),
        expires_at: Millis,
    ) -> Result<(), Fault> {
        let update = sql("UPDATE oauth_grants SET access_id = $2, access_expires_at = $3, \
             expires_at = $4 WHERE session_id = $1");
        let update = update.bind(session_id).bind(access.0.to_string()).bind(access.1);
        self.0.execute(update.bind(expires_at.0)).await.map(drop)
    }

    pub(crate) async fn delete_grant(&self, session_id: &str) -> Result<(), Fault> {
        let delete = sql("DELETE FROM oauth_grants WHERE session_id = $1").bind(session_id);
        self.0.execute(delete).await.map(drop)
    }
}

fn grant(row: &SqlRow) -> Result<ClientGrant, Fault> {
    let access = match (row.text_or_null(10)?, row.int_or_null(11)?) {
        (Some(id), Some(expires_at)) => Some((RevocationId::parse(&id)?, expires_at)),
        _ => None,
    };
    Ok(ClientGrant {
        session_id: row.text(0)?,
        user_id: row.text(1)?,
        client_id: row.text(2)?,
        scopes: row.text(3)?,
        service: row.text_or_null(4)?.map(Arc::from),
        redirect_uri: row.text(5)?,
        challenge: row.text(6)?,
        code_hash: row.text(7)?,
        code_expires_at: Millis(row.int(8)?),
        code_used: row.int_or_null(9)?.is_some(),
        access,
    })
}

//! Sessions of OAuth clients: a user logs in on a consent page, and the session begins when the
//! client exchanges its code. Their refresh tokens are of use to that client alone.

use std::net::IpAddr;

use clock::Millis;
use fault::Fault;

use crate::sessions::next_token;
use crate::users::User;
use crate::{Accounts, SESSION_LIFE, Session, faults, millis, refresh, sql};

/// A login on behalf of an OAuth client.
#[derive(Clone, Copy)]
pub struct ClientLogin<'a> {
    pub username: &'a str,
    pub password: &'a str,
    /// The address that the login comes from.
    pub address: Option<IpAddr>,
    /// The client that the session will be of.
    pub client_id: &'a str,
    /// When the session ends unless it is begun before.
    pub expires_at: Millis,
}

impl Accounts {
    /// Checks the password like [`Accounts::login`], with the same limits, and prepares a session.
    /// Returns the user and the id of the session.
    pub async fn login_for_client(&self, login: ClientLogin<'_>) -> Result<(User, String), Fault> {
        let ClientLogin { username, password, address, client_id, expires_at } = login;
        let (user, hash) = self.checked(username, password, address).await?;
        let mut tx = self.0.db.begin().await?;
        let of = (Some(client_id), expires_at);
        let session_id = self.insert_session(&mut tx, &user, Some(&hash), of).await?;
        tx.commit().await?;
        Ok((user, session_id))
    }

    /// Begins a prepared session: gives its first refresh token and extends it.
    pub async fn begin_for_client(
        &self,
        session_id: &str,
        client_id: &str,
    ) -> Result<Session, Fault> {
        let (db, now) = (&self.0.db, self.now());
        let mut tx = db.begin().await?;
        let held = sql::lock_session(db, &mut tx, session_id).await?;
        let held = held.filter(|held| {
            !held.ended && held.expires_at > now && held.client.as_deref() == Some(client_id)
        });
        let held = held.ok_or_else(faults::session_ended)?;
        let refresh = next_token(&mut tx, session_id, 1).await?;
        let refresh_expires = Millis(now.0.saturating_add(millis(SESSION_LIFE)));
        sql::extend_session(&mut tx, session_id, refresh_expires).await?;
        tx.commit().await?;
        Ok(Session { user: held.user, session_id: session_id.to_owned(), refresh, refresh_expires })
    }

    /// Exchanges a refresh token of this client, like [`Accounts::refresh`].
    pub async fn refresh_for_client(&self, token: &str, client_id: &str) -> Result<Session, Fault> {
        self.rotate(token, Some(client_id)).await
    }

    /// The session of a refresh token, used or not; `None` for an unknown token.
    pub async fn session_of_refresh(&self, token: &str) -> Result<Option<String>, Fault> {
        let Some(hash) = refresh::hash(token) else { return Ok(None) };
        let mut tx = self.0.db.begin().await?;
        let known = sql::refresh_of(&mut tx, &hash).await?;
        tx.commit().await?;
        Ok(known.map(|(session_id, _)| session_id))
    }
}

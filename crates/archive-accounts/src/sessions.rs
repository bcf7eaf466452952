//! Sessions: login, single-use refresh tokens, logout, and the owner behind a token's subject.

use std::net::IpAddr;

use clock::{DAY_MS, Millis};
use fault::Fault;
use limits::ClientAddress;
use store::Tx;

use crate::passwords::Queue;
use crate::sql::{NewSession, SessionEnd};
use crate::users::{User, owner_of};
use crate::{
    Accounts, SESSION_LIFE, SESSIONS_MAX, Secret, faults, local_user, millis, refresh, sql,
    validation,
};

/// Reuse of a refresh token within this time is a race of two clients, not a theft.
const GRACE_MS: i64 = 10_000;
/// Used refresh tokens remembered per session. An older one is reported as unknown.
const USED_TOKENS_MAX: i64 = 100;
/// Sessions deleted per statement, so that other writers get a chance in between.
const SWEEP_BATCH: u32 = 500;

/// A session that has just begun or was refreshed.
#[derive(Debug, Clone)]
pub struct Session {
    pub user: User,
    pub session_id: String,
    /// Valid once. Only its hash is stored.
    pub refresh: Secret,
    pub refresh_expires: Millis,
}

impl Session {
    /// The subject of the access tokens of this session.
    pub fn subject(&self) -> String {
        subject_of(&self.user, &self.session_id)
    }
}

fn subject_of(user: &User, session_id: &str) -> String {
    format!("{}/{session_id}", user.owner())
}

/// The user id and session id in the subject of an access token; `None` for a token without a
/// session.
pub fn session_of(subject: &str) -> Option<(&str, &str)> {
    let (user, session) = subject.strip_prefix("user:")?.split_once('/')?;
    let is_id =
        |text: &str| text.len() == 36 && text.bytes().all(|b| b == b'-' || b.is_ascii_hexdigit());
    (is_id(user) && is_id(session)).then_some((user, session))
}

/// An ended session is remembered for one day, so that its client gets a precise error.
pub(crate) fn ending(now: Millis) -> SessionEnd {
    SessionEnd { now, forget_at: Millis(now.0.saturating_add(DAY_MS)) }
}

impl Accounts {
    /// Takes the same time and returns the same fault whether the user or the password is wrong.
    /// `client` is the address that the login comes from, if it comes from a network.
    pub async fn login(
        &self,
        username: &str,
        password: &str,
        client: Option<IpAddr>,
    ) -> Result<Session, Fault> {
        let (user, hash) = self.checked(username, password, client).await?;
        self.open(user, Some(&hash)).await
    }

    /// The user of this name and password, with the hash of the password. Failures are counted.
    pub(crate) async fn checked(
        &self,
        username: &str,
        password: &str,
        client: Option<IpAddr>,
    ) -> Result<(User, Secret), Fault> {
        // Invalid usernames share one count.
        let key = validation::username_key(username).unwrap_or_default();
        let (limiter, client) = (&self.0.login_limiter, client.map(ClientAddress::from));
        let attempt = limiter.take(&key, client, self.now())?;
        let queue = if attempt.is_known() { Queue::KnownLogin } else { Queue::Login };
        let checked = self.check(username, password, (queue, client)).await;
        // Only a wrong password counts, not a failed database.
        if !matches!(checked, Ok(None)) {
            limiter.give_back(&attempt);
        }
        let found = checked?.ok_or_else(faults::wrong_credentials)?;
        limiter.logged_in(&key, client);
        Ok(found)
    }

    async fn check(
        &self,
        username: &str,
        password: &str,
        queue: (Queue, Option<ClientAddress>),
    ) -> Result<Option<(User, Secret)>, Fault> {
        let found = self.find(username).await?;
        let hash = found.as_ref().map(|(_, hash)| hash);
        // A text too long for a password is not hashed; an unmatchable hash takes the same time.
        let (password, hash) = match validation::may_be_password(password) {
            true => (password, hash),
            false => ("", None),
        };
        let right = self.0.passwords.verify(password, hash, queue).await?;
        Ok(found.filter(|_| right))
    }

    /// Starts a session for a user who has just registered from this address, without a password check.
    pub async fn start(&self, user: &User, client: Option<IpAddr>) -> Result<Session, Fault> {
        let key = validation::username_key(&user.username).unwrap_or_default();
        self.0.login_limiter.logged_in(&key, client.map(ClientAddress::from));
        self.open(user.clone(), None).await
    }

    async fn open(&self, user: User, password: Option<&Secret>) -> Result<Session, Fault> {
        let now = self.now();
        let refresh_expires = Millis(now.0.saturating_add(millis(SESSION_LIFE)));
        let mut tx = self.0.db.begin().await?;
        let session_id =
            self.insert_session(&mut tx, &user, password, (None, refresh_expires)).await?;
        let refresh = next_token(&mut tx, &session_id, 1).await?;
        tx.commit().await?;
        Ok(Session { user, session_id, refresh, refresh_expires })
    }

    /// Inserts a session of a user who still has the checked password, and ends the oldest session
    /// of a user who has too many. `of` are the OAuth client and the end of the session.
    pub(crate) async fn insert_session(
        &self,
        tx: &mut Tx,
        user: &User,
        password: Option<&Secret>,
        of: (Option<&str>, Millis),
    ) -> Result<String, Fault> {
        let (db, now) = (&self.0.db, self.now());
        // The password may have changed, or the user been removed, during the check.
        if !sql::lock_user_with_password(db, tx, &user.id, password).await? {
            return Err(faults::wrong_credentials());
        }
        sql::end_sessions(tx, &user.id, SESSIONS_MAX - 1, ending(now)).await?;
        let id = self.0.ids.next(now);
        let (client, expires_at) = of;
        let session =
            NewSession { id: &id, user_id: &user.id, client, created_at: now, expires_at };
        sql::insert_session(tx, session).await?;
        Ok(id)
    }

    /// Starts a session for a token that the operator mints for a user, and returns the token's
    /// subject. The session has no refresh token; it ends at `expires_at`, by a logout, when the
    /// user is removed, and when the user's password is set.
    pub async fn start_for_token(
        &self,
        username: &str,
        expires_at: Millis,
    ) -> Result<(User, String), Fault> {
        let (user, _) = self.named(username).await?;
        let mut tx = self.0.db.begin().await?;
        let session_id = self.insert_session(&mut tx, &user, None, (None, expires_at)).await?;
        tx.commit().await?;
        let subject = subject_of(&user, &session_id);
        Ok((user, subject))
    }

    /// Exchanges a refresh token for the next one. Reuse of a token ends the session, except within
    /// 10 s.
    pub async fn refresh(&self, token: &str) -> Result<Session, Fault> {
        self.rotate(token, None).await
    }

    /// The same for a token of this OAuth client, or of none. A token of another is unknown.
    pub(crate) async fn rotate(&self, token: &str, client: Option<&str>) -> Result<Session, Fault> {
        let hash = refresh::hash(token).ok_or_else(faults::wrong_refresh_token)?;
        let (db, now) = (&self.0.db, self.now());
        let mut tx = db.begin().await?;
        let known = sql::refresh_of(&mut tx, &hash).await?;
        let (session_id, serial) = known.ok_or_else(faults::wrong_refresh_token)?;
        let held = sql::lock_session(db, &mut tx, &session_id).await?;
        if held.as_ref().is_some_and(|held| held.client.as_deref() != client) {
            return Err(faults::wrong_refresh_token());
        }
        let held = held.filter(|held| !held.ended && held.expires_at > now);
        let held = held.ok_or_else(faults::session_ended)?;
        if let Some(used_at) = sql::mark_used(&mut tx, &hash, now).await? {
            if now.0.saturating_sub(used_at.0) <= GRACE_MS {
                return Err(faults::refresh_raced());
            }
            sql::end_session(&mut tx, &session_id, ending(now)).await?;
            tx.commit().await?;
            let (user, session) = (&held.user.id, &session_id);
            tracing::warn!(user, session, "a refresh token was used twice; the session was ended");
            return Err(faults::refresh_reused());
        }
        let refresh = next_token(&mut tx, &session_id, serial + 1).await?;
        let refresh_expires = Millis(now.0.saturating_add(millis(SESSION_LIFE)));
        sql::extend_session(&mut tx, &session_id, refresh_expires).await?;
        sql::delete_old_tokens(&mut tx, &session_id, serial + 1 - USED_TOKENS_MAX).await?;
        tx.commit().await?;
        Ok(Session { user: held.user, session_id, refresh, refresh_expires })
    }

    /// Ends a session. An unknown or ended session is not an error.
    pub async fn logout(&self, session_id: &str) -> Result<(), Fault> {
        let mut tx = self.0.db.begin().await?;
        sql::end_session(&mut tx, session_id, ending(self.now())).await?;
        tx.commit().await
    }

    /// Ends the session of a refresh token, used or not.
    pub async fn logout_by_refresh(&self, token: &str) -> Result<(), Fault> {
        let hash = refresh::hash(token).ok_or_else(faults::wrong_refresh_token)?;
        let mut tx = self.0.db.begin().await?;
        let known = sql::refresh_of(&mut tx, &hash).await?;
        let (session_id, _) = known.ok_or_else(faults::wrong_refresh_token)?;
        sql::end_session(&mut tx, &session_id, ending(self.now())).await?;
        tx.commit().await
    }

    /// The owner behind a subject: `user:<id>` while the session is alive and for the local user,
    /// `token:<subject>` for a token without a session.
    pub async fn owner(&self, subject: &str) -> Result<String, Fault> {
        if local_user::is_local(subject) {
            return self.local_owner().await;
        }
        let Some((user_id, session_id)) = session_of(subject) else {
            return Ok(format!("token:{subject}"));
        };
        match sql::is_alive(&self.0.db, session_id, user_id, self.now()).await? {
            true => Ok(owner_of(user_id)),
            false => Err(faults::session_ended()),
        }
    }

    /// Deletes expired sessions and returns their number.
    pub async fn sweep(&self) -> Result<u64, Fault> {
        let mut swept = 0;
        loop {
            let step = sql::sweep(&self.0.db, self.now(), SWEEP_BATCH).await?;
            swept += step;
            if step < u64::from(SWEEP_BATCH) {
                return Ok(swept);
            }
        }
    }
}

pub(crate) async fn next_token(
    tx: &mut Tx,
    session_id: &str,
    serial: i64,
) -> Result<Secret, Fault> {
    let token = refresh::new_token()?;
    let hash = refresh::hash(token.reveal()).ok_or_else(faults::wrong_refresh_token)?;
    sql::insert_refresh(tx, &hash, session_id, serial).await?;
    Ok(token)
}

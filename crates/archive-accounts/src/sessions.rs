//! Sessions: login, refresh tokens that are good once, logout, and who a token's subject is.

use clock::{DAY_MS, Millis};
use fault::Fault;
use store::Tx;

use crate::sql::Ending;
use crate::users::{User, owner_of};
use crate::{
    Accounts, SESSION_LIFE, SESSIONS_MAX, Secret, faults, millis, refresh, sql, validation,
};

/// Two refreshes that cross each other are not a theft.
const GRACE_MS: i64 = 10_000;
/// How many used refresh tokens of a session are known as such. An older one is merely unknown.
const SPENT_KEPT: i64 = 100;
/// Sessions forgotten in one statement, so that others may write in between.
const SWEEP_STEP: u32 = 500;

/// Somebody signed in.
#[derive(Debug, Clone)]
pub struct Session {
    pub user: User,
    pub session_id: String,
    /// Good once; the only copy there is.
    pub refresh: Secret,
    pub refresh_expires: Millis,
}

impl Session {
    /// What access tokens of this session have for a subject.
    pub fn subject(&self) -> String {
        format!("{}/{}", self.user.owner(), self.session_id)
    }
}

/// The user's and the session's id in the subject of an access token; nothing for the subject of a
/// token that no session stands behind.
pub fn session_of(subject: &str) -> Option<(&str, &str)> {
    let (user, session) = subject.strip_prefix("user:")?.split_once('/')?;
    let is_id =
        |text: &str| text.len() == 36 && text.bytes().all(|b| b == b'-' || b.is_ascii_hexdigit());
    (is_id(user) && is_id(session)).then_some((user, session))
}

/// An ended session is remembered for a day, to tell whoever comes back with it what happened.
pub(crate) fn ending(now: Millis) -> Ending {
    Ending { now, forget_at: Millis(now.0.saturating_add(DAY_MS)) }
}

impl Accounts {
    /// Takes the same time and says the same words whether the user or the password is wrong.
    pub async fn login(&self, username: &str, password: &str) -> Result<Session, Fault> {
        // What cannot be a name is nobody's, and is counted together.
        let key = validation::username_key(username).unwrap_or_default();
        self.0.login_limiter.take(&key, self.now())?;
        let checked = self.check(username, password).await;
        // Only a wrong guess is held against the name, not a database that failed.
        if !matches!(checked, Ok(None)) {
            self.0.login_limiter.give_back(&key, self.now());
        }
        let (user, hash) = checked?.ok_or_else(faults::wrong_credentials)?;
        self.open(user, Some(&hash)).await
    }

    async fn check(&self, username: &str, password: &str) -> Result<Option<(User, Secret)>, Fault> {
        let found = self.find(username).await?;
        let hash = found.as_ref().map(|(_, hash)| hash);
        // One too long to be a password is not hashed; nobody's hash takes the time instead.
        let (password, hash) = match validation::may_be_password(password) {
            true => (password, hash),
            false => ("", None),
        };
        let right = self.0.passwords.verify(password, hash).await?;
        Ok(found.filter(|_| right))
    }

    /// A session for a user who has just been made, without asking for the password again.
    pub async fn start(&self, user: &User) -> Result<Session, Fault> {
        self.open(user.clone(), None).await
    }

    async fn open(&self, user: User, password: Option<&Secret>) -> Result<Session, Fault> {
        let (db, now) = (&self.0.db, self.now());
        let session_id = self.0.ids.next(now);
        let mut tx = db.begin().await?;
        // The password may have been changed, or the user removed, while it was being checked.
        if !sql::user_holds(db, &mut tx, &user.id, password).await? {
            return Err(faults::wrong_credentials());
        }
        sql::end_sessions(&mut tx, &user.id, SESSIONS_MAX - 1, ending(now)).await?;
        let refresh_expires = Millis(now.0.saturating_add(millis(SESSION_LIFE)));
        sql::insert_session(&mut tx, &session_id, &user.id, (now, refresh_expires)).await?;
        let refresh = next_token(&mut tx, &session_id, 1).await?;
        tx.commit().await?;
        Ok(Session { user, session_id, refresh, refresh_expires })
    }

    /// Uses a refresh token up and gives the next one. A token that was used before ends the whole
    /// session, unless that was a moment ago.
    pub async fn refresh(&self, token: &str) -> Result<Session, Fault> {
        let hash = refresh::hash(token).ok_or_else(faults::wrong_refresh_token)?;
        let (db, now) = (&self.0.db, self.now());
        let mut tx = db.begin().await?;
        let known = sql::refresh_of(&mut tx, &hash).await?;
        let (session_id, turn) = known.ok_or_else(faults::wrong_refresh_token)?;
        let held = sql::hold_session(db, &mut tx, &session_id).await?;
        let held = held.filter(|held| !held.ended && held.expires_at > now);
        let held = held.ok_or_else(faults::session_ended)?;
        if let Some(used_at) = sql::spend(&mut tx, &hash, now).await? {
            if now.0.saturating_sub(used_at.0) <= GRACE_MS {
                return Err(faults::refresh_raced());
            }
            sql::end_session(&mut tx, &session_id, ending(now)).await?;
            tx.commit().await?;
            let (user, session) = (&held.user.id, &session_id);
            tracing::warn!(user, session, "a refresh token came back used; the session was ended");
            return Err(faults::refresh_reused());
        }
        let refresh = next_token(&mut tx, &session_id, turn + 1).await?;
        let refresh_expires = Millis(now.0.saturating_add(millis(SESSION_LIFE)));
        sql::prolong(&mut tx, &session_id, refresh_expires).await?;
        sql::trim(&mut tx, &session_id, turn + 1 - SPENT_KEPT).await?;
        tx.commit().await?;
        Ok(Session { user: held.user, session_id, refresh, refresh_expires })
    }

    /// Ends a session. One that is not there, or no more, is as good as ended.
    pub async fn logout(&self, session_id: &str) -> Result<(), Fault> {
        let mut tx = self.0.db.begin().await?;
        sql::end_session(&mut tx, session_id, ending(self.now())).await?;
        tx.commit().await
    }

    /// Ends the session a refresh token was given for, whether or not the token was used.
    pub async fn logout_by_refresh(&self, token: &str) -> Result<(), Fault> {
        let hash = refresh::hash(token).ok_or_else(faults::wrong_refresh_token)?;
        let mut tx = self.0.db.begin().await?;
        let known = sql::refresh_of(&mut tx, &hash).await?;
        let (session_id, _) = known.ok_or_else(faults::wrong_refresh_token)?;
        sql::end_session(&mut tx, &session_id, ending(self.now())).await?;
        tx.commit().await
    }

    /// Who the bearer of a token with this subject is, as an owner: `user:<id>` while the session
    /// is alive, `token:<subject>` for a token that no session stands behind.
    pub async fn owner(&self, subject: &str) -> Result<String, Fault> {
        let Some((user_id, session_id)) = session_of(subject) else {
            return Ok(format!("token:{subject}"));
        };
        match sql::is_alive(&self.0.db, session_id, user_id, self.now()).await? {
            true => Ok(owner_of(user_id)),
            false => Err(faults::session_ended()),
        }
    }

    /// Forgets sessions that have expired, and says how many; to be called now and then.
    pub async fn sweep(&self) -> Result<u64, Fault> {
        let mut swept = 0;
        loop {
            let step = sql::sweep(&self.0.db, self.now(), SWEEP_STEP).await?;
            swept += step;
            if step < u64::from(SWEEP_STEP) {
                return Ok(swept);
            }
        }
    }
}

async fn next_token(tx: &mut Tx, session_id: &str, turn: i64) -> Result<Secret, Fault> {
    let token = refresh::new_token()?;
    let hash = refresh::hash(token.reveal()).ok_or_else(faults::wrong_refresh_token)?;
    sql::insert_refresh(tx, &hash, session_id, turn).await?;
    Ok(token)
}

//! All SQL of this crate. PostgreSQL locks the rows that a decision depends on; SQLite has one writer
//! and runs the same statements without locks.

use std::collections::HashMap;

use auth::Secret;
use clock::Millis;
use fault::Fault;
use store::{Db, SqlRow, Tx, placeholders, sql, sql_built};

use crate::cases::CaseRecord;
use crate::users::{User, UserListing};
use crate::visibility::CaseAccess;

fn lock(db: &Db, how: &'static str) -> &'static str {
    db.choose("", how)
}

// Users.

/// The columns of a user, in the order in which [`user`] reads them.
const USER: &str = "u.id, u.username, u.email, u.created_at";

fn user(row: &SqlRow) -> Result<User, Fault> {
    Ok(User {
        id: row.text(0)?,
        username: row.text(1)?,
        email: row.text_or_null(2)?,
        created_at: Millis(row.int(3)?),
    })
}

/// The user of this name, with the hash of the password.
pub(crate) async fn user_by_key(db: &Db, key: &str) -> Result<Option<(User, Secret)>, Fault> {
    let select =
        format!("SELECT {USER}, u.password FROM archive_users u WHERE u.username_key = $1");
    let row = db.fetch_optional(sql_built(select).bind(key)).await?;
    row.map(|row| Ok((user(&row)?, Secret::new(row.text_ref(4)?)))).transpose()
}

pub(crate) async fn email_exists(db: &Db, key: &str) -> Result<bool, Fault> {
    let select = sql("SELECT id FROM archive_users WHERE email_key = $1").bind(key);
    Ok(db.fetch_optional(select).await?.is_some())
}

pub(crate) async fn count_users(db: &Db) -> Result<u64, Fault> {
    let count = sql("SELECT COUNT(*) FROM archive_users");
    db.fetch_optional(count).await?.map_or(Ok(0), |row| row.count(0))
}

pub(crate) async fn user_exists(db: &Db, id: &str) -> Result<bool, Fault> {
    Ok(username_of(db, id).await?.is_some())
}

pub(crate) async fn username_of(db: &Db, id: &str) -> Result<Option<String>, Fault> {
    let select = sql("SELECT username FROM archive_users WHERE id = $1").bind(id);
    db.fetch_optional(select).await?.map(|row| row.text(0)).transpose()
}

/// Inserts the user; false if the name or the email is taken.
pub(crate) async fn insert_user(
    db: &Db,
    user: &User,
    keys: (&str, Option<&str>),
    password: &Secret,
) -> Result<bool, Fault> {
    let insert = sql("INSERT INTO archive_users \
             (id, username, username_key, email, email_key, password, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING")
    .bind(&user.id)
    .bind(&user.username)
    .bind(keys.0)
    .bind(user.email.as_deref())
    .bind(keys.1)
    .bind(password.reveal())
    .bind(user.created_at.0);
    Ok(db.execute(insert).await? == 1)
}

pub(crate) async fn list_users(db: &Db, now: Millis) -> Result<Vec<UserListing>, Fault> {
    let select = format!(
        "SELECT {USER}, (SELECT COUNT(*) FROM archive_sessions s WHERE s.user_id = u.id \
             AND s.ended_at IS NULL AND s.expires_at > $1) \
         FROM archive_users u ORDER BY u.username_key"
    );
    let rows = db.fetch_all(sql_built(select).bind(now.0)).await?;
    rows.iter().map(|row| Ok(UserListing { user: user(row)?, sessions: row.count(4)? })).collect()
}

/// Deletes the user; the foreign key deletes the sessions.
pub(crate) async fn delete_user(tx: &mut Tx, id: &str) -> Result<(), Fault> {
    tx.execute(sql("DELETE FROM archive_users WHERE id = $1").bind(id)).await.map(drop)
}

/// Whether the user exists; locks the user until the transaction ends.
pub(crate) async fn lock_user(db: &Db, tx: &mut Tx, id: &str) -> Result<bool, Fault> {
    let lock = lock(db, "FOR UPDATE");
    let select = format!("SELECT id FROM archive_users WHERE id = $1 {lock}");
    Ok(tx.fetch_optional(sql_built(select).bind(id)).await?.is_some())
}

pub(crate) async fn set_password(tx: &mut Tx, id: &str, password: &Secret) -> Result<bool, Fault> {
    let update = sql("UPDATE archive_users SET password = $2 WHERE id = $1");
    Ok(tx.execute(update.bind(id).bind(password.reveal())).await? == 1)
}

/// Whether the user exists and still has the checked password; locks the user until the transaction
/// ends.
pub(crate) async fn lock_user_with_password(
    db: &Db,
    tx: &mut Tx,
    id: &str,
    password: Option<&Secret>,
) -> Result<bool, Fault> {
    let lock = lock(db, "FOR SHARE");
    let select = format!("SELECT password FROM archive_users WHERE id = $1 {lock}");
    let row = tx.fetch_optional(sql_built(select).bind(id)).await?;
    let Some(row) = row else { return Ok(false) };
    let kept = row.text_ref(0)?;
    Ok(password.is_none_or(|password| password.reveal() == kept))
}

// Sessions and their refresh tokens.

/// A session to be inserted.
pub(crate) struct NewSession<'a> {
    pub(crate) id: &'a str,
    pub(crate) user_id: &'a str,
    /// The OAuth client that the session is of.
    pub(crate) client: Option<&'a str>,
    pub(crate) created_at: Millis,
    pub(crate) expires_at: Millis,
}

pub(crate) async fn insert_session(tx: &mut Tx, session: NewSession<'_>) -> Result<(), Fault> {
    let insert = sql("INSERT INTO archive_sessions (id, user_id, client, created_at, expires_at) \
         VALUES ($1, $2, $3, $4, $5)");
    let insert = insert.bind(session.id).bind(session.user_id).bind(session.client);
    let insert = insert.bind(session.created_at.0).bind(session.expires_at.0);
    tx.execute(insert).await.map(drop)
}

/// A session and its user.
pub(crate) struct LockedSession {
    pub(crate) user: User,
    pub(crate) client: Option<String>,
    pub(crate) ended: bool,
    pub(crate) expires_at: Millis,
}

/// The session, locked until the transaction ends.
pub(crate) async fn lock_session(
    db: &Db,
    tx: &mut Tx,
    id: &str,
) -> Result<Option<LockedSession>, Fault> {
    let select = format!(
        "SELECT {USER}, s.ended_at, s.expires_at, s.client FROM archive_sessions s \
         JOIN archive_users u ON u.id = s.user_id WHERE s.id = $1 {}",
        lock(db, "FOR UPDATE OF s")
    );
    let row = tx.fetch_optional(sql_built(select).bind(id)).await?;
    row.map(|row| {
        let ended = row.int_or_null(4)?.is_some();
        let (expires_at, client) = (Millis(row.int(5)?), row.text_or_null(6)?);
        Ok(LockedSession { user: user(&row)?, client, ended, expires_at })
    })
    .transpose()
}

pub(crate) async fn is_alive(db: &Db, id: &str, user_id: &str, now: Millis) -> Result<bool, Fault> {
    let select = sql("SELECT id FROM archive_sessions \
         WHERE id = $1 AND user_id = $2 AND ended_at IS NULL AND expires_at > $3");
    let select = select.bind(id).bind(user_id).bind(now.0);
    Ok(db.fetch_optional(select).await?.is_some())
}

pub(crate) async fn count_sessions(tx: &mut Tx, user_id: &str, now: Millis) -> Result<u64, Fault> {
    let count = sql("SELECT COUNT(*) FROM archive_sessions \
         WHERE user_id = $1 AND ended_at IS NULL AND expires_at > $2");
    let row = tx.fetch_optional(count.bind(user_id).bind(now.0)).await?;
    row.map_or(Ok(0), |row| row.count(0))
}

pub(crate) async fn extend_session(tx: &mut Tx, id: &str, expires_at: Millis) -> Result<(), Fault> {
    let update = sql("UPDATE archive_sessions SET expires_at = $2 WHERE id = $1");
    tx.execute(update.bind(id).bind(expires_at.0)).await.map(drop)
}

/// When a session ended, and until when that is remembered.
#[derive(Clone, Copy)]
pub(crate) struct SessionEnd {
    pub(crate) now: Millis,
    pub(crate) forget_at: Millis,
}

pub(crate) async fn end_session(tx: &mut Tx, id: &str, ending: SessionEnd) -> Result<u64, Fault> {
    let update = sql("UPDATE archive_sessions SET ended_at = $2, expires_at = $3 \
         WHERE id = $1 AND ended_at IS NULL");
    tx.execute(update.bind(id).bind(ending.now.0).bind(ending.forget_at.0)).await
}

/// Ends the live sessions of a user beyond the newest `keep`; returns their number.
pub(crate) async fn end_sessions(
    tx: &mut Tx,
    user_id: &str,
    keep: u32,
    ending: SessionEnd,
) -> Result<u64, Fault> {
    let update = sql("UPDATE archive_sessions SET ended_at = $2, expires_at = $3 \
         WHERE user_id = $1 AND ended_at IS NULL AND id NOT IN (SELECT id FROM archive_sessions \
             WHERE user_id = $1 AND ended_at IS NULL ORDER BY expires_at DESC, id DESC LIMIT $4)");
    let update = update.bind(user_id).bind(ending.now.0).bind(ending.forget_at.0);
    tx.execute(update.bind(keep)).await
}

/// Deletes up to `limit` sessions that have expired, with all their refresh tokens.
pub(crate) async fn sweep(db: &Db, now: Millis, limit: u32) -> Result<u64, Fault> {
    let delete = sql("DELETE FROM archive_sessions WHERE id IN (SELECT id FROM archive_sessions \
         WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2)");
    db.execute(delete.bind(now.0).bind(limit)).await
}

pub(crate) async fn insert_refresh(
    tx: &mut Tx,
    hash: &str,
    session_id: &str,
    turn: i64,
) -> Result<(), Fault> {
    let insert = sql("INSERT INTO archive_refreshes (hash, session_id, turn) VALUES ($1, $2, $3)");
    tx.execute(insert.bind(hash).bind(session_id).bind(turn)).await.map(drop)
}

/// The session of a refresh token, and the serial number of the token.
pub(crate) async fn refresh_of(tx: &mut Tx, hash: &str) -> Result<Option<(String, i64)>, Fault> {
    let select = sql("SELECT session_id, turn FROM archive_refreshes WHERE hash = $1");
    let row = tx.fetch_optional(select.bind(hash)).await?;
    row.map(|row| Ok((row.text(0)?, row.int(1)?))).transpose()
}

/// Marks the token as used. Returns when it was used before, if it was.
pub(crate) async fn mark_used(
    tx: &mut Tx,
    hash: &str,
    now: Millis,
) -> Result<Option<Millis>, Fault> {
    let update =
        sql("UPDATE archive_refreshes SET used_at = $2 WHERE hash = $1 AND used_at IS NULL");
    if tx.execute(update.bind(hash).bind(now.0)).await? == 1 {
        return Ok(None);
    }
    let select = sql("SELECT used_at FROM archive_refreshes WHERE hash = $1").bind(hash);
    let row = tx.fetch_optional(select).await?;
    // A token that vanished between two statements was swept with its session.
    Ok(Some(row.map_or(Ok(0), |row| row.int(0)).map(Millis)?))
}

/// Deletes the tokens of a session with a lower serial number.
pub(crate) async fn delete_old_tokens(
    tx: &mut Tx,
    session_id: &str,
    before: i64,
) -> Result<(), Fault> {
    let delete = sql("DELETE FROM archive_refreshes WHERE session_id = $1 AND turn < $2");
    tx.execute(delete.bind(session_id).bind(before)).await.map(drop)
}

// Cases and who sees them.

const SEEN: &str = "SELECT case_id, name, own, may_write FROM archive_members";

fn seen(row: &SqlRow) -> Result<CaseAccess, Fault> {
    Ok(CaseAccess {
        id: row.text(0)?,
        name: row.text(1)?,
        own: row.flag(2)?,
        may_write: row.flag(3)?,
    })
}

pub(crate) async fn visible_cases(db: &Db, member: &str) -> Result<Vec<CaseAccess>, Fault> {
    let select = format!("{SEEN} WHERE member = $1 ORDER BY name");
    db.fetch_all(sql_built(select).bind(member)).await?.iter().map(seen).collect()
}

pub(crate) async fn case_records(
    db: &Db,
    ids: &[&str],
) -> Result<HashMap<String, CaseRecord>, Fault> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let list = placeholders(1, ids.len());
    let select = format!(
        "SELECT c.id, u.username, c.created_at, \
             (SELECT COUNT(*) FROM archive_members m WHERE m.case_id = c.id AND m.own = FALSE) \
         FROM archive_cases c LEFT JOIN archive_users u \
             ON c.owner LIKE 'user:%' AND u.id = SUBSTR(c.owner, 6) \
         WHERE c.id IN ({list})"
    );
    let record = |row: &SqlRow| {
        let owner_name = row.text_or_null(1)?;
        let (created_at, members) = (Millis(row.int(2)?), row.count(3)?);
        Ok((row.text(0)?, CaseRecord { owner_name, created_at, members }))
    };
    let rows = db.fetch_all(sql_built(select).bind_all(ids.iter().copied())).await?;
    rows.iter().map(record).collect()
}

pub(crate) async fn case_by_name(
    tx: &mut Tx,
    member: &str,
    name: &str,
) -> Result<Option<CaseAccess>, Fault> {
    let select = sql_built(format!("{SEEN} WHERE member = $1 AND name = $2"));
    tx.fetch_optional(select.bind(member).bind(name)).await?.as_ref().map(seen).transpose()
}

pub(crate) async fn count_cases(tx: &mut Tx, member: &str, own: bool) -> Result<u64, Fault> {
    let count = sql("SELECT COUNT(*) FROM archive_members WHERE member = $1 AND own = $2");
    let row = tx.fetch_optional(count.bind(member).bind(own)).await?;
    row.map_or(Ok(0), |row| row.count(0))
}

pub(crate) async fn count_members(tx: &mut Tx, case_id: &str) -> Result<u64, Fault> {
    let count = sql("SELECT COUNT(*) FROM archive_members WHERE case_id = $1 AND own = FALSE");
    tx.fetch_optional(count.bind(case_id)).await?.map_or(Ok(0), |row| row.count(0))
}

/// Makes a case visible to a member; false if the member sees it, or another case of its name. Waits
/// for concurrent inserts of the same name.
pub(crate) async fn insert_member(
    tx: &mut Tx,
    member: &str,
    case: &CaseAccess,
) -> Result<bool, Fault> {
    let insert = sql("INSERT INTO archive_members (case_id, member, name, own, may_write) \
         VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING");
    let insert = insert.bind(&case.id).bind(member).bind(&case.name);
    Ok(tx.execute(insert.bind(case.own).bind(case.may_write)).await? == 1)
}

pub(crate) async fn insert_case(
    tx: &mut Tx,
    owner: &str,
    case: &CaseAccess,
    now: Millis,
) -> Result<(), Fault> {
    let insert = sql("INSERT INTO archive_cases (id, owner, name, created_at) \
         VALUES ($1, $2, $3, $4)");
    tx.execute(insert.bind(&case.id).bind(owner).bind(&case.name).bind(now.0)).await.map(drop)
}

/// Locks the case against concurrent sharing until the transaction ends.
pub(crate) async fn lock_case(db: &Db, tx: &mut Tx, id: &str) -> Result<(), Fault> {
    let lock = lock(db, "FOR UPDATE");
    let select = format!("SELECT id FROM archive_cases WHERE id = $1 {lock}");
    tx.fetch_all(sql_built(select).bind(id)).await.map(drop)
}

pub(crate) async fn set_member(
    tx: &mut Tx,
    case_id: &str,
    member: &str,
    may_write: bool,
) -> Result<bool, Fault> {
    let update = sql("UPDATE archive_members SET may_write = $3 \
         WHERE case_id = $1 AND member = $2 AND own = FALSE");
    Ok(tx.execute(update.bind(case_id).bind(member).bind(may_write)).await? == 1)
}

pub(crate) async fn delete_member(tx: &mut Tx, case_id: &str, member: &str) -> Result<(), Fault> {
    let delete = sql("DELETE FROM archive_members \
         WHERE case_id = $1 AND member = $2 AND own = FALSE");
    tx.execute(delete.bind(case_id).bind(member)).await.map(drop)
}

/// Removes all shares with a member.
pub(crate) async fn delete_shared(tx: &mut Tx, member: &str) -> Result<(), Fault> {
    let delete = sql("DELETE FROM archive_members WHERE member = $1 AND own = FALSE");
    tx.execute(delete.bind(member)).await.map(drop)
}

/// The members of a case, by username. The id of a user follows `user:`.
pub(crate) async fn members(tx: &mut Tx, case_id: &str) -> Result<Vec<(String, bool)>, Fault> {
    let select = sql("SELECT u.username, m.may_write FROM archive_members m \
         JOIN archive_users u ON u.id = SUBSTR(m.member, 6) \
         WHERE m.case_id = $1 AND m.own = FALSE ORDER BY u.username_key");
    let rows = tx.fetch_all(select.bind(case_id)).await?;
    rows.iter().map(|row| Ok((row.text(0)?, row.flag(1)?))).collect()
}

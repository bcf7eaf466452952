//! The tables, one text for both engines.

use store::Migrations;

/// `username_key` and `email_key` are the texts without their case. A session keeps every refresh
/// token it has given out lately, as a hash, so that one used twice is known for what it is.
///
/// `archive_members` lists what each account sees: a row for each case it sees, its own
/// included, under the name they know it by. The name is there a second time so that the database
/// itself refuses a view in which one name means two cases.
const PEOPLE: &str = "
CREATE TABLE archive_users (
    id TEXT NOT NULL PRIMARY KEY,
    username TEXT NOT NULL,
    username_key TEXT NOT NULL UNIQUE,
    email TEXT,
    email_key TEXT UNIQUE,
    password TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE TABLE archive_sessions (
    id TEXT NOT NULL PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES archive_users (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    ended_at BIGINT
);
CREATE INDEX archive_sessions_user ON archive_sessions (user_id, expires_at);
CREATE INDEX archive_sessions_expiry ON archive_sessions (expires_at);
CREATE TABLE archive_refreshes (
    hash TEXT NOT NULL PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES archive_sessions (id) ON DELETE CASCADE,
    turn BIGINT NOT NULL,
    used_at BIGINT
);
CREATE INDEX archive_refreshes_session ON archive_refreshes (session_id, turn);
CREATE TABLE archive_cases (
    id TEXT NOT NULL PRIMARY KEY,
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE TABLE archive_members (
    case_id TEXT NOT NULL,
    member TEXT NOT NULL,
    name TEXT NOT NULL,
    own BOOLEAN NOT NULL,
    may_write BOOLEAN NOT NULL,
    PRIMARY KEY (case_id, member),
    UNIQUE (member, name)
);
";

/// The OAuth client that a session is of; a session of a login has none.
const CLIENTS: &str = "ALTER TABLE archive_sessions ADD COLUMN client TEXT";

/// Apply before the first use. The owner name is older than the name of the crate.
pub const MIGRATIONS: Migrations =
    Migrations { owner: "people", sqlite: &[PEOPLE, CLIENTS], postgres: &[PEOPLE, CLIENTS] };

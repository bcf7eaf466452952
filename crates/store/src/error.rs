//! Converts database errors to [`Fault`]s.
//!
//! The message never repeats the engine's text, which may quote data or addresses; that text is the
//! cause, for the log.

use std::time::Duration;

use fault::{Fault, Kind};

pub(crate) fn fault(error: sqlx::Error) -> Fault {
    let (kind, code, message) = match &error {
        // All connections are in use.
        sqlx::Error::PoolTimedOut => BUSY,
        sqlx::Error::PoolClosed | sqlx::Error::Io(_) => UNREACHABLE,
        sqlx::Error::Tls(_) | sqlx::Error::WorkerCrashed => UNREACHABLE,
        sqlx::Error::Database(database) => match class(database.as_ref()) {
            Some(known) => known,
            None => return Fault::internal(error),
        },
        _ => return Fault::internal(error),
    };
    let fault = Fault::new(kind, code, message).caused_by(error);
    if code == BUSY.1 { fault.retry_after(BUSY_WAIT) } else { fault }
}

type Known = (Kind, &'static str, &'static str);

const UNREACHABLE: Known =
    (Kind::Unavailable, "store_unavailable", "the database cannot be reached");
const BUSY: Known = (Kind::Unavailable, "store_busy", "the database is busy; try again shortly");
/// The `retry_after` of a busy database.
const BUSY_WAIT: Duration = Duration::from_secs(1);
const FULL: Known =
    (Kind::Unavailable, "store_full", "the database has no room left to write; free disk space");
const TAKEN: Known = (Kind::Conflict, "already_exists", "a record with this key exists already");

const READ_ONLY: Known = (
    Kind::Unavailable,
    "store_unavailable",
    "the database cannot be written; check the rights of its file and its folder",
);
/// Not a fault of this program, and not one that a later attempt can avoid.
const DAMAGED: Known = (
    Kind::Internal,
    "store_damaged",
    "the database operation failed: the database is damaged; an operator must restore it",
);

fn class(error: &dyn sqlx::error::DatabaseError) -> Option<Known> {
    if error.is_unique_violation() {
        return Some(TAKEN);
    }
    class_of_code(&error.code()?)
}

/// SQLite gives its extended result code as text, PostgreSQL a five-letter SQLSTATE.
fn class_of_code(code: &str) -> Option<Known> {
    if code.len() == 5 {
        return match (code.get(..2)?, code) {
            (_, "25006") => Some(READ_ONLY),
            (_, "53100") => Some(FULL),
            ("08" | "28" | "53" | "57" | "58", _) => Some(UNREACHABLE),
            ("40" | "55", _) => Some(BUSY),
            (_, "XX001" | "XX002") => Some(DAMAGED),
            _ => None,
        };
    }
    // The low byte of an extended SQLite code is the primary code.
    match code.parse::<u32>().ok()? & 0xff {
        // SQLITE_BUSY, SQLITE_LOCKED.
        5 | 6 => Some(BUSY),
        8 => Some(READ_ONLY),
        // SQLITE_PERM, SQLITE_IOERR, SQLITE_CANTOPEN.
        3 | 10 | 14 => Some(UNREACHABLE),
        13 => Some(FULL),
        // SQLITE_CORRUPT, SQLITE_NOTADB.
        11 | 26 => Some(DAMAGED),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(error: sqlx::Error, code: &str, wait: Option<Duration>) {
        let fault = fault(error);
        assert_eq!((fault.code(), fault.retry_wait()), (code, wait));
    }

    #[test]
    fn a_busy_database_says_when_to_retry() {
        check(sqlx::Error::PoolTimedOut, "store_busy", Some(BUSY_WAIT));
        check(sqlx::Error::PoolClosed, "store_unavailable", None);
        check(sqlx::Error::RowNotFound, "internal", None);
    }

    #[track_caller]
    fn check_code(codes: &[&str], expected: Option<Known>) {
        for code in codes {
            assert_eq!(class_of_code(code), expected, "{code}");
        }
    }

    #[test]
    fn the_codes_of_both_engines_are_known() {
        // With extended codes: SQLITE_BUSY_SNAPSHOT, SQLITE_IOERR_READ, SQLITE_CORRUPT_INDEX.
        check_code(&["5", "6", "517", "40001", "55P03"], Some(BUSY));
        check_code(
            &["10", "14", "3", "266", "08006", "28000", "57P01", "58030"],
            Some(UNREACHABLE),
        );
        check_code(&["13", "53100"], Some(FULL));
        check_code(&["8", "1032", "25006"], Some(READ_ONLY));
        check_code(&["11", "26", "779", "XX001", "XX002"], Some(DAMAGED));
        // Our own mistakes: SQLITE_ERROR, SQLITE_MISUSE, a syntax error.
        check_code(&["1", "21", "19", "42601", "XX000", "", "x", "ББ"], None);
    }
}

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

/// SQLite gives its extended result code as text, PostgreSQL a five-letter SQLSTATE.
fn class(error: &dyn sqlx::error::DatabaseError) -> Option<Known> {
    if error.is_unique_violation() {
        return Some(TAKEN);
    }
    let code = error.code()?;
    if code.len() == 5 {
        return match &code[..2] {
            "08" | "57" => Some(UNREACHABLE),
            "40" | "55" => Some(BUSY),
            "53" => Some(if code == "53100" { FULL } else { UNREACHABLE }),
            _ => None,
        };
    }
    // The low byte of an extended SQLite code is the primary code.
    match code.parse::<u32>().ok()? & 0xff {
        5 | 6 => Some(BUSY),
        13 => Some(FULL),
        10 | 14 => Some(UNREACHABLE),
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
}

//! Users with passwords, their sessions, their cases, and which users share a case.
//!
//! It issues no access tokens: a session has a name ([`Session::subject`]) that the token issuer puts
//! into its tokens, and [`Accounts::owner`] tells whether that session is still valid.

mod cases;
mod client_sessions;
mod faults;
mod local_user;
mod login_limiter;
mod passwords;
mod refresh;
mod schema;
mod sessions;
mod sql;
mod users;
mod validation;
mod visibility;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

pub use auth::Secret;
pub use cases::{CaseMember, CaseRecord, SharePermission};
pub use client_sessions::ClientLogin;
use clock::{Clock, IdGenerator, Millis};
pub use schema::MIGRATIONS;
pub use sessions::{Session, session_of};
use store::Db;
pub use users::{RemovedUser, User, UserListing};
pub use visibility::{CaseAccess, Visibility};

/// The most users of one installation.
pub const USERS_MAX: u64 = 100_000;
/// Live sessions of one user; a new one ends the session that was idle longest.
pub const SESSIONS_MAX: u32 = 100;
/// Cases of one owner, and cases shared with one user.
pub const CASES_MAX: u64 = 10_000;
/// Users one case is shared with.
pub const MEMBERS_MAX: u64 = 1_000;
/// How long a session lasts after its last refresh.
pub const SESSION_LIFE: Duration = Duration::from_secs(30 * 86_400);

/// Who may register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegistrationPolicy {
    /// Whether anyone may register. [`Accounts::add`] works either way.
    pub registration_open: bool,
}

/// A handle; cloning it is cheap. Clones share the failed-login counts and the queue for password
/// hashing, so a process creates one and clones it.
#[derive(Clone)]
pub struct Accounts(Arc<AccountsInner>);

struct AccountsInner {
    db: Db,
    clock: Arc<dyn Clock>,
    rules: RegistrationPolicy,
    ids: IdGenerator,
    passwords: passwords::Passwords,
    login_limiter: login_limiter::LoginLimiter,
}

impl Accounts {
    /// The database must have been given [`MIGRATIONS`].
    pub fn new(db: Db, clock: Arc<dyn Clock>, rules: RegistrationPolicy) -> Self {
        Self(Arc::new(AccountsInner {
            db,
            clock,
            rules,
            ids: IdGenerator::default(),
            passwords: passwords::Passwords::default(),
            login_limiter: login_limiter::LoginLimiter::default(),
        }))
    }

    fn now(&self) -> Millis {
        self.0.clock.now()
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

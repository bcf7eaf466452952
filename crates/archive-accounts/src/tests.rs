//! Accounts on both engines, under a clock that is set by hand.

use std::sync::Arc;
use std::time::Duration;

use clock::Millis;
use fault::{Fault, Kind};
use store::{Db, sql};
use testkit::{FakeClock, on_every_engine};
use tokio::task::JoinSet;

use crate::{Accounts, MIGRATIONS, RegistrationPolicy, Session, User};

mod cases;
mod crowd;
mod local_user;
mod sessions;
mod users;

const PASSWORD: &str = "correct horse";

struct Fixture {
    db: Db,
    clock: Arc<FakeClock>,
    accounts: Accounts,
}

impl Fixture {
    async fn new(db: &Db) -> Self {
        db.migrate(&[MIGRATIONS]).await.unwrap();
        let clock = Arc::new(FakeClock::new(Millis(1_800_000_000_000)));
        let accounts = accounts(db, &clock, true);
        Self { db: db.clone(), clock, accounts }
    }

    async fn user(&self, username: &str) -> User {
        self.accounts.register(username, PASSWORD, None, None).await.unwrap()
    }

    async fn login(&self, username: &str) -> Session {
        self.accounts.login(username, PASSWORD, None).await.unwrap()
    }

    async fn count(&self, select: &'static str) -> u64 {
        self.db.fetch_optional(sql(select)).await.unwrap().unwrap().count(0).unwrap()
    }

    /// The id that a name has for an owner, in a transaction of its own.
    async fn case(&self, owner: &str, name: &str) -> Result<String, Fault> {
        case(&self.accounts, &self.db, owner, name).await
    }
}

fn accounts(db: &Db, clock: &Arc<FakeClock>, registration_open: bool) -> Accounts {
    Accounts::new(db.clone(), clock.clone(), RegistrationPolicy { registration_open })
}

async fn case(accounts: &Accounts, db: &Db, owner: &str, name: &str) -> Result<String, Fault> {
    let mut tx = db.begin().await?;
    let id = accounts.case_for_writing(&mut tx, owner, name).await?;
    tx.commit().await?;
    Ok(id)
}

#[track_caller]
fn refused<T>(answer: Result<T, Fault>, kind: Kind, code: &str) {
    match answer {
        Ok(_) => panic!("{code} was expected"),
        Err(fault) => assert_eq!((fault.kind(), fault.code()), (kind, code), "{fault:?}"),
    }
}

/// Does the same thing many times at once and gives the answers in the order they came.
async fn at_once<T, F>(times: usize, make: impl Fn(usize) -> F) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let mut set = JoinSet::new();
    for number in 0..times {
        set.spawn(make(number));
    }
    set.join_all().await
}

fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

//! Whether those who have something open may still have it. A credential is looked at again every
//! few seconds, once for all that it has open in a service, and at the moment it expires.
//!
//! What has no credential is not watched: nothing can be taken from it.

use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::future::Future;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use fault::{Fault, Kind};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::call::{Credential, Scope};
use crate::pipeline::{Authenticator, Meter};

/// How long a credential that was taken back may go on at most, beside what the authenticator remembers.
pub(crate) const EVERY: Duration = Duration::from_secs(5);
/// A clock that is a little behind ours must not have us ask without a pause.
const PAUSE_MIN: Duration = Duration::from_millis(20);

/// The credentials that have something open.
pub(crate) struct Standings {
    authenticator: Arc<dyn Authenticator>,
    meter: Arc<dyn Meter>,
    every: Duration,
    tasks: TaskTracker,
    /// As many as there are open subscriptions at most; each goes with the last of its own.
    watched: Mutex<HashMap<Key, Weak<Standing>>>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    service: Arc<str>,
    scope: Scope,
    token: Arc<str>,
}

/// One credential, for as long as anything is open with it.
pub(crate) struct Standing {
    /// Set when it is lost, and when nobody asks any more.
    over: CancellationToken,
    why: OnceLock<Why>,
}

struct Why {
    kind: Kind,
    code: &'static str,
    message: String,
}

impl Standing {
    /// Why it was lost, if it was.
    pub(crate) fn lost(&self) -> Option<Fault> {
        self.why.get().map(|why| Fault::new(why.kind, why.code, why.message.clone()))
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.why.get().is_some()
    }

    /// Ready when it is lost.
    pub(crate) fn watch(&self) -> impl Future<Output = ()> + Send + use<> {
        // A child: waiting on one token would have every reader take the same lock.
        self.over.child_token().cancelled_owned()
    }
}

impl Drop for Standing {
    fn drop(&mut self) {
        self.over.cancel();
    }
}

impl Standings {
    pub(crate) fn new(
        authenticator: Arc<dyn Authenticator>,
        meter: Arc<dyn Meter>,
        every: Duration,
    ) -> Arc<Self> {
        let (tasks, watched) = (TaskTracker::new(), Mutex::default());
        Arc::new(Self { authenticator, meter, every, tasks, watched })
    }

    fn watched(&self) -> MutexGuard<'_, HashMap<Key, Weak<Standing>>> {
        self.watched.lock()
    }

    /// The standing of a credential that was admitted just now; `None` where there is none to lose.
    pub(crate) fn of(
        self: &Arc<Self>,
        credential: &Credential,
        service: &Arc<str>,
        scope: Scope,
    ) -> Option<Arc<Standing>> {
        let Credential::Bearer(token) = credential else { return None };
        let key = Key { service: Arc::clone(service), scope, token: Arc::clone(token) };
        let mut watched = self.watched();
        if let Some(known) = watched.get(&key).and_then(Weak::upgrade)
            && !known.is_lost()
        {
            return Some(known);
        }
        let standing = Arc::new(Standing { over: CancellationToken::new(), why: OnceLock::new() });
        watched.insert(key.clone(), Arc::downgrade(&standing));
        let (over, watcher) = (standing.over.clone(), Arc::downgrade(&standing));
        let house = Arc::clone(self);
        self.tasks.spawn(async move {
            over.run_until_cancelled(house.watch(&key, &watcher)).await;
            let mut watched = house.watched();
            if watched.get(&key).is_some_and(|it| Weak::ptr_eq(it, &watcher)) {
                watched.remove(&key);
            }
        });
        Some(standing)
    }

    /// Asks again and again, until the answer is no.
    async fn watch(&self, key: &Key, standing: &Weak<Standing>) {
        let credential = Credential::Bearer(Arc::clone(&key.token));
        loop {
            // Those that came together do not ask together.
            let pause = self.every.mul_f64(0.5 + 0.5 * chance());
            let expires = self.authenticator.expires_in(&credential).unwrap_or(pause);
            tokio::time::sleep(pause.min(expires).max(PAUSE_MIN)).await;
            let fault = match self.authenticator.authenticate(&credential, &key.service).await {
                Ok(caller) if caller.may(key.scope) => continue,
                Ok(_) => {
                    let message = "the credential does not reach this far any more";
                    Fault::new(Kind::Forbidden, "scope_missing", message)
                }
                Err(fault) => fault,
            };
            // That the authenticator itself cannot answer says nothing about the credential.
            if !matches!(fault.kind(), Kind::Unauthenticated | Kind::Forbidden) {
                tracing::debug!(service = &*key.service, %fault, "a credential was not looked at");
                continue;
            }
            let Some(standing) = standing.upgrade() else { return };
            let (code, message) = (fault.code(), fault.message().to_owned());
            tracing::info!(service = &*key.service, code, "what a credential had open is ended");
            self.meter.lost(&key.service, code);
            // Only this task ever sets it.
            let _first = standing.why.set(Why { kind: fault.kind(), code, message });
            standing.over.cancel();
            return;
        }
    }
}

/// From 0 up to, but without, 1.
fn chance() -> f64 {
    // A hasher is keyed at random, which is all the randomness this needs.
    let roll = RandomState::new().build_hasher().finish();
    (roll >> 11) as f64 / (1_u64 << 53) as f64
}

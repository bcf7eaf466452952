//! Re-validates the credential of every open stream and long call, by default every 5 s (jittered)
//! and when it expires, and ends them when it is revoked. Anonymous callers are not watched.

use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use fault::{Fault, Kind};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::authenticator::Authenticator;
use crate::call::{Credential, Scope};
use crate::meter::Meter;

/// The longest time between two checks of one credential. A revoked credential stays usable for
/// this long at most, plus what the authenticator caches.
pub(crate) const RECHECK_INTERVAL: Duration = Duration::from_secs(5);
/// The shortest time between two checks: an authenticator's clock that lags ours by a little would
/// otherwise make us check in a tight loop at the expiry.
const RECHECK_MIN: Duration = Duration::from_millis(20);

/// Watches every credential that has a stream or a long call open, one task per credential,
/// service and scope.
pub(crate) struct CredentialMonitor {
    authenticator: Arc<dyn Authenticator>,
    meter: Arc<dyn Meter>,
    recheck_interval: Duration,
    tasks: TaskTracker,
    /// Bounded by the open streams and calls: an entry is removed with the last of its own.
    watches: Mutex<HashMap<WatchKey, Weak<CredentialWatch>>>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct WatchKey {
    service: Arc<str>,
    scope: Scope,
    token: Arc<str>,
}

/// One watched credential. Shared by all streams and calls that use it.
pub(crate) struct CredentialWatch {
    /// Cancelled when the credential is revoked, and when the last user drops the watch.
    ended: CancellationToken,
    revocation: OnceLock<Revocation>,
}

struct Revocation {
    kind: Kind,
    code: &'static str,
    message: String,
}

impl CredentialWatch {
    /// Why the credential was revoked; `None` while it is valid.
    pub(crate) fn revocation(&self) -> Option<Fault> {
        let revocation = self.revocation.get()?;
        Some(Fault::new(revocation.kind, revocation.code, revocation.message.clone()))
    }

    pub(crate) fn is_revoked(&self) -> bool {
        self.revocation.get().is_some()
    }

    /// Completes when the credential is revoked.
    pub(crate) fn revoked(&self) -> impl Future<Output = ()> + Send + use<> {
        // A child token, because all waiters of one token take the same lock.
        self.ended.child_token().cancelled_owned()
    }
}

impl Drop for CredentialWatch {
    fn drop(&mut self) {
        self.ended.cancel();
    }
}

impl CredentialMonitor {
    pub(crate) fn new(
        authenticator: Arc<dyn Authenticator>,
        meter: Arc<dyn Meter>,
        recheck_interval: Duration,
    ) -> Arc<Self> {
        let (tasks, watches) = (TaskTracker::new(), Mutex::default());
        Arc::new(Self { authenticator, meter, recheck_interval, tasks, watches })
    }

    fn watches(&self) -> MutexGuard<'_, HashMap<WatchKey, Weak<CredentialWatch>>> {
        self.watches.lock()
    }

    /// Starts or joins the watch of a credential that was just authenticated; `None` for an
    /// anonymous caller.
    pub(crate) fn watch(
        self: &Arc<Self>,
        credential: &Credential,
        service: &Arc<str>,
        scope: Scope,
    ) -> Option<Arc<CredentialWatch>> {
        let token = credential.token()?;
        let key = WatchKey { service: Arc::clone(service), scope, token: Arc::clone(token) };
        let mut watches = self.watches();
        if let Some(known) = watches.get(&key).and_then(Weak::upgrade)
            && !known.is_revoked()
        {
            return Some(known);
        }
        let ended = CancellationToken::new();
        let watch = Arc::new(CredentialWatch { ended: ended.clone(), revocation: OnceLock::new() });
        let weak = Arc::downgrade(&watch);
        watches.insert(key.clone(), Weak::clone(&weak));
        let monitor = Arc::clone(self);
        self.tasks.spawn(async move {
            ended.run_until_cancelled(monitor.recheck_until_revoked(&key, &weak)).await;
            let mut watches = monitor.watches();
            if watches.get(&key).is_some_and(|it| Weak::ptr_eq(it, &weak)) {
                watches.remove(&key);
            }
        });
        Some(watch)
    }

    async fn recheck_until_revoked(&self, key: &WatchKey, watch: &Weak<CredentialWatch>) {
        let credential = Credential::Bearer(Arc::clone(&key.token));
        loop {
            // Jitter spreads the checks of watches that started together.
            let pause = self.recheck_interval.mul_f64(0.5 + 0.5 * fastrand::f64());
            let expires = self.authenticator.expires_in(&credential).unwrap_or(pause);
            tokio::time::sleep(pause.min(expires).max(RECHECK_MIN)).await;
            let fault = match self.authenticator.authenticate(&credential, &key.service).await {
                Ok(caller) if caller.may(key.scope) => continue,
                Ok(_) => {
                    let message = "the credential does not reach this far any more";
                    Fault::new(Kind::Forbidden, "scope_missing", message)
                }
                Err(fault) => fault,
            };
            // An authenticator that cannot answer says nothing about the credential.
            if !matches!(fault.kind(), Kind::Unauthenticated | Kind::Forbidden) {
                tracing::debug!(service = &*key.service, %fault, "a credential was not rechecked");
                continue;
            }
            let Some(watch) = watch.upgrade() else { return };
            let (code, message) = (fault.code(), fault.message().to_owned());
            tracing::info!(service = &*key.service, code, "a revoked credential ends its streams");
            self.meter.stream_cut_off(&key.service, code);
            // Only this task sets the revocation, so `set` cannot fail.
            let _first = watch.revocation.set(Revocation { kind: fault.kind(), code, message });
            watch.ended.cancel();
            return;
        }
    }
}

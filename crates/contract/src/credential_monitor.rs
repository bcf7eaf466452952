//! Re-validates the credential of every open stream and long call, by default every 5 s (jittered)
//! and when it expires, and ends them when it is revoked. The credential of an open connection is
//! re-validated in the same way. Anonymous callers are not watched.

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
    right: WatchedRight,
    token: Arc<str>,
}

/// What a credential must still give.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum WatchedRight {
    /// The scope that a stream or a call needs of its service.
    Scope(Scope),
    /// That the token verifies, whatever it allows.
    Token,
}

/// The credential of a connection that makes several calls, verified once.
#[derive(Debug)]
pub struct ConnectionCredential {
    credential: Credential,
    /// `None` for an anonymous client, and for a token that was never verified.
    watch: Option<Arc<CredentialWatch>>,
}

impl ConnectionCredential {
    /// The credential for the next call: verified until it is revoked or expires, and then as the
    /// client presented it, so that the call verifies it and is refused.
    pub fn current(&self) -> Credential {
        match &self.watch {
            Some(watch) if watch.is_revoked() => self.credential.unverified(),
            _ => self.credential.clone(),
        }
    }
}

/// One watched credential. Shared by all streams and calls that use it.
#[derive(Debug)]
pub(crate) struct CredentialWatch {
    /// Cancelled when the credential is revoked, and when the last user drops the watch.
    ended: CancellationToken,
    revocation: OnceLock<Revocation>,
}

#[derive(Debug)]
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

    /// Ends the streams and calls of the credential; the first of two reasons counts.
    fn revoke(&self, fault: &Fault) {
        let (kind, code, message) = (fault.kind(), fault.code(), fault.message().to_owned());
        let _first = self.revocation.set(Revocation { kind, code, message });
        self.ended.cancel();
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
        self.watch_right(credential, service, WatchedRight::Scope(scope))
    }

    /// Watches the token of a connection while it is open.
    pub(crate) fn of_connection(
        self: &Arc<Self>,
        credential: Credential,
        service: &Arc<str>,
    ) -> ConnectionCredential {
        let watch = match &credential {
            Credential::Verified(_) => self.watch_right(&credential, service, WatchedRight::Token),
            // Every call verifies it.
            Credential::None | Credential::Bearer(_) => None,
        };
        ConnectionCredential { credential, watch }
    }

    fn watch_right(
        self: &Arc<Self>,
        credential: &Credential,
        service: &Arc<str>,
        right: WatchedRight,
    ) -> Option<Arc<CredentialWatch>> {
        let token = credential.token()?;
        let key = WatchKey { service: Arc::clone(service), right, token: Arc::clone(token) };
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
            let Err(fault) = self.recheck(key, &credential).await else { continue };
            // An authenticator that cannot answer says nothing about the credential.
            if !matches!(fault.kind(), Kind::Unauthenticated | Kind::Forbidden) {
                tracing::debug!(service = &*key.service, %fault, "a credential was not rechecked");
                continue;
            }
            let Some(watch) = watch.upgrade() else { return };
            if key.right != WatchedRight::Token {
                let (service, code) = (&*key.service, fault.code());
                tracing::info!(service, code, "a revoked credential ends its streams");
                self.meter.stream_cut_off(service, code);
                self.revoke_connections(&key.token, &fault);
            }
            watch.revoke(&fault);
            return;
        }
    }

    /// Makes every connection with this token verify it again, so that no ended stream is opened
    /// once more before the connection's own check is due.
    fn revoke_connections(&self, token: &Arc<str>, fault: &Fault) {
        for (key, watch) in self.watches().iter() {
            if key.right == WatchedRight::Token
                && key.token == *token
                && let Some(watch) = watch.upgrade()
            {
                watch.revoke(fault);
            }
        }
    }

    async fn recheck(&self, key: &WatchKey, credential: &Credential) -> Result<(), Fault> {
        let WatchedRight::Scope(scope) = key.right else {
            return self.authenticator.verify(credential).await.map(drop);
        };
        let caller = self.authenticator.authenticate(credential, &key.service).await?;
        if caller.may(scope) {
            return Ok(());
        }
        let message = "the credential does not reach this far any more";
        Err(Fault::new(Kind::Forbidden, "scope_missing", message))
    }
}

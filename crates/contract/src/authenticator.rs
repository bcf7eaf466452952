//! The port through which the pipeline and the transports authenticate callers.

use std::time::Duration;

use async_trait::async_trait;
use fault::Fault;

use crate::call::{Caller, Credential, Scope};

/// Turns a credential into a caller; the server implements it over `auth`.
#[async_trait]
pub trait Authenticator: Send + Sync {
    /// The caller that a service sees. Verifies the credential unless it is
    /// [`Credential::Verified`], and applies the service's limits in either case.
    async fn authenticate(&self, credential: &Credential, service: &str) -> Result<Caller, Fault>;

    /// Like [`Authenticator::authenticate`] for a call that needs this scope, so that the fault can
    /// name the scope.
    async fn authenticate_for(
        &self,
        credential: &Credential,
        service: &str,
        _scope: Scope,
    ) -> Result<Caller, Fault> {
        self.authenticate(credential, service).await
    }

    /// Verifies a credential before the called service is known, and returns it as
    /// [`Credential::Verified`] so that the rest of the request does not verify it again. Fails for
    /// an invalid token, and for no token if anonymous callers may not read. The default leaves
    /// all checks to [`Authenticator::authenticate`].
    async fn verify(&self, credential: &Credential) -> Result<Credential, Fault> {
        Ok(credential.clone())
    }

    /// Best-effort identification for open tools. Invalid credentials are ignored and not counted
    /// as failures.
    async fn identify(&self, credential: &Credential, service: &str) -> Option<Caller> {
        self.authenticate(credential, service).await.ok()
    }

    /// Whether calls of a service may carry their credential inside the call, so that a transport
    /// must decode the call before it can refuse the caller.
    fn accepts_in_call_credentials(&self, _service: &str) -> bool {
        false
    }

    /// How long a valid credential stays valid at most, if that is known.
    fn expires_in(&self, _credential: &Credential) -> Option<Duration> {
        None
    }

    /// Called for every scope check, for the metrics; `denied` is the fault if it failed.
    fn on_authorization(&self, _service: &str, _scope: Scope, _denied: Option<&Fault>) {}
}

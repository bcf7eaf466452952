//! The access policy of a server: turns a credential into a caller, from capability tokens and the
//! static HTTP token.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use clock::Clock;
use contract::{
    AccessRules, Authenticator, Caller, Credential, GrantLimits, Scope, Service, VerifiedToken,
};
use fault::{Fault, Kind};

use crate::authority::Authority;
use crate::faults::{for_scope, token_missing};
use crate::grant::Grant;
use crate::metrics::AuthMetrics;
use crate::secret::{Secret, same_secret};
use crate::token::{TOKEN_PREFIX, inspect};

/// Implements the pipeline's [`Authenticator`] for all services of one server.
pub struct AccessPolicy {
    authority: Arc<Authority>,
    clock: Arc<dyn Clock>,
    /// The static token an operator may configure for the whole server; it allows reading.
    http_token: Option<Secret>,
    /// Whether a caller without a credential may read.
    open: bool,
    reader: Caller,
    operator: Caller,
    /// The user for whom a caller without a credential acts at services with a sign-in tool.
    local_user: Option<Arc<dyn LocalUser>>,
    services: HashMap<String, ServiceAccess>,
}

/// The user who started this process, for a process that serves no other user.
#[async_trait]
pub trait LocalUser: Send + Sync {
    /// The caller that this user is at services with a sign-in tool.
    async fn caller(&self) -> Result<Caller, Fault>;

    /// Whether the subject of a token is a user with an account there.
    fn is_account(&self, subject: &str) -> bool;
}

/// The access rules and the counters of one service.
struct ServiceAccess {
    rules: AccessRules,
    /// One set of counters per service, because the pricing contract reports them per service.
    metrics: Arc<AuthMetrics>,
}

/// The authentication counters of every service. They are created before the services, which report
/// them.
#[derive(Default)]
pub struct AccessCounters(Mutex<HashMap<String, Arc<AuthMetrics>>>);

impl AccessCounters {
    /// The counters of `service`; creates them on the first call.
    pub fn of(&self, service: &str) -> Arc<AuthMetrics> {
        let mut counters = self.0.lock();
        let made = || Arc::new(AuthMetrics::new(service));
        Arc::clone(counters.entry(service.to_owned()).or_insert_with(made))
    }
}

/// Checks the limits of a grant for the handlers.
#[derive(Debug)]
struct GrantedLimits(Arc<Grant>);

impl GrantLimits for GrantedLimits {
    fn require_sku(&self, sku: &str) -> Result<(), Fault> {
        self.0.require_sku(sku)
    }

    fn require_market(&self, market: &str) -> Result<(), Fault> {
        self.0.require_market(market)
    }

    fn sku_prefixes(&self) -> Option<&[String]> {
        self.0.limits.sku_prefix.as_deref()
    }

    fn allows_service(&self, service: &str) -> bool {
        self.0.limits.allow_service(service)
    }

    fn restricts_goods(&self) -> bool {
        self.0.limits.market.is_some() || self.0.limits.sku_prefix.is_some()
    }
}

impl AccessPolicy {
    /// `open` says whether a caller without a credential may read.
    pub fn new(
        authority: Arc<Authority>,
        clock: Arc<dyn Clock>,
        http_token: Option<Secret>,
        open: bool,
        services: &[Arc<Service>],
        counters: &AccessCounters,
    ) -> Self {
        let read: Arc<[String]> = Arc::from([Scope::Read.as_str().to_owned()]);
        let caller = |subject: &str| Caller::new(subject, Arc::clone(&read));
        let access = |service: &Arc<Service>| {
            let metrics = counters.of(&service.name);
            (service.name.to_string(), ServiceAccess { rules: service.access.clone(), metrics })
        };
        Self {
            reader: caller("anonymous"),
            operator: caller("operator"),
            local_user: None,
            services: services.iter().map(access).collect(),
            authority,
            clock,
            http_token,
            open,
        }
    }

    /// Lets callers without a credential act for the local user. Only a process that answers no
    /// other user than the one who started it may do so.
    #[must_use]
    pub fn with_local_user(self, user: Arc<dyn LocalUser>) -> Self {
        Self { local_user: Some(user), ..self }
    }

    async fn check(
        &self,
        credential: &Credential,
        service: &str,
        scope: Scope,
    ) -> Result<Caller, Fault> {
        let rules = self.services.get(service).map(|access| &access.rules);
        let is_open = self.open && !rules.is_some_and(|rules| rules.requires_credential);
        let reads_openly = is_open && matches!(scope, Scope::Open | Scope::Read);
        let caller = match credential {
            Credential::None if reads_openly => return Ok(self.reader.clone()),
            Credential::None if rules.is_some_and(|rules| rules.identifies_callers) => {
                return match &self.local_user {
                    Some(user) => user.caller().await,
                    None => Err(sign_in()),
                };
            }
            Credential::None => return Err(token_missing(Some(scope.as_str()))),
            Credential::Bearer(token) => {
                let caller = self.verify_token(token).await;
                caller.map_err(|fault| for_scope(fault, scope.as_str()))
            }
            Credential::Verified(verified) => Ok(verified.caller.clone()),
        };
        if let (Some(user), Ok(caller)) = (&self.local_user, &caller)
            && rules.is_some_and(|rules| rules.identifies_callers)
            && !caller.may(Scope::Write)
            && !user.is_account(&caller.subject)
        {
            // A token for other services does not restrict the local user at this service.
            return user.caller().await;
        }
        match caller.and_then(|caller| self.admit(caller, service)) {
            Ok(caller) if is_open => Ok(with_read(caller)),
            // An invalid token does not take away what a caller without a token may do.
            Err(fault) if reads_openly && concerns_credential(&fault) => {
                tracing::debug!(service, code = fault.code(), "the token is ignored: {fault}");
                Ok(self.reader.clone())
            }
            Err(fault) if rules.is_some_and(|rules| rules.identifies_callers) => {
                Err(with_sign_in_advice(fault))
            }
            admitted => admitted,
        }
    }

    /// Verifies a token's signature, expiry and revocation. The caller carries the limits of the
    /// token, whatever service it will call.
    async fn verify_token(&self, token: &str) -> Result<Caller, Fault> {
        let set = self.http_token.as_ref();
        if set.is_some_and(|set| same_secret(token, set.reveal())) {
            return Ok(self.operator.clone());
        }
        if set.is_some() && !token.starts_with(TOKEN_PREFIX) {
            return Err(unknown_token());
        }
        let grant = self.authority.verify(token, self.clock.now().0 / 1000).await?;
        let scopes: Vec<String> = grant.scopes.iter().map(ToString::to_string).collect();
        let mut caller = Caller::new(grant.subject.as_str(), scopes);
        caller.grant_limits = Some(Arc::new(GrantedLimits(grant)));
        Ok(caller)
    }

    /// Applies the limits of a verified token to a service.
    fn admit(&self, mut caller: Caller, service: &str) -> Result<Caller, Fault> {
        let Some(limits) = &caller.grant_limits else { return Ok(caller) };
        let rules = self.services.get(service).map(|access| &access.rules);
        if !limits.allows_service(service) {
            return Err(service_not_reached(service));
        }
        if !limits.restricts_goods() {
            caller.grant_limits = None;
        } else if rules.is_some_and(|rules| !rules.honours_grant_limits) {
            // The service would ignore the limit, so the token is refused.
            let message =
                format!("this token is limited to markets or SKUs, which {service} has none of");
            return Err(Fault::new(Kind::Forbidden, "limit_not_honoured", message));
        }
        Ok(caller)
    }
}

/// The caller with the scope that every caller has where reading is open.
fn with_read(mut caller: Caller) -> Caller {
    if !caller.may(Scope::Read) {
        let read = Scope::Read.as_str().to_owned();
        caller.scopes = caller.scopes.iter().cloned().chain([read]).collect();
    }
    caller
}

/// Whether a fault is about the credential, and not about a store that cannot be read.
fn concerns_credential(fault: &Fault) -> bool {
    matches!(fault.kind(), Kind::Unauthenticated | Kind::Forbidden)
}

fn service_not_reached(service: &str) -> Fault {
    let message = format!("this token is limited to other services than {service}");
    Fault::new(Kind::Forbidden, "service_not_reached", message)
}

/// The message for services with a sign-in tool, whose users cannot run `stoa token mint`.
fn sign_in() -> Fault {
    let message = "no token was given; log in with the tool arkiver_auth, or POST \
                   /api/arkiver/auth (action login, or register): over stdio and in an MCP session \
                   the other tools then work as they are, elsewhere send the token it gives in the \
                   header Authorization: Bearer, or as auth.token in _meta";
    Fault::new(Kind::Unauthenticated, "token_missing", message)
}

/// Adds to a refusal that users of a service with a sign-in tool can sign in.
fn with_sign_in_advice(fault: Fault) -> Fault {
    if fault.kind() != Kind::Unauthenticated {
        return fault;
    }
    let message = format!("{}, or log in with the tool arkiver_auth", fault.message());
    Fault::new(fault.kind(), fault.code(), message)
}

/// A server with a static HTTP token takes a token without our prefix for a wrong static token.
fn unknown_token() -> Fault {
    let message = "unknown token; this server takes the one it was set up with, or one minted with \
                   `stoa token mint --scope read`";
    Fault::new(Kind::Unauthenticated, "token_unknown", message)
}

#[async_trait]
impl Authenticator for AccessPolicy {
    async fn authenticate(&self, credential: &Credential, service: &str) -> Result<Caller, Fault> {
        self.authenticate_for(credential, service, Scope::Read).await
    }

    async fn authenticate_for(
        &self,
        credential: &Credential,
        service: &str,
        scope: Scope,
    ) -> Result<Caller, Fault> {
        let checked = self.check(credential, service, scope).await;
        if let (Some(access), Err(fault)) = (self.services.get(service), &checked) {
            access.metrics.record_fault(None, fault);
        }
        checked
    }

    async fn verify(&self, credential: &Credential) -> Result<Credential, Fault> {
        match credential {
            Credential::None if self.open => Ok(Credential::None),
            Credential::None => Err(token_missing(Some(Scope::Read.as_str()))),
            Credential::Bearer(token) => {
                let caller = self.verify_token(token).await?;
                Ok(Credential::Verified(VerifiedToken { token: Arc::clone(token), caller }))
            }
            Credential::Verified(_) => Ok(credential.clone()),
        }
    }

    async fn identify(&self, credential: &Credential, service: &str) -> Option<Caller> {
        self.check(credential, service, Scope::Open).await.ok()
    }

    fn expires_in(&self, credential: &Credential) -> Option<Duration> {
        let token = credential.token()?;
        // The unverified expiry is enough: it only schedules the next check.
        let expires_ms = inspect(token).ok()?.expires_at.saturating_mul(1000);
        let left = expires_ms.saturating_sub(self.clock.now().0).max(0);
        Some(Duration::from_millis(left.unsigned_abs()))
    }

    fn accepts_in_call_credentials(&self, service: &str) -> bool {
        // A service that takes the token as an argument, or has a sign-in tool, checks it in the
        // call.
        let in_call = |rules: &AccessRules| {
            rules.credential_argument.is_some()
                || (rules.requires_credential && rules.identifies_callers)
        };
        self.services.get(service).is_some_and(|access| in_call(&access.rules))
    }

    fn on_authorization(&self, service: &str, scope: Scope, denied: Option<&Fault>) {
        let Some(ServiceAccess { metrics, .. }) = self.services.get(service) else { return };
        match denied {
            None => metrics.record_ok(Some(scope.as_str())),
            Some(fault) => metrics.record_fault(Some(scope.as_str()), fault),
        }
    }
}

#[cfg(test)]
mod tests;

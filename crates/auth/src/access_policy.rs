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
    services: HashMap<String, ServiceAccess>,
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

/// Answers the handlers' questions about the limits of a grant.
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
            services: services.iter().map(access).collect(),
            authority,
            clock,
            http_token,
            open,
        }
    }

    async fn check(
        &self,
        credential: &Credential,
        service: &str,
        scope: Scope,
    ) -> Result<Caller, Fault> {
        let rules = self.services.get(service).map(|access| &access.rules);
        let closed = rules.is_some_and(|rules| rules.requires_credential);
        match credential {
            Credential::None if self.open && !closed => Ok(self.reader.clone()),
            Credential::None if rules.is_some_and(|rules| rules.identifies_callers) => {
                Err(sign_in())
            }
            Credential::None => Err(token_missing(Some(scope.as_str()))),
            Credential::Bearer(token) => {
                let caller = self.verify_token(token).await;
                let caller = caller.map_err(|fault| for_scope(fault, scope.as_str()))?;
                self.admit(caller, service)
            }
            Credential::Verified(verified) => self.admit(verified.caller.clone(), service),
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

    /// Applies the limits of a verified token to a service. A token limited to other services
    /// counts as no token.
    fn admit(&self, mut caller: Caller, service: &str) -> Result<Caller, Fault> {
        let Some(limits) = &caller.grant_limits else { return Ok(caller) };
        let rules = self.services.get(service).map(|access| &access.rules);
        if !limits.allows_service(service) {
            let closed = rules.is_some_and(|rules| rules.requires_credential);
            return match self.open && !closed {
                true => Ok(self.reader.clone()),
                false => Err(service_not_reached(service)),
            };
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

fn service_not_reached(service: &str) -> Fault {
    let message = format!("this token is limited to other services than {service}");
    Fault::new(Kind::Forbidden, "service_not_reached", message)
}

/// The message for services with a sign-in tool, whose users cannot run `stoa token mint`.
fn sign_in() -> Fault {
    let message = "no token was given; the tool auth gives one (action login, or register), for \
                   the header Authorization: Bearer, or for auth.token in _meta";
    Fault::new(Kind::Unauthenticated, "token_missing", message)
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
        // A service that takes the token as an argument, or has a sign-in tool, checks it in the call.
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
mod tests {
    use clock::SystemClock;

    use super::*;
    use crate::{Keyring, MemoryRevocations, MintRequest, ScopeSet, TokenLimits};

    /// A policy with an open service and a closed one that identifies its callers.
    fn access(open: bool) -> AccessPolicy {
        let authority =
            Authority::new(Keyring::generate().unwrap(), Arc::new(MemoryRevocations::new(16)));
        let closed = AccessRules {
            requires_credential: true,
            identifies_callers: true,
            ..AccessRules::default()
        };
        let service = |name: &str, rules: AccessRules| {
            (name.to_owned(), ServiceAccess { rules, metrics: Arc::new(AuthMetrics::new(name)) })
        };
        let services =
            HashMap::from([service("quotes", AccessRules::default()), service("archive", closed)]);
        AccessPolicy {
            services,
            ..AccessPolicy::new(
                Arc::new(authority),
                Arc::new(SystemClock),
                None,
                open,
                &[],
                &AccessCounters::default(),
            )
        }
    }

    fn token(access: &AccessPolicy, services: Option<&[&str]>) -> Credential {
        let service = services.map(|names| names.iter().map(|&name| name.to_owned()).collect());
        let request = MintRequest {
            subject: "ada".to_owned(),
            scopes: ScopeSet::parse("read,write").unwrap(),
            ttl: Duration::from_secs(60),
            limits: TokenLimits { service, ..TokenLimits::default() },
        };
        let now = access.clock.now().0 / 1000;
        Credential::Bearer(Arc::from(access.authority.mint(&request, now).unwrap().reveal()))
    }

    #[tokio::test]
    async fn a_token_counts_as_no_token_outside_its_services() {
        for (open, services, service, expected) in [
            (true, None, "quotes", Ok("ada")),
            (true, None, "archive", Ok("ada")),
            (true, Some(&["archive"][..]), "archive", Ok("ada")),
            (true, Some(&["archive"]), "quotes", Ok("anonymous")),
            (false, Some(&["archive"]), "quotes", Err("service_not_reached")),
            (true, Some(&["quotes"]), "archive", Err("service_not_reached")),
            (false, Some(&["quotes", "archive"]), "archive", Ok("ada")),
            (false, Some(&[]), "archive", Err("service_not_reached")),
        ] {
            let access = access(open);
            let presented = token(&access, services);
            // A token that was verified before is limited to its services all the same.
            let verified = access.verify(&presented).await.unwrap();
            assert!(matches!(verified, Credential::Verified(_)));
            for credential in [presented, verified] {
                let caller = access.authenticate(&credential, service).await;
                let caller = caller.map(|caller| caller.subject).map_err(|fault| fault.code());
                assert_eq!(caller.as_deref(), expected.as_deref(), "{open} {services:?} {service}");
            }
        }
    }

    #[tokio::test]
    async fn no_token_is_verified_only_where_anonymous_callers_may_read() {
        assert!(access(true).verify(&Credential::None).await.is_ok());
        assert!(access(false).verify(&Credential::None).await.is_err());
        let bad = Credential::Bearer(Arc::from("stoa1_bad"));
        assert!(access(true).verify(&bad).await.is_err());
    }

    #[tokio::test]
    async fn identifying_a_caller_is_not_counted_as_a_check() {
        let access = access(false);
        let bad = Credential::Bearer(Arc::from("stoa1_bad"));
        assert!(access.identify(&bad, "archive").await.is_none());
        assert!(access.identify(&Credential::None, "archive").await.is_none());
        let known = access.identify(&token(&access, None), "archive").await;
        assert_eq!(&*known.unwrap().subject, "ada");
        let failures = || access.services["archive"].metrics.snapshot().checks;
        assert_eq!(failures(), 0);
        assert!(access.authenticate(&bad, "archive").await.is_err());
        assert_eq!(failures(), 1);
    }

    #[test]
    fn a_service_with_a_sign_in_tool_accepts_credentials_in_the_call() {
        let access = access(false);
        assert!(
            access.accepts_in_call_credentials("archive")
                && !access.accepts_in_call_credentials("quotes")
        );
    }
}

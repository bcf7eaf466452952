//! Who may come in: the authenticator of the pipeline, over capability tokens and the static HTTP token.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use auth::{AuthMetrics, Authority, Grant, Secret, same_secret, token_missing};
use clock::Clock;
use contract::{AccessRules, Authenticator, Caller, Credential, GrantLimits, Scope, Service};
use fault::{Fault, Kind};

pub(crate) struct AccessPolicy {
    authority: Arc<Authority>,
    clock: Arc<dyn Clock>,
    /// The one token an operator may set for the whole server; it allows reading.
    http_token: Option<Secret>,
    /// Whether a caller without a credential may read.
    open: bool,
    reader: Caller,
    operator: Caller,
    services: HashMap<String, ServiceAccess>,
}

/// What the edge calls itself, which stands before all services.
const EDGE: &str = "mcp";

/// The way into one service.
struct ServiceAccess {
    rules: AccessRules,
    /// Counted for each service, because the pricing contract reports them for each.
    metrics: Arc<AuthMetrics>,
}

/// The counters of every service's door. They exist before the services do, which may report them.
#[derive(Default)]
pub(crate) struct AccessCounters(Mutex<HashMap<String, Arc<AuthMetrics>>>);

impl AccessCounters {
    pub(crate) fn of(&self, service: &str) -> Arc<AuthMetrics> {
        let mut counters = self.0.lock();
        let made = || Arc::new(AuthMetrics::new(service));
        Arc::clone(counters.entry(service.to_owned()).or_insert_with(made))
    }
}

/// The limits of a grant, as the handlers ask about them.
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
}

impl AccessPolicy {
    pub(crate) fn new(
        authority: Arc<Authority>,
        clock: Arc<dyn Clock>,
        http_token: Option<Secret>,
        open: bool,
        services: &[Service],
        counters: &AccessCounters,
    ) -> Self {
        let read: Arc<[String]> = Arc::from([Scope::Read.as_str().to_owned()]);
        let caller = |subject: &str| Caller::new(subject, Arc::clone(&read));
        let door = |service: &Service| {
            let metrics = counters.of(&service.name);
            (service.name.to_string(), ServiceAccess { rules: service.access.clone(), metrics })
        };
        Self {
            reader: caller("anonymous"),
            operator: caller("operator"),
            services: services.iter().map(door).collect(),
            authority,
            clock,
            http_token,
            open,
        }
    }

    async fn look(
        &self,
        credential: &Credential,
        service: &str,
        scope: Scope,
    ) -> Result<Caller, Fault> {
        let rules = self.services.get(service).map(|door| &door.rules);
        let closed = rules.is_some_and(|rules| rules.requires_credential);
        match credential {
            Credential::None if self.open && !closed => Ok(self.reader.clone()),
            Credential::None if rules.is_some_and(|rules| rules.identifies_callers) => {
                Err(sign_in())
            }
            Credential::None => Err(token_missing(Some(scope.as_str()))),
            Credential::Bearer(token) => {
                let set = self.http_token.as_ref();
                if set.is_some_and(|set| same_secret(token, set.reveal())) {
                    return Ok(self.operator.clone());
                }
                if set.is_some() && !token.starts_with(auth::TOKEN_PREFIX) {
                    return Err(unknown_token());
                }
                let grant = self.authority.verify(token, self.clock.now().0 / 1000).await?;
                // To the services outside its limit a token is nobody's. The edge only asks whether
                // it holds.
                if service != EDGE && !grant.limits.allow_service(service) {
                    return match self.open && !closed {
                        true => Ok(self.reader.clone()),
                        false => Err(service_not_reached(service)),
                    };
                }
                // A limit that a service does not honour must not be forgotten.
                let limited = grant.limits.market.is_some() || grant.limits.sku_prefix.is_some();
                if limited && rules.is_some_and(|rules| !rules.honours_grant_limits) {
                    return Err(Fault::new(
                        Kind::Forbidden,
                        "limit_not_honoured",
                        format!(
                            "this token is limited to markets or SKUs, which {service} has none of"
                        ),
                    ));
                }
                let scopes: Vec<String> = grant.scopes.iter().map(ToString::to_string).collect();
                let mut caller = Caller::new(grant.subject.as_str(), scopes);
                caller.grant_limits = limited.then(|| Arc::new(GrantedLimits(grant)) as _);
                Ok(caller)
            }
        }
    }
}

fn service_not_reached(service: &str) -> Fault {
    let message = format!("this token is limited to other services than {service}");
    Fault::new(Kind::Forbidden, "service_not_reached", message)
}

/// Where people sign in, they have no command line to mint a token at.
fn sign_in() -> Fault {
    let message = "no token was given; the tool auth gives one (action login, or register), for \
                   the header Authorization: Bearer, or for auth.token in _meta";
    Fault::new(Kind::Unauthenticated, "token_missing", message)
}

/// Where an operator has set a token of their own, what looks like none of ours was meant as that.
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
        let looked = self.look(credential, service, scope).await;
        if let (Some(door), Err(fault)) = (self.services.get(service), &looked) {
            door.metrics.record_fault(None, fault);
        }
        looked
    }

    async fn identify(&self, credential: &Credential, service: &str) -> Option<Caller> {
        self.look(credential, service, Scope::Open).await.ok()
    }

    fn expires_in(&self, credential: &Credential) -> Option<Duration> {
        let Credential::Bearer(token) = credential else { return None };
        // What the token says of itself will do: it only decides when to look at it again.
        let expires_ms = auth::inspect(token).ok()?.expires_at.saturating_mul(1000);
        let left = expires_ms.saturating_sub(self.clock.now().0).max(0);
        Some(Duration::from_millis(left.unsigned_abs()))
    }

    fn accepts_in_call_credentials(&self, service: &str) -> bool {
        // Who is known by an open tool, or shows a token in the call, must come as far as the call.
        let later = |rules: &AccessRules| {
            rules.credential_argument.is_some()
                || (rules.requires_credential && rules.identifies_callers)
        };
        self.services.get(service).is_some_and(|door| later(&door.rules))
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
    use auth::{Keyring, MemoryRevocations, MintRequest, ScopeSet, TokenLimits};
    use clock::SystemClock;

    use super::*;

    /// A house with an open service and a closed one that recognises its callers.
    fn access(open: bool) -> AccessPolicy {
        let authority =
            Authority::new(Keyring::generate().unwrap(), Arc::new(MemoryRevocations::new(16)));
        let closed = AccessRules {
            requires_credential: true,
            identifies_callers: true,
            ..AccessRules::default()
        };
        let door = |name: &str, rules: AccessRules| {
            (name.to_owned(), ServiceAccess { rules, metrics: Arc::new(AuthMetrics::new(name)) })
        };
        let services =
            HashMap::from([door("quotes", AccessRules::default()), door("archive", closed)]);
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
    async fn a_token_is_nobody_s_outside_its_services() {
        for (open, services, service, expected) in [
            (true, None, "quotes", Ok("ada")),
            (true, None, "archive", Ok("ada")),
            (true, Some(&["archive"][..]), "archive", Ok("ada")),
            (true, Some(&["archive"]), "quotes", Ok("anonymous")),
            (false, Some(&["archive"]), "quotes", Err("service_not_reached")),
            (true, Some(&["quotes"]), "archive", Err("service_not_reached")),
            (false, Some(&["quotes", "archive"]), "archive", Ok("ada")),
            (false, Some(&[]), "archive", Err("service_not_reached")),
            (false, Some(&["archive"]), EDGE, Ok("ada")),
        ] {
            let access = access(open);
            let told = access.authenticate(&token(&access, services), service).await;
            let told = told.map(|caller| caller.subject).map_err(|fault| fault.code());
            assert_eq!(told.as_deref(), expected.as_deref(), "{open} {services:?} {service}");
        }
    }

    #[tokio::test]
    async fn to_be_recognised_is_not_counted() {
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
    fn callers_of_a_service_that_recognises_them_may_show_who_they_are_later() {
        let access = access(false);
        assert!(
            access.accepts_in_call_credentials("archive")
                && !access.accepts_in_call_credentials("quotes")
        );
    }
}

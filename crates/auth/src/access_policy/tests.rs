//! Which caller each credential becomes, with and without a local user.

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

/// A token that is short of something, by its name in the rows.
async fn deficient(access: &AccessPolicy, which: &str) -> Credential {
    let limits = TokenLimits {
        market: (which == "limited").then(|| vec!["DE".to_owned()]),
        ..TokenLimits::default()
    };
    let scopes = if which == "narrow" { "propose" } else { "read,write" };
    let request = MintRequest {
        subject: "ada".to_owned(),
        scopes: ScopeSet::parse(scopes).unwrap(),
        ttl: Duration::from_secs(60),
        limits,
    };
    let now = access.clock.now().0 / 1000;
    let minted_at = if which == "expired" { now - 120 } else { now };
    let token = access.authority.mint(&request, minted_at).unwrap();
    if which == "revoked" {
        access.authority.revoke(token.reveal()).await.unwrap();
    }
    let revocations = Arc::new(MemoryRevocations::default());
    let forged = Authority::new(Keyring::generate().unwrap(), revocations);
    let token = match which {
        "forged" => forged.mint(&request, now).unwrap(),
        "malformed" => Secret::new("rubbish"),
        _ => token,
    };
    Credential::Bearer(Arc::from(token.reveal()))
}

/// What a deficient token gets: the subject with its scopes, or the code of the refusal.
async fn check(which: &str, open: bool, service: &str, scope: Scope, expected: &str) {
    let access = access(open);
    let credential = deficient(&access, which).await;
    let got = access.authenticate_for(&credential, service, scope).await;
    let got = match &got {
        Ok(caller) => format!("{} {}", caller.subject, caller.scopes.join(",")),
        Err(fault) => fault.code().to_owned(),
    };
    assert_eq!(got, expected, "{which} {open} {service} {scope:?}");
}

#[tokio::test]
async fn a_token_takes_nothing_away_that_is_open_without_one() {
    let refused = [
        ("expired", "token_expired"),
        ("revoked", "token_revoked"),
        ("forged", "token_signature"),
        ("malformed", "token_malformed"),
        ("limited", "limit_not_honoured"),
    ];
    for (which, code) in refused {
        check(which, true, "quotes", Scope::Read, "anonymous read").await;
        check(which, true, "quotes", Scope::Write, code).await;
        check(which, true, "archive", Scope::Read, code).await;
        check(which, false, "quotes", Scope::Read, code).await;
        check(which, false, "archive", Scope::Read, code).await;
    }
    check("narrow", true, "quotes", Scope::Read, "ada propose,read").await;
    check("narrow", true, "archive", Scope::Read, "ada propose").await;
    check("narrow", false, "quotes", Scope::Read, "ada propose").await;
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

struct Ann;

#[async_trait]
impl LocalUser for Ann {
    async fn caller(&self) -> Result<Caller, Fault> {
        Ok(Caller::new("ann", ["read", "write"].map(str::to_owned)))
    }

    fn is_account(&self, subject: &str) -> bool {
        subject.starts_with("user:")
    }
}

#[tokio::test]
async fn the_local_user_needs_no_token_where_users_log_in() {
    let access = access(true).with_local_user(Arc::new(Ann));
    let subject = async |credential: &Credential, service: &str| {
        let caller = access.authenticate_for(credential, service, Scope::Write).await;
        caller.map(|it| it.subject.to_string()).map_err(|fault| fault.code())
    };
    assert_eq!(subject(&Credential::None, "archive").await, Ok("ann".to_owned()));
    assert_eq!(subject(&Credential::None, "quotes").await, Err("token_missing"));
    // A token that was given counts, also one that is not valid.
    let bad = Credential::Bearer(Arc::from("stoa1_bad"));
    assert!(subject(&bad, "archive").await.is_err());
    // A token of other services takes nothing away; one that writes, or of an account, counts.
    for (token_subject, scopes, expected) in [
        ("shop", ["read", "propose"], "ann"),
        ("shop", ["read", "write"], "shop"),
        ("user:bob/1", ["read", "explain"], "user:bob/1"),
    ] {
        let caller = Caller::new(token_subject, scopes.map(str::to_owned));
        let token = Arc::from("stoa1_other");
        let verified = Credential::Verified(VerifiedToken { token, caller });
        assert_eq!(subject(&verified, "archive").await, Ok(expected.to_owned()), "{scopes:?}");
    }
}

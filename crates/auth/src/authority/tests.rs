//! Minting, verifying and revoking tokens, and the cache of verified tokens.

use std::sync::atomic::AtomicUsize;

use async_trait::async_trait;

use super::*;
use crate::revocation::MemoryRevocations;
use crate::token::{Narrowing, narrow};

const NOW: i64 = 1_700_000_000;

/// Counts the queries, to check what the cache saves.
#[derive(Default)]
struct CountingRevocations {
    inner: MemoryRevocations,
    queries: AtomicUsize,
}

#[async_trait]
impl Revocations for CountingRevocations {
    async fn contains_any(&self, ids: &[RevocationId]) -> Result<bool, Fault> {
        self.queries.fetch_add(1, Ordering::Relaxed);
        self.inner.contains_any(ids).await
    }

    async fn revoke(&self, id: RevocationId, expires_at: i64) -> Result<(), Fault> {
        self.inner.revoke(id, expires_at).await
    }
}

fn authority() -> (Authority, Arc<CountingRevocations>) {
    let revocations = Arc::new(CountingRevocations::default());
    (Authority::new(Keyring::generate().unwrap(), revocations.clone()), revocations)
}

fn request() -> MintRequest {
    MintRequest {
        subject: "ops".to_owned(),
        scopes: ScopeSet::parse("read,write").unwrap(),
        ttl: Duration::from_secs(60),
        limits: TokenLimits::default(),
    }
}

#[track_caller]
fn code<T>(result: Result<T, Fault>) -> &'static str {
    result.err().map_or("ok", |fault| fault.code())
}

#[tokio::test]
async fn a_minted_token_grants_what_was_requested_until_it_expires() {
    let (authority, _) = authority();
    let token = authority.mint(&request(), NOW).unwrap();
    let grant = authority.verify(token.reveal(), NOW).await.unwrap();
    assert_eq!((grant.subject.as_str(), grant.expires_at), ("ops", NOW + 60));
    assert_eq!((grant.id.len(), grant.chain.len()), (32, 1));
    assert!(grant.require("read").is_ok());
    let refused = grant.require("admin").unwrap_err();
    assert_eq!((refused.kind(), refused.code()), (fault::Kind::Forbidden, "scope_missing"));
    assert!(refused.message().contains("admin"));
    for (now, expected) in [(59, "ok"), (60, "token_expired"), (61, "token_expired"), (0, "ok")] {
        assert_eq!(code(authority.verify(token.reveal(), NOW + now).await), expected, "{now}");
    }
}

#[tokio::test]
async fn two_tokens_of_the_same_request_are_different() {
    let (authority, _) = authority();
    let one = authority.mint(&request(), NOW).unwrap();
    assert!(one != authority.mint(&request(), NOW).unwrap());
}

#[tokio::test]
async fn a_token_verifies_with_the_current_and_the_previous_key_only() {
    let folder = testkit::TempFolder::new();
    let none = Arc::new(MemoryRevocations::default());
    let before = Authority::new(Keyring::open(folder.path()).unwrap(), none.clone());
    let token = before.mint(&request(), NOW).unwrap();
    let after = Authority::new(Keyring::rotate(folder.path()).unwrap(), none.clone());
    assert_eq!(code(after.verify(token.reveal(), NOW).await), "ok");
    let fresh = after.mint(&request(), NOW).unwrap();
    assert_eq!(code(before.verify(fresh.reveal(), NOW).await), "token_signature");
    let later = Authority::new(Keyring::rotate(folder.path()).unwrap(), none);
    assert_eq!(code(later.verify(token.reveal(), NOW).await), "token_signature");
    assert_eq!(code(later.verify(fresh.reveal(), NOW).await), "ok");
}

#[tokio::test]
async fn revoking_ends_a_token_and_its_children_but_not_its_parent() {
    let (authority, _) = authority();
    let parent = authority.mint(&request(), NOW).unwrap();
    let child = narrow(parent.reveal(), &Narrowing::default()).unwrap();
    let note = Some("sibling".to_owned());
    let sibling = narrow(parent.reveal(), &Narrowing { note, ..Default::default() }).unwrap();
    let grandchild = narrow(child.reveal(), &Narrowing::default()).unwrap();
    let all = [&parent, &child, &sibling, &grandchild];
    for token in all {
        assert_eq!(code(authority.verify(token.reveal(), NOW).await), "ok");
    }
    let id = authority.revoke(child.reveal()).await.unwrap();
    assert_eq!(id, crate::inspect(child.reveal()).unwrap().revocation_id);
    let expected = ["ok", "token_revoked", "ok", "token_revoked"];
    for (token, expected) in all.into_iter().zip(expected) {
        assert_eq!(code(authority.verify(token.reveal(), NOW).await), expected);
    }
    authority.revoke(parent.reveal()).await.unwrap();
    for token in all {
        assert_eq!(code(authority.verify(token.reveal(), NOW).await), "token_revoked");
    }
}

#[tokio::test]
async fn a_token_with_a_foreign_signature_cannot_be_revoked() {
    let (authority, revocations) = authority();
    let (other, _) = self::authority();
    let foreign = other.mint(&request(), NOW).unwrap();
    assert_eq!(code(authority.revoke(foreign.reveal()).await), "token_signature");
    assert_eq!(code(authority.revoke("stoa1_x").await), "token_malformed");
    let id = crate::inspect(foreign.reveal()).unwrap().revocation_id;
    assert!(!revocations.contains_any(&[id]).await.unwrap());
}

#[tokio::test]
async fn revocations_are_checked_again_after_two_seconds_and_after_a_revocation() {
    let (authority, revocations) = authority();
    let token = authority.mint(&request(), NOW).unwrap();
    let other = authority.mint(&request(), NOW).unwrap();
    let steps = [(0, 1), (0, 1), (2, 1), (3, 2), (5, 2), (1, 3)];
    for (after, expected) in steps {
        authority.verify(token.reveal(), NOW + after).await.unwrap();
        assert_eq!(revocations.queries.load(Ordering::Relaxed), expected, "after {after} s");
    }
    authority.revoke(other.reveal()).await.unwrap();
    authority.verify(token.reveal(), NOW + 1).await.unwrap();
    assert_eq!(revocations.queries.load(Ordering::Relaxed), 4);

    // A revocation by another process takes effect after two seconds.
    let id = crate::inspect(token.reveal()).unwrap().revocation_id;
    revocations.revoke(id, NOW + 60).await.unwrap();
    assert_eq!(code(authority.verify(token.reveal(), NOW + 2).await), "ok");
    assert_eq!(code(authority.verify(token.reveal(), NOW + 4).await), "token_revoked");
}

#[tokio::test]
async fn bad_requests_are_refused_and_no_fault_shows_a_token() {
    let (authority, _) = authority();
    let mint = |change: fn(&mut MintRequest)| {
        let mut request = request();
        change(&mut request);
        code(authority.mint(&request, NOW))
    };
    assert_eq!(mint(|r| r.subject.clear()), "invalid_subject");
    assert_eq!(mint(|r| r.subject = "a\nb".to_owned()), "invalid_subject");
    assert_eq!(mint(|r| r.subject = "a".repeat(129)), "invalid_subject");
    assert_eq!(mint(|r| r.scopes = ScopeSet::default()), "invalid_scope");
    assert_eq!(mint(|r| r.ttl = Duration::from_millis(999)), "invalid_ttl");
    assert_eq!(mint(|r| r.ttl = Duration::MAX), "invalid_ttl");

    let token = authority.mint(&request(), NOW).unwrap();
    let cut = &token.reveal()[..token.reveal().len() - 4];
    let expired = authority.verify(token.reveal(), NOW + 99).await.unwrap_err();
    let malformed = authority.verify(cut, NOW).await.unwrap_err();
    for fault in [expired, malformed] {
        let shown = format!("{fault} {fault:?} {:?}", std::error::Error::source(&fault));
        assert!(!shown.contains(&cut[6..40]), "{shown}");
    }
    let grant = authority.verify(token.reveal(), NOW).await.unwrap();
    assert!(!format!("{grant:?} {token:?}").contains(&cut[6..40]));
}

//! The authority: mints, verifies and revokes tokens with the keys it holds.
//!
//! It reads no clock: every call that depends on the time takes it as a parameter.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use fault::Fault;

use crate::cache::{CachedGrant, Digest, GrantCache, digest};
use crate::faults::{token_expired, token_revoked};
use crate::grant::{Grant, TokenLimits};
use crate::keyring::Keyring;
use crate::revocation::{RevocationId, Revocations};
use crate::scope::ScopeSet;
use crate::secret::{Secret, to_hex};
use crate::token;
use crate::ttl::TTL_MAX;
use crate::wire::{LimitsBlock, RootBlock};

/// The most verified tokens in the cache.
const CACHE_CAPACITY: usize = 1024;
/// How long a cached token is not checked for revocation again. A revocation by this process takes
/// effect at once, one by another process after at most this many seconds.
const REVOCATION_AGE_MAX_S: i64 = 2;
/// The longest subject, in characters.
const SUBJECT_CHARS_MAX: usize = 128;

/// A request for a new token.
#[derive(Debug, Clone)]
pub struct MintRequest {
    /// Who the token is for; logs show it.
    pub subject: String,
    pub scopes: ScopeSet,
    pub ttl: Duration,
    pub limits: TokenLimits,
}

/// Mints, verifies and revokes tokens.
pub struct Authority {
    keys: Keyring,
    revocations: Arc<dyn Revocations>,
    /// The grants of verified tokens, so that the signature chain of a token is computed once.
    cache: GrantCache,
    /// Raised by each revocation by this process, so that every cached token is checked for revocation
    /// again.
    epoch: AtomicU64,
}

impl Authority {
    pub fn new(keys: Keyring, revocations: Arc<dyn Revocations>) -> Self {
        Self { keys, revocations, cache: GrantCache::new(CACHE_CAPACITY), epoch: AtomicU64::new(0) }
    }

    /// Mints a token that is valid from `now` (Unix seconds) on.
    pub fn mint(&self, request: &MintRequest, now: i64) -> Result<Secret, Fault> {
        let subject = &request.subject;
        let length = subject.chars().count();
        if length == 0 || length > SUBJECT_CHARS_MAX || subject.chars().any(char::is_control) {
            return Err(Fault::invalid(
                "invalid_subject",
                format!("a subject is 1 to {SUBJECT_CHARS_MAX} printable characters"),
            ));
        }
        if request.scopes.is_empty() {
            let message = "a token needs at least one scope, such as --scope read";
            return Err(Fault::invalid("invalid_scope", message));
        }
        let ttl = i64::try_from(request.ttl.as_secs()).ok().filter(|ttl| *ttl > 0);
        let Some(ttl) = ttl.filter(|_| request.ttl <= TTL_MAX) else {
            return Err(Fault::invalid("invalid_ttl", "a token lives from 1s to 3650d"));
        };
        let mut id = [0; 16];
        getrandom::fill(&mut id).map_err(Fault::internal)?;
        let root = RootBlock {
            id: to_hex(&id),
            subject: subject.clone(),
            scopes: request.scopes.iter().map(ToString::to_string).collect(),
            issued: now,
            expires: now.saturating_add(ttl),
            limits: LimitsBlock::from_limits(&request.limits),
        };
        token::mint(self.keys.current(), &root)
    }

    /// Checks signature, expiry and revocation, in that order, and returns what the token allows.
    pub async fn verify(&self, token: &str, now: i64) -> Result<Arc<Grant>, Fault> {
        let digest = digest(token);
        let epoch = self.epoch.load(Ordering::Acquire);
        let cached = self.cache.get(&digest);
        let revocations_are_fresh = cached.as_ref().is_some_and(|entry| {
            entry.epoch == epoch
                && (0..=REVOCATION_AGE_MAX_S)
                    .contains(&now.saturating_sub(entry.revocations_checked_at))
        });
        let grant = match cached {
            Some(entry) => entry.grant,
            None => Arc::new(self.verify_signature(token)?),
        };
        if now >= grant.expires_at {
            self.cache.remove(&digest);
            return Err(token_expired(now.saturating_sub(grant.expires_at)));
        }
        if !revocations_are_fresh {
            self.check_revocations(digest, &grant, now, epoch).await?;
        }
        Ok(grant)
    }

    /// Revokes this token and everything narrowed from it, also if it has expired. A token with a
    /// wrong signature is refused, so that a caller cannot fill the store with invented ids.
    pub async fn revoke(&self, token: &str) -> Result<RevocationId, Fault> {
        let grant = self.verify_signature(token)?;
        let Some(&id) = grant.chain.last() else {
            return Err(Fault::internal("a verified token has no block"));
        };
        self.revoke_id(id, grant.expires_at).await?;
        Ok(id)
    }

    /// Revokes a token by its id, without the token.
    pub async fn revoke_id(&self, id: RevocationId, expires_at: i64) -> Result<(), Fault> {
        self.revocations.revoke(id, expires_at).await?;
        self.epoch.fetch_add(1, Ordering::Release);
        Ok(())
    }

    async fn check_revocations(
        &self,
        digest: Digest,
        grant: &Arc<Grant>,
        now: i64,
        epoch: u64,
    ) -> Result<(), Fault> {
        if self.revocations.contains_any(&grant.chain).await? {
            self.cache.remove(&digest);
            return Err(token_revoked());
        }
        self.cache.put(
            digest,
            CachedGrant { grant: Arc::clone(grant), revocations_checked_at: now, epoch },
        );
        Ok(())
    }

    /// Verifies the signature chain, then reads the blocks: an unsigned block is never parsed.
    fn verify_signature(&self, token: &str) -> Result<Grant, Fault> {
        let frames = token::decode(token)?;
        let chain = match (token::verify_chain(&frames, self.keys.current()), self.keys.previous())
        {
            (Err(_), Some(previous)) => token::verify_chain(&frames, previous)?,
            (checked, _) => checked?,
        };
        let claims = frames.claims()?;
        Ok(Grant {
            id: claims.id,
            subject: claims.subject,
            scopes: claims.scopes,
            expires_at: claims.expires_at,
            limits: claims.limits,
            chain,
        })
    }
}

#[cfg(test)]
mod tests;

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

/// Verified tokens kept at once.
const CACHE_CAPACITY: usize = 1024;
/// For how long a cached answer of the revocations is believed. A revocation made by this process
/// counts at once; one made by another process counts after at most this many seconds.
const REVOCATION_AGE_MAX_S: i64 = 2;
/// Longest subject, in characters.
const SUBJECT_MAX: usize = 128;

#[derive(Debug, Clone)]
pub struct MintRequest {
    /// Whom the token is for; shown in logs.
    pub subject: String,
    pub scopes: ScopeSet,
    pub ttl: Duration,
    pub limits: TokenLimits,
}

pub struct Authority {
    keys: Keyring,
    revocations: Arc<dyn Revocations>,
    /// Grants already verified, so that a client's every call does not cost a signature chain.
    cache: GrantCache,
    /// Raised by each revocation, which makes every cached grant ask again.
    epoch: AtomicU64,
}

impl Authority {
    pub fn new(keys: Keyring, revocations: Arc<dyn Revocations>) -> Self {
        Self { keys, revocations, cache: GrantCache::new(CACHE_CAPACITY), epoch: AtomicU64::new(0) }
    }

    pub fn mint(&self, request: &MintRequest, now: i64) -> Result<Secret, Fault> {
        let subject = &request.subject;
        let length = subject.chars().count();
        if length == 0 || length > SUBJECT_MAX || subject.chars().any(char::is_control) {
            return Err(Fault::invalid(
                "invalid_subject",
                format!("a subject is 1 to {SUBJECT_MAX} printable characters"),
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

    /// Checks signature, expiry and revocation, in that order, and says what the token allows.
    pub async fn verify(&self, token: &str, now: i64) -> Result<Arc<Grant>, Fault> {
        let digest = digest(token);
        let epoch = self.epoch.load(Ordering::Acquire);
        let cached = self.cache.get(&digest);
        let fresh = cached.as_ref().is_some_and(|entry| {
            entry.epoch == epoch
                && (0..=REVOCATION_AGE_MAX_S).contains(&now.saturating_sub(entry.asked_at))
        });
        let grant = match cached {
            Some(entry) => entry.grant,
            None => Arc::new(self.read(token)?),
        };
        if now >= grant.expires_at {
            self.cache.remove(&digest);
            return Err(token_expired(now.saturating_sub(grant.expires_at)));
        }
        if !fresh {
            self.ask_revocations(digest, &grant, now, epoch).await?;
        }
        Ok(grant)
    }

    /// Revokes this token and everything narrowed from it, also if it has expired. A token with a
    /// wrong signature is refused, so that a caller cannot fill the store with invented ids.
    pub async fn revoke(&self, token: &str) -> Result<RevocationId, Fault> {
        let grant = self.read(token)?;
        let Some(&id) = grant.chain.last() else {
            return Err(Fault::internal("a verified token without a level"));
        };
        self.revoke_id(id, grant.expires_at).await?;
        Ok(id)
    }

    /// Revokes by id, for when the token itself is not at hand.
    pub async fn revoke_id(&self, id: RevocationId, expires_at: i64) -> Result<(), Fault> {
        self.revocations.revoke(id, expires_at).await?;
        self.epoch.fetch_add(1, Ordering::Release);
        Ok(())
    }

    async fn ask_revocations(
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
        self.cache.put(digest, CachedGrant { grant: Arc::clone(grant), asked_at: now, epoch });
        Ok(())
    }

    /// The signature comes first: no byte of an unsigned block is interpreted.
    fn read(&self, token: &str) -> Result<Grant, Fault> {
        let frames = token::decode(token)?;
        let chain = match (token::check(&frames, self.keys.current()), self.keys.previous()) {
            (Err(_), Some(previous)) => token::check(&frames, previous)?,
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

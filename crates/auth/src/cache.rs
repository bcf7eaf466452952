//! A bounded cache of verified tokens: the second call of a client computes one digest instead of a
//! signature chain, and queries no revocations. Refused tokens are not cached.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

use crate::grant::Grant;
use crate::secret::sha256;

/// The digest of a token's text, so that the cache contains no token.
pub(crate) type Digest = [u8; 32];

pub(crate) fn digest(token: &str) -> Digest {
    sha256(token.as_bytes())
}

#[derive(Clone)]
pub(crate) struct CachedGrant {
    pub(crate) grant: Arc<Grant>,
    /// When the token was last checked for revocation, in Unix seconds.
    pub(crate) revocations_checked_at: i64,
    /// The authority's epoch before that check.
    pub(crate) epoch: u64,
}

/// A cache of two generations. When the young generation is full it becomes the old one, and the
/// entries of the old one that were not used since then are dropped. Every operation takes constant
/// time, and the cache never exceeds its capacity.
pub(crate) struct GrantCache {
    generations: Mutex<Generations>,
    generation_capacity: usize,
}

#[derive(Default)]
struct Generations {
    young: HashMap<Digest, CachedGrant>,
    old: HashMap<Digest, CachedGrant>,
}

impl GrantCache {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { generations: Mutex::default(), generation_capacity: (capacity / 2).max(1) }
    }

    pub(crate) fn get(&self, digest: &Digest) -> Option<CachedGrant> {
        let mut generations = self.generations.lock();
        if let Some(entry) = generations.young.get(digest) {
            return Some(entry.clone());
        }
        let entry = generations.old.remove(digest)?;
        generations.insert(*digest, entry.clone(), self.generation_capacity);
        Some(entry)
    }

    pub(crate) fn put(&self, digest: Digest, entry: CachedGrant) {
        let mut generations = self.generations.lock();
        generations.insert(digest, entry, self.generation_capacity);
    }

    pub(crate) fn remove(&self, digest: &Digest) {
        let mut generations = self.generations.lock();
        generations.young.remove(digest);
        generations.old.remove(digest);
    }
}

impl Generations {
    fn insert(&mut self, digest: Digest, entry: CachedGrant, capacity: usize) {
        if self.young.len() >= capacity && !self.young.contains_key(&digest) {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(digest, entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grant::TokenLimits;
    use crate::scope::ScopeSet;

    fn entry() -> CachedGrant {
        let grant = Grant {
            id: String::new(),
            subject: String::new(),
            scopes: ScopeSet::default(),
            expires_at: 0,
            limits: TokenLimits::default(),
            chain: Vec::new(),
        };
        CachedGrant { grant: Arc::new(grant), revocations_checked_at: 0, epoch: 0 }
    }

    #[test]
    fn the_cache_stays_within_its_capacity_and_keeps_used_entries() {
        let cache = GrantCache::new(8);
        let used = digest("used");
        cache.put(used, entry());
        for number in 0..100 {
            cache.put(digest(&number.to_string()), entry());
            assert!(cache.get(&used).is_some(), "forgotten after {number}");
            let generations = cache.generations.lock();
            assert!(generations.young.len() + generations.old.len() <= 8);
        }
        assert!(cache.get(&digest("0")).is_none());
        cache.remove(&used);
        assert!(cache.get(&used).is_none());
    }
}

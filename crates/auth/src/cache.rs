//! A bounded memory of verified tokens, so that the second call of a client costs one digest
//! instead of a signature chain and a look at the revocations. Refusals are never kept.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

use crate::grant::Grant;
use crate::secret::sha256;

/// Digest of a token's text: the cache keeps no token.
pub(crate) type Digest = [u8; 32];

pub(crate) fn digest(token: &str) -> Digest {
    sha256(token.as_bytes())
}

#[derive(Clone)]
pub(crate) struct CachedGrant {
    pub(crate) grant: Arc<Grant>,
    /// When the revocations were last asked, in Unix seconds.
    pub(crate) asked_at: i64,
    /// The authority's epoch before they were asked.
    pub(crate) epoch: u64,
}

/// Two generations: the young one fills, then becomes the old one, and what was not asked for
/// since then is forgotten with it. Every operation is constant time and the bound is exact.
pub(crate) struct GrantCache {
    generations: Mutex<Generations>,
    half: usize,
}

#[derive(Default)]
struct Generations {
    young: HashMap<Digest, CachedGrant>,
    old: HashMap<Digest, CachedGrant>,
}

impl GrantCache {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { generations: Mutex::default(), half: (capacity / 2).max(1) }
    }

    pub(crate) fn get(&self, digest: &Digest) -> Option<CachedGrant> {
        let mut generations = self.generations.lock();
        if let Some(entry) = generations.young.get(digest) {
            return Some(entry.clone());
        }
        let entry = generations.old.remove(digest)?;
        generations.insert(*digest, entry.clone(), self.half);
        Some(entry)
    }

    pub(crate) fn put(&self, digest: Digest, entry: CachedGrant) {
        let mut generations = self.generations.lock();
        generations.insert(digest, entry, self.half);
    }

    pub(crate) fn remove(&self, digest: &Digest) {
        let mut generations = self.generations.lock();
        generations.young.remove(digest);
        generations.old.remove(digest);
    }
}

impl Generations {
    fn insert(&mut self, digest: Digest, entry: CachedGrant, half: usize) {
        if self.young.len() >= half && !self.young.contains_key(&digest) {
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
        CachedGrant { grant: Arc::new(grant), asked_at: 0, epoch: 0 }
    }

    #[test]
    fn it_stays_within_its_bound_and_keeps_what_is_used() {
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

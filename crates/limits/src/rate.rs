//! The rate limiter: one token bucket per client, for a bounded number of clients.

mod bucket;

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};

pub use self::bucket::{Bucket, Quota};
use crate::ClientAddress;

const SHARDS: usize = 16;
/// How many buckets an insertion into a full shard compares before it evicts one.
const EVICTION_CANDIDATES: usize = 8;

/// A rate as it is configured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateLimit {
    /// How many requests may come at once; zero turns the limit off.
    pub burst: u32,
    /// How many further requests each second allows; zero, negative or not finite turns the limit off.
    pub per_second: f64,
}

/// The decision about one request, with the values of the `RateLimit` and `Retry-After` headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Admission {
    /// Whether the request may go on.
    pub allowed: bool,
    /// The burst; zero when there is no limit.
    pub limit: u32,
    /// How many more requests would be allowed right now.
    pub remaining: u32,
    /// How long until the bucket is full again.
    pub reset_after: Duration,
    /// How long until the next request is allowed; `None` unless this one was refused.
    pub retry_after: Option<Duration>,
}

/// Refuses a client that sends too many requests.
pub struct RateLimiter<K = ClientAddress> {
    /// `None` when there is no limit.
    quota: Option<Quota>,
    shards: Vec<Mutex<Shard<K>>>,
    shard_capacity: usize,
    hasher: RandomState,
}

struct Shard<K> {
    /// Positions in `buckets`.
    positions: HashMap<K, usize>,
    buckets: Vec<(K, Bucket)>,
    /// Where the next search for a bucket to evict begins.
    evict_from: usize,
}

impl<K: Eq + Hash + Clone> RateLimiter<K> {
    /// Remembers at most about `capacity` clients (rounded up to a multiple of 16).
    #[must_use]
    pub fn new(limit: RateLimit, capacity: usize) -> Self {
        Self {
            quota: Quota::new(limit),
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            shard_capacity: capacity.div_ceil(SHARDS).max(1),
            hasher: RandomState::new(),
        }
    }

    /// Takes one request out of the client's bucket, if one is left. `now_ns` is monotonic.
    pub fn check(&self, client: &K, now_ns: u64) -> Admission {
        let Some(quota) = &self.quota else {
            return Admission {
                allowed: true,
                limit: 0,
                remaining: u32::MAX,
                reset_after: Duration::ZERO,
                retry_after: None,
            };
        };
        let mut shard = self.shard(client);
        let bucket = shard.bucket(client, now_ns, self.shard_capacity);
        let taken = bucket.take(quota, now_ns);
        Admission {
            allowed: taken.is_ok(),
            limit: quota.burst(),
            remaining: bucket.remaining(quota, now_ns),
            reset_after: bucket.reset_after(quota, now_ns),
            retry_after: taken.err(),
        }
    }

    fn shard(&self, client: &K) -> MutexGuard<'_, Shard<K>> {
        let hash = self.hasher.hash_one(client);
        let at = usize::try_from(hash % SHARDS as u64).unwrap_or_default();
        self.shards[at].lock()
    }
}

impl<K> Default for Shard<K> {
    fn default() -> Self {
        Self { positions: HashMap::new(), buckets: Vec::new(), evict_from: 0 }
    }
}

impl<K: Eq + Hash + Clone> Shard<K> {
    fn bucket(&mut self, client: &K, now_ns: u64, capacity: usize) -> &mut Bucket {
        let at = match self.positions.get(client) {
            Some(&at) => at,
            None => self.insert(client, now_ns, capacity),
        };
        &mut self.buckets[at].1
    }

    fn insert(&mut self, client: &K, now_ns: u64, capacity: usize) -> usize {
        let entry = (client.clone(), Bucket::full(now_ns));
        let at = if self.buckets.len() < capacity {
            self.buckets.push(entry);
            self.buckets.len() - 1
        } else {
            let at = self.position_to_evict();
            self.positions.remove(&self.buckets[at].0);
            self.buckets[at] = entry;
            at
        };
        self.positions.insert(client.clone(), at);
        at
    }

    /// The position of the fullest of the next 8 buckets: evicting a full bucket loses nothing, and
    /// comparing only 8 keeps the cost of a flood of new clients constant.
    fn position_to_evict(&mut self) -> usize {
        let count = self.buckets.len();
        let from = self.evict_from;
        self.evict_from = (from + EVICTION_CANDIDATES) % count;
        (from..from + EVICTION_CANDIDATES.min(count))
            .map(|at| at % count)
            .min_by_key(|&at| self.buckets[at].1)
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;

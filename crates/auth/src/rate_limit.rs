//! Rate limits: a token bucket for each client, for a bounded number of clients.
//!
//! A bucket is kept as one number, the moment at which it will be full again (the generic cell rate
//! algorithm), so a check is one lookup and a few integer operations. It reads no clock: the caller
//! passes monotonic nanoseconds.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::time::Duration;

use crate::secret::{sha256, to_hex};

const SHARDS: usize = 16;
/// How many buckets an insertion into a full shard looks at before it picks one to forget.
const EVICTION_LOOKS: usize = 8;
/// A longer name is replaced by its digest, so that clients cannot choose how much we remember.
const NAME_MAX: usize = 64;
const SECOND: f64 = 1e9;

/// Who is counted together.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ClientId(ClientIdKind);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum ClientIdKind {
    V4([u8; 4]),
    /// The first 64 bits: one subscriber usually holds all addresses behind them.
    V6([u8; 8]),
    Name(Box<str>),
}

impl ClientId {
    pub fn named(name: &str) -> Self {
        if name.len() <= NAME_MAX {
            return Self(ClientIdKind::Name(name.into()));
        }
        Self(ClientIdKind::Name(to_hex(&sha256(name.as_bytes())).into()))
    }
}

impl From<IpAddr> for ClientId {
    fn from(address: IpAddr) -> Self {
        // An IPv4 client of a dual-stack socket shows up as ::ffff:a.b.c.d.
        match address.to_canonical() {
            IpAddr::V4(address) => Self(ClientIdKind::V4(address.octets())),
            IpAddr::V6(address) => {
                let [network @ .., _, _, _, _, _, _, _, _] = address.octets();
                Self(ClientIdKind::V6(network))
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateLimit {
    /// How many requests may come at once.
    pub burst: u32,
    /// How many come back each second; zero (or nonsense) turns the limit off.
    pub per_second: f64,
}

/// The answer to one request, with what the `RateLimit` and `Retry-After` headers say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Admission {
    pub allowed: bool,
    /// The burst; zero when there is no limit.
    pub limit: u32,
    /// How many more requests would be allowed right now.
    pub remaining: u32,
    /// Until the bucket is full again.
    pub reset_after: Duration,
    /// Until the next request is allowed; only after a refusal.
    pub retry_after: Option<Duration>,
}

pub struct RateLimiter {
    burst: u32,
    /// Nanoseconds for one request to come back; `None` when there is no limit.
    interval: Option<u64>,
    shards: Vec<Mutex<Shard>>,
    shard_capacity: usize,
    hasher: RandomState,
}

#[derive(Default)]
struct Shard {
    slots: HashMap<ClientId, usize>,
    buckets: Vec<Bucket>,
    /// Where the next search for a bucket to forget begins.
    hand: usize,
}

struct Bucket {
    client: ClientId,
    /// The moment at which the bucket is full again; in the past for a full one.
    full_at: u64,
}

impl RateLimiter {
    /// Remembers at most about `capacity` clients (rounded up to a multiple of the shards).
    pub fn new(limit: RateLimit, capacity: usize) -> Self {
        let enabled = limit.per_second.is_finite() && limit.per_second > 0.0 && limit.burst > 0;
        Self {
            burst: limit.burst,
            interval: enabled.then(|| interval_ns(limit)),
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            shard_capacity: capacity.div_ceil(SHARDS).max(1),
            hasher: RandomState::new(),
        }
    }

    /// Takes one request out of the client's bucket, if there is one left.
    pub fn check(&self, client: &ClientId, now_ns: u64) -> Admission {
        let Some(interval) = self.interval else {
            return Admission {
                allowed: true,
                limit: 0,
                remaining: u32::MAX,
                reset_after: Duration::ZERO,
                retry_after: None,
            };
        };
        let whole = interval.saturating_mul(u64::from(self.burst));
        let mut shard = self.shard(client);
        let bucket = shard.bucket(client, now_ns, self.shard_capacity);
        let owed = bucket.full_at.saturating_sub(now_ns);
        let owed_after = owed.saturating_add(interval);
        let allowed = owed_after <= whole;
        let owed = if allowed { owed_after } else { owed };
        bucket.full_at = now_ns.saturating_add(owed);
        let left = whole.saturating_sub(owed) / interval;
        Admission {
            allowed,
            limit: self.burst,
            remaining: u32::try_from(left).unwrap_or(u32::MAX),
            reset_after: Duration::from_nanos(owed),
            retry_after: (!allowed).then(|| Duration::from_nanos(owed_after - whole)),
        }
    }

    fn shard(&self, client: &ClientId) -> parking_lot::MutexGuard<'_, Shard> {
        let hash = self.hasher.hash_one(client);
        let at = usize::try_from(hash % SHARDS as u64).unwrap_or_default();
        self.shards[at].lock()
    }
}

fn interval_ns(limit: RateLimit) -> u64 {
    // A year per request is as good as never and leaves room to multiply by any burst.
    (SECOND / limit.per_second).clamp(1.0, 365.0 * 86_400.0 * SECOND) as u64
}

impl Shard {
    fn bucket(&mut self, client: &ClientId, now_ns: u64, capacity: usize) -> &mut Bucket {
        let slot = match self.slots.get(client) {
            Some(&slot) => slot,
            None => self.insert(client, now_ns, capacity),
        };
        &mut self.buckets[slot]
    }

    fn insert(&mut self, client: &ClientId, now_ns: u64, capacity: usize) -> usize {
        let bucket = Bucket { client: client.clone(), full_at: now_ns };
        let slot = if self.buckets.len() < capacity {
            self.buckets.push(bucket);
            self.buckets.len() - 1
        } else {
            let slot = self.fullest();
            self.slots.remove(&self.buckets[slot].client);
            self.buckets[slot] = bucket;
            slot
        };
        self.slots.insert(client.clone(), slot);
        slot
    }

    /// The bucket whose loss matters least among the next few: a full one loses nothing. Looking at
    /// a few keeps the cost of a flood of new clients constant.
    fn fullest(&mut self) -> usize {
        let count = self.buckets.len();
        let from = self.hand;
        self.hand = (self.hand + EVICTION_LOOKS) % count;
        (from..from + EVICTION_LOOKS.min(count))
            .map(|at| at % count)
            .min_by_key(|&at| self.buckets[at].full_at)
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;

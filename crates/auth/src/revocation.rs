//! Revocation ids, and the stores of revoked ids.

mod sql;

use parking_lot::Mutex;
use std::collections::HashMap;
use std::fmt;

use async_trait::async_trait;
use fault::{Fault, Kind};

pub use sql::{MIGRATIONS, SqlRevocations};

use crate::secret::{from_hex, sha256, to_hex};

/// Names one block of a token's chain without revealing its signature. A narrowed token has the ids of
/// all tokens it was narrowed from, so revoking a token revokes all tokens narrowed from it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RevocationId([u8; 16]);

impl RevocationId {
    pub(crate) fn of_signature(signature: &[u8; 32]) -> Self {
        let [id @ .., _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _] = sha256(signature);
        Self(id)
    }

    /// Parses the 32 hexadecimal digits that `Display` writes.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        from_hex(text).map(Self).ok_or_else(|| {
            Fault::invalid("invalid_revocation_id", "a revocation id is 32 hexadecimal digits")
        })
    }

    pub fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl fmt::Display for RevocationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&to_hex(&self.0))
    }
}

impl fmt::Debug for RevocationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RevocationId({self})")
    }
}

/// Where revoked ids are stored: in SQL, or in memory for tests.
#[async_trait]
pub trait Revocations: Send + Sync {
    /// Whether any of these ids was revoked.
    async fn contains_any(&self, ids: &[RevocationId]) -> Result<bool, Fault>;

    /// Stores `id` at least until `expires_at` (Unix seconds), when its token expires.
    async fn revoke(&self, id: RevocationId, expires_at: i64) -> Result<(), Fault>;
}

/// Revocations in memory, which end with the process; for tests.
#[derive(Debug)]
pub struct MemoryRevocations {
    revoked: Mutex<HashMap<RevocationId, i64>>,
    capacity: usize,
}

impl MemoryRevocations {
    pub fn new(capacity: usize) -> Self {
        Self { revoked: Mutex::default(), capacity }
    }

    /// Removes the ids of expired tokens.
    pub fn delete_expired(&self, now: i64) {
        self.revoked.lock().retain(|_, expires_at| *expires_at > now);
    }
}

impl Default for MemoryRevocations {
    fn default() -> Self {
        Self::new(65_536)
    }
}

#[async_trait]
impl Revocations for MemoryRevocations {
    async fn contains_any(&self, ids: &[RevocationId]) -> Result<bool, Fault> {
        let revoked = self.revoked.lock();
        Ok(ids.iter().any(|id| revoked.contains_key(id)))
    }

    async fn revoke(&self, id: RevocationId, expires_at: i64) -> Result<(), Fault> {
        let mut revoked = self.revoked.lock();
        // Dropping an older revocation would make its token valid again, so a full list refuses.
        if revoked.len() >= self.capacity && !revoked.contains_key(&id) {
            return Err(Fault::new(
                Kind::Unavailable,
                "revocations_full",
                format!(
                    "{} tokens are revoked already; this list has no room for more",
                    self.capacity
                ),
            ));
        }
        let stored = revoked.entry(id).or_insert(expires_at);
        *stored = (*stored).max(expires_at);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(byte: u8) -> RevocationId {
        RevocationId([byte; 16])
    }

    #[tokio::test]
    async fn a_full_list_refuses_new_ids_and_drops_only_expired_ones() {
        let revocations = MemoryRevocations::new(2);
        revocations.revoke(id(1), 10).await.unwrap();
        revocations.revoke(id(2), 20).await.unwrap();
        revocations.revoke(id(2), 15).await.unwrap();
        let refused = revocations.revoke(id(3), 30).await.unwrap_err();
        assert_eq!(refused.code(), "revocations_full");
        revocations.delete_expired(10);
        assert!(!revocations.contains_any(&[id(1)]).await.unwrap());
        revocations.delete_expired(19);
        assert!(revocations.contains_any(&[id(1), id(2)]).await.unwrap());
        revocations.revoke(id(3), 30).await.unwrap();
    }

    #[test]
    fn ids_are_written_and_read_in_hexadecimal() {
        let written = RevocationId::of_signature(&[7; 32]).to_string();
        assert_eq!(RevocationId::parse(&written).unwrap().to_string(), written);
        assert!(RevocationId::parse("abc").is_err());
    }
}

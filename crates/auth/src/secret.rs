//! Secret texts, their comparison, and the HMAC and hash functions of this crate.

use std::fmt;

use data_encoding::HEXLOWER;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

/// A token or password. It has no `Display`, and its `Debug` hides the text; only `reveal` returns
/// it, so that a search for that name finds every use.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(***)")
    }
}

/// Whether two secrets are the same. Compares their digests in constant time, so the time reveals
/// neither where they differ nor the length of the expected one.
pub fn same_secret(given: &str, expected: &str) -> bool {
    let given = Sha256::digest(given.as_bytes());
    let expected = Sha256::digest(expected.as_bytes());
    let mac = hmac_with_key(&[0; 32]).chain_update(given);
    mac.verify_slice(&sign(&[0; 32], &expected)).is_ok()
}

/// An HMAC-SHA256 with this key. HMAC pads a key that is shorter than its block with zeros; padding it
/// here gives the same result and cannot fail.
pub(crate) fn hmac_with_key(key: &[u8; 32]) -> Hmac<Sha256> {
    let mut block = [0_u8; 64];
    block[..32].copy_from_slice(key);
    Hmac::new(&block.into())
}

pub(crate) fn sign(key: &[u8; 32], data: &[u8]) -> [u8; 32] {
    hmac_with_key(key).chain_update(data).finalize().into_bytes().into()
}

pub(crate) fn sha256(data: &[u8]) -> [u8; 32] {
    Sha256::digest(data).into()
}

pub(crate) fn to_hex(bytes: &[u8]) -> String {
    HEXLOWER.encode(bytes)
}

/// Decodes exactly `N` bytes of lower-case hexadecimal.
pub(crate) fn from_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    HEXLOWER.decode(text.as_bytes()).ok()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hmac_matches_the_published_vector() {
        // RFC 4231, test case 2; its key is shorter than 32 bytes and padded by definition.
        let mut key = [0; 32];
        key[..4].copy_from_slice(b"Jefe");
        assert_eq!(
            to_hex(&sign(&key, b"what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
    }

    #[test]
    fn secrets_compare_by_value_and_debug_hides_them() {
        assert!(same_secret("hunter2", "hunter2"));
        for other in ["", "hunter", "hunter22", "Hunter2"] {
            assert!(!same_secret(other, "hunter2"), "{other:?}");
        }
        assert_eq!(format!("{:?}", Secret::new("hunter2")), "Secret(***)");
    }

    #[test]
    fn hexadecimal_is_written_and_read_back() {
        assert_eq!(from_hex::<3>(&to_hex(&[0, 0x5f, 0xff])), Some([0, 0x5f, 0xff]));
        for bad in ["", "00", "00ff0", "00FF00", "00fg00", "00ffé"] {
            assert_eq!(from_hex::<3>(bad), None, "{bad:?}");
        }
    }
}

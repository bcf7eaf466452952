//! Refresh tokens: 32 random bytes, shown once. Only the hash is stored.

use auth::Secret;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use fault::Fault;
use sha2::{Digest as _, Sha256};

/// Ends with `stoa1_`, the prefix by which the logs mask tokens.
const PREFIX: &str = "refresh_stoa1_";
const RANDOM_BYTES: usize = 32;
const TOKEN_LENGTH: usize = PREFIX.len() + (RANDOM_BYTES * 4).div_ceil(3);

pub(crate) fn new_token() -> Result<Secret, Fault> {
    let mut random = [0_u8; RANDOM_BYTES];
    getrandom::fill(&mut random).map_err(Fault::internal)?;
    Ok(Secret::new(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(random))))
}

/// The stored form of a token; `None` for a text that cannot be one. No salt and no slow hash: a
/// random token cannot be guessed.
pub(crate) fn hash(token: &str) -> Option<String> {
    let token = token.trim();
    if token.len() != TOKEN_LENGTH || !token.starts_with(PREFIX) {
        return None;
    }
    Some(URL_SAFE_NO_PAD.encode(Sha256::digest(token.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_differ_and_are_found_by_their_hash() {
        let (one, two) = (new_token().unwrap(), new_token().unwrap());
        assert_ne!(one, two);
        assert!(hash(one.reveal()).is_some_and(|hash| hash.len() == 43));
        assert_ne!(hash(one.reveal()), hash(two.reveal()));
        assert_eq!(hash(&format!("{}\n", one.reveal())), hash(one.reveal()));
        for bad in ["", PREFIX, &one.reveal()[1..], &format!("{}x", one.reveal())] {
            assert_eq!(hash(bad), None, "{bad}");
        }
    }
}

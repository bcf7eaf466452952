//! Refresh tokens: 32 random bytes that are shown once. Only their hash is kept.

use auth::Secret;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use fault::Fault;
use sha2::{Digest as _, Sha256};

/// Ends like the prefix of every token of the house, by which logs know what to mask.
const PREFIX: &str = "refresh_stoa1_";
const RANDOM_BYTES: usize = 32;
const TOKEN_LENGTH: usize = PREFIX.len() + (RANDOM_BYTES * 4).div_ceil(3);

pub(crate) fn new_token() -> Result<Secret, Fault> {
    let mut random = [0_u8; RANDOM_BYTES];
    getrandom::fill(&mut random).map_err(Fault::internal)?;
    Ok(Secret::new(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(random))))
}

/// What is kept of a token; nothing for a text that cannot be one. There is no salt and no slow
/// hash because there is nothing to guess: every token is as random as its hash.
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

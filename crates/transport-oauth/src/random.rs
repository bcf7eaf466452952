//! Random secrets (codes, client ids, form tokens) and the hash under which codes are stored.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use fault::Fault;
use sha2::{Digest as _, Sha256};

/// 32 random bytes as text after `prefix`.
pub(crate) fn secret(prefix: &str) -> Result<String, Fault> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes).map_err(Fault::internal)?;
    Ok(format!("{prefix}{}", URL_SAFE_NO_PAD.encode(bytes)))
}

/// SHA-256 as base64url. It needs no salt and no slow hash, because the hashed texts are random.
pub(crate) fn hash(text: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(text.as_bytes()))
}

//! The scope of a file or insight: its case, or its owner if it is in no case.
//!
//! A scope is the first 64 bits of a SHA-256 of the owner or case id. Ids are assigned by the server
//! or its operator, so an attacker cannot choose one that collides. The hash is not the last check:
//! the code that returns a row compares its real owner and case with the caller's `Visibility`.

use sha2::{Digest as _, Sha256};

/// The first 64 bits of a SHA-256, the same in every process.
pub fn fingerprint(kind: &str, name: &str) -> i64 {
    let digest = Sha256::new().chain_update(kind).chain_update([0]).chain_update(name).finalize();
    digest.iter().take(8).fold(0, |bits, byte| bits << 8 | i64::from(*byte))
}

pub fn scope_of(owner: &str, case_id: Option<&str>) -> i64 {
    match case_id {
        Some(case) => fingerprint("case", case),
        None => fingerprint("owner", owner),
    }
}

pub fn owner(name: &str) -> i64 {
    fingerprint("owner", name)
}

pub fn file(id: &str) -> i64 {
    fingerprint("file", id)
}

pub fn tag(name: &str) -> i64 {
    fingerprint("tag", name)
}

/// The case of the letters and the space around the word do not matter.
pub(crate) fn document_type(word: &str) -> i64 {
    fingerprint("document", &word.trim().to_lowercase())
}

pub(crate) fn media_type(name: &str) -> i64 {
    fingerprint("type", name)
}

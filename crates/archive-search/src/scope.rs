//! The 64-bit numbers by which the indexes store scopes, owners, files, tags and types.
//!
//! The scope of a file or insight is its case, or its owner if it is in no case. Each number is the
//! first 64 bits of a SHA-256 of its kind and its name. Ids of owners and cases are assigned by the
//! server or its operator, so an attacker cannot choose one that collides. The hash is not the last
//! check: the code that returns a row compares its real owner and case with the caller's
//! `Visibility`.

use sha2::{Digest as _, Sha256};

/// The first 64 bits of a SHA-256, the same in every process.
pub fn fingerprint(kind: &str, name: &str) -> i64 {
    let digest = Sha256::new().chain_update(kind).chain_update([0]).chain_update(name).finalize();
    digest.iter().take(8).fold(0, |bits, byte| bits << 8 | i64::from(*byte))
}

/// The number of a scope.
pub fn scope_of(owner: &str, case_id: Option<&str>) -> i64 {
    match case_id {
        Some(case) => fingerprint("case", case),
        None => fingerprint("owner", owner),
    }
}

/// The number of an owner, which is that of the scope without a case too.
pub fn owner(name: &str) -> i64 {
    fingerprint("owner", name)
}

/// The number of a file.
pub fn file(id: &str) -> i64 {
    fingerprint("file", id)
}

/// The number of a tag.
pub fn tag(name: &str) -> i64 {
    fingerprint("tag", name)
}

/// The number of a document type; capitals and the space around the word do not count.
pub(crate) fn document_type(word: &str) -> i64 {
    fingerprint("document", &word.trim().to_lowercase())
}

/// The number of a media type.
pub(crate) fn media_type(name: &str) -> i64 {
    fingerprint("type", name)
}

//! Entity tags (`ETag`): a hash of the response body.

use data_encoding::HEXLOWER;
use http::header::IF_NONE_MATCH;
use http::{HeaderMap, HeaderValue};
use sha2::{Digest as _, Sha256};

/// How many bytes of the SHA-256 hash are in the tag.
const HASH_BYTES: usize = 16;

/// The entity tag of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntityTag {
    /// The hash in hexadecimal between double quotes.
    quoted: String,
}

impl EntityTag {
    /// The tag of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        let hash = HEXLOWER.encode(&Sha256::digest(bytes)[..HASH_BYTES]);
        Self { quoted: format!("\"{hash}\"") }
    }

    /// The value of a strong `ETag`: the bytes on the wire are the same.
    #[must_use]
    pub fn strong(&self) -> Option<HeaderValue> {
        HeaderValue::from_str(&self.quoted).ok()
    }

    /// The value of a weak `ETag`, for bodies that may be compressed on the way.
    #[must_use]
    pub fn weak(&self) -> Option<HeaderValue> {
        HeaderValue::from_str(&format!("W/{}", self.quoted)).ok()
    }

    /// Whether `If-None-Match` lists the tag or `*`. Compares weakly, because a proxy may add or drop
    /// the `W/`.
    #[must_use]
    pub fn matches_if_none_match(&self, request: &HeaderMap) -> bool {
        let list = request.get(IF_NONE_MATCH).and_then(|value| value.to_str().ok());
        list.is_some_and(|list| {
            let mut tags = list.split(',').map(|tag| tag.trim().trim_start_matches("W/"));
            tags.any(|tag| tag == "*" || tag == self.quoted)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(if_none_match: &str, matches: bool) {
        let mut request = HeaderMap::new();
        request.insert(IF_NONE_MATCH, if_none_match.parse().unwrap());
        assert_eq!(
            EntityTag::of(b"body").matches_if_none_match(&request),
            matches,
            "{if_none_match}"
        );
    }

    #[test]
    fn if_none_match_is_compared_weakly() {
        let tag = EntityTag::of(b"body");
        let (strong, weak) = (tag.strong().unwrap(), tag.weak().unwrap());
        let (strong, weak) = (strong.to_str().unwrap(), weak.to_str().unwrap());
        assert_eq!(weak, format!("W/{strong}"));
        check(strong, true);
        check(weak, true);
        check(&format!("\"other\", {weak}"), true);
        check("*", true);
        check("\"other\"", false);
        assert!(!tag.matches_if_none_match(&HeaderMap::new()));
        assert_ne!(tag, EntityTag::of(b"another body"));
    }
}

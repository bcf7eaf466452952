//! Checks proof keys for code exchange (PKCE, RFC 7636), with the method S256 only.

use auth::same_secret;

use crate::random;

/// Whether a text has the form of an S256 challenge: 43 characters of base64url.
pub(crate) fn is_challenge(text: &str) -> bool {
    text.len() == 43 && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}

/// Whether the challenge is the hash of the verifier.
pub(crate) fn verifier_matches(verifier: &str, challenge: &str) -> bool {
    let is_unreserved = |b: u8| b.is_ascii_alphanumeric() || b"-._~".contains(&b);
    (43..=128).contains(&verifier.len())
        && verifier.bytes().all(is_unreserved)
        && same_secret(&random::hash(verifier), challenge)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 7636, appendix B.
    const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
    const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

    #[test]
    fn only_its_own_verifier_matches_a_challenge() {
        assert!(is_challenge(CHALLENGE) && verifier_matches(VERIFIER, CHALLENGE));
        for other in ["", "short", CHALLENGE, &VERIFIER[1..], &format!("{VERIFIER}x")] {
            assert!(!verifier_matches(other, CHALLENGE), "{other:?}");
        }
        assert!(!verifier_matches(&"é".repeat(43), CHALLENGE));
        for other in ["", "short", &format!("{CHALLENGE}="), &CHALLENGE.replace('-', "+")] {
            assert!(!is_challenge(other), "{other:?}");
        }
    }
}

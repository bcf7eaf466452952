//! The faults of this crate. Each message says what to do, and none contains a token.

use fault::{Fault, Kind};

/// No credential was given. `scope` is the scope that the call needs, if it is known.
pub fn token_missing(scope: Option<&str>) -> Fault {
    let scope = scope.unwrap_or("read");
    unauthenticated(
        "token_missing",
        format!("no capability token was given; mint one with `stoa token mint --scope {scope}`"),
    )
}

/// A valid token without the scope that the call needs.
pub fn scope_missing(scope: &str) -> Fault {
    Fault::new(
        Kind::Forbidden,
        "scope_missing",
        format!(
            "the token does not carry the scope {scope}; mint one with `stoa token mint --scope {scope}`"
        ),
    )
}

pub(crate) fn limit_exceeded(what: &str, value: &str) -> Fault {
    let shown: String = value.chars().take(64).collect();
    Fault::new(
        Kind::Forbidden,
        "limit_exceeded",
        format!(
            "the token's limits do not include {what} {shown:?}; use a token with wider limits"
        ),
    )
}

pub(crate) fn token_malformed(why: &str) -> Fault {
    unauthenticated(
        "token_malformed",
        format!(
            "the capability token cannot be read ({why}); pass it whole, as `stoa token mint` printed it"
        ),
    )
}

pub(crate) fn token_signature() -> Fault {
    unauthenticated(
        "token_signature",
        "the capability token was not signed by this server or was altered; \
         mint one here with `stoa token mint --scope read`",
    )
}

pub(crate) fn token_expired(ago: i64) -> Fault {
    unauthenticated(
        "token_expired",
        format!(
            "the capability token expired {ago} s ago; mint one with `stoa token mint --scope read`"
        ),
    )
}

pub(crate) fn token_revoked() -> Fault {
    unauthenticated(
        "token_revoked",
        "the capability token was revoked; mint one with `stoa token mint --scope read`",
    )
}

/// The fault with the scope that the call needs instead of `read` in its hint.
pub(crate) fn for_scope(fault: Fault, scope: &str) -> Fault {
    let message = fault.message().replace("--scope read`", &format!("--scope {scope}`"));
    if message == fault.message() {
        return fault;
    }
    Fault::new(fault.kind(), fault.code(), message)
}

fn unauthenticated(code: &'static str, message: impl Into<String>) -> Fault {
    Fault::new(Kind::Unauthenticated, code, message)
}

//! Turns a credential into a grant: capability tokens that whoever holds them can narrow offline,
//! their keys, revocation and counters.
//!
//! It deliberately knows no transport and no clock: time comes in as a parameter, and where a
//! credential was found (header or argument) is the caller's business.
//!
//! A token is a chain of blocks under HMAC-SHA256, as in macaroons: each signature is the key of
//! the next one, so a holder can append a narrowing block but can never take one away.

mod authority;
mod cache;
mod faults;
mod grant;
mod keyring;
mod metrics;
mod revocation;
mod scope;
mod secret;
mod token;
mod ttl;
mod wire;

pub use authority::{Authority, MintRequest};
pub use faults::{scope_missing, token_missing};
pub use grant::{Grant, TokenLimits};
pub use keyring::{KEY_FILE, Keyring};
pub use metrics::{AuthMetrics, AuthSnapshot, ScopeCount};
pub use revocation::{MemoryRevocations, RevocationId, Revocations};
pub use scope::{ScopeName, ScopeSet};
pub use secret::{Secret, same_secret};
pub use token::{Inspection, Narrowing, TOKEN_PREFIX, attenuate, inspect};
pub use ttl::parse_ttl;

//! Turns a credential into a caller: capability tokens that their holder can narrow offline, their
//! keys, revocation, counters, and the access policy of a server.
//!
//! A token is a chain of blocks under HMAC-SHA256, as in macaroons: each signature is the key of
//! the next one, so a holder can append a narrowing block but cannot remove one.
//!
//! Only the access policy reads a clock; all other functions take the time as a parameter.

mod access_policy;
mod authority;
mod cache;
mod faults;
mod grant;
mod keyring;
mod metrics;
mod records;
mod revocation;
mod scope;
mod secret;
mod token;
mod ttl;
mod wire;

pub use access_policy::{AccessCounters, AccessPolicy, LocalUser};
pub use authority::{Authority, MintRequest};
pub use faults::{scope_missing, token_missing};
pub use grant::{Grant, TokenLimits};
pub use keyring::{KEY_FILE, Keyring};
pub use metrics::{AuthMetrics, AuthSnapshot, ScopeCount};
pub use records::{TokenRecord, TokenRecords};
pub use revocation::{MIGRATIONS, MemoryRevocations, RevocationId, Revocations, SqlRevocations};
pub use scope::{KNOWN_SCOPES, ScopeName, ScopeSet};
pub use secret::{Secret, same_secret};
pub use token::{Inspection, Narrowing, TOKEN_PREFIX, inspect, narrow};
pub use ttl::parse_ttl;

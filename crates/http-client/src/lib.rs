//! The HTTP client that adapters share: it bounds, times and retries requests, opens a circuit
//! breaker after repeated failures, and runs identical concurrent requests once.
//!
//! Adapters decide what to request and what a response means.

mod backoff;
mod breaker;
mod builder;
mod failure;
mod fetch;
#[cfg(feature = "testing")]
mod in_memory;
mod retry;
mod single_flight;
mod system_roots;
mod transport;
mod upstream_name;

pub use backoff::Backoff;
pub use breaker::{Breaker, BreakerStatus, CircuitOpen, Permit};
pub use builder::builder;
pub use failure::{RequestFailure, Retry};
pub use fetch::{Fetch, FetchFuture, HttpResponse};
#[cfg(feature = "testing")]
pub use in_memory::InMemoryFetch;
pub use retry::{is_fresh, jitter};
pub use single_flight::{SingleFlight, WhenAbandoned};
pub use transport::{ClientPolicy, HttpTransport, base_url};
pub use upstream_name::{UpstreamName, connection_cause};

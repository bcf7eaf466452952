//! What the shared health tools report on: the service's version, clock, counters and dependencies.

use std::future::Future;
use std::sync::Arc;

use clock::{Clock, Millis};
use serde_json::Value;

/// A service's identity for the health tools. The server counts access, so the counters come as a
/// function.
pub struct ServiceInfo {
    /// As the contract's counters name it: `data-collector` or `price-optimizer`.
    pub service: &'static str,
    pub version: String,
    pub build: Option<String>,
    pub commit: Option<String>,
    pub clock: Arc<dyn Clock>,
    pub started: Millis,
    pub counters: Box<dyn Fn() -> Value + Send + Sync>,
}

impl ServiceInfo {
    pub(crate) fn now(&self) -> Millis {
        self.clock.now()
    }
}

/// A service that reports its health and the health of what it depends on.
pub(crate) trait HealthReporting: Send + Sync + 'static {
    fn service_info(&self) -> &ServiceInfo;

    /// The dependencies of this service with the state of each.
    fn dependencies(&self) -> impl Future<Output = Vec<Dependency>> + Send;
}

pub(crate) struct Dependency {
    pub(crate) name: &'static str,
    /// What is wrong with it, if anything.
    pub(crate) trouble: Option<String>,
    /// Whether the service fails without it; otherwise it is degraded.
    pub(crate) vital: bool,
}

//! The parts of a test server that no test looks at.

use std::sync::Arc;
use std::time::Duration;

use contract::Pipeline;
use http::HeaderValue;
use limits::{RateLimit, RateLimiter};

use crate::{
    AllowedHosts, BodyLimits, EdgeConfig, Limits, RequestMemory, ServerHealth, SystemPages,
    TrustedProxies,
};

/// Pages of a server that is well.
pub(crate) fn pages() -> SystemPages {
    SystemPages {
        version: "1",
        health: Box::new(|| {
            let provider = "test".to_owned();
            Box::pin(std::future::ready(ServerHealth {
                status: "ok",
                provider,
                sources: Default::default(),
            }))
        }),
        metrics: Box::new(|_| String::new()),
    }
}

/// An edge with a rate that no test reaches and bodies of at most 1,024 bytes.
pub(crate) fn edge(pipeline: &Pipeline) -> EdgeConfig {
    EdgeConfig {
        authenticator: Arc::clone(pipeline.authenticator()),
        limiter: RateLimiter::new(RateLimit { burst: 1000, per_second: 1000.0 }, 64),
        hosts: AllowedHosts::Only(Vec::new()),
        cors_origins: vec![HeaderValue::from_static("https://app.example")],
        trusted_proxies: TrustedProxies::default(),
        own_origin: None,
        memory: RequestMemory::default(),
        body: BodyLimits { bytes_max: 1024, timeout: Duration::from_secs(5) },
        meter: Box::new(|_, _, _, _| {}),
        on_rate_limited: Box::new(|| {}),
    }
}

pub(crate) fn limits() -> Limits {
    Limits {
        connections_max: 64,
        connections_per_client_max: 0,
        trusted_proxies: TrustedProxies::default(),
        header_timeout: Duration::from_secs(5),
        shutdown_timeout: Duration::from_secs(5),
    }
}

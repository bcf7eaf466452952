//! Streams over HTTP: server-sent events and WebSocket. Streams, their paths and their messages come
//! from the contracts.

mod limiter;
mod sse;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod ws;

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use contract::{Pipeline, View};

use crate::disabled;

pub use self::limiter::ClientLimits;
use self::limiter::StreamLimiter;
pub use self::ws::WsLimits;

/// Which kinds of stream are served, and their limits.
#[derive(Debug, Clone, Copy)]
pub struct StreamOptions {
    /// Whether streams are served as server-sent events.
    pub sse: bool,
    /// Whether streams are served on a WebSocket.
    pub ws: bool,
    pub ws_limits: WsLimits,
    /// Limits of one client over both kinds together.
    pub client_limits: ClientLimits,
}

impl Default for StreamOptions {
    fn default() -> Self {
        Self {
            sse: true,
            ws: true,
            ws_limits: WsLimits::default(),
            client_limits: ClientLimits::default(),
        }
    }
}

pub(crate) fn routes(pipeline: &Arc<Pipeline>, view: &View, options: &StreamOptions) -> Router {
    let limiter = StreamLimiter::new(options.client_limits);
    let mut disabled_paths = BTreeMap::new();
    for found in pipeline.catalog().streams(view) {
        let spec = &found.row().spec;
        let sse = spec.sse.as_ref().map(|sse| &sse.path).filter(|_| !options.sse);
        let ws = spec.ws.as_ref().filter(|_| !options.ws);
        for path in sse.into_iter().chain(ws) {
            disabled_paths.insert(path.clone(), Arc::clone(found.service()));
        }
    }
    let mut router = disabled::routes(disabled_paths);
    if options.sse {
        router = router.merge(sse::routes(pipeline, view, &limiter));
    }
    if options.ws {
        router = router.merge(ws::routes(pipeline, view, options.ws_limits, &limiter));
    }
    router
}

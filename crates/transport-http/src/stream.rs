//! Streams over HTTP: server-sent events, and the WebSocket. Both come from the contracts, which say
//! what there is to follow and where; what an event means is not known here.

mod origin;
mod sse;
#[cfg(test)]
mod tests;
mod ws;

use std::sync::Arc;

use axum::Router;
use contract::{Pipeline, View};

pub use self::ws::WsLimits;

/// Which streams are served, and what one subscriber may do.
#[derive(Debug, Clone, Copy)]
pub struct StreamOptions {
    /// Whether streams are served as server-sent events.
    pub sse: bool,
    /// Whether streams are served on a WebSocket.
    pub ws: bool,
    pub ws_limits: WsLimits,
}

impl Default for StreamOptions {
    fn default() -> Self {
        Self { sse: true, ws: true, ws_limits: WsLimits::default() }
    }
}

pub(crate) fn routes(pipeline: &Arc<Pipeline>, view: &View, options: &StreamOptions) -> Router {
    let mut router = Router::new();
    if options.sse {
        router = router.merge(sse::routes(pipeline, view));
    }
    if options.ws {
        router = router.merge(ws::routes(pipeline, view, options.ws_limits));
    }
    router
}

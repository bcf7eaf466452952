//! The edge: what every HTTP request passes before it is routed, in this order: host, rate, body.
//!
//! A client over its rate is refused before its body is read or its token is verified. On the way
//! out the edge adds the request id and the rate headers, compresses, answers CORS and counts.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::{ConnectInfo, MatchedPath, Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use contract::{Authenticator, Pipeline, RequestMeta};
use http::header::{AUTHORIZATION, CONTENT_DISPOSITION, CONTENT_TYPE, IF_NONE_MATCH, UPGRADE};
use http::{Extensions, HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Version};
use limits::RateLimiter;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{NotForContentType, Predicate as _, SizeAbove};
use tower_http::cors::{AllowOrigin, CorsLayer};

use crate::body::BodyLimits;
use crate::hosts::AllowedHosts;
use crate::mounted::{EdgeRoute, EdgeRoutes, MountedRoutes, RateLimitRefusal};
use crate::rate_limit::{self, ClientRateLimiter};
use crate::refusal::Refusal;
use crate::request_meta::request_meta;
use crate::{rest, system};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// The smallest body that is compressed, in bytes: a smaller one grows, and costs time.
const COMPRESSED_BYTES_MIN: u64 = 860;

/// Counts a response: route pattern (never the path), method, status, duration.
type HttpMeter = dyn Fn(&str, &str, u16, Duration) + Send + Sync;

/// How the edge is set up.
pub struct EdgeConfig {
    /// Words the refusals of services, and authenticates WebSocket upgrades.
    pub pipeline: Arc<Pipeline>,
    /// The rate of each client.
    pub limiter: RateLimiter,
    /// The host names that are served.
    pub hosts: AllowedHosts,
    /// The origins of pages that may call from a browser.
    pub cors_origins: Vec<HeaderValue>,
    /// The limits of bodies that the edge reads.
    pub body: BodyLimits,
    /// Counts every response.
    pub meter: Box<HttpMeter>,
    /// Counts every refusal of a client over its rate.
    pub on_rate_limited: Box<dyn Fn() + Send + Sync>,
}

/// The edge's state, shared by all requests.
struct Edge {
    pipeline: Arc<Pipeline>,
    limiter: ClientRateLimiter,
    hosts: AllowedHosts,
    upgrades: Arc<UpgradePolicy>,
    body: BodyLimits,
    routes: EdgeRoutes,
    meter: Box<HttpMeter>,
    on_rate_limited: Box<dyn Fn() + Send + Sync>,
}

/// Who may upgrade a connection. The edge puts it into the extensions of upgrade requests, because
/// the route words the refusal.
pub(crate) struct UpgradePolicy {
    pub(crate) authenticator: Arc<dyn Authenticator>,
    pub(crate) origins: Vec<HeaderValue>,
}

/// Puts the edge in front of the routes of all transports.
pub fn with_edge(mounted: MountedRoutes, config: EdgeConfig) -> Router {
    let cors = cors(&config.cors_origins);
    let authenticator = Arc::clone(config.pipeline.authenticator());
    let edge = Arc::new(Edge {
        limiter: ClientRateLimiter::new(config.limiter),
        upgrades: Arc::new(UpgradePolicy { authenticator, origins: config.cors_origins }),
        pipeline: config.pipeline,
        hosts: config.hosts,
        body: config.body,
        routes: mounted.routes,
        meter: config.meter,
        on_rate_limited: config.on_rate_limited,
    });
    // A file is sent as it is: most are compressed already, and clients want its length.
    let is_no_file = |_: StatusCode, _: Version, headers: &HeaderMap, _: &Extensions| {
        !headers.contains_key(CONTENT_DISPOSITION)
    };
    let compressed =
        SizeAbove::new(COMPRESSED_BYTES_MIN).and(NotForContentType::SSE).and(is_no_file);
    mounted
        .router
        .layer(from_fn_with_state(edge, pass))
        .layer(CompressionLayer::new().compress_when(compressed))
        .layer(cors)
}

fn cors(origins: &[HeaderValue]) -> CorsLayer {
    let name = HeaderName::from_static;
    let origins = match origins.iter().any(|origin| origin == "*") {
        true => AllowOrigin::any(),
        false => AllowOrigin::list(origins.iter().cloned()),
    };
    CorsLayer::new()
        .allow_origin(origins)
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::DELETE])
        .allow_headers([
            AUTHORIZATION,
            CONTENT_TYPE,
            REQUEST_ID,
            IF_NONE_MATCH,
            name("traceparent"),
            name("mcp-protocol-version"),
            name("mcp-session-id"),
            name("mcp-method"),
            name("mcp-name"),
            name("last-event-id"),
            name("a2a-version"),
            name("a2a-extensions"),
            name("x-stoa-services"),
            name("x-stoa-tools"),
            name("x-stoa-read-only"),
            name("x-upload-id"),
        ])
        .expose_headers([
            REQUEST_ID,
            CONTENT_DISPOSITION,
            name("mcp-session-id"),
            name("ratelimit"),
            name("ratelimit-policy"),
            name("retry-after"),
            name("etag"),
            name("x-stoa-source"),
            name("x-stoa-as-of"),
            name("x-stoa-received-at"),
            name("x-stoa-delay"),
            name("x-stoa-stale"),
            name("x-stoa-fallback"),
            name("x-stoa-gaps"),
        ])
        .max_age(Duration::from_secs(600))
}

async fn pass(State(edge): State<Arc<Edge>>, request: Request, next: Next) -> Response {
    let started = Instant::now();
    let method = request.method().clone();
    let pattern = request.extensions().get::<MatchedPath>().cloned();
    let pattern = pattern.as_ref().map(MatchedPath::as_str);
    let mut meta = request_meta(request.headers());
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
    meta.client = peer.map(|ConnectInfo(peer)| peer.ip());
    let request_id = Arc::clone(&meta.request_id);
    let admission = edge.admit(&request);
    let wait = admission.as_ref().and_then(rate_limit::retry_after);
    let mut response = match edge.enter(request, pattern, meta, wait).await {
        Ok(request) => next.run(request).await,
        Err(response) => response,
    };
    if let Some(admission) = admission {
        rate_limit::add_headers(&admission, &mut response);
    }
    if let Ok(value) = HeaderValue::from_str(&request_id) {
        response.headers_mut().insert(REQUEST_ID, value);
    }
    let (route, status) = (pattern.unwrap_or("other"), response.status().as_u16());
    (edge.meter)(route, method.as_str(), status, started.elapsed());
    response
}

impl Edge {
    /// Counts the request against its client's rate. Probes are not counted: they must succeed
    /// when everything else is refused.
    fn admit(&self, request: &Request) -> Option<limits::Admission> {
        if system::PATHS.contains(&request.uri().path()) {
            return None;
        }
        let ConnectInfo(peer) = request.extensions().get::<ConnectInfo<SocketAddr>>()?;
        Some(self.limiter.admit(*peer))
    }

    /// Checks host and rate, reads the body and attaches what the routes need.
    async fn enter(
        &self,
        request: Request,
        pattern: Option<&str>,
        meta: RequestMeta,
        wait: Option<Duration>,
    ) -> Result<Request, Response> {
        if !self.hosts.allows(request.headers(), request.uri().authority()) {
            let message = "this server does not answer to that host name";
            let refusal = Refusal::new(StatusCode::FORBIDDEN, "FORBIDDEN", message);
            return Err(refusal.response(&meta.request_id));
        }
        let route = pattern.and_then(|pattern| self.routes.get(pattern));
        if let Some(wait) = wait {
            (self.on_rate_limited)();
            return Err(self.rate_limited(route, wait, &meta));
        }
        let is_read = route.is_none_or(|route| route.body.is_read_for(request.method()));
        let mut request = match is_read {
            true => {
                let read = self.body.read(request).await;
                read.map_err(|refusal| refusal.response(&meta.request_id))?
            }
            false => request,
        };
        request.extensions_mut().insert(meta);
        if request.headers().contains_key(UPGRADE) {
            request.extensions_mut().insert(Arc::clone(&self.upgrades));
        }
        Ok(request)
    }

    fn rate_limited(
        &self,
        route: Option<&EdgeRoute>,
        wait: Duration,
        meta: &RequestMeta,
    ) -> Response {
        let fault = rate_limit::rate_limited(wait);
        match route.map(|route| &route.rate_limited) {
            Some(RateLimitRefusal::Service(service)) => {
                rest::refuse(&self.pipeline, service, &fault, meta)
            }
            Some(RateLimitRefusal::Custom(respond)) => respond(wait, &meta.request_id),
            Some(RateLimitRefusal::Plain) | None => {
                let status = StatusCode::TOO_MANY_REQUESTS;
                let mut refusal = Refusal::new(status, "RATE_LIMITED", fault.message());
                refusal.retry_after = Some(wait);
                refusal.response(&meta.request_id)
            }
        }
    }
}

#[cfg(test)]
mod tests;

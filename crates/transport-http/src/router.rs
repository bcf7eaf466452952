//! All of HTTP in one place: the routes, and the edge that every request passes first.
//!
//! Order at the edge: host → request id → rate → access → body → route. On the way out: the request
//! id, the rate headers, compression, CORS, the meter.

use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::{ConnectInfo, MatchedPath, Request, State};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::Response;
use axum::{Extension, Router};
use contract::{Authenticator, Credential, Pipeline, RequestMeta, View};
use fault::Fault;
use http::header::{AUTHORIZATION, CONTENT_DISPOSITION, CONTENT_TYPE, IF_NONE_MATCH, UPGRADE};
use http::{Extensions, HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Version};
use http_body_util::BodyExt as _;
use limits::RateLimiter;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{NotForContentType, Predicate as _, SizeAbove};
use tower_http::cors::{AllowOrigin, CorsLayer};

use crate::admission::{self, Turnstile};
use crate::body::BodyRules;
use crate::hosts::AllowedHosts;
use crate::refusal::Refusal;
use crate::stream::{self, StreamOptions};
use crate::system::SystemPages;
use crate::{arrival, asyncapi, docs, openapi, rest, system};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// Small bodies grow when compressed, and cost time.
const COMPRESSED_FROM: u64 = 860;

/// The most that somebody without access is read.
const STRANGER_BYTES_MAX: usize = 64 * 1024;

/// Counts what came of each request; `route` is the pattern, never the path.
type HttpMeter = dyn Fn(&str, &str, u16, Duration) + Send + Sync;
/// Whether a message may be heard from somebody who was refused for this.
type Strangers = dyn Fn(&Fault, &[u8]) -> bool + Send + Sync;

pub struct EdgeConfig {
    pub limiter: RateLimiter,
    pub authenticator: Arc<dyn Authenticator>,
    pub hosts: AllowedHosts,
    /// The pages that may call from a browser; none by default.
    pub cors_origins: Vec<HeaderValue>,
    pub body_bytes_max: usize,
    /// Addresses that take larger bodies than others, each with its own bound.
    pub body_bytes_at: HashMap<String, usize>,
    /// Addresses whose bodies are not read here, but by those who answer; see
    /// [`crate::upload_paths`].
    pub uploads: HashSet<String>,
    pub body_patience: Duration,
    /// What may be asked at `/mcp`, where all services are, by those who have no access; only there
    /// to be looked at where the house is closed to whoever has none.
    pub strangers: Box<Strangers>,
    pub meter: Box<HttpMeter>,
}

/// The state behind the edge.
pub struct Edge {
    turnstile: Turnstile,
    rules: Arc<Rules>,
    hosts: AllowedHosts,
    body: BodyRules,
    body_at: HashMap<String, usize>,
    uploads: HashSet<String>,
    strangers: Box<Strangers>,
    meter: Box<HttpMeter>,
}

/// The rules that only an upgrade can apply, since it alone can be refused in its own words; the
/// edge puts them into such requests.
pub(crate) struct Rules {
    pub(crate) authenticator: Arc<dyn Authenticator>,
    pub(crate) origins: Vec<HeaderValue>,
}

/// The routes of the contracts and of the operators' pages.
pub fn router(
    pipeline: &Arc<Pipeline>,
    view: &View,
    pages: SystemPages,
    streams: &StreamOptions,
) -> Router {
    let view = &View { http: true, ..view.clone() };
    let pages_of_ours = openapi::routes(pipeline, view, pages.version, streams.sse)
        .merge(asyncapi::routes(pipeline, view, pages.version, streams))
        .merge(docs::routes(pipeline, view, streams))
        .fallback(
            |Extension(arrival): Extension<RequestMeta>| async move { rest::not_found(&arrival) },
        )
        .layer(from_fn(refuse_the_hasty));
    rest::routes(pipeline, view)
        .merge(stream::routes(pipeline, view, streams))
        .merge(pages_of_ours)
        .merge(system::routes(pages))
}

/// Tools refuse a client that has used up its rate in their own words; pages do it here.
async fn refuse_the_hasty(
    Extension(arrival): Extension<RequestMeta>,
    request: Request,
    next: Next,
) -> Response {
    let Some(wait) = arrival.retry_after_rate else { return next.run(request).await };
    let message = "too many requests; wait before the next one";
    let mut refusal = Refusal::new(StatusCode::TOO_MANY_REQUESTS, "RATE_LIMITED", message);
    refusal.retry_after = Some(wait);
    refusal.response(&arrival.request_id)
}

/// Puts the edge in front of routes, those of other protocols included.
pub fn with_edge(routes: Router, config: EdgeConfig) -> Router {
    let cors = cors(&config.cors_origins);
    let edge = Arc::new(Edge {
        turnstile: Turnstile::new(config.limiter),
        rules: Arc::new(Rules {
            authenticator: config.authenticator,
            origins: config.cors_origins,
        }),
        hosts: config.hosts,
        body: BodyRules { bytes_max: config.body_bytes_max, patience: config.body_patience },
        body_at: config.body_bytes_at,
        uploads: config.uploads,
        strangers: config.strangers,
        meter: config.meter,
    });
    // A file goes as it is: it is packed already, or its reader wants to know its length.
    let no_file = |_: StatusCode, _: Version, headers: &HeaderMap, _: &Extensions| {
        !headers.contains_key(CONTENT_DISPOSITION)
    };
    let worth_it = SizeAbove::new(COMPRESSED_FROM).and(NotForContentType::SSE).and(no_file);
    routes
        .layer(from_fn_with_state(edge, pass))
        .layer(CompressionLayer::new().compress_when(worth_it))
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
    let route = request.extensions().get::<MatchedPath>().cloned();
    let mut arrival = arrival::of(request.headers());
    let request_id = Arc::clone(&arrival.request_id);
    let admission = edge.count(&request);
    arrival.retry_after_rate = admission.as_ref().and_then(admission::retry_after_rate);
    let mut response = match edge.enter(request, arrival).await {
        Ok(request) => next.run(request).await,
        Err(refusal) => refusal.response(&request_id),
    };
    if let Some(admission) = admission {
        admission::tell(&admission, &mut response);
    }
    if let Ok(value) = HeaderValue::from_str(&request_id) {
        response.headers_mut().insert(REQUEST_ID, value);
    }
    let route = route.as_ref().map_or("other", |path| path.as_str());
    (edge.meter)(route, method.as_str(), response.status().as_u16(), started.elapsed());
    response
}

impl Edge {
    /// Takes the request out of its client's rate. Probes are not counted: they must get through
    /// when everything else is refused.
    fn count(&self, request: &Request) -> Option<limits::Admission> {
        if matches!(request.uri().path(), "/health" | "/metrics") {
            return None;
        }
        let ConnectInfo(peer) = request.extensions().get::<ConnectInfo<SocketAddr>>()?;
        Some(self.turnstile.take(*peer))
    }

    /// Everything that is decided before a route sees the request.
    async fn enter(&self, request: Request, arrival: RequestMeta) -> Result<Request, Refusal> {
        if !self.hosts.allows(request.headers(), request.uri().authority()) {
            let message = "this server does not answer to that host name";
            return Err(Refusal::new(StatusCode::FORBIDDEN, "FORBIDDEN", message));
        }
        let request = match self.refused(request.uri().path(), &arrival.credential).await {
            Some(fault) => self.heard(request, &fault).await?,
            None => request,
        };
        let path = request.uri().path();
        let own = self.body_at.get(path).copied().unwrap_or_default();
        let bytes_max = self.body.bytes_max.max(own);
        let mut request = match request.method() == Method::POST && self.uploads.contains(path) {
            true => request,
            false => BodyRules { bytes_max, ..self.body }.read(request).await?,
        };
        request.extensions_mut().insert(arrival);
        if request.headers().contains_key(UPGRADE) {
            request.extensions_mut().insert(Arc::clone(&self.rules));
        }
        Ok(request)
    }

    /// A protocol of its own cannot be answered in the words of a contract before it is decoded, so
    /// a caller without access is turned away here, in HTTP's. Where a call may show who makes it,
    /// that goes before the header, and its contract has words for both; and where nobody has to say
    /// who they are, a credential that does not hold is the affair of the tool that wants one.
    async fn refused(&self, path: &str, credential: &Credential) -> Option<Fault> {
        let authenticator = &self.rules.authenticator;
        let later = path
            .strip_prefix("/mcp/")
            .is_some_and(|it| authenticator.accepts_in_call_credentials(it));
        if !is_mcp(path) || later {
            return None;
        }
        let fault = authenticator.authenticate(credential, "mcp").await.err()?;
        let open = has_every_service(path)
            && authenticator.authenticate(&Credential::None, "mcp").await.is_ok();
        (!open).then_some(fault)
    }

    /// The request of somebody without access, where it asks for what needs none.
    async fn heard(&self, request: Request, fault: &Fault) -> Result<Request, Refusal> {
        let refusal = || Refusal::new(StatusCode::UNAUTHORIZED, "UNAUTHENTICATED", fault.message());
        if !has_every_service(request.uri().path()) || request.method() != Method::POST {
            return Err(refusal());
        }
        let rules = BodyRules { bytes_max: STRANGER_BYTES_MAX, ..self.body };
        let (parts, body) = rules.read(request).await.map_err(|_| refusal())?.into_parts();
        // The body is whole by now.
        let message = body.collect().await.map_err(|_| refusal())?.to_bytes();
        match (self.strangers)(fault, &message) {
            true => Ok(Request::from_parts(parts, Body::from(message))),
            false => Err(refusal()),
        }
    }
}

fn has_every_service(path: &str) -> bool {
    matches!(path, "/mcp" | "/mcp/")
}

fn is_mcp(path: &str) -> bool {
    path == "/mcp" || (path.starts_with("/mcp/") && !path.starts_with("/mcp/manifest/"))
}

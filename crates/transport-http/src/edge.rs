//! The edge: what every HTTP request passes before it is routed, in this order: client address,
//! host, rate, origin, body.
//!
//! A client over its rate is refused before its body is read or its token is verified. A body over
//! 64 KiB is read only once its credential is verified. On the way out the edge adds the request id
//! and the rate headers, compresses, answers CORS and counts.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, MatchedPath, Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use contract::{Authenticator, CpuPool, Credential, RequestMeta};
use fault::{Fault, Kind};
use http::header::{
    AUTHORIZATION, CONTENT_DISPOSITION, CONTENT_TYPE, HOST, IF_NONE_MATCH, UPGRADE,
    WWW_AUTHENTICATE,
};
use http::{Extensions, HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Version};
use limits::RateLimiter;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{NotForContentType, Predicate as _, SizeAbove};
use tower_http::cors::{AllowOrigin, CorsLayer};

use crate::answer_memory;
use crate::body::{BodyLimits, IncomingBody};
use crate::client_address::TrustedProxies;
use crate::hosts::AllowedHosts;
use crate::large_answer::{self, SentUncompressed};
use crate::mounted::{CorsHeaders, EdgeRoute, EdgeRoutes, MountedRoutes, OriginCheck, RefusalForm};
use crate::rate_limit::{self, ClientRateLimiter};
use crate::refusal::Refusal;
use crate::request_memory::{HeldMemory, JsonCost, RequestMemory, SMALL_BODY_BYTES};
use crate::request_meta::request_meta;
use crate::{origin, rest, system};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// The smallest body that is compressed, in bytes: a smaller one grows, and costs time.
const COMPRESSED_BYTES_MIN: u64 = 860;

/// Counts a response: route pattern (never the path), method, status, duration.
type HttpMeter = dyn Fn(&str, &str, u16, Duration) + Send + Sync;

/// How the edge is set up.
pub struct EdgeConfig {
    /// Verifies the credential of a request before its large body is read.
    pub authenticator: Arc<dyn Authenticator>,
    /// The rate of each client.
    pub limiter: RateLimiter,
    /// The host names that are served.
    pub hosts: AllowedHosts,
    /// The proxies whose word about the client's address is believed.
    pub trusted_proxies: TrustedProxies,
    /// The origins of pages that may call from a browser.
    pub cors_origins: Vec<HeaderValue>,
    /// The origin of this server as browsers see it through a proxy.
    pub own_origin: Option<HeaderValue>,
    /// The limits of bodies that the edge reads.
    pub body: BodyLimits,
    /// The memory that all requests together may take.
    pub memory: RequestMemory,
    /// Counts every response.
    pub meter: Box<HttpMeter>,
    /// Counts every refusal of a client over its rate.
    pub on_rate_limited: Box<dyn Fn() + Send + Sync>,
}

/// The edge's state, shared by all requests.
struct Edge {
    authenticator: Arc<dyn Authenticator>,
    limiter: ClientRateLimiter,
    hosts: AllowedHosts,
    proxies: TrustedProxies,
    origins: Arc<AllowedOrigins>,
    body: BodyLimits,
    memory: RequestMemory,
    routes: EdgeRoutes,
    meter: Box<HttpMeter>,
    on_rate_limited: Box<dyn Fn() + Send + Sync>,
}

/// The origins of pages that may call from a browser. The edge puts them into the extensions of
/// upgrade requests, because the route words the refusal.
pub(crate) struct AllowedOrigins(pub(crate) Vec<HeaderValue>);

/// Puts the edge in front of the routes of all transports.
pub fn with_edge(mounted: MountedRoutes, config: EdgeConfig) -> Router {
    let cors = cors(&config.cors_origins, mounted.cors);
    let mut origins = config.cors_origins;
    origins.extend(config.own_origin);
    let edge = Arc::new(Edge {
        limiter: ClientRateLimiter::new(config.limiter),
        origins: Arc::new(AllowedOrigins(origins)),
        authenticator: config.authenticator,
        hosts: config.hosts,
        proxies: config.trusted_proxies,
        body: config.body,
        memory: config.memory,
        routes: mounted.routes,
        meter: config.meter,
        on_rate_limited: config.on_rate_limited,
    });
    // A file is sent as it is: most are compressed already, and clients want its length. A large
    // answer has been compressed, or is sent as it is.
    let is_compressible =
        |_: StatusCode, _: Version, headers: &HeaderMap, extensions: &Extensions| {
            !headers.contains_key(CONTENT_DISPOSITION)
                && extensions.get::<SentUncompressed>().is_none()
        };
    let compressed =
        SizeAbove::new(COMPRESSED_BYTES_MIN).and(NotForContentType::SSE).and(is_compressible);
    mounted
        .router
        .layer(from_fn_with_state(edge, pass))
        .layer(CompressionLayer::new().compress_when(compressed))
        .layer(cors)
}

/// The rules for pages of other origins, with the headers that the mounted protocols declare.
fn cors(origins: &[HeaderValue], declared: CorsHeaders) -> CorsLayer {
    let name = HeaderName::from_static;
    let origins = match origins.iter().any(|origin| origin == "*") {
        true => AllowOrigin::any(),
        false => AllowOrigin::list(origins.iter().cloned()),
    };
    let own = [
        AUTHORIZATION,
        CONTENT_TYPE,
        REQUEST_ID,
        IF_NONE_MATCH,
        name("traceparent"),
        name("last-event-id"),
        name("x-upload-id"),
    ];
    let allowed: Vec<HeaderName> = own.into_iter().chain(declared.allowed).collect();
    let own = [
        REQUEST_ID,
        CONTENT_DISPOSITION,
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
    ];
    let exposed: Vec<HeaderName> = own.into_iter().chain(declared.exposed).collect();
    CorsLayer::new()
        .allow_origin(origins)
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::DELETE])
        .allow_headers(allowed)
        .expose_headers(exposed)
        .max_age(Duration::from_secs(600))
}

async fn pass(State(edge): State<Arc<Edge>>, request: Request, next: Next) -> Response {
    let started = Instant::now();
    let method = request.method().clone();
    let pattern = request.extensions().get::<MatchedPath>().cloned();
    let pattern = pattern.as_ref().map(MatchedPath::as_str);
    let mut meta = request_meta(request.headers());
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
    meta.client = peer.map(|ConnectInfo(peer)| edge.proxies.client(peer.ip(), request.headers()));
    let (request_id, client) = (Arc::clone(&meta.request_id), meta.client);
    let has_token = meta.credential.token().is_some();
    let accepts_gzip = large_answer::accepts_gzip(request.headers());
    let admission = edge.admit(&request, meta.client);
    let wait = admission.as_ref().and_then(rate_limit::retry_after);
    let route = pattern.and_then(|pattern| edge.routes.get(pattern));
    let mut response = match edge.enter(request, route, &mut meta, wait).await {
        // The memory of the body is held until the request is answered.
        Ok((mut request, _held)) => {
            request.extensions_mut().insert(meta);
            let response = next.run(request).await;
            let response = large_answer::compress(response, accepts_gzip, CpuPool::shared()).await;
            edge.hold_answer(response, route, &request_id, client)
        }
        Err(refusal) => edge.refuse(route, &refusal, &meta),
    };
    if let Some(admission) = admission {
        rate_limit::add_headers(&admission, &mut response);
    }
    if has_token {
        name_invalid_token(&mut response);
    }
    if let Ok(value) = HeaderValue::from_str(&request_id) {
        response.headers_mut().insert(REQUEST_ID, value);
    }
    let (route, status) = (pattern.unwrap_or("other"), response.status().as_u16());
    let duration = started.elapsed();
    (edge.meter)(route, method.as_str(), status, duration);
    // Seen where the operator adds `access=debug` to the log filter. A path may hold a secret, so
    // the line has the route's pattern.
    tracing::debug!(
        target: "access",
        route,
        method = method.as_str(),
        status,
        duration_ms = duration.as_secs_f64() * 1000.0,
        request_id = &*request_id,
        client = client.map(tracing::field::display),
        "answered"
    );
    response
}

impl Edge {
    /// Counts the request against its client's rate. Probes are not counted: they must succeed
    /// when everything else is refused.
    fn admit(&self, request: &Request, client: Option<IpAddr>) -> Option<limits::Admission> {
        if system::PATHS.contains(&request.uri().path()) {
            return None;
        }
        Some(self.limiter.admit(client?))
    }

    /// Checks host, rate and origin, and reads the body.
    async fn enter(
        &self,
        mut request: Request,
        route: Option<&EdgeRoute>,
        meta: &mut RequestMeta,
        wait: Option<Duration>,
    ) -> Result<(Request, HeldMemory), Refusal> {
        if !self.hosts.allows(request.headers(), request.uri().authority()) {
            return Err(host_refused(request.headers()));
        }
        if let Some(wait) = wait {
            (self.on_rate_limited)();
            let fault = rate_limit::rate_limited(wait);
            return Err(Refusal::new(StatusCode::TOO_MANY_REQUESTS, fault));
        }
        if !self.allows_origin(&request, route) {
            let message =
                "pages of that origin may not change anything here; see the setting cors_origins";
            return Err(forbidden("origin_refused", message));
        }
        if request.headers().contains_key(UPGRADE) {
            request.extensions_mut().insert(Arc::clone(&self.origins));
        }
        match route.is_none_or(|route| route.body.is_read_for(request.method())) {
            true => self.read_body(request, route, meta).await,
            false => Ok((request, HeldMemory::default())),
        }
    }

    /// A page of another site can send a simple request without asking first, so its origin is
    /// checked for every method that can change or cost something.
    fn allows_origin(&self, request: &Request, route: Option<&EdgeRoute>) -> bool {
        let changes = matches!(
            *request.method(),
            Method::POST | Method::PUT | Method::PATCH | Method::DELETE
        );
        let is_checked = route.is_none_or(|route| route.origins == OriginCheck::Edge);
        let AllowedOrigins(listed) = &*self.origins;
        let target = request.uri().authority();
        !(changes && is_checked) || origin::own_or_listed(request.headers(), target, listed)
    }

    /// Reads the body: 64 KiB of it, and the rest once the credential is verified.
    async fn read_body(
        &self,
        request: Request,
        route: Option<&EdgeRoute>,
        meta: &mut RequestMeta,
    ) -> Result<(Request, HeldMemory), Refusal> {
        if http_body::Body::is_end_stream(request.body()) {
            return Ok((request, HeldMemory::default()));
        }
        let (parts, mut body) = IncomingBody::new(request, self.body, &self.memory, meta.client)?;
        let small_max = SMALL_BODY_BYTES.min(self.body.bytes_max);
        let is_large = body.announced().is_some_and(|length| length > small_max);
        if is_large || !body.read(small_max).await? {
            self.verify(route, meta).await?;
            body.read_whole(self.body.bytes_max).await?;
        }
        let (bytes, mut held) = body.finish();
        self.memory.reserve_json(&mut held, &bytes, JsonCost::PLAIN).await?;
        Ok((Request::from_parts(parts, Body::from(bytes)), held))
    }

    /// Verifies the credential of a large request, for the service of its route if it has one.
    async fn verify(
        &self,
        route: Option<&EdgeRoute>,
        meta: &mut RequestMeta,
    ) -> Result<(), Refusal> {
        let authenticator = &self.authenticator;
        let verified = match authenticator.verify(&meta.credential).await {
            Ok(verified) => verified,
            // Where a client without a token may read, one with an invalid token may as well.
            Err(_) if authenticator.verify(&Credential::None).await.is_ok() => {
                meta.credential.clone()
            }
            Err(_) => return Err(credential_first()),
        };
        if let Some(RefusalForm::Service(service)) = route.map(|route| &route.refusals)
            && authenticator.identify(&verified, &service.name).await.is_none()
        {
            return Err(credential_first());
        }
        meta.credential = verified;
        Ok(())
    }

    /// Counts a large answer until its client has read it, or refuses it.
    fn hold_answer(
        &self,
        response: Response,
        route: Option<&EdgeRoute>,
        request_id: &Arc<str>,
        client: Option<IpAddr>,
    ) -> Response {
        answer_memory::hold(response, self.memory.answer_reservation(client)).unwrap_or_else(
            |exceeded| {
                let (request_id, credential) = (Arc::clone(request_id), Credential::None);
                let meta = RequestMeta { client, ..RequestMeta::new(request_id, credential) };
                self.refuse(route, &answer_memory::answer_refused(exceeded), &meta)
            },
        )
    }

    /// The refusal in the form of the route.
    fn refuse(&self, route: Option<&EdgeRoute>, refusal: &Refusal, meta: &RequestMeta) -> Response {
        match route.map(|route| &route.refusals) {
            Some(RefusalForm::Service(service)) => {
                let mut response = rest::refuse(service, &refusal.fault, meta);
                *response.status_mut() = refusal.status;
                response
            }
            Some(RefusalForm::Custom(respond)) => respond(refusal, &meta.request_id),
            Some(RefusalForm::Plain) | None => refusal.response(&meta.request_id),
        }
    }
}

/// Adds the reason to the challenge of a 401 whose request had a token. A request without one gets
/// a challenge without a reason, as RFC 6750 says.
fn name_invalid_token(response: &mut Response) {
    let Some(challenge) = response.headers().get(WWW_AUTHENTICATE) else { return };
    let challenge = challenge.to_str().unwrap_or("Bearer");
    if challenge.contains("error=") {
        return;
    }
    if let Ok(value) = HeaderValue::from_str(&format!("{challenge}, error=\"invalid_token\"")) {
        response.headers_mut().insert(WWW_AUTHENTICATE, value);
    }
}

/// The refusal of a host name, with the setting that allows it; 400 where the request names none.
fn host_refused(headers: &HeaderMap) -> Refusal {
    let Some(host) = headers.get(HOST) else {
        let fault = Fault::invalid("host_missing", "a request must name its host");
        return Refusal::new(StatusCode::BAD_REQUEST, fault);
    };
    let shown: String = String::from_utf8_lossy(host.as_bytes()).chars().take(64).collect();
    let message = format!(
        "this server does not answer to the host name {shown:?}; add it to the setting \
         allowed_hosts (STOA_ALLOWED_HOSTS)"
    );
    forbidden("host_refused", &message)
}

fn forbidden(code: &'static str, message: &str) -> Refusal {
    Refusal::new(StatusCode::FORBIDDEN, Fault::new(Kind::Forbidden, code, message))
}

/// The refusal of a large body whose credential is missing or invalid.
fn credential_first() -> Refusal {
    let message = format!(
        "a body over {SMALL_BODY_BYTES} bytes needs a valid token in the Authorization header"
    );
    let fault = Fault::new(Kind::Unauthenticated, "credential_first", message);
    Refusal::new(StatusCode::UNAUTHORIZED, fault)
}

#[cfg(test)]
mod tests;

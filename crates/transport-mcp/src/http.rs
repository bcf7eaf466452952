//! The streamable HTTP endpoints: `/mcp` for all services, `/mcp/{service}` for one contract alone.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::Router;
use axum::extract::{Path, Request};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, any};
use contract::{Pipeline, RequestMeta, Scope, Service, View};
use futures_util::future::BoxFuture;
use http::header::CONTENT_TYPE;
use http::{HeaderName, Method, StatusCode};
use rmcp::ServerHandler;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::json;
use tokio_util::sync::CancellationToken;
use transport_http::{
    AuthorizationChallenge, BodyHandling, BodyLimits, EdgeRoute, MountedRoutes, OriginCheck,
    Refusal, RefusalForm, RequestMemory, ToolEndpoint,
};

use crate::answer;
use crate::authentication::{EndpointAuthentication, LargeBody, RaisedLimit, authenticate};
use crate::extension::Extension;
use crate::keepalive;
use crate::large_call;
use crate::server::{McpServer, ServerOptions};
use crate::session_requests;
use crate::sessions::{BoundedSessions, SessionLimits, SessionOwner};

/// How long a client whose stream broke should wait before it reconnects.
const STREAM_RETRY: Duration = Duration::from_secs(1);

/// The protocol's own headers and those that narrow a view, which browsers may send.
const REQUEST_HEADERS: [&str; 7] = [
    "mcp-protocol-version",
    "mcp-session-id",
    "mcp-method",
    "mcp-name",
    "x-stoa-services",
    "x-stoa-tools",
    "x-stoa-read-only",
];

/// How the endpoints face the network.
#[derive(Debug, Clone)]
pub struct HttpOptions {
    /// Browser origins that may call, beside those of this machine; `*` for any.
    pub allowed_origins: Vec<String>,
    /// The limits of a request's body; a contract may raise the size for its own endpoint.
    pub body: BodyLimits,
    /// The memory that all requests together may take.
    pub memory: RequestMemory,
    /// How clients find the authorization server, if there is one. A call that needs another token
    /// is then refused with HTTP 401 or 403 before the tool.
    pub challenge: Option<AuthorizationChallenge>,
    /// Sessions of the 2025 protocol at each endpoint. A client has at most a quarter of them, and a
    /// new session evicts the longest unused one of its own client.
    pub sessions_max: usize,
    /// How long a session may be unused before it ends.
    pub session_idle: Duration,
    /// How long a request may go without a response: after that the client gets an open event
    /// stream, with a comment as often to keep the connection alive.
    pub quiet_max: Duration,
    /// Ends every stream and session when the server stops.
    pub shutdown: CancellationToken,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            allowed_origins: Vec::new(),
            body: BodyLimits { bytes_max: 4 * 1024 * 1024, timeout: Duration::from_secs(30) },
            memory: RequestMemory::default(),
            challenge: None,
            sessions_max: 1_024,
            session_idle: Duration::from_secs(300),
            quiet_max: Duration::from_secs(10),
            shutdown: CancellationToken::new(),
        }
    }
}

/// The endpoints over one pipeline. `view` is what this process shows at most.
pub fn router(
    pipeline: &Arc<Pipeline>,
    view: &View,
    server: &ServerOptions,
    options: &HttpOptions,
) -> MountedRoutes {
    router_with(pipeline, view, server, options, None)
}

/// The endpoints with what an extension offers beside the catalog.
pub(crate) fn router_with(
    pipeline: &Arc<Pipeline>,
    view: &View,
    server: &ServerOptions,
    options: &HttpOptions,
    extension: Option<Arc<dyn Extension>>,
) -> MountedRoutes {
    let endpoint_of = |view: View| {
        let (pipeline, extension) = (Arc::clone(pipeline), extension.clone());
        let server = McpServer::with_extension(pipeline, view, server.clone(), extension);
        let shutdown = options.shutdown.clone();
        endpoint(move || server.for_session(&shutdown), options)
    };
    let authenticated = |name: Option<&Arc<str>>, raised, endpoint: MethodRouter| {
        let state = EndpointAuthentication {
            pipeline: Arc::clone(pipeline),
            service: name.cloned(),
            body: options.body,
            raised,
            memory: options.memory.clone(),
            challenge: options.challenge.clone(),
        };
        endpoint.layer(from_fn_with_state(Arc::new(state), authenticate))
    };
    let everything = authenticated(None, None, endpoint_of(view.clone()));
    let mut router = Router::new().route("/mcp", everything.clone()).route("/mcp/", everything);
    let mut names: Vec<Arc<str>> = Vec::new();
    for service in pipeline.catalog().services() {
        let alone = view.narrowed(&View::of_service(&service.name));
        if pipeline.catalog().list(&alone).next().is_none() {
            continue;
        }
        let name = &service.name;
        let raised = raised_limit(service, options.body.bytes_max);
        let endpoint = authenticated(Some(name), raised, endpoint_of(alone));
        router = router.route(&format!("/mcp/{name}"), endpoint);
        names.push(Arc::clone(name));
    }
    let service_paths: BTreeMap<Arc<str>, String> =
        names.iter().map(|name| (Arc::clone(name), format!("/mcp/{name}"))).collect();
    let paths: Vec<String> = service_paths.values().cloned().collect();
    let names: Arc<[Arc<str>]> = names.into();
    let unknown = any(move |path| no_such_service(path, Arc::clone(&names)));
    // The name is no service, so no service takes credentials inside its calls.
    let unknown = authenticated(Some(&Arc::from("")), None, unknown);
    router = router.route(UNKNOWN_SERVICE, unknown);
    let known = ["/mcp", "/mcp/", UNKNOWN_SERVICE].map(str::to_owned);
    let paths = known.into_iter().chain(paths);
    let mounted = MountedRoutes::new(router)
        .allow_headers(REQUEST_HEADERS.map(HeaderName::from_static))
        .expose_headers([HeaderName::from_static("mcp-session-id")])
        .offer_tools(ToolEndpoint { protocol: "MCP", path: "/mcp".to_owned(), service_paths });
    paths.fold(mounted, |mounted, path| mounted.declare(path, edge_route()))
}

/// The route of the paths under `/mcp/` that name no service.
const UNKNOWN_SERVICE: &str = "/mcp/{service}";

/// The larger body that a contract asks for, and the scope that its callers need for it.
fn raised_limit(service: &Service, bytes_max: usize) -> Option<RaisedLimit> {
    let raised = service.body_bytes.filter(|raised| *raised > bytes_max)?;
    Some(RaisedLimit::new(raised, service.body_scope.unwrap_or(Scope::Write)))
}

/// The endpoints read the body after they have authenticated the client, check origins by the
/// protocol's own rule, and refuse with a JSON-RPC error.
fn edge_route() -> EdgeRoute {
    EdgeRoute {
        body: BodyHandling::LeaveUnread,
        refusals: RefusalForm::Custom(Arc::new(|refusal, _| refused(refusal))),
        origins: OriginCheck::Route,
    }
}

/// A refusal as a JSON-RPC error with the HTTP status. Its id is null, because the message was not
/// read.
pub(crate) fn refused(refusal: &Refusal) -> Response {
    let error = answer::refused(refusal.status.as_u16(), &refusal.fault);
    let body = json!({ "jsonrpc": "2.0", "id": null, "error": error });
    let mut response = (refusal.status, Json(body)).into_response();
    http_wire::add_refusal_headers(&mut response, refusal.fault.retry_wait());
    response
}

/// One protocol endpoint. `handler` makes a handler for each session, and for each request without
/// a session.
pub(crate) fn endpoint<H>(
    handler: impl Fn() -> H + Send + Sync + 'static,
    options: &HttpOptions,
) -> MethodRouter
where
    H: ServerHandler + Send + Sync + 'static,
{
    let quiet_max = options.quiet_max;
    let limits = SessionLimits::of_total(options.sessions_max);
    let sessions = Arc::new(BoundedSessions::new(limits, options.session_idle, STREAM_RETRY));
    let factory = move || Ok(handler());
    // Shared, because the library's own clone copies its configuration for every request.
    let service =
        Arc::new(StreamableHttpService::new(factory, Arc::clone(&sessions), config(options)));
    any(move |mut request: Request| {
        let (service, sessions) = (Arc::clone(&service), Arc::clone(&sessions));
        let client = SessionOwner::of(request.extensions().get::<RequestMeta>());
        if let Some(end) = sessions.end_of(request.headers()) {
            request.extensions_mut().insert(end);
        }
        let is_large = request.extensions().get::<LargeBody>().is_some();
        // Boxed, because the library's state for one request is large.
        let answering: BoxFuture<'static, Response> = Box::pin(async move {
            let request = match session_requests::admit(&sessions, &client, request).await {
                Ok(request) => request,
                Err(refusal) => return refusal,
            };
            let (json, ending) = (is_json(&request), request.method() == Method::DELETE);
            let answer = BoundedSessions::for_client(client, service.handle(request));
            let response = answer.await.into_response();
            match response.status() {
                // The library answers a JSON body it cannot parse with "unsupported media type".
                StatusCode::UNSUPPORTED_MEDIA_TYPE if json => unreadable(),
                // The session has ended. The Python client accepts only this status or 200.
                StatusCode::ACCEPTED if ending => StatusCode::NO_CONTENT.into_response(),
                _ => response,
            }
        });
        let answering = if is_large { large_call::begin_off_worker(answering) } else { answering };
        keepalive::with_keepalive(answering, quiet_max)
    })
}

fn is_json(request: &Request) -> bool {
    let kind = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    kind.is_some_and(|kind| kind.trim_start().starts_with("application/json"))
}

fn unreadable() -> Response {
    let error = json!({ "code": -32700, "message": "the body is not a JSON-RPC message" });
    let body = json!({ "jsonrpc": "2.0", "id": null, "error": error });
    (StatusCode::BAD_REQUEST, Json(body)).into_response()
}

fn config(options: &HttpOptions) -> StreamableHttpServerConfig {
    let config = StreamableHttpServerConfig::default()
        .with_json_response(true)
        .with_legacy_session_mode(true)
        // The sessions begin their streams themselves: the library would give two events the id 0.
        .with_sse_retry(None)
        // The body is bounded before the library sees it, and the edge has checked the host.
        .with_max_request_body_bytes(usize::MAX)
        .disable_allowed_hosts()
        .with_cancellation_token(options.shutdown.clone())
        .enforce_origin_validation();
    if any_is_allowed(&options.allowed_origins) {
        return config.disable_allowed_origins();
    }
    let here = ["localhost", "127.0.0.1", "[::1]"];
    let local = here.iter().flat_map(|it| [format!("http://{it}:*"), format!("https://{it}:*")]);
    let named = options.allowed_origins.iter().map(|origin| with_port(origin));
    config.with_allowed_origins(local.chain(named))
}

fn any_is_allowed(list: &[String]) -> bool {
    list.iter().any(|it| it == "*")
}

/// An origin without a port means its scheme's own; the library would take it for any port.
fn with_port(origin: &str) -> String {
    let origin = origin.trim().trim_end_matches('/');
    let (scheme, authority) = origin.split_once("://").unwrap_or_default();
    let host = authority.rsplit_once(']').map_or(authority, |(_, after)| after);
    match scheme {
        "http" if !host.contains(':') => format!("{origin}:80"),
        "https" if !host.contains(':') => format!("{origin}:443"),
        _ => origin.to_owned(),
    }
}

async fn no_such_service(Path(asked): Path<String>, names: Arc<[Arc<str>]>) -> Response {
    let shown: String = asked.chars().take(64).collect();
    let error = format!("there is no service {shown:?} here");
    let names: Vec<&str> = names.iter().map(|name| &**name).collect();
    let body = json!({ "error": error, "services": names });
    (StatusCode::NOT_FOUND, Json(body)).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_port(origin: &str, expected: &str) {
        assert_eq!(with_port(origin), expected);
    }

    #[test]
    fn an_origin_names_its_port() {
        check_port("https://app.example", "https://app.example:443");
        check_port("https://app.example/", "https://app.example:443");
        check_port("http://app.example", "http://app.example:80");
        check_port("http://app.example:8080", "http://app.example:8080");
        check_port("http://app.example:*", "http://app.example:*");
        check_port("http://[::1]", "http://[::1]:80");
        check_port("http://[::1]:5000", "http://[::1]:5000");
        check_port("null", "null");
    }

    #[tokio::test]
    async fn a_rate_refusal_is_a_json_rpc_error_with_retry_after() {
        let fault = fault::Fault::new(fault::Kind::RateLimited, "rate_limited", "wait")
            .retry_after(Duration::from_millis(1_500));
        let response = refused(&Refusal::new(StatusCode::TOO_MANY_REQUESTS, fault));
        assert_eq!(response.status(), StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(response.headers()["retry-after"], "2");
        let body = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
        let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
        assert_eq!((&body["jsonrpc"], &body["id"]), (&json!("2.0"), &json!(null)));
        assert_eq!(body["error"]["code"], 429);
        assert_eq!(body["error"]["data"]["retry_after_s"], 2);
    }
}

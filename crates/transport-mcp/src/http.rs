//! The streamable HTTP endpoints: `/mcp` for everything, `/mcp/{service}` for one contract alone.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::Router;
use axum::extract::{Path, Request};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, any};
use contract::{Pipeline, View};
use http::header::CONTENT_TYPE;
use http::{Method, StatusCode};
use rmcp::ServerHandler;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::keepalive;
use crate::server::{McpServer, ServerOptions};
use crate::sessions::BoundedSessions;

/// When a client whose stream broke should come back.
const STREAM_RETRY: Duration = Duration::from_secs(1);

/// How the endpoints face the network.
#[derive(Debug, Clone)]
pub struct HttpOptions {
    /// Browser origins that may call, beside those of this machine; `*` for any.
    pub allowed_origins: Vec<String>,
    /// Host names clients may use, beside those of this machine; `*` for any.
    pub allowed_hosts: Vec<String>,
    pub body_bytes_max: usize,
    /// Sessions of the older protocol at each endpoint; the longest unused makes room.
    pub sessions_max: usize,
    pub session_idle: Duration,
    /// How long a client hears nothing at all of a request: after that it gets an open stream, and
    /// a sign of life as often.
    pub quiet_max: Duration,
    /// Ends every stream and session when the server stops.
    pub shutdown: CancellationToken,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            allowed_origins: Vec::new(),
            allowed_hosts: Vec::new(),
            body_bytes_max: 4 * 1024 * 1024,
            sessions_max: 1_024,
            session_idle: Duration::from_secs(300),
            quiet_max: Duration::from_secs(10),
            shutdown: CancellationToken::new(),
        }
    }
}

/// Both endpoints over one pipeline. `view` is what this process shows at most.
pub fn router(
    pipeline: &Arc<Pipeline>,
    view: &View,
    server: &ServerOptions,
    options: &HttpOptions,
) -> Router {
    let at = |view: View| {
        let server = McpServer::new(Arc::clone(pipeline), view, server.clone());
        let shutdown = options.shutdown.clone();
        endpoint(move || server.for_session(&shutdown), options)
    };
    let everything = at(view.clone());
    let mut router = Router::new().route("/mcp", everything.clone()).route("/mcp/", everything);
    let mut names: Vec<Arc<str>> = Vec::new();
    for service in pipeline.catalog().services() {
        let alone = view.narrowed(&View::of_service(&service.name));
        if pipeline.catalog().list(&alone).next().is_some() {
            router = router.route(&format!("/mcp/{}", service.name), at(alone));
            names.push(Arc::clone(&service.name));
        }
    }
    let names: Arc<[Arc<str>]> = names.into();
    router.route("/mcp/{service}", any(move |path| no_such_service(path, Arc::clone(&names))))
}

/// One protocol endpoint with the house's checks on. `handler` makes one for each session, and for
/// each request that has none.
pub(crate) fn endpoint<H>(
    handler: impl Fn() -> H + Send + Sync + 'static,
    options: &HttpOptions,
) -> MethodRouter
where
    H: ServerHandler + Send + Sync + 'static,
{
    let quiet_max = options.quiet_max;
    let sessions =
        Arc::new(BoundedSessions::new(options.sessions_max, options.session_idle, STREAM_RETRY));
    let factory = move || Ok(handler());
    // Shared, because the library's own clone copies its configuration for every request.
    let service =
        Arc::new(StreamableHttpService::new(factory, Arc::clone(&sessions), config(options)));
    any(move |mut request: Request| {
        let service = Arc::clone(&service);
        if let Some(end) = sessions.end_of(request.headers()) {
            request.extensions_mut().insert(end);
        }
        // The library's state for one request is large.
        let answering = Box::pin(async move {
            let (json, ending) = (is_json(&request), request.method() == Method::DELETE);
            let response = service.handle(request).await.into_response();
            match response.status() {
                // The library calls a JSON body it cannot read an unsupported type.
                StatusCode::UNSUPPORTED_MEDIA_TYPE if json => unreadable(),
                // The session is over. To Python's client this answer alone, or 200, says so.
                StatusCode::ACCEPTED if ending => StatusCode::NO_CONTENT.into_response(),
                _ => response,
            }
        });
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
    let mut config = StreamableHttpServerConfig::default()
        .with_json_response(true)
        .with_legacy_session_mode(true)
        .with_sse_retry(Some(STREAM_RETRY))
        .with_max_request_body_bytes(options.body_bytes_max)
        .with_cancellation_token(options.shutdown.clone())
        .enforce_origin_validation();
    if any_is_allowed(&options.allowed_hosts) {
        config = config.disable_allowed_hosts();
    } else {
        config.allowed_hosts.extend(options.allowed_hosts.iter().cloned());
    }
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
}

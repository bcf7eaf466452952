//! Routes every tool with an HTTP binding at its path, beside the uploads and downloads.

use std::sync::Arc;

use axum::Extension;
use axum::Router;
use axum::extract::{DefaultBodyLimit, RawQuery, State};
use axum::response::Response;
use axum::routing::{MethodFilter, on};
use bytes::Bytes;
use contract::{
    Call, HttpBinding, Pipeline, Progress, Reply, RequestMeta, RowRef, Service, ToolRef, View,
};
use fault::Fault;
use http::header::{ALLOW, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::addresses::PathRoutes;
use crate::path::{self, PathArguments};
use crate::refusal::Refusal;
use crate::request_memory::INLINE_PARSE_BYTES;
use crate::{download, encode, query, upload};

/// The routes of the tools, uploads and downloads that the view shows, and of the contracts'
/// documents.
pub(crate) fn routes(pipeline: &Arc<Pipeline>, view: &View) -> Router {
    let mut addresses = PathRoutes::default();
    let catalog = pipeline.catalog();
    for listed in catalog.list(view) {
        let Some(binding) = &listed.tool.spec.http else { continue };
        let Ok(method) = Method::from_bytes(binding.method.as_bytes()) else { continue };
        let Ok(filter) = MethodFilter::try_from(method.clone()) else { continue };
        let (service, name) = (&listed.service.name, &listed.tool.spec.name);
        let Some(tool) = catalog.find(Some(service), name).cloned() else { continue };
        let tool = tool.on_whole_server();
        let bound = BoundTool { pipeline: Arc::clone(pipeline), tool };
        let router = on(filter, serve).with_state(Arc::new(bound));
        addresses.add(listed.service, &method, binding.paths(), &router);
    }
    for found in catalog.uploads(view) {
        let spec = &found.row().spec;
        for method in spec.methods().iter().filter_map(|it| it.parse().ok()) {
            let Ok(filter) = MethodFilter::try_from(Method::clone(&method)) else { continue };
            let router = upload::route(filter, BoundFile::new(pipeline, found));
            addresses.add(found.service(), &method, spec.paths(), &router);
        }
    }
    for found in catalog.downloads(view) {
        let router = download::route(BoundFile::new(pipeline, found));
        addresses.add(found.service(), &Method::GET, found.row().spec.paths(), &router);
    }
    let mut router = addresses.routes();
    for service in catalog.services() {
        for document in &service.documents {
            let (Some(path), text) = (&document.http, document.text) else { continue };
            let json = [(CONTENT_TYPE, "application/json")];
            router = router.route(path, axum::routing::get(move || async move { (json, text) }));
        }
    }
    // The edge has read the body within its own limit, which may be larger than axum's default.
    router.layer(DefaultBodyLimit::disable())
}

/// An upload or a download that is bound to a path; it was looked up when the routes were built.
pub(crate) struct BoundFile<R> {
    pub(crate) pipeline: Arc<Pipeline>,
    pub(crate) file: RowRef<R>,
}

impl<R> BoundFile<R> {
    fn new(pipeline: &Arc<Pipeline>, file: &RowRef<R>) -> Arc<Self> {
        Arc::new(Self { pipeline: Arc::clone(pipeline), file: file.clone() })
    }

    pub(crate) fn refused(&self, fault: &Fault, meta: &RequestMeta) -> Response {
        refuse(self.file.service(), fault, meta)
    }
}

/// A call over HTTP.
pub(crate) fn http_call(
    args: Map<String, Value>,
    meta: &RequestMeta,
    cancel: CancellationToken,
) -> Call {
    let (meta, progress) = (meta.clone(), Progress::default());
    Call { args, meta, transport: "http", cancel, progress }
}

/// A tool that is bound to a path; it was looked up when the routes were built.
struct BoundTool {
    pipeline: Arc<Pipeline>,
    tool: ToolRef,
}

async fn serve(
    State(bound): State<Arc<BoundTool>>,
    Extension(meta): Extension<RequestMeta>,
    placed: PathArguments,
    RawQuery(text): RawQuery,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let BoundTool { pipeline, tool } = &*bound;
    let spec = &tool.row().spec;
    let schema = spec.input.json();
    let read = match spec.http.as_ref().is_some_and(HttpBinding::has_body) {
        true if !is_json_or_empty(&headers, &body) => {
            let fault = body_type();
            let mut response = refuse(tool.service(), &fault, &meta);
            *response.status_mut() = StatusCode::UNSUPPORTED_MEDIA_TYPE;
            return response;
        }
        true => body_arguments(body).await,
        false => query::arguments(text.as_deref().unwrap_or_default(), schema)
            .and_then(|args| without_credential(args, tool.service())),
    };
    let args = match read.and_then(|args| path::merge(args, placed, schema)) {
        Ok(args) => args,
        Err(fault) => return refuse(tool.service(), &fault, &meta),
    };
    // The guard cancels the handler when the client disconnects and this future is dropped.
    let cancel = CancellationToken::new();
    let _guard = cancel.clone().drop_guard();
    match pipeline.call(tool, http_call(args, &meta, cancel)).await {
        Err(failure) => encode::failure(&failure),
        Ok(reply) => {
            let form = move |found: &dyn Reply| encode::reply(found.http(), &headers);
            let written = pipeline.write(reply, form).await;
            written.unwrap_or_else(|fault| refuse(tool.service(), &fault, &meta))
        }
    }
}

/// Refuses a credential in a query, because proxies and browsers record addresses.
fn without_credential(
    args: Map<String, Value>,
    service: &Service,
) -> Result<Map<String, Value>, Fault> {
    match service.access.credential_argument.as_deref().filter(|name| args.contains_key(*name)) {
        Some(name) => {
            let expected = "a header Authorization: Bearer, not a token in the address";
            let message = format!("{name}: expected {expected}");
            Err(Fault::invalid("token_in_address", message).problem(name, expected))
        }
        None => Ok(args),
    }
}

/// Whether the body is empty or says that it is JSON. A page of another site cannot say so without
/// asking first.
fn is_json_or_empty(headers: &HeaderMap, body: &[u8]) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/json") || body.iter().all(u8::is_ascii_whitespace)
}

fn body_type() -> Fault {
    let message = "the body must be sent with Content-Type: application/json";
    Fault::invalid("body_type", message).problem("content-type", "application/json")
}

/// A body that is a JSON object; an empty one is an empty object. A large one is parsed on a
/// blocking thread, so that other requests are answered meanwhile.
async fn body_arguments(body: Bytes) -> Result<Map<String, Value>, Fault> {
    if body.iter().all(u8::is_ascii_whitespace) {
        return Ok(Map::new());
    }
    let parsed = match body.len() <= INLINE_PARSE_BYTES {
        true => serde_json::from_slice(&body).ok(),
        false => {
            let parse = move || serde_json::from_slice(&body).ok();
            tokio::task::spawn_blocking(parse).await.ok().flatten()
        }
    };
    parsed.ok_or_else(|| {
        Fault::invalid("invalid_body", "the body is not a JSON object").problem("", "a JSON object")
    })
}

/// A response for a request that failed before it reached the pipeline, in the service's envelope.
pub(crate) fn refuse(service: &Service, fault: &Fault, meta: &RequestMeta) -> Response {
    encode::failure(&service.failure(fault, &meta.request_id))
}

pub(crate) fn not_found(meta: &RequestMeta) -> Response {
    let message = "there is nothing at this address; /docs lists what there is";
    let fault = Fault::not_found("not_found", message);
    Refusal::new(StatusCode::NOT_FOUND, fault).response(&meta.request_id)
}

/// The response to a method that a path does not take. Its status is 405, whatever the contract's
/// error table says. `HEAD`, which comes with `GET`, is in `Allow` and not in the message.
pub(crate) fn wrong_method(service: &Service, meta: &RequestMeta, takes: &[Method]) -> Response {
    let names: Vec<&str> = takes.iter().map(Method::as_str).collect();
    let named: Vec<&str> = names.iter().copied().filter(|name| *name != "HEAD").collect();
    let message = format!("this address takes {} only", named.join(" and "));
    let fault = Fault::invalid("method_not_allowed", message);
    let mut response = refuse(service, &fault, meta);
    *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
    if let Ok(takes) = HeaderValue::from_str(&names.join(", ")) {
        response.headers_mut().insert(ALLOW, takes);
    }
    response
}

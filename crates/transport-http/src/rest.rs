//! Every tool with an HTTP binding at its address, beside the uploads and downloads.

use std::sync::Arc;

use axum::Extension;
use axum::Router;
use axum::extract::{DefaultBodyLimit, RawQuery, State};
use axum::response::Response;
use axum::routing::{MethodFilter, on};
use bytes::Bytes;
use contract::{Call, HttpBinding, Pipeline, Progress, RequestMeta, Service, View};
use fault::Fault;
use http::header::{ALLOW, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::addresses::PathRoutes;
use crate::path::{self, PathArguments};
use crate::refusal::Refusal;
use crate::{download, encode, query, upload};

/// The routes of the tools, uploads and downloads that the view shows, and of the contracts'
/// documents.
pub(crate) fn routes(pipeline: &Arc<Pipeline>, view: &View) -> Router {
    let mut addresses = PathRoutes::new(pipeline);
    let catalog = pipeline.catalog();
    for listed in catalog.list(view) {
        let Some(binding) = &listed.tool.spec.http else { continue };
        let Ok(method) = Method::from_bytes(binding.method.as_bytes()) else { continue };
        let Ok(filter) = MethodFilter::try_from(method.clone()) else { continue };
        let tool = Bound::new(pipeline, listed.service, &listed.tool.spec.name);
        let router = on(filter, serve).with_state(tool);
        addresses.add(&listed.service.name, &method, binding.paths(), &router);
    }
    for (service, row) in catalog.uploads(view) {
        let router = upload::route(Bound::new(pipeline, service, &row.spec.name));
        addresses.add(&service.name, &Method::POST, row.spec.paths(), &router);
    }
    for (service, row) in catalog.downloads(view) {
        let router = download::route(Bound::new(pipeline, service, &row.spec.name));
        addresses.add(&service.name, &Method::GET, row.spec.paths(), &router);
    }
    let mut router = addresses.routes();
    for service in catalog.services() {
        for document in &service.documents {
            let (Some(path), text) = (&document.http, document.text) else { continue };
            let json = [(CONTENT_TYPE, "application/json")];
            router = router.route(path, axum::routing::get(move || async move { (json, text) }));
        }
    }
    // The edge has read the body within its own bound, which may be larger than the library's.
    router.layer(DefaultBodyLimit::disable())
}

/// What answers at an address: a tool, an upload or a download, by name.
pub(crate) struct Bound {
    pub(crate) pipeline: Arc<Pipeline>,
    pub(crate) service: Arc<str>,
    pub(crate) tool: String,
}

impl Bound {
    fn new(pipeline: &Arc<Pipeline>, service: &Service, tool: &str) -> Arc<Self> {
        let (pipeline, service) = (Arc::clone(pipeline), Arc::clone(&service.name));
        Arc::new(Self { pipeline, service, tool: tool.to_owned() })
    }

    pub(crate) fn call(
        &self,
        args: Map<String, Value>,
        arrival: &RequestMeta,
        cancel: CancellationToken,
    ) -> Call {
        Call {
            tool: self.tool.clone(),
            service: Some(Arc::clone(&self.service)),
            args,
            credential: arrival.credential.clone(),
            transport: "http",
            request_id: Arc::clone(&arrival.request_id),
            retry_after_rate: arrival.retry_after_rate,
            cancel,
            progress: Progress::default(),
        }
    }

    pub(crate) fn refused(&self, fault: &Fault, arrival: &RequestMeta) -> Response {
        refuse(&self.pipeline, &self.service, fault, arrival)
    }
}

async fn serve(
    State(bound): State<Arc<Bound>>,
    Extension(arrival): Extension<RequestMeta>,
    placed: PathArguments,
    RawQuery(text): RawQuery,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let Some((_, row)) = bound.pipeline.catalog().find(Some(&bound.service), &bound.tool) else {
        return not_found(&arrival);
    };
    let schema = row.spec.input.json();
    let read = match row.spec.http.as_ref().is_some_and(HttpBinding::has_body) {
        true => body_arguments(&body),
        false => query::arguments(text.as_deref().unwrap_or_default(), schema),
    };
    let args = match read.and_then(|args| path::merge(args, placed, schema)) {
        Ok(args) => args,
        Err(fault) => return bound.refused(&fault, &arrival),
    };
    // Dropped with this future when the client goes away, and then the handler is told.
    let cancel = CancellationToken::new();
    let _gone = cancel.clone().drop_guard();
    match bound.pipeline.call(bound.call(args, &arrival, cancel)).await {
        None => not_found(&arrival),
        Some(Err(failure)) => encode::failure(&failure),
        Some(Ok(reply)) => encode::reply(reply.http(), &headers),
    }
}

/// A body that is a JSON object; an empty one is an empty object.
fn body_arguments(body: &[u8]) -> Result<Map<String, Value>, Fault> {
    if body.iter().all(u8::is_ascii_whitespace) {
        return Ok(Map::new());
    }
    serde_json::from_slice(body).map_err(|_| {
        Fault::invalid("invalid_body", "the body is not a JSON object").problem("", "a JSON object")
    })
}

/// What could not even be read, in the words of the service it was meant for.
pub(crate) fn refuse(
    pipeline: &Pipeline,
    service: &str,
    fault: &Fault,
    arrival: &RequestMeta,
) -> Response {
    match pipeline.failure_for(service, fault, &arrival.request_id) {
        Some(failure) => encode::failure(&failure),
        None => not_found(arrival),
    }
}

pub(crate) fn not_found(arrival: &RequestMeta) -> Response {
    let message = "there is nothing at this address; /docs lists what there is";
    Refusal::new(StatusCode::NOT_FOUND, "NOT_FOUND", message).response(&arrival.request_id)
}

/// What comes with another method than those an address takes. The status is HTTP's own, whether
/// the contract has a row for it or not.
pub(crate) fn wrong_method(
    pipeline: &Pipeline,
    service: &str,
    arrival: &RequestMeta,
    takes: &[Method],
) -> Response {
    let names: Vec<&str> = takes.iter().map(Method::as_str).collect();
    let message = format!("this address takes {} only", names.join(" and "));
    let fault = Fault::invalid("method_not_allowed", message);
    let mut response = refuse(pipeline, service, &fault, arrival);
    *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
    if let Ok(takes) = HeaderValue::from_str(&names.join(", ")) {
        response.headers_mut().insert(ALLOW, takes);
    }
    response
}

//! Every tool with an HTTP binding, at its address.

use std::future::ready;
use std::sync::Arc;

use axum::Extension;
use axum::Router;
use axum::extract::{DefaultBodyLimit, RawQuery, State};
use axum::response::Response;
use axum::routing::{MethodFilter, on};
use bytes::Bytes;
use contract::{Arrival, Call, Pipeline, Progress, View};
use fault::Fault;
use http::header::{ALLOW, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::refusal::Refusal;
use crate::{encode, query};

/// The routes of the tools that the view shows, and of the contracts' documents.
pub(crate) fn routes(pipeline: &Arc<Pipeline>, view: &View) -> Router {
    let mut router = Router::new();
    for listed in pipeline.catalog().list(view) {
        let Some(binding) = &listed.tool.spec.http else { continue };
        let Ok(method) = Method::from_bytes(binding.method.as_bytes()) else { continue };
        let Ok(filter) = MethodFilter::try_from(method.clone()) else { continue };
        let tool = Bound {
            pipeline: Arc::clone(pipeline),
            service: Arc::clone(&listed.service.name),
            tool: listed.tool.spec.name.clone(),
        };
        let tool = Arc::new(tool);
        let told = Arc::clone(&tool);
        let fallback = move |Extension(arrival): Extension<Arrival>| {
            ready(wrong_method(&told.pipeline, &told.service, &arrival, &method))
        };
        let handler = on(filter, serve).with_state(tool).fallback(fallback);
        router = router.route(&binding.path, handler);
    }
    for service in pipeline.catalog().services() {
        for document in &service.documents {
            let (Some(path), text) = (&document.http, document.text) else { continue };
            let json = [(CONTENT_TYPE, "application/json")];
            router = router.route(path, axum::routing::get(move || async move { (json, text) }));
        }
    }
    // The edge has read the body within its own bound, which may be larger than the library's.
    router.layer(DefaultBodyLimit::disable())
}

struct Bound {
    pipeline: Arc<Pipeline>,
    service: Arc<str>,
    tool: String,
}

async fn serve(
    State(bound): State<Arc<Bound>>,
    Extension(arrival): Extension<Arrival>,
    RawQuery(text): RawQuery,
    method: Method,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let Some((_, row)) = bound.pipeline.catalog().find(Some(&bound.service), &bound.tool) else {
        return not_found(&arrival);
    };
    let read = match method {
        Method::POST => body_arguments(&body),
        _ => query::arguments(text.as_deref().unwrap_or_default(), row.spec.input.json()),
    };
    let args = match read {
        Ok(args) => args,
        Err(fault) => return refused(&bound, &fault, &arrival),
    };
    // Dropped with this future when the client goes away, and then the handler is told.
    let cancel = CancellationToken::new();
    let _gone = cancel.clone().drop_guard();
    let call = Call {
        tool: bound.tool.clone(),
        service: Some(Arc::clone(&bound.service)),
        args,
        credential: arrival.credential.clone(),
        transport: "http",
        request_id: Arc::clone(&arrival.request_id),
        refused_for: arrival.refused_for,
        cancel,
        progress: Progress::default(),
    };
    match bound.pipeline.call(call).await {
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

fn refused(bound: &Bound, fault: &Fault, arrival: &Arrival) -> Response {
    refuse(&bound.pipeline, &bound.service, fault, arrival)
}

/// What could not even be read, in the words of the service it was meant for.
pub(crate) fn refuse(
    pipeline: &Pipeline,
    service: &str,
    fault: &Fault,
    arrival: &Arrival,
) -> Response {
    match pipeline.refuse(service, fault, &arrival.request_id) {
        Some(failure) => encode::failure(&failure),
        None => not_found(arrival),
    }
}

pub(crate) fn not_found(arrival: &Arrival) -> Response {
    let message = "there is nothing at this address; /docs lists what there is";
    Refusal::new(StatusCode::NOT_FOUND, "NOT_FOUND", message).response(&arrival.request_id)
}

/// What comes with another method than the one an address takes. The status is HTTP's own, whether
/// the contract has a row for it or not.
pub(crate) fn wrong_method(
    pipeline: &Pipeline,
    service: &str,
    arrival: &Arrival,
    takes: &Method,
) -> Response {
    let message = format!("this address takes {takes} only");
    let fault = Fault::invalid("method_not_allowed", message);
    let mut response = refuse(pipeline, service, &fault, arrival);
    *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
    if let Ok(takes) = HeaderValue::from_str(takes.as_str()) {
        response.headers_mut().insert(ALLOW, takes);
    }
    response
}

//! Checks a request against the sessions of its endpoint before the protocol library sees it: a session
//! is used by the subject that opened it, and a new one is refused while there is no room for it.

use std::borrow::Cow;
use std::time::Duration;

use axum::Json;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use http::{Method, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::answer;
use crate::sessions::{BoundedSessions, SessionOwner};

/// `Retry-After` of a client for whose session there is no room. Unused sessions end after minutes.
const RETRY_AFTER: Duration = Duration::from_secs(30);

/// What is read of a message to tell whether it opens a session.
#[derive(Deserialize)]
struct Opening<'a> {
    #[serde(borrow)]
    method: Cow<'a, str>,
    #[serde(default)]
    id: Value,
}

pub(crate) async fn admit(
    sessions: &BoundedSessions,
    client: &SessionOwner,
    request: Request,
) -> Result<Request, Response> {
    if sessions.is_of_another(request.headers(), client) {
        return Err(no_such_session());
    }
    if request.method() != Method::POST || sessions.has_room(client) {
        return Ok(request);
    }
    let (parts, body) = request.into_parts();
    // The body was bounded and read before.
    let Ok(bytes) = to_bytes(body, usize::MAX).await else { return Err(no_such_session()) };
    match serde_json::from_slice::<Opening<'_>>(&bytes) {
        Ok(opening) if opening.method == "initialize" => Err(sessions_full(&opening.id)),
        _ => Ok(Request::from_parts(parts, Body::from(bytes))),
    }
}

/// The answer of the library about a session that does not exist.
fn no_such_session() -> Response {
    (StatusCode::NOT_FOUND, "Not Found: Session not found").into_response()
}

/// HTTP 503 with a JSON-RPC error.
fn sessions_full(id: &Value) -> Response {
    let error = answer::sessions_full(RETRY_AFTER);
    let body = json!({ "jsonrpc": "2.0", "id": id, "error": error });
    let mut response = (StatusCode::SERVICE_UNAVAILABLE, Json(body)).into_response();
    http_wire::add_refusal_headers(&mut response, Some(RETRY_AFTER));
    response
}

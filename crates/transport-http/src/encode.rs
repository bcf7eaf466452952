//! A reply or a failure as an HTTP response, with validators and cache rules.

use axum::body::Body;
use axum::response::Response;
use contract::{CallFailure, HttpReply};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, VARY};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use http_wire::EntityTag;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const SOURCE: HeaderName = HeaderName::from_static("x-stoa-source");

/// A cacheable reply gets an entity tag: a hash of the body, weak because the compressed answer has
/// the same one. A partial answer (206) is not cacheable, because the missing part may be back in a
/// second.
pub(crate) fn reply(reply: HttpReply, request: &HeaderMap) -> Response {
    let status = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::OK);
    let bytes = serde_json::to_vec(&reply.body).unwrap_or_default();
    let mut response = Response::new(Body::empty());
    let headers = response.headers_mut();
    for (name, value) in reply.headers {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(HeaderName::from_static(name), value);
        }
    }
    headers.insert(CACHE_CONTROL, cache_control(reply.max_age_s, status));
    if status == StatusCode::OK && reply.max_age_s.is_some() {
        let tag = EntityTag::of(&bytes);
        headers.insert(VARY, HeaderValue::from_static("authorization, origin, accept-encoding"));
        if let Some(value) = tag.weak() {
            headers.insert(ETAG, value);
        }
        if tag.matches_if_none_match(request) {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            return response;
        }
    }
    headers.insert(CONTENT_TYPE, JSON);
    *response.status_mut() = status;
    *response.body_mut() = Body::from(bytes);
    response
}

pub(crate) fn failure(failure: &CallFailure) -> Response {
    let status =
        StatusCode::from_u16(failure.http_status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let bytes = serde_json::to_vec(&failure.http_body).unwrap_or_default();
    let mut response = Response::new(Body::from(bytes));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    add_source(&mut response, failure.source.as_deref());
    http_wire::add_refusal_headers(&mut response, failure.retry_after);
    response
}

/// Says where the data of the service come from, which an error object may have no room for.
pub(crate) fn add_source(response: &mut Response, source: Option<&str>) {
    if let Some(value) = source.and_then(|source| HeaderValue::from_str(source).ok()) {
        response.headers_mut().insert(SOURCE, value);
    }
}

fn cache_control(max_age_s: Option<u32>, status: StatusCode) -> HeaderValue {
    match max_age_s {
        Some(seconds) if status == StatusCode::OK => {
            // `private`, because an answer may depend on the caller.
            HeaderValue::from_str(&format!("private, max-age={seconds}"))
                .unwrap_or(HeaderValue::from_static("no-store"))
        }
        _ => HeaderValue::from_static("no-store"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::header::IF_NONE_MATCH;
    use serde_json::json;

    fn answer(status: u16, max_age_s: Option<u32>) -> HttpReply {
        HttpReply { status, body: json!({"a": 1}), max_age_s, headers: Vec::new() }
    }

    #[track_caller]
    fn check(list: &str, status: StatusCode) {
        let mut request = HeaderMap::new();
        request.insert(IF_NONE_MATCH, list.parse().unwrap());
        assert_eq!(reply(answer(200, Some(1)), &request).status(), status, "{list}");
    }

    #[test]
    fn a_known_entity_tag_is_answered_with_not_modified() {
        let first = reply(answer(200, Some(1)), &HeaderMap::new());
        let tag = first.headers()[ETAG].to_str().unwrap().to_owned();
        check(&tag, StatusCode::NOT_MODIFIED);
        check(tag.trim_start_matches("W/"), StatusCode::NOT_MODIFIED);
        check(&format!("\"other\", {tag}"), StatusCode::NOT_MODIFIED);
        check("*", StatusCode::NOT_MODIFIED);
        check("\"other\"", StatusCode::OK);
    }

    #[test]
    fn partial_and_uncacheable_answers_carry_no_tag() {
        for (status, age) in [(206, Some(1)), (200, None), (503, Some(1))] {
            let response = reply(answer(status, age), &HeaderMap::new());
            assert!(!response.headers().contains_key(ETAG));
            assert_eq!(response.headers()[CACHE_CONTROL], "no-store");
        }
    }
}

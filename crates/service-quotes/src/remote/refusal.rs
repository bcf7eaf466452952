//! Reads the error of another server's quotes API, so that the reply passes on its status, message,
//! trace id and waiting time.

use std::time::Duration;

use clock::Millis;
use fault::{Fault, Kind, UpstreamError};
use jiff::fmt::rfc2822;
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};
use serde_json::Value;

/// The most characters of a message that are passed on.
const MESSAGE_MAX: usize = 500;
/// The most characters of an id that are passed on.
const ID_MAX: usize = 128;

/// The fault of a response whose status is an error. `now` is used if the response has no date.
pub(super) fn fault(status: u16, body: &[u8], headers: &HeaderMap, now: Millis) -> Fault {
    let body: Value = serde_json::from_slice(body).unwrap_or(Value::Null);
    // An envelope is `{"error": {…}}`, or the error itself.
    let error = if body["error"].is_object() { &body["error"] } else { &body };
    let field = |names: &[&str], max: usize| {
        let text = names.iter().find_map(|name| error[*name].as_str())?.trim();
        (!text.is_empty()).then(|| text.chars().take(max).collect::<String>())
    };
    let message = field(&["message", "detail"], MESSAGE_MAX)
        .or_else(|| Some(body["error"].as_str()?.chars().take(MESSAGE_MAX).collect()))
        .unwrap_or_else(|| format!("the quotes API answered with status {status}"));
    let trace_id = field(&["trace_id", "request_id"], ID_MAX).or_else(|| request_id(headers));
    let error_type = field(&["type", "code"], ID_MAX).unwrap_or_default();
    let fault = Fault::new(kind(&error_type, status), "upstream_refused_request", message)
        .passed_on(UpstreamError { status, trace_id });
    let wait = error["retry_after_s"].as_f64().and_then(|it| Duration::try_from_secs_f64(it).ok());
    match wait.or_else(|| retry_after(headers, now)) {
        Some(wait) => fault.retry_after(wait),
        None => fault,
    }
}

/// The id under which the other server knows the request.
pub(super) fn request_id(headers: &HeaderMap) -> Option<String> {
    let id = headers.get("x-request-id")?.to_str().ok()?.trim();
    (!id.is_empty()).then(|| id.chars().take(ID_MAX).collect())
}

/// The kind of an error type of the contract; for other types, the kind of the status.
fn kind(error_type: &str, status: u16) -> Kind {
    match error_type.to_ascii_uppercase().as_str() {
        "VALIDATION_ERROR" => return Kind::Invalid,
        "UNAUTHENTICATED" => return Kind::Unauthenticated,
        "FORBIDDEN" => return Kind::Forbidden,
        "NOT_FOUND" => return Kind::NotFound,
        "RATE_LIMITED" => return Kind::RateLimited,
        _ => {}
    }
    match status {
        401 => Kind::Unauthenticated,
        403 => Kind::Forbidden,
        404 => Kind::NotFound,
        429 => Kind::RateLimited,
        400..=499 => Kind::Invalid,
        504 => Kind::Timeout,
        _ => Kind::Unavailable,
    }
}

/// `Retry-After` as seconds or as an HTTP date. A date is compared with the `Date` of the response, so
/// that the clocks of the two servers need not agree.
fn retry_after(headers: &HeaderMap, now: Millis) -> Option<Duration> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let value = text(RETRY_AFTER)?;
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let time = |text: &str| Some(rfc2822::parse(text).ok()?.timestamp().as_millisecond());
    let sent = text(DATE).and_then(time).unwrap_or(now.0);
    let wait = time(value)?.saturating_sub(sent);
    Some(Duration::from_millis(u64::try_from(wait).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(status: u16, headers: &[(&'static str, &str)], body: &str) -> Fault {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, value.parse().unwrap());
        }
        fault(status, body.as_bytes(), &map, Millis(1_445_412_470_000))
    }

    #[track_caller]
    fn check(status: u16, body: &Value, kind: Kind, message: &str, trace_id: Option<&str>) {
        let fault = of(status, &[("x-request-id", "rid-1")], &body.to_string());
        let upstream = fault.upstream().unwrap();
        assert_eq!((fault.kind(), upstream.status), (kind, status), "{body}");
        assert_eq!((fault.message(), upstream.trace_id.as_deref()), (message, trace_id), "{body}");
    }

    #[test]
    fn every_known_error_body_is_passed_on() {
        use Kind::{
            Forbidden, Invalid, NotFound, RateLimited, Timeout, Unauthenticated, Unavailable,
        };
        let (own, id) = ("it failed", Some("rid-1"));
        let ours = json!({ "error": { "type": "RATE_LIMITED", "message": own, "trace_id": "t" } });
        check(500, &ours, RateLimited, own, Some("t"));
        check(422, &json!({ "code": "E1", "message": own }), Invalid, own, id);
        check(
            400,
            &json!({ "error": { "code": "validation_error", "message": own } }),
            Invalid,
            own,
            id,
        );
        check(404, &json!({ "error": own }), NotFound, own, id);
        check(401, &json!({ "detail": own, "request_id": "r9" }), Unauthenticated, own, Some("r9"));
        check(403, &json!({ "detail": own }), Forbidden, own, id);
        check(504, &json!({ "message": own }), Timeout, own, id);
        for body in [json!([]), json!(null), json!({ "message": " " }), json!({ "error": 5 })] {
            check(503, &body, Unavailable, "the quotes API answered with status 503", id);
        }
        let long = of(500, &[], &json!({ "message": "x".repeat(900) }).to_string());
        assert_eq!((long.message().len(), long.upstream().unwrap().trace_id.as_ref()), (500, None));
    }

    #[track_caller]
    fn check_wait(headers: &[(&'static str, &str)], body: &str, seconds: Option<u64>) {
        let fault = of(429, headers, body);
        assert_eq!(fault.retry_wait(), seconds.map(Duration::from_secs), "{headers:?} {body}");
    }

    #[test]
    fn retry_after_is_read_from_the_body_and_in_every_header_form() {
        let date = "Wed, 21 Oct 2015 07:28:00 GMT";
        check_wait(&[("retry-after", "7")], "", Some(7));
        check_wait(&[("retry-after", "7")], r#"{"error":{"retry_after_s":3}}"#, Some(3));
        check_wait(
            &[("retry-after", date), ("date", "Wed, 21 Oct 2015 07:27:00 GMT")],
            "",
            Some(60),
        );
        // Without a date of the response, the clock says 07:27:50.
        check_wait(&[("retry-after", date)], "", Some(10));
        check_wait(
            &[("retry-after", date), ("date", "Wed, 21 Oct 2015 08:00:00 GMT")],
            "",
            Some(0),
        );
        check_wait(&[("retry-after", "soon")], "", None);
        check_wait(&[("retry-after", "-1")], "", None);
        check_wait(&[], "", None);
    }
}

//! Headers of refusals and of event streams.

use std::time::Duration;

use http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderName, HeaderValue, Response, StatusCode};

/// With the value `no` it asks a proxy not to buffer the events.
const PROXY_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// Sets the headers of a refusal: no caching, `Retry-After` in whole seconds, and `WWW-Authenticate`
/// with status 401.
pub fn add_refusal_headers<B>(response: &mut Response<B>, retry_after: Option<Duration>) {
    let unauthorized = response.status() == StatusCode::UNAUTHORIZED;
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Some(wait) = retry_after {
        // Rounded up, because an early retry would be refused again.
        let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds.max(1)));
    }
    if unauthorized {
        headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"stoa\""));
    }
}

/// A response with server-sent events as its body.
#[must_use]
pub fn event_stream<B>(body: B) -> Response<B> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(PROXY_BUFFERING, HeaderValue::from_static("no"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(wait_ms: u64, expected: &str) {
        let mut response = Response::new(());
        add_refusal_headers(&mut response, Some(Duration::from_millis(wait_ms)));
        assert_eq!(response.headers()[RETRY_AFTER], expected, "{wait_ms} ms");
    }

    #[test]
    fn retry_after_is_rounded_up_and_at_least_a_second() {
        check(0, "1");
        check(1_000, "1");
        check(1_001, "2");
    }

    #[test]
    fn only_an_unauthorized_response_names_the_scheme() {
        for (status, named) in [(StatusCode::UNAUTHORIZED, true), (StatusCode::FORBIDDEN, false)] {
            let mut response = Response::new(());
            *response.status_mut() = status;
            add_refusal_headers(&mut response, None);
            assert_eq!(response.headers().contains_key(WWW_AUTHENTICATE), named);
            assert!(!response.headers().contains_key(RETRY_AFTER));
        }
    }
}

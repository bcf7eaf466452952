//! Parses an ISS response into tables, or into a fault that says whether to retry and whether it
//! counts against the circuit breaker.

use std::time::Duration;

use fault::{Fault, Kind};
use http_client::{HttpResponse, RequestFailure, Retry};
use market::Delay;
use reqwest::header::{CONTENT_TYPE, RETRY_AFTER};

use crate::tables::{IssError, Tables};

/// The wait after a 429 without `Retry-After`.
const WAIT_GUESS: Duration = Duration::from_secs(30);
const WAIT_MAX: Duration = Duration::from_hours(24);

/// The tables of a successful response.
#[derive(Debug)]
pub(crate) struct IssResponse {
    pub(crate) tables: Tables,
    /// Clients without a subscription get delayed prices; a header says which kind this is.
    pub(crate) delay: Delay,
}

/// Parses the response.
pub(crate) fn parse(response: HttpResponse) -> Result<IssResponse, RequestFailure> {
    if !response.status.is_success() {
        return Err(failure(&response));
    }
    let first = response.body.iter().find(|byte| !byte.is_ascii_whitespace());
    let says_html =
        text(&response, CONTENT_TYPE.as_str()).is_some_and(|kind| kind.contains("html"));
    if says_html || first == Some(&b'<') {
        let message = "the exchange answered with a page instead of data; it does so where data \
                       needs a subscription";
        return Err(RequestFailure::refusal(Fault::unavailable("upstream_refused", message)));
    }
    let tables = Tables::read(&response.body).map_err(|error| match error {
        IssError::Malformed(error) => {
            let message = "the exchange's answer is not understood";
            let fault = Fault::unavailable("upstream_malformed", message).caused_by(error);
            RequestFailure::venue_error(fault, Retry::Never)
        }
        IssError::Failed(reported) => {
            let message = "the exchange could not acquire its data";
            let fault =
                Fault::unavailable("upstream_failed", message).caused_by(excerpt(&reported));
            RequestFailure::venue_error(fault, Retry::AfterBackoff)
        }
    })?;
    let granted = text(&response, "x-micexpassport-marker") == Some("granted");
    Ok(IssResponse { tables, delay: if granted { Delay::RealTime } else { Delay::Delayed15m } })
}

fn text<'a>(response: &'a HttpResponse, name: &str) -> Option<&'a str> {
    response.headers.get(name).and_then(|value| value.to_str().ok())
}

fn failure(response: &HttpResponse) -> RequestFailure {
    let retry_after_s =
        text(response, RETRY_AFTER.as_str()).and_then(|text| text.trim().parse().ok());
    let wait = retry_after_s.map(Duration::from_secs).map(|wait| wait.min(WAIT_MAX));
    let status = response.status.as_u16();
    match status {
        429 => RequestFailure::rate_limited(wait.unwrap_or(WAIT_GUESS)),
        401 | 403 => {
            let message = "the exchange gives this only to subscribers";
            RequestFailure::refusal(Fault::unavailable("upstream_refused", message))
        }
        404 => RequestFailure::refusal(Fault::not_found(
            "not_published",
            "the exchange has no such page",
        )),
        500.. => {
            let message = format!("the exchange failed with status {status}");
            let fault = Fault::unavailable("upstream_failed", message);
            let fault = fault.caused_by(excerpt(&String::from_utf8_lossy(&response.body)));
            let fault = match wait {
                Some(wait) => fault.retry_after(wait),
                None => fault,
            };
            RequestFailure::venue_error(fault, Retry::AfterBackoff)
        }
        _ => {
            let message = format!("the exchange rejected our request (status {status})");
            RequestFailure::refusal(Fault::new(Kind::Internal, "upstream_rejected", message))
        }
    }
}

/// The first 200 characters of a message of the exchange, for the log.
fn excerpt(message: &str) -> String {
    message.chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use reqwest::StatusCode;
    use reqwest::header::HeaderMap;

    use super::*;

    fn answer(status: u16, pairs: &[(&'static str, &str)], body: &str) -> HttpResponse {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.insert(*name, value.parse().unwrap());
        }
        let status = StatusCode::from_u16(status).unwrap();
        HttpResponse { status, headers, body: body.as_bytes().to_vec() }
    }

    #[track_caller]
    fn check(answer: HttpResponse, kind: Kind, code: &str, retry: Retry, broken: bool) {
        let failure = parse(answer).unwrap_err();
        let is = (failure.fault.kind(), failure.fault.code(), failure.retry, failure.trips_breaker);
        assert_eq!(is, (kind, code, retry, broken));
    }

    #[test]
    fn each_kind_of_response_gives_its_fault() {
        use Kind::{Internal, NotFound, RateLimited, Unavailable};
        use Retry::{AfterBackoff, Never, WhenUnblocked};
        let html = [("content-type", "text/html; charset=utf-8")];
        let error = r#"{"candles":{"error":"Error while acquiring data."}}"#;
        for (answer, kind, code, retry, broken) in [
            (answer(429, &[], "{}"), RateLimited, "upstream_rate_limited", WhenUnblocked, false),
            (answer(403, &html, "<html>"), Unavailable, "upstream_refused", Never, false),
            (answer(404, &html, "<html>"), NotFound, "not_published", Never, false),
            (answer(500, &[], ""), Unavailable, "upstream_failed", AfterBackoff, true),
            (answer(504, &html, "<html>"), Unavailable, "upstream_failed", AfterBackoff, true),
            (answer(302, &[], ""), Internal, "upstream_rejected", Never, false),
            (answer(400, &[], "{}"), Internal, "upstream_rejected", Never, false),
            (answer(200, &html, "{}"), Unavailable, "upstream_refused", Never, false),
            (answer(200, &[], " <!DOCTYPE html>"), Unavailable, "upstream_refused", Never, false),
            (answer(200, &[], ""), Unavailable, "upstream_malformed", Never, true),
            (answer(200, &[], "[1]"), Unavailable, "upstream_malformed", Never, true),
            (answer(200, &[], error), Unavailable, "upstream_failed", AfterBackoff, true),
        ] {
            check(answer, kind, code, retry, broken);
        }
    }

    #[test]
    fn the_marker_header_gives_the_delay() {
        for (headers, delay) in [
            (&[("x-micexpassport-marker", "granted")][..], Delay::RealTime),
            (&[("x-micexpassport-marker", "denied")][..], Delay::Delayed15m),
            (&[][..], Delay::Delayed15m),
        ] {
            assert_eq!(parse(answer(200, headers, "{}")).unwrap().delay, delay);
        }
    }

    #[test]
    fn the_wait_comes_from_the_header_or_is_thirty_seconds() {
        let wait = |status: u16, headers: &[(&'static str, &str)]| {
            let failure = parse(answer(status, headers, "{}")).unwrap_err();
            failure.fault.retry_wait().map(|wait| wait.as_secs())
        };
        assert_eq!(wait(429, &[("retry-after", "7")]), Some(7));
        assert_eq!(wait(429, &[]), Some(30));
        assert_eq!(wait(429, &[("retry-after", "999999")]), Some(86_400));
        assert_eq!(wait(503, &[("retry-after", "7")]), Some(7));
        assert_eq!(wait(503, &[("retry-after", "soon")]), None);
    }
}

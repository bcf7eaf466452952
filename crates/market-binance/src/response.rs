//! What a response of Binance means: its fault, whether a retry can help, and whether the circuit breaker
//! counts it.

use std::time::Duration;

use clock::Millis;
use fault::{Fault, Kind};
use http_client::{HttpResponse, RequestFailure, Retry};
use reqwest::StatusCode;
use reqwest::header::{CONTENT_TYPE, RETRY_AFTER};

use crate::wire::ErrorBody;

/// A response with the headers that the adapter reads.
#[derive(Debug)]
pub(crate) struct BinanceResponse {
    status: StatusCode,
    pub(crate) used_weight: Option<u32>,
    retry_after: Option<Duration>,
    is_html: bool,
    pub(crate) body: Vec<u8>,
}

impl BinanceResponse {
    pub(crate) fn new(HttpResponse { status, headers, body }: HttpResponse) -> Self {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let weight = text("x-mbx-used-weight-1m").or_else(|| text("x-mbx-used-weight"));
        Self {
            status,
            used_weight: weight.and_then(|weight| weight.parse().ok()),
            retry_after: text(RETRY_AFTER.as_str())
                .and_then(|seconds| seconds.trim().parse().ok())
                .map(Duration::from_secs),
            is_html: text(CONTENT_TYPE.as_str()).is_some_and(|kind| kind.contains("html")),
            body,
        }
    }

    /// The body of a successful response, which starts like JSON.
    pub(crate) fn into_body(self, now: Millis) -> Result<Vec<u8>, RequestFailure> {
        if !self.status.is_success() {
            return Err(self.failure(now));
        }
        let first = self.body.iter().find(|byte| !byte.is_ascii_whitespace());
        if self.is_html || !matches!(first, Some(b'{' | b'[')) {
            let message = "the exchange answered with something other than JSON";
            let fault = Fault::unavailable("upstream_malformed", message);
            return Err(RequestFailure::venue_error(fault, Retry::Never));
        }
        Ok(self.body)
    }

    fn failure(&self, now: Millis) -> RequestFailure {
        let error: Option<ErrorBody> = serde_json::from_slice(&self.body).ok();
        let code = error.as_ref().map_or(0, |error| error.code);
        let venue_message = error.as_ref().map_or("", |error| error.msg.as_str());
        match self.status.as_u16() {
            429 => {
                RequestFailure::rate_limited(self.wait(venue_message, now, Duration::from_mins(1)))
            }
            // Banned: a retry would extend the ban.
            418 => RequestFailure {
                retry: Retry::Never,
                ..RequestFailure::rate_limited(self.wait(
                    venue_message,
                    now,
                    Duration::from_mins(2),
                ))
            },
            451 => {
                let message = "the exchange refuses requests from this location; set \
                               BINANCE_REST_URL=https://data-api.binance.vision, which serves \
                               market data everywhere, or use the simulated exchange";
                RequestFailure::refusal(Fault::unavailable("upstream_geo_blocked", message))
            }
            403 => {
                let message = "the exchange's firewall refused the request";
                RequestFailure::refusal(Fault::unavailable("upstream_refused", message))
            }
            500.. => {
                let message = format!("the exchange failed with status {}", self.status.as_u16());
                let fault = Fault::unavailable("upstream_failed", message);
                RequestFailure::venue_error(
                    fault.caused_by(describe(code, venue_message)),
                    Retry::AfterBackoff,
                )
            }
            _ => self.rejected(code, venue_message),
        }
    }

    /// The exchange works and rejected the request.
    fn rejected(&self, code: i64, venue_message: &str) -> RequestFailure {
        let of_symbol = code == -1121 || (code == -1100 && venue_message.contains("'symbol"));
        let fault = if of_symbol {
            Fault::not_found("unknown_symbol", "the exchange does not know the symbol")
        } else {
            let status = self.status.as_u16();
            let message = format!("the exchange rejected our request (status {status})");
            Fault::new(Kind::Internal, "upstream_rejected", message)
        };
        RequestFailure {
            fault: fault.caused_by(describe(code, venue_message)),
            retry: Retry::Never,
            trips_breaker: false,
        }
    }

    /// The wait from the header, else from the text of a ban, else `guess`; at most 72 h.
    fn wait(&self, venue_message: &str, now: Millis, guess: Duration) -> Duration {
        let from_text = || {
            let (_, after) = venue_message.split_once("banned until ")?;
            let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
            let until: i64 = digits.parse().ok()?;
            Some(Duration::from_millis(u64::try_from(until - now.0).ok()?))
        };
        self.retry_after.or_else(from_text).unwrap_or(guess).min(Duration::from_hours(72))
    }
}

/// The exchange's error, for the log.
fn describe(code: i64, message: &str) -> String {
    let message: String = message.chars().take(200).collect();
    format!("{code}: {message}")
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderMap;

    use super::*;

    fn answer(status: u16, headers: &[(&'static str, &str)], body: &str) -> BinanceResponse {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, value.parse().unwrap());
        }
        let status = StatusCode::from_u16(status).unwrap();
        BinanceResponse::new(HttpResponse { status, headers: map, body: body.as_bytes().to_vec() })
    }

    #[track_caller]
    fn check(answer: BinanceResponse, kind: Kind, code: &str, retry: Retry, broken: bool) {
        let failure = answer.into_body(Millis(1_000)).unwrap_err();
        let is = (failure.fault.kind(), failure.fault.code(), failure.retry, failure.trips_breaker);
        assert_eq!(is, (kind, code, retry, broken));
    }

    #[test]
    fn every_status_becomes_its_fault() {
        let html = [("content-type", "text/html")];
        let symbol = r#"{"code":-1121,"msg":"Invalid symbol."}"#;
        let illegal = r#"{"code":-1100,"msg":"Illegal characters found in parameter 'symbol'; x"}"#;
        let limit = r#"{"code":-1100,"msg":"Illegal characters found in parameter 'limit'; x"}"#;
        use Kind::{Internal, NotFound, RateLimited, Unavailable};
        use Retry::{AfterBackoff, Never, WhenUnblocked};
        for (answer, kind, code, retry, broken) in [
            (answer(429, &[], "{}"), RateLimited, "upstream_rate_limited", WhenUnblocked, false),
            (answer(418, &[], "{}"), RateLimited, "upstream_rate_limited", Never, false),
            (answer(451, &[], "{}"), Unavailable, "upstream_geo_blocked", Never, false),
            (answer(403, &html, "<html>"), Unavailable, "upstream_refused", Never, false),
            (answer(500, &[], ""), Unavailable, "upstream_failed", AfterBackoff, true),
            (
                answer(503, &[], r#"{"code":-1008}"#),
                Unavailable,
                "upstream_failed",
                AfterBackoff,
                true,
            ),
            (answer(400, &[], symbol), NotFound, "unknown_symbol", Never, false),
            (answer(400, &[], illegal), NotFound, "unknown_symbol", Never, false),
            (answer(400, &[], limit), Internal, "upstream_rejected", Never, false),
            (answer(301, &[], ""), Internal, "upstream_rejected", Never, false),
            (answer(404, &html, "<html>"), Internal, "upstream_rejected", Never, false),
            (answer(200, &html, "{}"), Unavailable, "upstream_malformed", Never, true),
            (answer(200, &[], "<html>"), Unavailable, "upstream_malformed", Never, true),
            (answer(200, &[], ""), Unavailable, "upstream_malformed", Never, true),
        ] {
            check(answer, kind, code, retry, broken);
        }
        assert!(answer(200, &[], " {}").into_body(Millis(0)).is_ok());
    }

    #[test]
    fn the_wait_comes_from_the_header_then_the_text_then_a_guess() {
        let ban = r#"{"code":-1003,"msg":"Way too much; IP banned until 31000. Please"}"#;
        for (answer, wait_s) in [
            (answer(418, &[("retry-after", "7")], ban), 7),
            (answer(418, &[], ban), 30),
            (answer(418, &[], r#"{"code":-1003,"msg":"IP banned until 9. x"}"#), 120),
            (answer(429, &[("retry-after", "soon")], "{}"), 60),
            (answer(429, &[("retry-after", "99999999999")], "{}"), 259_200),
        ] {
            let failure = answer.into_body(Millis(1_000)).unwrap_err();
            assert_eq!(failure.fault.retry_wait(), Some(Duration::from_secs(wait_s)));
        }
    }
}

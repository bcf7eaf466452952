//! What an answer means: tables, or which fault it is, whether trying again can help, and whether
//! the exchange is to blame.

use std::time::Duration;

use fault::{Fault, Kind};
use market::Delay;
use reqwest::StatusCode;
use reqwest::header::{CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use upstream::{Failure, Retry};

use crate::tables::{Tables, Unreadable};

/// How long we stay away when told to without being told how long.
const WAIT_GUESS: Duration = Duration::from_secs(30);
const WAIT_MAX: Duration = Duration::from_hours(24);

/// The tables of a good answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) tables: Tables,
    /// Whoever has no subscription sees prices with a delay; the exchange says which it is.
    pub(crate) delay: Delay,
}

/// An answer as it came off the wire.
#[derive(Debug)]
pub(crate) struct RawAnswer {
    status: StatusCode,
    retry_after: Option<Duration>,
    says_html: bool,
    granted: bool,
    pub(crate) body: Vec<u8>,
}

impl RawAnswer {
    pub(crate) fn new(status: StatusCode, headers: &HeaderMap) -> Self {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        Self {
            status,
            retry_after: text(RETRY_AFTER.as_str())
                .and_then(|seconds| seconds.trim().parse().ok())
                .map(Duration::from_secs),
            says_html: text(CONTENT_TYPE.as_str()).is_some_and(|kind| kind.contains("html")),
            granted: text("x-micexpassport-marker").is_some_and(|marker| marker == "granted"),
            body: Vec::new(),
        }
    }

    pub(crate) fn into_answer(self) -> Result<Answer, Failure> {
        if !self.status.is_success() {
            return Err(self.failure());
        }
        let first = self.body.iter().find(|byte| !byte.is_ascii_whitespace());
        if self.says_html || first == Some(&b'<') {
            let message = "the exchange answered with a page instead of data; it does so where \
                           data needs a subscription";
            return Err(Failure::refusal(Fault::unavailable("upstream_refused", message)));
        }
        let tables = Tables::read(&self.body).map_err(|unreadable| match unreadable {
            Unreadable::Malformed(error) => {
                let message = "the exchange's answer is not understood";
                let fault = Fault::unavailable("upstream_malformed", message).caused_by(error);
                Failure::broken(fault, Retry::Never)
            }
            Unreadable::Failed(said) => {
                let message = "the exchange could not acquire its data";
                let fault = Fault::unavailable("upstream_failed", message).caused_by(shown(&said));
                Failure::broken(fault, Retry::Again)
            }
        })?;
        let delay = if self.granted { Delay::RealTime } else { Delay::Delayed15m };
        Ok(Answer { tables, delay })
    }

    fn failure(&self) -> Failure {
        let status = self.status.as_u16();
        match status {
            429 => Failure::limited(self.retry_after.unwrap_or(WAIT_GUESS).min(WAIT_MAX)),
            401 | 403 => {
                let message = "the exchange gives this only to subscribers";
                Failure::refusal(Fault::unavailable("upstream_refused", message))
            }
            404 => {
                Failure::refusal(Fault::not_found("not_published", "the exchange has no such page"))
            }
            500.. => {
                let message = format!("the exchange failed with status {status}");
                let fault = Fault::unavailable("upstream_failed", message);
                let fault = fault.caused_by(shown(&String::from_utf8_lossy(&self.body)));
                let fault = match self.retry_after {
                    Some(wait) => fault.retry_after(wait.min(WAIT_MAX)),
                    None => fault,
                };
                Failure::broken(fault, Retry::Again)
            }
            _ => {
                let message = format!("the exchange rejected our request (status {status})");
                Failure::refusal(Fault::new(Kind::Internal, "upstream_rejected", message))
            }
        }
    }
}

/// What the exchange said, for the log.
fn shown(said: &str) -> String {
    said.chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, headers: &[(&'static str, &str)], body: &str) -> RawAnswer {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, value.parse().unwrap());
        }
        let mut answer = RawAnswer::new(StatusCode::from_u16(status).unwrap(), &map);
        answer.body = body.as_bytes().to_vec();
        answer
    }

    #[track_caller]
    fn check(answer: RawAnswer, kind: Kind, code: &str, retry: Retry, broken: bool) {
        let failure = answer.into_answer().unwrap_err();
        let is = (failure.fault.kind(), failure.fault.code(), failure.retry, failure.broken);
        assert_eq!(is, (kind, code, retry, broken));
    }

    #[test]
    fn every_answer_has_its_meaning() {
        use Kind::{Internal, NotFound, RateLimited, Unavailable};
        use Retry::{Again, Never, WhenUnblocked};
        let html = [("content-type", "text/html; charset=utf-8")];
        let error = r#"{"candles":{"error":"Error while acquiring data."}}"#;
        for (answer, kind, code, retry, broken) in [
            (answer(429, &[], "{}"), RateLimited, "upstream_rate_limited", WhenUnblocked, false),
            (answer(403, &html, "<html>"), Unavailable, "upstream_refused", Never, false),
            (answer(404, &html, "<html>"), NotFound, "not_published", Never, false),
            (answer(500, &[], ""), Unavailable, "upstream_failed", Again, true),
            (answer(504, &html, "<html>"), Unavailable, "upstream_failed", Again, true),
            (answer(302, &[], ""), Internal, "upstream_rejected", Never, false),
            (answer(400, &[], "{}"), Internal, "upstream_rejected", Never, false),
            (answer(200, &html, "{}"), Unavailable, "upstream_refused", Never, false),
            (answer(200, &[], " <!DOCTYPE html>"), Unavailable, "upstream_refused", Never, false),
            (answer(200, &[], ""), Unavailable, "upstream_malformed", Never, true),
            (answer(200, &[], "[1]"), Unavailable, "upstream_malformed", Never, true),
            (answer(200, &[], error), Unavailable, "upstream_failed", Again, true),
        ] {
            check(answer, kind, code, retry, broken);
        }
    }

    #[test]
    fn the_marker_tells_delayed_from_live() {
        for (headers, delay) in [
            (&[("x-micexpassport-marker", "granted")][..], Delay::RealTime),
            (&[("x-micexpassport-marker", "denied")][..], Delay::Delayed15m),
            (&[][..], Delay::Delayed15m),
        ] {
            assert_eq!(answer(200, headers, "{}").into_answer().unwrap().delay, delay);
        }
    }

    #[test]
    fn the_wait_is_told_by_header_or_guessed() {
        let wait = |status: u16, headers: &[(&'static str, &str)]| {
            let failure = answer(status, headers, "{}").into_answer().unwrap_err();
            failure.fault.retry_wait().map(|wait| wait.as_secs())
        };
        assert_eq!(wait(429, &[("retry-after", "7")]), Some(7));
        assert_eq!(wait(429, &[]), Some(30));
        assert_eq!(wait(429, &[("retry-after", "999999")]), Some(86_400));
        assert_eq!(wait(503, &[("retry-after", "7")]), Some(7));
        assert_eq!(wait(503, &[("retry-after", "soon")]), None);
    }
}

//! The line to one venue: requests that are bounded in number, time and size, guarded by the
//! breaker, and repeated where that can help.
//!
//! When to send, and what an answer means, is for the adapters.

use std::sync::Arc;
use std::time::Duration;

use clock::Clock;
use fault::{Fault, Kind};
use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use reqwest::redirect::Policy;
use tokio::sync::Semaphore;

use crate::{Breaker, Failure, Retry, jitter};

/// How a venue is treated.
#[derive(Debug, Clone)]
pub struct ClientPolicy {
    pub connect_timeout: Duration,
    /// For one attempt, from the first byte sent to the last one read.
    pub request_timeout: Duration,
    /// Attempts after the first one.
    pub retries: u32,
    /// The first retry waits up to this long, each further one up to twice the one before.
    pub retry_wait: Duration,
    pub retry_wait_max: Duration,
    /// Failures in a row after which the venue is left alone.
    pub breaker_failures: u32,
    pub breaker_rest: Duration,
    pub body_bytes_max: usize,
    pub concurrency_max: usize,
}

/// An answer as it came off the wire, read to its end.
#[derive(Debug)]
pub struct Response {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

pub struct HttpTransport {
    http: reqwest::Client,
    base: String,
    manners: ClientPolicy,
    clock: Arc<dyn Clock>,
    pub breaker: Breaker,
    /// Bounds the connections we open.
    seats: Semaphore,
}

/// An address without a slash at its end; `field` is what its setting is called.
pub fn address(field: &str, text: &str) -> Result<String, Fault> {
    let refuse = |expected: &str| {
        Fault::invalid("invalid_upstream_url", "the exchange's address is not valid")
            .problem(field, expected)
    };
    let url = reqwest::Url::parse(text).map_err(|_| refuse("a URL"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        return Err(refuse("an http or https URL"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(refuse("a URL without query and fragment"));
    }
    Ok(text.trim_end_matches('/').to_owned())
}

impl HttpTransport {
    /// `base` is what [`address`] gave; the headers go with every request.
    pub fn new(
        base: String,
        manners: ClientPolicy,
        headers: HeaderMap,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, Fault> {
        // Fails only where a provider is installed already, which is as good.
        drop(rustls::crypto::ring::default_provider().install_default());
        let mut http = reqwest::Client::builder()
            .connect_timeout(manners.connect_timeout)
            .default_headers(headers)
            .redirect(Policy::none())
            .no_proxy()
            .tcp_nodelay(true)
            .user_agent("stoa");
        if base.starts_with("http:") {
            // A machine without certificates can still talk to the simulated exchange.
            http = http.tls_certs_only([]);
        }
        let http = http.build().map_err(|error| {
            Fault::unavailable("upstream_unreachable", "the HTTP client could not be set up")
                .caused_by(error)
        })?;
        Ok(Self {
            http,
            base,
            breaker: Breaker::new(manners.breaker_failures, manners.breaker_rest),
            seats: Semaphore::new(manners.concurrency_max.max(1)),
            manners,
            clock,
        })
    }

    /// Makes attempts until one succeeds or another would not help. A failure is logged once for
    /// each attempt that was really made.
    pub async fn repeat<T, F, W>(&self, endpoint: &str, mut attempt: F) -> Result<T, Fault>
    where
        F: FnMut() -> W,
        W: Future<Output = Result<T, Failure>>,
    {
        let mut last: Option<Fault> = None;
        for count in 0..=self.manners.retries {
            let failure = match attempt().await {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            note(endpoint, count, &failure);
            match failure.retry {
                // An earlier attempt knows better what went wrong than the breaker it opened, which
                // knows better when to come back.
                Retry::Refused => {
                    let Some(last) = last else { return Err(failure.fault) };
                    return Err(match failure.fault.retry_wait() {
                        Some(wait) => last.retry_after(wait),
                        None => last,
                    });
                }
                Retry::Never => return Err(failure.fault),
                Retry::Again if count < self.manners.retries => {
                    let (first, longest) = (self.manners.retry_wait, self.manners.retry_wait_max);
                    tokio::time::sleep(jitter(count, first, longest)).await;
                }
                // The adapter's pace knows how long to wait, and whether that is worth it.
                Retry::Again | Retry::WhenUnblocked => {}
            }
            last = Some(failure.fault);
        }
        Err(last.unwrap_or_else(|| Fault::internal("no attempt was made")))
    }

    /// One request of the adapter's, meaning included: it takes a seat, has leave of the breaker
    /// and ends in time, and the breaker learns how it went.
    pub async fn guarded<T>(
        &self,
        request: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        let _seat = self.seats.acquire().await.map_err(|error| Failure {
            fault: Fault::internal(error),
            retry: Retry::Never,
            broken: false,
        })?;
        let permit = self.breaker.admit(self.clock.now()).map_err(Failure::resting)?;
        let limit = self.manners.request_timeout;
        let outcome = match tokio::time::timeout(limit, request).await {
            Ok(outcome) => outcome,
            Err(_) => Err(Failure::timeout(limit)),
        };
        match &outcome {
            Err(failure) if failure.broken => permit.failed_by(self.clock.now(), &failure.fault),
            _ => permit.succeeded(),
        }
        outcome
    }

    /// What stands at a path below the address, whatever its status.
    pub async fn get(&self, path: &str, query: &[(&str, String)]) -> Result<Response, Failure> {
        let url = format!("{}/{path}", self.base);
        let sent = self.http.get(url).query(query).send().await;
        let mut response = sent.map_err(Failure::transport)?;
        let (status, headers) = (response.status(), response.headers().clone());
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(Failure::cut_short)? {
            if body.len() + chunk.len() > self.manners.body_bytes_max {
                return Err(Failure::too_large(self.manners.body_bytes_max));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(Response { status, headers, body })
    }
}

/// Logs a failure once. Requests that were never sent are the caller's to log, and what does not
/// exist is nobody's failure.
fn note(endpoint: &str, attempt: u32, failure: &Failure) {
    let fault = &failure.fault;
    if failure.retry == Retry::Refused || fault.kind() == Kind::NotFound {
        return;
    }
    let cause = std::error::Error::source(fault).map(ToString::to_string);
    tracing::warn!(
        endpoint,
        attempt,
        code = fault.code(),
        %fault,
        cause,
        "the exchange did not answer well"
    );
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use clock::Millis;

    use super::*;

    struct Still;

    impl Clock for Still {
        fn now(&self) -> Millis {
            Millis(0)
        }
    }

    fn line(retries: u32, breaker_failures: u32) -> HttpTransport {
        let manners = ClientPolicy {
            connect_timeout: Duration::from_secs(1),
            request_timeout: Duration::from_millis(20),
            retries,
            retry_wait: Duration::from_millis(1),
            retry_wait_max: Duration::from_millis(1),
            breaker_failures,
            breaker_rest: Duration::from_secs(30),
            body_bytes_max: 100,
            concurrency_max: 1,
        };
        HttpTransport::new(
            "http://127.0.0.1:1".to_owned(),
            manners,
            HeaderMap::new(),
            Arc::new(Still),
        )
        .unwrap()
    }

    fn failure(retry: Retry) -> Failure {
        Failure::broken(Fault::unavailable("upstream_failed", "it failed"), retry)
    }

    #[track_caller]
    fn check_address(text: &str, expected: Option<&str>) {
        assert_eq!(address("url", text).ok().as_deref(), expected, "{text}");
    }

    #[test]
    fn an_address_is_plain_http() {
        check_address("https://iss.moex.com/iss/", Some("https://iss.moex.com/iss"));
        check_address("http://127.0.0.1:9", Some("http://127.0.0.1:9"));
        for bad in ["", "moex", "ftp://example.org", "http://", "http://a?x=1", "http://a#x"] {
            check_address(bad, None);
        }
        assert_eq!(address("iss_url", "x").unwrap_err().problems()[0].field, "iss_url");
    }

    #[tokio::test]
    async fn only_what_may_pass_is_tried_again() {
        for (retry, fails, attempts) in [
            (Retry::Again, 9, 4),
            (Retry::WhenUnblocked, 9, 4),
            (Retry::Never, 9, 1),
            (Retry::Refused, 9, 1),
            (Retry::Again, 2, 3),
        ] {
            let (line, made) = (line(3, 100), AtomicU32::new(0));
            let attempt = || async {
                if made.fetch_add(1, Ordering::SeqCst) < fails {
                    Err(failure(retry))
                } else {
                    Ok(())
                }
            };
            let outcome = line.repeat("test", attempt).await;
            assert_eq!(outcome.is_ok(), fails < 4, "{retry:?}");
            assert_eq!(made.load(Ordering::SeqCst), attempts, "{retry:?}");
        }
    }

    #[tokio::test]
    async fn whoever_finds_the_breaker_open_is_told_what_opened_it() {
        let line = line(0, 2);
        let never = || line.guarded(std::future::pending::<Result<(), Failure>>());
        for _ in 0..2 {
            assert_eq!(never().await.unwrap_err().fault.code(), "upstream_timeout");
        }
        let refused = line.guarded(async { Ok(()) }).await.unwrap_err();
        assert_eq!(
            (refused.fault.kind(), refused.fault.code()),
            (Kind::Timeout, "upstream_timeout")
        );
        assert_eq!(refused.fault.retry_wait(), Some(Duration::from_secs(30)));
        assert_eq!(refused.retry, Retry::Refused);
    }

    #[tokio::test]
    async fn whoever_opened_the_breaker_is_told_when_to_come_back() {
        let line = line(3, 2);
        let attempt = || line.guarded(async { Err::<(), _>(failure(Retry::Again)) });
        let fault = line.repeat("test", attempt).await.unwrap_err();
        assert_eq!((fault.code(), fault.message()), ("upstream_failed", "it failed"));
        assert_eq!(fault.retry_wait(), Some(Duration::from_secs(30)));
    }

    #[tokio::test]
    async fn what_is_refused_does_not_count_against_the_venue() {
        let line = line(0, 1);
        let refusal = || async { Err::<(), _>(Failure::refusal(Fault::not_found("gone", "gone"))) };
        for _ in 0..3 {
            assert_eq!(line.guarded(refusal()).await.unwrap_err().fault.code(), "gone");
        }
        assert_eq!(line.breaker.state(), (false, false));
    }

    #[tokio::test]
    async fn nobody_there_is_unreachable_and_the_address_stays_hidden() {
        let failure = line(0, 9).get("x", &[]).await.unwrap_err();
        assert_eq!(failure.fault.code(), "upstream_unreachable");
        let cause = std::error::Error::source(&failure.fault).unwrap().to_string();
        assert!(!cause.contains("127.0.0.1:1/"), "{cause}");
    }
}

//! Requests to one venue: bounded in number, time and size, guarded by the circuit breaker, and
//! retried where a retry can help.
//!
//! Adapters decide when to send a request and what a response means.

use std::sync::Arc;
use std::time::Duration;

use clock::Clock;
use fault::{Fault, Kind};
use reqwest::header::HeaderMap;
use tokio::sync::Semaphore;

use crate::fetch::ReqwestFetch;
use crate::{Breaker, Fetch, HttpResponse, RequestFailure, Retry, UpstreamName, jitter};

/// The limits that a client keeps towards one venue.
#[derive(Debug, Clone)]
pub struct ClientPolicy {
    pub upstream: UpstreamName,
    pub connect_timeout: Duration,
    /// For one attempt, from the first byte sent to the last byte read.
    pub request_timeout: Duration,
    /// How long an adapter may delay a request to keep the venue's rate limit before it refuses it.
    pub rate_limit_wait_max: Duration,
    /// Attempts after the first one.
    pub retries: u32,
    /// The bound of the first random wait before a retry; it doubles up to `retry_wait_max`.
    pub retry_wait: Duration,
    pub retry_wait_max: Duration,
    /// Failures in a row that open the circuit breaker.
    pub breaker_failures: u32,
    /// How long the circuit breaker stays open.
    pub breaker_open_for: Duration,
    pub body_bytes_max: usize,
    pub concurrency_max: usize,
}

/// Sends requests to one venue.
pub struct HttpTransport {
    fetch: Arc<dyn Fetch>,
    policy: ClientPolicy,
    clock: Arc<dyn Clock>,
    pub breaker: Breaker,
    /// Bounds concurrent requests, and so the open connections.
    permits: Semaphore,
}

/// Checks a base URL and removes the slash at its end; `field` is the name of its setting.
pub fn base_url(field: &str, text: &str) -> Result<String, Fault> {
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
    /// `base` comes from [`base_url`]; the headers are sent with every request.
    pub fn new(
        base: String,
        policy: ClientPolicy,
        headers: HeaderMap,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, Fault> {
        let fetch = ReqwestFetch::new(base, policy.connect_timeout, headers)?;
        Ok(Self::with_fetch(Arc::new(fetch), policy, clock))
    }

    /// Like `new`, with another implementation of [`Fetch`].
    pub fn with_fetch(fetch: Arc<dyn Fetch>, policy: ClientPolicy, clock: Arc<dyn Clock>) -> Self {
        Self {
            fetch,
            breaker: Breaker::new(policy.breaker_failures, policy.breaker_open_for),
            permits: Semaphore::new(policy.concurrency_max.max(1)),
            policy,
            clock,
        }
    }

    /// Calls `attempt` until it succeeds or a retry cannot help. Every attempt that was sent and
    /// failed is logged once.
    pub async fn with_retries<T, F, W>(&self, endpoint: &str, mut attempt: F) -> Result<T, Fault>
    where
        F: FnMut() -> W,
        W: Future<Output = Result<T, RequestFailure>>,
    {
        let mut last: Option<Fault> = None;
        for count in 0..=self.policy.retries {
            let failure = match attempt().await {
                Ok(value) => return Ok(value),
                Err(failure) => failure,
            };
            log_failure(endpoint, count, &failure);
            match failure.retry {
                // Returns the cause of the last attempt that was sent, with the breaker's wait.
                Retry::NotSent => {
                    let Some(last) = last else { return Err(failure.fault) };
                    return Err(match failure.fault.retry_wait() {
                        Some(wait) => last.retry_after(wait),
                        None => last,
                    });
                }
                Retry::Never => return Err(failure.fault),
                Retry::AfterBackoff if count < self.policy.retries => {
                    let (first, longest) = (self.policy.retry_wait, self.policy.retry_wait_max);
                    tokio::time::sleep(jitter(count, first, longest)).await;
                }
                // The adapter's rate limiter waits for the venue, or refuses to wait that long.
                Retry::AfterBackoff | Retry::WhenUnblocked => {}
            }
            last = Some(failure.fault);
        }
        Err(last.unwrap_or_else(|| Fault::internal("no attempt was made")))
    }

    /// Runs one attempt, `request` with its interpretation of the response: waits for a permit, asks
    /// the breaker, applies `request_timeout`, and reports the result to the breaker.
    pub async fn attempt<T>(
        &self,
        request: impl Future<Output = Result<T, RequestFailure>>,
    ) -> Result<T, RequestFailure> {
        let _permit = self.permits.acquire().await.map_err(|error| RequestFailure {
            fault: Fault::internal(error),
            retry: Retry::Never,
            trips_breaker: false,
        })?;
        let with_venue_name = |failure: RequestFailure| RequestFailure {
            fault: self.policy.upstream.reword(failure.fault),
            ..failure
        };
        let admitted = self.breaker.admit(self.clock.now()).map_err(RequestFailure::circuit_open);
        let permit = admitted.map_err(with_venue_name)?;
        let limit = self.policy.request_timeout;
        let result = match tokio::time::timeout(limit, request).await {
            Ok(result) => result.map_err(with_venue_name),
            Err(_) => Err(with_venue_name(RequestFailure::timeout(limit))),
        };
        match &result {
            Err(failure) if failure.trips_breaker => {
                permit.failed_with(self.clock.now(), &failure.fault);
            }
            _ => permit.succeeded(),
        }
        result
    }

    /// Sends one GET request to `path` below the base URL; any status is a response.
    pub async fn get(
        &self,
        path: &str,
        query: &[(&str, String)],
    ) -> Result<HttpResponse, RequestFailure> {
        self.fetch.get(path, query, self.policy.body_bytes_max).await
    }
}

/// Logs a failed attempt. Not logged: requests that were not sent, which the caller logs, and
/// "not found", which is an answer.
fn log_failure(endpoint: &str, attempt: u32, failure: &RequestFailure) {
    let fault = &failure.fault;
    if failure.retry == Retry::NotSent || fault.kind() == Kind::NotFound {
        return;
    }
    let cause = cause_chain(fault);
    tracing::warn!(
        endpoint,
        attempt,
        code = fault.code(),
        %fault,
        cause,
        "a request to the exchange failed"
    );
}

/// The chain of causes, the outermost first; adapters have removed URLs from them.
fn cause_chain(fault: &Fault) -> Option<String> {
    let first = std::error::Error::source(fault)?;
    let chain = std::iter::successors(Some(first), |error| error.source());
    Some(chain.map(ToString::to_string).collect::<Vec<_>>().join(": "))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use testkit::FakeClock;

    use super::*;
    use crate::BreakerStatus;

    fn transport(retries: u32, breaker_failures: u32) -> HttpTransport {
        let policy = ClientPolicy {
            upstream: UpstreamName { name: "the venue", fallback: Some("X=sim") },
            connect_timeout: Duration::from_secs(1),
            request_timeout: Duration::from_millis(20),
            rate_limit_wait_max: Duration::ZERO,
            retries,
            retry_wait: Duration::from_millis(1),
            retry_wait_max: Duration::from_millis(1),
            breaker_failures,
            breaker_open_for: Duration::from_secs(30),
            body_bytes_max: 100,
            concurrency_max: 1,
        };
        HttpTransport::new(
            "http://127.0.0.1:1".to_owned(),
            policy,
            HeaderMap::new(),
            Arc::new(FakeClock::default()),
        )
        .unwrap()
    }

    fn failure(retry: Retry) -> RequestFailure {
        RequestFailure::venue_error(Fault::unavailable("upstream_failed", "it failed"), retry)
    }

    #[track_caller]
    fn check_base_url(text: &str, expected: Option<&str>) {
        assert_eq!(base_url("url", text).ok().as_deref(), expected, "{text}");
    }

    #[test]
    fn a_base_url_is_http_or_https_without_query_and_fragment() {
        check_base_url("https://iss.moex.com/iss/", Some("https://iss.moex.com/iss"));
        check_base_url("http://127.0.0.1:9", Some("http://127.0.0.1:9"));
        for bad in ["", "moex", "ftp://example.org", "http://", "http://a?x=1", "http://a#x"] {
            check_base_url(bad, None);
        }
        assert_eq!(base_url("iss_url", "x").unwrap_err().problems()[0].field, "iss_url");
    }

    #[tokio::test]
    async fn only_failures_that_a_retry_can_help_are_retried() {
        for (retry, fails, attempts) in [
            (Retry::AfterBackoff, 9, 4),
            (Retry::WhenUnblocked, 9, 4),
            (Retry::Never, 9, 1),
            (Retry::NotSent, 9, 1),
            (Retry::AfterBackoff, 2, 3),
        ] {
            let (transport, made) = (transport(3, 100), AtomicU32::new(0));
            let attempt = || async {
                if made.fetch_add(1, Ordering::SeqCst) < fails {
                    Err(failure(retry))
                } else {
                    Ok(())
                }
            };
            let result = transport.with_retries("test", attempt).await;
            assert_eq!(result.is_ok(), fails < 4, "{retry:?}");
            assert_eq!(made.load(Ordering::SeqCst), attempts, "{retry:?}");
        }
    }

    #[tokio::test]
    async fn an_open_breaker_answers_with_the_fault_that_opened_it() {
        let transport = transport(0, 2);
        let never = || transport.attempt(std::future::pending::<Result<(), RequestFailure>>());
        for _ in 0..2 {
            assert_eq!(never().await.unwrap_err().fault.code(), "upstream_timeout");
        }
        let refused = transport.attempt(async { Ok(()) }).await.unwrap_err();
        assert_eq!(
            (refused.fault.kind(), refused.fault.code()),
            (Kind::Timeout, "upstream_timeout")
        );
        assert_eq!(refused.fault.retry_wait(), Some(Duration::from_secs(30)));
        assert_eq!(refused.retry, Retry::NotSent);
    }

    #[tokio::test]
    async fn the_failure_that_opens_the_breaker_names_the_wait() {
        let transport = transport(3, 2);
        let attempt = || transport.attempt(async { Err::<(), _>(failure(Retry::AfterBackoff)) });
        let fault = transport.with_retries("test", attempt).await.unwrap_err();
        assert_eq!((fault.code(), fault.message()), ("upstream_failed", "it failed"));
        assert_eq!(fault.retry_wait(), Some(Duration::from_secs(30)));
    }

    #[tokio::test]
    async fn a_refusal_does_not_trip_the_breaker() {
        let transport = transport(0, 1);
        let refusal =
            || async { Err::<(), _>(RequestFailure::refusal(Fault::not_found("gone", "gone"))) };
        for _ in 0..3 {
            assert_eq!(transport.attempt(refusal()).await.unwrap_err().fault.code(), "gone");
        }
        assert_eq!(transport.breaker.status(), BreakerStatus::Healthy);
    }

    #[tokio::test]
    async fn an_unreachable_venue_is_named_with_the_cause_and_the_fallback() {
        let mut transport = transport(0, 1);
        transport.policy.request_timeout = Duration::from_secs(10);
        let expected = "the venue could not be reached: the connection was refused; `stoa doctor` \
                    checks the connection, X=sim serves the simulated exchange";
        let attempt = || transport.attempt(transport.get("x", &[]));
        assert_eq!(attempt().await.unwrap_err().fault.message(), expected);
        // The open circuit breaker repeats the message.
        let again = attempt().await.unwrap_err().fault;
        assert!(again.message().starts_with(expected), "{again}");
        assert!(again.message().ends_with("no request is sent for 30 s"), "{again}");
    }

    #[tokio::test]
    async fn a_closed_port_is_unreachable_and_the_url_stays_hidden() {
        let failure = transport(0, 9).get("x", &[]).await.unwrap_err();
        assert_eq!(failure.fault.code(), "upstream_unreachable");
        let cause = std::error::Error::source(&failure.fault).unwrap().to_string();
        assert!(!cause.contains("127.0.0.1:1/"), "{cause}");
    }
}

//! Sends one ISS request: paced, guarded by the circuit breaker, retried, and parsed into tables.

use std::sync::Arc;
use std::time::Duration;

use clock::Clock;
use fault::Fault;
use http_client::{Fetch, HttpTransport, RequestFailure};
use reqwest::header::HeaderMap;
use tokio::time::Instant;

use crate::MoexConfig;
use crate::observer::Observer;
use crate::pacer::RequestPacer;
use crate::response::{self, IssResponse};

/// One ISS request.
#[derive(Debug, Clone)]
pub(crate) struct IssRequest {
    /// The label of the request in metrics.
    pub(crate) endpoint: &'static str,
    /// Below the base address and without the suffix; its segments need no encoding.
    path: String,
    query: Vec<(&'static str, String)>,
}

impl IssRequest {
    /// A request for these blocks only, without the metadata of their columns.
    pub(crate) fn new(endpoint: &'static str, path: impl Into<String>, blocks: &str) -> Self {
        let query = vec![("iss.meta", "off".to_owned()), ("iss.only", blocks.to_owned())];
        Self { endpoint, path: path.into(), query }
    }

    #[must_use]
    pub(crate) fn with(mut self, name: &'static str, value: impl ToString) -> Self {
        self.query.push((name, value.to_string()));
        self
    }
}

pub(crate) struct Client {
    pub(crate) transport: HttpTransport,
    pub(crate) pacer: RequestPacer,
    /// How long the pacer may delay a request before it is refused.
    pacing_wait_max: Duration,
    clock: Arc<dyn Clock>,
    pub(crate) observer: Arc<dyn Observer>,
}

impl Client {
    /// `fetch` replaces HTTP over TCP, in tests.
    pub(crate) fn new(
        config: &MoexConfig,
        clock: Arc<dyn Clock>,
        observer: Arc<dyn Observer>,
        fetch: Option<Arc<dyn Fetch>>,
    ) -> Result<Self, Fault> {
        let base = http_client::base_url("iss_url", &config.iss_url)?;
        let (policy, own_clock) = (config.http.clone(), Arc::clone(&clock));
        let transport = match fetch {
            Some(fetch) => HttpTransport::with_fetch(fetch, policy, own_clock),
            None => HttpTransport::new(base, policy, HeaderMap::new(), own_clock)?,
        };
        Ok(Self {
            transport,
            pacer: RequestPacer::new(config.requests_per_second, config.burst),
            pacing_wait_max: config.http.rate_limit_wait_max,
            clock,
            observer,
        })
    }

    pub(crate) async fn fetch(&self, request: &IssRequest) -> Result<IssResponse, Fault> {
        self.transport.with_retries(request.endpoint, || self.attempt(request)).await
    }

    async fn attempt(&self, request: &IssRequest) -> Result<IssResponse, RequestFailure> {
        let wait = self.pacer.reserve(self.clock.now(), self.pacing_wait_max);
        tokio::time::sleep(wait.map_err(RequestFailure::locally_limited)?).await;
        let mut started = None;
        let outcome = self
            .transport
            .attempt(async {
                started = Some(Instant::now());
                let path = format!("{}.json", request.path);
                response::parse(self.transport.get(&path, &request.query).await?)
            })
            .await;
        // A request that was not sent is not reported to the observer.
        let Some(started) = started else { return outcome };
        // A `Retry-After` of the exchange delays all further requests.
        if let Some(wait) = outcome.as_ref().err().and_then(|failure| failure.fault.retry_wait()) {
            self.pacer.block(self.clock.now(), wait);
        }
        let result = outcome.as_ref().map_or_else(|failure| failure.fault.code(), |_| "ok");
        self.observer.upstream(request.endpoint, result, started.elapsed());
        outcome
    }
}

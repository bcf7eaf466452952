//! One question to the exchange: held back by the budget, guarded by the breaker, repeated where
//! that can help. What an answer means is for the modules beside it.

use std::sync::Arc;
use std::time::Duration;

use fault::{Fault, Kind};
use market::Clock;
use reqwest::redirect::Policy;
use serde::Deserialize;
use tokio::sync::Semaphore;
use tokio::time::Instant;
use upstream::{Breaker, Failure, Permit, Retry, jitter};

use crate::BinanceConfig;
use crate::answer::RawAnswer;
use crate::budget::{Budget, Reservation};
use crate::observer::Observer;

/// What is asked of the exchange, with the weight it costs.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Endpoint {
    Ping,
    Time,
    ExchangeInfo,
    Klines,
    /// With at most twenty symbols, which all weigh the same.
    TickerDay,
}

impl Endpoint {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Ping => "ping",
            Self::Time => "time",
            Self::ExchangeInfo => "exchangeInfo",
            Self::Klines => "klines",
            Self::TickerDay => "ticker/24hr",
        }
    }

    const fn weight(self) -> u32 {
        match self {
            Self::Ping | Self::Time => 1,
            Self::ExchangeInfo => 20,
            Self::Klines | Self::TickerDay => 2,
        }
    }
}

/// Names and values of a query; values are percent-encoded on the way.
pub(crate) type Query = Vec<(&'static str, String)>;

pub(crate) struct Client {
    http: reqwest::Client,
    base: String,
    config: BinanceConfig,
    clock: Arc<dyn Clock>,
    pub(crate) observer: Arc<dyn Observer>,
    pub(crate) budget: Budget,
    pub(crate) breaker: Breaker,
    /// Bounds the connections we open.
    seats: Semaphore,
}

impl Client {
    pub(crate) fn new(
        config: &BinanceConfig,
        clock: Arc<dyn Clock>,
        observer: Arc<dyn Observer>,
    ) -> Result<Self, Fault> {
        let base = config.base()?;
        // Fails only where a provider is installed already, which is as good.
        drop(rustls::crypto::ring::default_provider().install_default());
        let mut http = reqwest::Client::builder()
            .connect_timeout(config.connect_timeout)
            .redirect(Policy::none())
            .no_proxy()
            .tcp_nodelay(true)
            .user_agent("stoa");
        if base.starts_with("http:") {
            // A machine without certificates can still talk to the simulated exchange.
            http = http.tls_certs_only([]);
        }
        if let Some(key) = &config.api_key {
            http = http.default_headers(key.headers());
        }
        let http = http.build().map_err(|error| {
            Fault::unavailable("upstream_unreachable", "the HTTP client could not be set up")
                .caused_by(error)
        })?;
        Ok(Self {
            http,
            base,
            clock,
            observer,
            budget: Budget::new(),
            breaker: Breaker::new(config.breaker_failures, config.breaker_rest),
            seats: Semaphore::new(config.concurrency_max.max(1)),
            config: config.clone(),
        })
    }

    /// The answer's body, which is JSON by its looks.
    pub(crate) async fn get(&self, endpoint: Endpoint, query: &Query) -> Result<Vec<u8>, Fault> {
        let mut last: Option<Fault> = None;
        for attempt in 0..=self.config.retries {
            let failure = match self.attempt(endpoint, query).await {
                Ok(body) => return Ok(body),
                Err(failure) => failure,
            };
            note(endpoint, attempt, &failure);
            match failure.retry {
                // An earlier attempt knows better what went wrong than the breaker it opened.
                Retry::Refused => return Err(last.unwrap_or(failure.fault)),
                Retry::Never => return Err(failure.fault),
                Retry::Again if attempt < self.config.retries => {
                    let (first, longest) = (self.config.retry_wait, self.config.retry_wait_max);
                    tokio::time::sleep(jitter(attempt, first, longest)).await;
                }
                // The budget knows how long to wait, and whether that is worth it.
                Retry::Again | Retry::WhenUnblocked => {}
            }
            last = Some(failure.fault);
        }
        Err(last.unwrap_or_else(|| Fault::internal("no attempt was made")))
    }

    /// The body read as `T`, which may borrow from it.
    pub(crate) fn read<'a, T: Deserialize<'a>>(
        endpoint: Endpoint,
        body: &'a [u8],
    ) -> Result<T, Fault> {
        serde_json::from_slice(body).map_err(|error| {
            let message = format!("the exchange's answer to {} is not understood", endpoint.name());
            Fault::unavailable("upstream_malformed", message).caused_by(error)
        })
    }

    async fn attempt(&self, endpoint: Endpoint, query: &Query) -> Result<Vec<u8>, Failure> {
        let reservation = self.reserve(endpoint.weight()).await?;
        let _seat = self.seats.acquire().await.map_err(|error| Failure {
            fault: Fault::internal(error),
            retry: Retry::Never,
            broken: false,
        })?;
        let permit = self.admit()?;
        let (started, sent) = (Instant::now(), self.clock.now());
        let asked = self.ask(endpoint, query);
        let answered = match tokio::time::timeout(self.config.request_timeout, asked).await {
            Ok(answered) => answered,
            Err(_) => Err(Failure::timeout(self.config.request_timeout)),
        };
        let now = self.clock.now();
        let outcome = answered.and_then(|answer| {
            if let Some(used) = answer.used_weight {
                self.budget.told(sent, now, used);
                self.observer.used_weight(used, self.budget.limit());
            }
            answer.into_body(now)
        });
        drop(reservation);
        if let Err(Failure { retry: Retry::WhenUnblocked | Retry::Never, fault, .. }) = &outcome
            && let (Kind::RateLimited, Some(wait)) = (fault.kind(), fault.retry_wait())
        {
            self.budget.block(now, wait);
        }
        match &outcome {
            Err(failure) if failure.broken => permit.failed(now),
            _ => permit.succeeded(),
        }
        let word = outcome.as_ref().map_or_else(|failure| failure.fault.code(), |_| "ok");
        self.observer.upstream(endpoint.name(), word, started.elapsed());
        outcome
    }

    /// Waits for the budget as long as patience allows.
    async fn reserve(&self, weight: u32) -> Result<Reservation<'_>, Failure> {
        let mut waited = Duration::ZERO;
        loop {
            let wait = match self.budget.reserve(self.clock.now(), weight) {
                Ok(reservation) => return Ok(reservation),
                Err(wait) => wait,
            };
            waited = waited.saturating_add(wait.max(Duration::from_millis(1)));
            if waited > self.config.patience {
                return Err(Failure::held_back(wait));
            }
            tokio::time::sleep(wait).await;
        }
    }

    fn admit(&self) -> Result<Permit<'_>, Failure> {
        self.breaker.admit(self.clock.now()).map_err(Failure::resting)
    }

    async fn ask(&self, endpoint: Endpoint, query: &Query) -> Result<RawAnswer, Failure> {
        let url = format!("{}/api/v3/{}", self.base, endpoint.name());
        let sent = self.http.get(url).query(query).send().await;
        let mut response = sent.map_err(Failure::transport)?;
        let mut answer = RawAnswer::new(response.status(), response.headers());
        while let Some(chunk) = response.chunk().await.map_err(Failure::cut_short)? {
            if answer.body.len() + chunk.len() > self.config.body_bytes_max {
                return Err(Failure::too_large(self.config.body_bytes_max));
            }
            answer.body.extend_from_slice(&chunk);
        }
        Ok(answer)
    }
}

/// Logs a failure once. Requests that were never sent are the caller's to log, and a symbol that
/// does not exist is nobody's failure.
fn note(endpoint: Endpoint, attempt: u32, failure: &Failure) {
    let fault = &failure.fault;
    if failure.retry == Retry::Refused || fault.kind() == Kind::NotFound {
        return;
    }
    let cause = std::error::Error::source(fault).map(ToString::to_string);
    tracing::warn!(
        endpoint = endpoint.name(),
        attempt,
        code = fault.code(),
        %fault,
        cause,
        "the exchange did not answer well"
    );
}

//! One REST request: waits for the weight budget and is sent through `HttpTransport`, which bounds, guards
//! and retries it. The modules beside it interpret the response.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use clock::Clock;
use fault::{Fault, Kind};
use http_client::{Fetch, HttpTransport, RequestFailure, Retry, base_url};
use serde::Deserialize;
use tokio::time::Instant;

use crate::observer::Observer;
use crate::response::BinanceResponse;
use crate::weight_budget::{WeightBudget, WeightReservation};
use crate::{ApiKey, BinanceConfig};

/// The REST endpoints that are used, with their weights.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Endpoint {
    Ping,
    Time,
    ExchangeInfo,
    Klines,
    /// With at most 20 symbols, which all have the same weight.
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

/// Names and values of a query; values are percent-encoded when sent.
pub(crate) type Query = Vec<(&'static str, String)>;

pub(crate) struct RestClient {
    pub(crate) transport: HttpTransport,
    clock: Arc<dyn Clock>,
    pub(crate) observer: Arc<dyn Observer>,
    pub(crate) budget: WeightBudget,
    /// How long a request may wait for the budget.
    rate_limit_wait_max: Duration,
}

impl RestClient {
    /// `fetch` replaces HTTP over TCP, in tests.
    pub(crate) fn new(
        config: &BinanceConfig,
        clock: Arc<dyn Clock>,
        observer: Arc<dyn Observer>,
        fetch: Option<Arc<dyn Fetch>>,
    ) -> Result<Self, Fault> {
        let headers = config.api_key.as_ref().map(ApiKey::headers).unwrap_or_default();
        let base = base_url("rest_url", &config.rest_url)?;
        let (policy, own_clock) = (config.http.clone(), Arc::clone(&clock));
        let transport = match fetch {
            Some(fetch) => HttpTransport::with_fetch(fetch, policy, own_clock),
            None => HttpTransport::new(base, policy, headers, own_clock)?,
        };
        Ok(Self {
            transport,
            clock,
            observer,
            budget: WeightBudget::new(),
            rate_limit_wait_max: config.http.rate_limit_wait_max,
        })
    }

    /// The body of a successful response, which starts like JSON.
    pub(crate) async fn get(&self, endpoint: Endpoint, query: &Query) -> Result<Vec<u8>, Fault> {
        self.transport.with_retries(endpoint.name(), || self.attempt(endpoint, query)).await
    }

    /// Parses the body, from which `T` may borrow.
    pub(crate) fn read<'a, T: Deserialize<'a>>(
        endpoint: Endpoint,
        body: &'a [u8],
    ) -> Result<T, Fault> {
        serde_json::from_slice(body).map_err(|error| {
            let message = format!("the exchange's answer to {} is not understood", endpoint.name());
            Fault::unavailable("upstream_malformed", message).caused_by(error)
        })
    }

    async fn attempt(&self, endpoint: Endpoint, query: &Query) -> Result<Vec<u8>, RequestFailure> {
        let reservation = self.reserve(endpoint.weight()).await?;
        // Set when the request has a permit and the breaker is closed.
        let started = OnceLock::new();
        let attempt = async {
            let sent = self.clock.now();
            started.get_or_init(Instant::now);
            let path = format!("api/v3/{}", endpoint.name());
            let answer = BinanceResponse::new(self.transport.get(&path, query).await?);
            let now = self.clock.now();
            if let Some(used) = answer.used_weight {
                self.budget.record_used(sent, now, used);
                self.observer.used_weight(used, self.budget.limit());
            }
            answer.into_body(now)
        };
        let outcome = self.transport.attempt(attempt).await;
        drop(reservation);
        if let Err(RequestFailure { retry: Retry::WhenUnblocked | Retry::Never, fault, .. }) =
            &outcome
            && let (Kind::RateLimited, Some(wait)) = (fault.kind(), fault.retry_wait())
        {
            self.budget.block(self.clock.now(), wait);
        }
        if let Some(started) = started.get() {
            let word = outcome.as_ref().map_or_else(|failure| failure.fault.code(), |_| "ok");
            self.observer.upstream(endpoint.name(), word, started.elapsed());
        }
        outcome
    }

    /// Waits for the budget, at most `rate_limit_wait_max` in total.
    async fn reserve(&self, weight: u32) -> Result<WeightReservation<'_>, RequestFailure> {
        let mut waited = Duration::ZERO;
        loop {
            let wait = match self.budget.reserve(self.clock.now(), weight) {
                Ok(reservation) => return Ok(reservation),
                Err(wait) => wait,
            };
            waited = waited.saturating_add(wait.max(Duration::from_millis(1)));
            if waited > self.rate_limit_wait_max {
                return Err(RequestFailure::locally_limited(wait));
            }
            tokio::time::sleep(wait).await;
        }
    }
}

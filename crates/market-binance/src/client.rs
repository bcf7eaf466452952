//! One question to the exchange: held back by the budget and sent over the line, which bounds,
//! guards and repeats it. What an answer means is for the modules beside it.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use clock::Clock;
use fault::{Fault, Kind};
use http_client::{HttpTransport, RequestFailure, Retry, base_url};
use serde::Deserialize;
use tokio::time::Instant;

use crate::answer::RawAnswer;
use crate::budget::{Budget, Reservation};
use crate::observer::Observer;
use crate::{ApiKey, BinanceConfig};

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
    pub(crate) line: HttpTransport,
    clock: Arc<dyn Clock>,
    pub(crate) observer: Arc<dyn Observer>,
    pub(crate) budget: Budget,
    /// How long a request may be held back for the budget.
    patience: Duration,
}

impl Client {
    pub(crate) fn new(
        config: &BinanceConfig,
        clock: Arc<dyn Clock>,
        observer: Arc<dyn Observer>,
    ) -> Result<Self, Fault> {
        let headers = config.api_key.as_ref().map(ApiKey::headers).unwrap_or_default();
        let base = base_url("rest_url", &config.rest_url)?;
        let line = HttpTransport::new(base, config.http.clone(), headers, Arc::clone(&clock))?;
        Ok(Self {
            line,
            clock,
            observer,
            budget: Budget::new(),
            patience: config.http.rate_limit_wait_max,
        })
    }

    /// The answer's body, which is JSON by its looks.
    pub(crate) async fn get(&self, endpoint: Endpoint, query: &Query) -> Result<Vec<u8>, Fault> {
        self.line.with_retries(endpoint.name(), || self.attempt(endpoint, query)).await
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

    async fn attempt(&self, endpoint: Endpoint, query: &Query) -> Result<Vec<u8>, RequestFailure> {
        let reservation = self.reserve(endpoint.weight()).await?;
        // Set when a seat was free and the breaker gave leave.
        let started = OnceLock::new();
        let asked = async {
            let sent = self.clock.now();
            started.get_or_init(Instant::now);
            let path = format!("api/v3/{}", endpoint.name());
            let answer = RawAnswer::new(self.line.get(&path, query).await?);
            let now = self.clock.now();
            if let Some(used) = answer.used_weight {
                self.budget.told(sent, now, used);
                self.observer.used_weight(used, self.budget.limit());
            }
            answer.into_body(now)
        };
        let outcome = self.line.attempt(asked).await;
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

    /// Waits for the budget as long as patience allows.
    async fn reserve(&self, weight: u32) -> Result<Reservation<'_>, RequestFailure> {
        let mut waited = Duration::ZERO;
        loop {
            let wait = match self.budget.reserve(self.clock.now(), weight) {
                Ok(reservation) => return Ok(reservation),
                Err(wait) => wait,
            };
            waited = waited.saturating_add(wait.max(Duration::from_millis(1)));
            if waited > self.patience {
                return Err(RequestFailure::locally_limited(wait));
            }
            tokio::time::sleep(wait).await;
        }
    }
}

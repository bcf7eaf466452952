//! What can be set about the adapter. Nothing here reads the environment.

use std::time::Duration;

use fault::Fault;

#[derive(Debug, Clone)]
pub struct BinanceConfig {
    /// Without `/api`: `https://data-api.binance.vision`, or the simulated exchange's address.
    pub rest_url: String,
    /// What quotes and bars say they come from: `binance`, or `simulated:7`.
    pub source: String,
    pub connect_timeout: Duration,
    /// For one attempt, from the first byte sent to the last one read.
    pub request_timeout: Duration,
    /// How long a call may be held back for the exchange's limits before it is refused.
    pub patience: Duration,
    /// Attempts after the first one.
    pub retries: u32,
    /// The first retry waits up to this long, each further one up to twice the one before.
    pub retry_wait: Duration,
    pub retry_wait_max: Duration,
    /// Failures in a row after which the exchange is left alone.
    pub breaker_failures: u32,
    pub breaker_rest: Duration,
    pub body_bytes_max: usize,
    pub concurrency_max: usize,
    /// How long a quote is fresh.
    pub quote_age: Duration,
    /// How old a quote may be to stand in when the exchange fails.
    pub quote_age_stale: Duration,
    pub quotes_max: usize,
    pub listing_age: Duration,
    /// How old the listing must be before an unknown symbol makes us ask again.
    pub listing_age_miss: Duration,
    pub server_time_age: Duration,
    pub health_age: Duration,
}

impl BinanceConfig {
    pub fn new(rest_url: impl Into<String>, source: impl Into<String>) -> Self {
        Self {
            rest_url: rest_url.into(),
            source: source.into(),
            connect_timeout: Duration::from_secs(3),
            request_timeout: Duration::from_secs(10),
            patience: Duration::from_secs(5),
            retries: 3,
            retry_wait: Duration::from_millis(100),
            retry_wait_max: Duration::from_secs(2),
            breaker_failures: 5,
            breaker_rest: Duration::from_secs(30),
            body_bytes_max: 16 << 20,
            concurrency_max: 32,
            quote_age: Duration::from_secs(1),
            quote_age_stale: Duration::from_mins(5),
            quotes_max: 10_000,
            listing_age: Duration::from_hours(1),
            listing_age_miss: Duration::from_mins(1),
            server_time_age: Duration::from_mins(5),
            health_age: Duration::from_secs(5),
        }
    }

    /// The address without a slash at its end.
    pub(crate) fn base(&self) -> Result<String, Fault> {
        let refuse = |expected: &str| {
            Fault::invalid("invalid_upstream_url", "the exchange's address is not valid")
                .problem("rest_url", expected)
        };
        let url = reqwest::Url::parse(&self.rest_url).map_err(|_| refuse("a URL"))?;
        if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
            return Err(refuse("an http or https URL"));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(refuse("a URL without query and fragment"));
        }
        Ok(self.rest_url.trim_end_matches('/').to_owned())
    }
}

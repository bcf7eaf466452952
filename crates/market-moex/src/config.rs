//! The settings of the adapter; the server fills them, nothing here reads the environment.

use std::time::Duration;

use http_client::{ClientPolicy, UpstreamName};
use market::SIMULATED;

/// The settings of the adapter.
#[derive(Debug, Clone)]
pub struct MoexConfig {
    /// With `/iss`: `https://iss.moex.com/iss`, or the simulated exchange's address.
    pub iss_url: String,
    /// The source of bars and answers: `moex`, or `simulated:7`.
    pub source: String,
    /// Timeouts, retries, the circuit breaker and the limits of the HTTP client.
    pub http: ClientPolicy,
    /// The rate of the pacer; the exchange publishes no limit.
    pub requests_per_second: u32,
    /// How many requests may be sent at once after a pause.
    pub burst: u32,
    /// How long prices are fresh; the exchange's own caches hold them for five seconds.
    pub price_age: Duration,
    /// How old cached prices may be when the exchange fails.
    pub price_age_stale: Duration,
    /// How long candles of today are fresh.
    pub candles_age: Duration,
    pub candles_age_stale: Duration,
    /// How long a reply with candles waits for the check for missing days.
    pub check_timeout: Duration,
    /// How long names, boards and the calendar are fresh.
    pub listing_age: Duration,
    /// How long an unknown code is not requested again.
    pub listing_age_miss: Duration,
    /// How long daily data is fresh: constituents of past days, dividends, splits.
    pub reference_age: Duration,
    /// How old cached listings and daily data may be when the exchange fails.
    pub reference_age_stale: Duration,
    /// How long searches and the data of the last two days are fresh.
    pub search_age: Duration,
    pub health_age: Duration,
    pub live: LiveConfig,
}

/// The settings of live candles.
#[derive(Debug, Clone)]
pub struct LiveConfig {
    /// Between two polls of one-minute candles. Longer candles are polled up to 12 times less often.
    pub every: Duration,
    /// After this time without a change a series is polled as rarely as the longest candles.
    pub quiet_after: Duration,
    /// The wait before a response with gaps is requested again. The exchange caches responses for
    /// five seconds.
    pub gap_retry_wait: Duration,
    /// How long a series without subscribers is kept.
    pub linger: Duration,
    /// How long a backfill of many pages waits for subscribers with full queues.
    pub queue_wait: Duration,
    pub series_max: usize,
    pub subscribers_max: usize,
    /// The most candles of one replay.
    pub replay_max: u64,
}

impl Default for LiveConfig {
    fn default() -> Self {
        Self {
            every: Duration::from_secs(5),
            quiet_after: Duration::from_mins(10),
            gap_retry_wait: Duration::from_secs(5),
            linger: Duration::from_secs(10),
            queue_wait: Duration::from_secs(1),
            series_max: 500,
            subscribers_max: 50_000,
            replay_max: 100_000,
        }
    }
}

/// What error messages call the source.
fn upstream_name(source: &str) -> UpstreamName {
    match source.split(':').next() {
        Some(SIMULATED) => UpstreamName::SIMULATED,
        _ => UpstreamName { name: "the Moscow Exchange", fallback: Some("MOEX_PROVIDER=sim") },
    }
}

impl MoexConfig {
    pub fn new(iss_url: impl Into<String>, source: impl Into<String>) -> Self {
        let source = source.into();
        Self {
            iss_url: iss_url.into(),
            http: ClientPolicy {
                upstream: upstream_name(&source),
                connect_timeout: Duration::from_secs(5),
                request_timeout: Duration::from_secs(10),
                rate_limit_wait_max: Duration::from_secs(10),
                retries: 3,
                retry_wait: Duration::from_millis(250),
                retry_wait_max: Duration::from_secs(4),
                breaker_failures: 5,
                breaker_open_for: Duration::from_secs(30),
                body_bytes_max: 16 << 20,
                concurrency_max: 4,
            },
            source,
            requests_per_second: 10,
            burst: 20,
            price_age: Duration::from_secs(5),
            price_age_stale: Duration::from_hours(1),
            candles_age: Duration::from_secs(15),
            candles_age_stale: Duration::from_hours(24),
            check_timeout: Duration::from_secs(5),
            listing_age: Duration::from_hours(1),
            listing_age_miss: Duration::from_mins(1),
            reference_age: Duration::from_hours(6),
            reference_age_stale: Duration::from_hours(72),
            search_age: Duration::from_mins(10),
            health_age: Duration::from_secs(5),
            live: LiveConfig::default(),
        }
    }
}

//! What can be set about the adapter. Nothing here reads the environment.

use std::time::Duration;

use http_client::ClientPolicy;

#[derive(Debug, Clone)]
pub struct MoexConfig {
    /// With `/iss`: `https://iss.moex.com/iss`, or the simulated exchange's address.
    pub iss_url: String,
    /// What answers say they come from: `moex`, or `simulated:7`.
    pub source: String,
    /// Timeouts, retries, the circuit breaker and the limits of the HTTP client.
    pub http: ClientPolicy,
    /// The exchange names no limit, so this is manners.
    pub requests_per_second: u32,
    /// How many requests may go at once after a silence.
    pub burst: u32,
    /// How long prices are fresh; the exchange's own caches hold them for five seconds.
    pub price_age: Duration,
    /// How old prices may be to stand in when the exchange fails.
    pub price_age_stale: Duration,
    /// How long candles that may still grow are fresh.
    pub candles_age: Duration,
    pub candles_age_stale: Duration,
    /// How long an answer with candles may be held back to find out whether some are missing.
    pub check_timeout: Duration,
    /// How long names, boards and the calendar are taken as they are.
    pub listing_age: Duration,
    /// How long a code that the exchange did not know is not asked for again.
    pub listing_age_miss: Duration,
    /// How long what changes by the day is kept: baskets of past days, dividends, splits.
    pub reference_age: Duration,
    /// How old all of these may be to stand in when the exchange fails.
    pub reference_age_stale: Duration,
    /// For searches, and for what is told of the last two days.
    pub search_age: Duration,
    pub health_age: Duration,
    pub live: LiveConfig,
}

/// How live candles are asked for, and how much of it there is.
#[derive(Debug, Clone)]
pub struct LiveConfig {
    /// Between two looks at candles of a minute; longer ones are looked at more rarely, up to twelve
    /// times as rarely.
    pub every: Duration,
    /// After how long without a change a series is looked at as rarely as the longest candles.
    pub quiet_after: Duration,
    /// Before an answer with holes is asked for again. The exchange's caches hold answers for five
    /// seconds.
    pub second_look: Duration,
    /// How long a series without followers is kept.
    pub linger: Duration,
    /// How long a fill of many pages waits for readers with full queues.
    pub room_wait: Duration,
    pub series_max: usize,
    pub followers_max: usize,
    /// The most candles a follower may ask to be brought up to date with.
    pub replay_max: u64,
}

impl Default for LiveConfig {
    fn default() -> Self {
        Self {
            every: Duration::from_secs(5),
            quiet_after: Duration::from_mins(10),
            second_look: Duration::from_secs(5),
            linger: Duration::from_secs(10),
            room_wait: Duration::from_secs(1),
            series_max: 500,
            followers_max: 50_000,
            replay_max: 100_000,
        }
    }
}

impl MoexConfig {
    pub fn new(iss_url: impl Into<String>, source: impl Into<String>) -> Self {
        Self {
            iss_url: iss_url.into(),
            source: source.into(),
            http: ClientPolicy {
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

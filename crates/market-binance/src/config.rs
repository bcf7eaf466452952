//! The settings of the adapter. Nothing here reads the environment.

use std::time::Duration;

use fault::Fault;
use http_client::{ClientPolicy, UpstreamName};
use market::SIMULATED;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

#[derive(Debug, Clone)]
pub struct BinanceConfig {
    /// Without `/api`: `https://data-api.binance.vision`, or the simulated exchange's URL.
    pub rest_url: String,
    /// The source that quotes and bars name: `binance`, or `simulated:7`.
    pub source: String,
    /// Timeouts, retries, the circuit breaker and the limits of the HTTP client.
    pub http: ClientPolicy,
    /// How long a quote is fresh.
    pub quote_age: Duration,
    /// How old a cached quote may be when it replaces one that could not be fetched.
    pub quote_age_stale: Duration,
    pub quotes_max: usize,
    pub listing_age: Duration,
    /// How old the listing must be before an unknown symbol makes the adapter fetch it again.
    pub listing_age_miss: Duration,
    pub server_time_age: Duration,
    pub health_age: Duration,
    pub streams: StreamConfig,
    /// Sent with every request; Binance has separate limits for keys.
    pub api_key: Option<ApiKey>,
}

/// An API key. `Debug` does not show it.
#[derive(Clone)]
pub struct ApiKey(HeaderValue);

impl ApiKey {
    pub fn new(text: &str) -> Result<Self, Fault> {
        let mut value = HeaderValue::from_str(text).map_err(|_| {
            Fault::invalid("invalid_api_key", "the exchange's key has characters no key has")
        })?;
        value.set_sensitive(true);
        Ok(Self(value))
    }

    pub(crate) fn headers(&self) -> HeaderMap {
        HeaderMap::from_iter([(HeaderName::from_static("x-mbx-apikey"), self.0.clone())])
    }
}

impl std::fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ApiKey(***)")
    }
}

/// What error messages call the source.
fn upstream_name(source: &str) -> UpstreamName {
    match source.split(':').next() {
        Some(SIMULATED) => UpstreamName::SIMULATED,
        _ => UpstreamName { name: "Binance", fallback: Some("PROVIDER=sim") },
    }
}

impl BinanceConfig {
    pub fn new(rest_url: impl Into<String>, source: impl Into<String>) -> Self {
        let (rest_url, source) = (rest_url.into(), source.into());
        Self {
            streams: StreamConfig::beside(&rest_url),
            rest_url,
            http: ClientPolicy {
                upstream: upstream_name(&source),
                connect_timeout: Duration::from_secs(3),
                request_timeout: Duration::from_secs(10),
                rate_limit_wait_max: Duration::from_secs(5),
                retries: 3,
                retry_wait: Duration::from_millis(100),
                retry_wait_max: Duration::from_secs(2),
                breaker_failures: 5,
                breaker_open_for: Duration::from_secs(30),
                body_bytes_max: 16 << 20,
                concurrency_max: 32,
            },
            source,
            quote_age: Duration::from_secs(1),
            quote_age_stale: Duration::from_mins(5),
            quotes_max: 10_000,
            listing_age: Duration::from_hours(1),
            listing_age_miss: Duration::from_mins(1),
            server_time_age: Duration::from_mins(5),
            health_age: Duration::from_secs(5),
            api_key: None,
        }
    }
}

/// The settings of live candles. Durations are real time unless they say otherwise.
#[derive(Debug, Clone)]
pub struct StreamConfig {
    /// Without `/stream` or `/ws`: `wss://data-stream.binance.vision`, or the simulated exchange's URL.
    pub url: String,
    pub connect_timeout: Duration,
    /// How long the exchange may take to confirm a subscription.
    pub ack_timeout: Duration,
    /// A shorter silence is never suspicious. Above it, the limit depends on the usual gap between
    /// frames.
    pub silence_min: Duration,
    /// A connection without frames for half of this gets a ping, however quiet it usually is.
    pub silence_max: Duration,
    /// How long a pong may take.
    pub pong_timeout: Duration,
    /// A stream that is silent for this long, or unusually long, is compared with the history. If the
    /// history has newer trades, the stream is mute although the connection works.
    pub stream_silence: Duration,
    /// How much later than the history a stream may send the same trade.
    pub delivery_delay_max: Duration,
    /// The longest wait between two replacements of a connection with mute streams.
    pub mute_wait_max: Duration,
    /// A connection is replaced at this age, before the exchange ends it.
    pub connection_lifetime: Duration,
    /// How long a standby connection may be mute on a stream on which the current one sends.
    pub standby_timeout: Duration,
    /// Between two messages to the exchange, which allows five a second, pongs included.
    pub send_interval: Duration,
    /// The first wait before a reconnect; it doubles up to `backoff_max`.
    pub backoff: Duration,
    pub backoff_max: Duration,
    /// A connection that lasted this long resets the backoff.
    pub stable_after: Duration,
    /// Binance allows 1,024.
    pub streams_per_connection: usize,
    pub series_max: usize,
    pub subscribers_max: usize,
    /// How long later frames may overtake a closing frame before the history is requested.
    pub gap_wait: Duration,
    /// How long after its end a candle's closing frame is waited for, in the exchange's time.
    pub close_grace: Duration,
    /// How long a row of history may change after its end, in the exchange's time; bars use it as
    /// well.
    pub history_settle: Duration,
    /// The first wait between two requests to a lagging history; it doubles up to `lag_wait_max`.
    pub lag_wait: Duration,
    pub lag_wait_max: Duration,
    /// How long a backfill waits for room in full queues before it publishes anyway.
    pub queue_room_wait: Duration,
    /// How often deadlines are checked.
    pub tick: Duration,
    /// How long a stream without subscribers is kept.
    pub idle_series_ttl: Duration,
    /// The most missed candles a subscription may have.
    pub replay_max: u64,
}

impl StreamConfig {
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            connect_timeout: Duration::from_secs(10),
            ack_timeout: Duration::from_secs(10),
            silence_min: Duration::from_secs(3),
            silence_max: Duration::from_secs(30),
            pong_timeout: Duration::from_secs(3),
            stream_silence: Duration::from_mins(1),
            delivery_delay_max: Duration::from_millis(2_500),
            mute_wait_max: Duration::from_mins(5),
            connection_lifetime: Duration::from_hours(23),
            standby_timeout: Duration::from_secs(5),
            send_interval: Duration::from_millis(300),
            backoff: Duration::from_millis(250),
            backoff_max: Duration::from_secs(30),
            stable_after: Duration::from_mins(1),
            streams_per_connection: 500,
            series_max: 4_000,
            subscribers_max: 50_000,
            gap_wait: Duration::from_millis(250),
            close_grace: Duration::from_secs(3),
            history_settle: Duration::from_secs(1),
            lag_wait: Duration::from_millis(500),
            lag_wait_max: Duration::from_secs(30),
            queue_room_wait: Duration::from_secs(1),
            tick: Duration::from_millis(100),
            idle_series_ttl: Duration::from_secs(10),
            replay_max: 100_000,
        }
    }

    /// The simulated exchange serves streams and REST at one address; Binance has two.
    fn beside(rest_url: &str) -> Self {
        match rest_url.strip_prefix("http://") {
            Some(rest) => Self::new(format!("ws://{rest}")),
            None => Self::new("wss://data-stream.binance.vision"),
        }
    }

    /// Refuses a URL that cannot have streams.
    pub(crate) fn check(&self) -> Result<(), Fault> {
        let plain = |url: &reqwest::Url| {
            matches!(url.scheme(), "ws" | "wss")
                && url.host().is_some()
                && url.query().is_none()
                && url.fragment().is_none()
        };
        match reqwest::Url::parse(&self.url).is_ok_and(|url| plain(&url)) {
            true => Ok(()),
            false => {
                let message = "the address of the exchange's streams is not valid";
                Err(Fault::invalid("invalid_upstream_url", message)
                    .problem("ws_url", "a ws or wss URL without query and fragment"))
            }
        }
    }

    /// The URL of combined streams. Binance documents URLs that end in `/ws`, which serves single streams;
    /// the part before `/ws` is used.
    pub(crate) fn endpoint(&self) -> String {
        let base = self.url.trim_end_matches('/');
        let base = base.strip_suffix("/ws").or_else(|| base.strip_suffix("/stream"));
        format!("{}/stream", base.unwrap_or(&self.url).trim_end_matches('/'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(url: &str, endpoint: Option<&str>) {
        let config = StreamConfig::new(url);
        let found = config.check().ok().map(|()| config.endpoint());
        assert_eq!(found.as_deref(), endpoint, "{url}");
    }

    #[test]
    fn every_spelling_of_the_stream_url_works() {
        check("wss://stream.binance.com/ws", Some("wss://stream.binance.com/stream"));
        check(
            "wss://stream.binance.com:9443/stream/",
            Some("wss://stream.binance.com:9443/stream"),
        );
        check("ws://127.0.0.1:9", Some("ws://127.0.0.1:9/stream"));
        for bad in ["https://stream.binance.com", "stream.binance.com", "wss://", "ws://a/?b", ""] {
            check(bad, None);
        }
    }

    #[test]
    fn debug_does_not_show_the_key() {
        let key = ApiKey::new("k-hunter2").unwrap();
        assert!(!format!("{key:?} {:?}", key.headers()).contains("hunter2"));
        assert_eq!(key.headers()["x-mbx-apikey"], "k-hunter2");
        assert!(ApiKey::new("two\nlines").is_err());
    }
}

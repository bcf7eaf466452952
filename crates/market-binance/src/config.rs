//! What can be set about the adapter. Nothing here reads the environment.

use std::time::Duration;

use fault::Fault;
use http_client::ClientPolicy;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

#[derive(Debug, Clone)]
pub struct BinanceConfig {
    /// Without `/api`: `https://data-api.binance.vision`, or the simulated exchange's address.
    pub rest_url: String,
    /// What quotes and bars say they come from: `binance`, or `simulated:7`.
    pub source: String,
    /// Timeouts, retries, the circuit breaker and the limits of the HTTP client.
    pub http: ClientPolicy,
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
    pub streams: StreamConfig,
    /// Sent with every request, for the limits that belong to it.
    pub api_key: Option<ApiKey>,
}

/// A key of the exchange's. It never shows.
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

impl BinanceConfig {
    pub fn new(rest_url: impl Into<String>, source: impl Into<String>) -> Self {
        let rest_url = rest_url.into();
        Self {
            streams: StreamConfig::beside(&rest_url),
            rest_url,
            source: source.into(),
            http: ClientPolicy {
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

/// How live candles are followed. Durations are real time unless they say otherwise.
#[derive(Debug, Clone)]
pub struct StreamConfig {
    /// Without `/stream` or `/ws`: `wss://data-stream.binance.vision`, or the simulated exchange's address.
    pub url: String,
    pub connect_timeout: Duration,
    /// How long the exchange may take to confirm a subscription.
    pub ack_within: Duration,
    /// No silence that is shorter means anything. From there on it depends on how often something
    /// usually comes.
    pub silence_min: Duration,
    /// A connection on which nothing at all is heard for half as long is asked for a sign of life,
    /// however quiet it usually is.
    pub silence_max: Duration,
    /// How long that sign of life may take.
    pub answer_within: Duration,
    /// A stream on which nothing is heard for this long, or unusually long, is compared with the
    /// record: where that has moved on, the subscription is dead although the connection is not.
    pub stream_silence: Duration,
    /// How long after the record a stream may have the same to say.
    pub behind_record: Duration,
    /// How rarely a connection is replaced that has mute streams each time.
    pub mute_wait_max: Duration,
    /// A connection is replaced at this age, before the exchange ends it.
    pub life: Duration,
    /// How long a new connection may be mute where the old one is heard.
    pub standby_within: Duration,
    /// Between two messages of ours; the exchange allows five a second, answers to its pings
    /// included.
    pub message_gap: Duration,
    /// The first wait before connecting again; each further one is twice as long.
    pub backoff: Duration,
    pub backoff_max: Duration,
    /// A connection that lasted this long starts the waits anew.
    pub stable_after: Duration,
    /// Binance allows 1,024.
    pub streams_per_connection: usize,
    pub series_max: usize,
    pub followers_max: usize,
    /// How long a closing frame may be overtaken by its successors before the record is asked.
    pub gap_wait: Duration,
    /// How long after its end a candle is waited for, in the exchange's time.
    pub close_grace: Duration,
    /// How long a row of the record may still change after its end, in the exchange's time; for
    /// history as well.
    pub rest_settle: Duration,
    /// Between two questions to a record that lags behind, growing to the maximum.
    pub lag_wait: Duration,
    pub lag_wait_max: Duration,
    /// How long a fill of many pages waits for readers with full queues.
    pub room_wait: Duration,
    /// How often deadlines are looked at.
    pub tick: Duration,
    /// How long a stream without subscribers is kept.
    pub linger: Duration,
    /// The most candles a subscription may ask to be brought up to date with.
    pub replay_max: u64,
}

impl StreamConfig {
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            connect_timeout: Duration::from_secs(10),
            ack_within: Duration::from_secs(10),
            silence_min: Duration::from_secs(3),
            silence_max: Duration::from_secs(30),
            answer_within: Duration::from_secs(3),
            stream_silence: Duration::from_mins(1),
            behind_record: Duration::from_millis(2_500),
            mute_wait_max: Duration::from_mins(5),
            life: Duration::from_hours(23),
            standby_within: Duration::from_secs(5),
            message_gap: Duration::from_millis(300),
            backoff: Duration::from_millis(250),
            backoff_max: Duration::from_secs(30),
            stable_after: Duration::from_mins(1),
            streams_per_connection: 500,
            series_max: 4_000,
            followers_max: 50_000,
            gap_wait: Duration::from_millis(250),
            close_grace: Duration::from_secs(3),
            rest_settle: Duration::from_secs(1),
            lag_wait: Duration::from_millis(500),
            lag_wait_max: Duration::from_secs(30),
            room_wait: Duration::from_secs(1),
            tick: Duration::from_millis(100),
            linger: Duration::from_secs(10),
            replay_max: 100_000,
        }
    }

    /// The simulated exchange streams where it answers; the real one has a place of its own.
    fn beside(rest_url: &str) -> Self {
        match rest_url.strip_prefix("http://") {
            Some(rest) => Self::new(format!("ws://{rest}")),
            None => Self::new("wss://data-stream.binance.vision"),
        }
    }

    /// Refuses an address at which there can be no streams.
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

    /// Where combined streams are. The exchange's documents name addresses that end in `/ws`, where
    /// single streams are; what is before that is meant.
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
    fn streams_are_found_however_their_address_is_written() {
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
    fn a_key_does_not_show() {
        let key = ApiKey::new("k-hunter2").unwrap();
        assert!(!format!("{key:?} {:?}", key.headers()).contains("hunter2"));
        assert_eq!(key.headers()["x-mbx-apikey"], "k-hunter2");
        assert!(ApiKey::new("two\nlines").is_err());
    }
}

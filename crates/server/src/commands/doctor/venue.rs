//! Checks Binance: its name resolves, it answers, it accepts the key, and its clock agrees with this
//! machine's. The simulated exchange needs no check, because the check of tools uses it.

use std::sync::Arc;
use std::time::Duration;

use clock::SystemClock;
use fault::Fault;
use http::Uri;
use market::{
    Interval, KlineEvent, LiveKlines as _, Quote, QuoteSource as _, SubscribeOptions, Symbol, Venue,
};
use market_binance::Binance;

use super::Finding;
use crate::config::{BinanceSite, Config, Provider};

const WHAT: &str = "Binance";
const CLOCK: &str = "clock";
const STREAMS: &str = "streams";
/// A symbol that is traded at all times.
const TICKER: &str = "BTCUSDT";
const TIMEOUT: Duration = Duration::from_secs(10);
/// The largest difference of the clocks; beyond it candles close too early or too late.
const SKEW_MAX_MS: i64 = 5_000;

pub(super) async fn check(config: &Config) -> Vec<Finding> {
    let Provider::Binance(site) = &config.provider else { return Vec::new() };
    if config.arche_api_url.is_some() {
        return Vec::new();
    }
    let host = match resolve(&site.rest_url).await {
        Ok(host) => host,
        Err(detail) => {
            let fix = "check the network and DNS, and that BINANCE_REST_URL is like \
                       https://data-api.binance.vision, or set PROVIDER=sim to work without them";
            return vec![Finding::fail(WHAT, detail).fix(fix)];
        }
    };
    let exchange = match open(site) {
        Ok(exchange) => exchange,
        Err(finding) => return vec![finding],
    };
    match tokio::time::timeout(TIMEOUT, quote(&exchange)).await {
        Err(_) => vec![unanswered()],
        Ok(Err(fault)) => vec![explain(&fault)],
        Ok(Ok(quote)) => {
            let ahead_ms = quote.freshness.as_of.0 - quote.freshness.received_at.0;
            let key = if site.api_key.is_some() { ", with a key" } else { "" };
            let detail = format!("{host} answers, {TICKER} is {}{key}", quote.price);
            vec![Finding::ok(WHAT, detail), check_clock(ahead_ms), check_streams(&exchange).await]
        }
    }
}

/// An adapter that sends each request once.
fn open(site: &BinanceSite) -> Result<Binance, Finding> {
    let refused = |text: String| {
        Finding::fail(WHAT, text).fix(
            "write BINANCE_REST_URL like https://data-api.binance.vision, and BINANCE_WS_URL like \
         wss://data-stream.binance.vision",
        )
    };
    let mut config = site.adapter("binance").map_err(|failure| refused(failure.to_string()))?;
    (config.http.retries, config.http.request_timeout) = (0, TIMEOUT);
    Binance::new(config, Arc::new(SystemClock)).map_err(|fault| refused(fault.to_string()))
}

/// Checks that live candles arrive.
async fn check_streams(exchange: &Binance) -> Finding {
    let first_event = async {
        let options = SubscribeOptions { resume_after: None, queue_max: 16 };
        let mut feed = exchange.subscribe(TICKER, Interval::M1, options).await.ok()?;
        while let Some(event) = feed.next().await {
            if matches!(*event, KlineEvent::Connected | KlineEvent::Candle { .. }) {
                return Some(());
            }
        }
        None
    };
    let arrived = tokio::time::timeout(TIMEOUT, first_event).await.ok().flatten();
    exchange.drain().await;
    match arrived {
        Some(()) => Finding::ok(STREAMS, "live candles arrive"),
        None => Finding::warn(STREAMS, "no live candles arrive; history works without them")
            .fix("check that WebSockets pass the firewall, and BINANCE_WS_URL"),
    }
}

/// The host of an address whose name resolves, or the error.
pub(super) async fn resolve(url: &str) -> Result<String, String> {
    let uri: Option<Uri> = url.parse().ok();
    let Some(host) = uri.as_ref().and_then(Uri::host) else {
        return Err("its address is not a URL".to_owned());
    };
    let unbracketed = host.trim_start_matches('[').trim_end_matches(']');
    match tokio::time::timeout(TIMEOUT, tokio::net::lookup_host((unbracketed, 443))).await {
        Ok(Ok(_)) => Ok(host.to_owned()),
        _ => Err(format!("the name {host} does not resolve")),
    }
}

async fn quote(exchange: &Binance) -> Result<Arc<Quote>, Fault> {
    let symbol = Symbol { venue: Venue::Binance, code: TICKER.to_owned() };
    let mut quotes = exchange.latest(&[symbol]).await?;
    quotes.pop().unwrap_or_else(|| {
        Err(Fault::internal("Binance returned no quote for the requested ticker"))
    })
}

fn unanswered() -> Finding {
    Finding::fail(WHAT, "did not answer in time")
        .fix("check the network and its firewall; proxies are not used")
}

/// The finding for a fault of the exchange, with its fix.
fn explain(fault: &Fault) -> Finding {
    let detail = fault.to_string();
    let fix = match fault.code() {
        // The fault names the setting of the address.
        "upstream_geo_blocked" => return Finding::fail(WHAT, detail),
        "upstream_refused" => {
            "its firewall blocks this network (403): try another network, \
             BINANCE_REST_URL=https://data-api.binance.vision, or PROVIDER=sim"
        }
        "upstream_timeout" => return unanswered(),
        "upstream_unreachable" => {
            "check the network, its firewall and the machine's certificates; proxies are not used"
        }
        "upstream_rate_limited" => "wait; other programs on this address use the same allowance",
        "upstream_malformed" => {
            "something between here and there answers in its place (a portal or a proxy?), or \
             BINANCE_REST_URL is not an exchange"
        }
        "unknown_symbol" => "BINANCE_REST_URL is another exchange than Binance spot",
        "invalid_upstream_url" => "write BINANCE_REST_URL like https://data-api.binance.vision",
        _ => "try again later, or set PROVIDER=sim",
    };
    Finding::fail(WHAT, detail).fix(fix)
}

/// Compares the clocks by the time of the last trade of a busy ticker.
fn check_clock(ahead_ms: i64) -> Finding {
    let seconds = ahead_ms.unsigned_abs() / 1000;
    match ahead_ms {
        SKEW_MAX_MS.. => Finding::warn(CLOCK, format!("is {seconds} s behind the exchange's"))
            .fix("turn on time synchronisation (`timedatectl set-ntp true`)"),
        ..0 if ahead_ms <= -SKEW_MAX_MS => {
            Finding::warn(CLOCK, format!("is {seconds} s ahead of the exchange's last trade"))
                .fix("turn on time synchronisation (`timedatectl set-ntp true`)")
        }
        _ => Finding::ok(CLOCK, "agrees with the exchange's"),
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use market_sim::{FaultKind, InjectedFault, Sim, SimConfig};
    use tokio_util::sync::CancellationToken;

    use super::super::Level;
    use super::{Arc, Config, Finding, SystemClock, check, check_clock, resolve};
    use crate::config::Settings;

    #[test]
    fn clocks_that_differ_are_found() {
        for (ahead_ms, expected) in [
            (0, Level::Ok),
            (4_999, Level::Ok),
            (5_000, Level::Warn),
            (-4_999, Level::Ok),
            (-5_000, Level::Warn),
            (i64::MIN, Level::Warn),
            (i64::MAX, Level::Warn),
        ] {
            assert_eq!(check_clock(ahead_ms).level, expected, "{ahead_ms}");
        }
    }

    #[tokio::test]
    async fn an_invalid_address_is_found() {
        for url in ["", "not an address", "/path"] {
            assert!(resolve(url).await.is_err(), "{url:?}");
        }
        assert!(resolve("http://[::1]:1").await.is_ok());
        // Parts that may be secret are not shown.
        assert_eq!(resolve("http://user:hunter2@127.0.0.1:1").await.unwrap(), "127.0.0.1");
    }

    async fn levels_at(address: SocketAddr) -> Vec<(Level, String)> {
        let settings = Settings {
            data: Some("/data".into()),
            provider: "binance".to_owned(),
            binance_rest_url: format!("http://{address}"),
            binance_api_key: Some(auth::Secret::new("hunter2")),
            ..Settings::default()
        };
        let findings = check(&Config::resolve(settings).unwrap()).await;
        let level_and_text = |it: Finding| (it.level, it.detail + &it.fix.unwrap_or_default());
        findings.into_iter().map(level_and_text).collect()
    }

    #[tokio::test]
    async fn an_unreachable_exchange_is_found() {
        let unused = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = unused.local_addr().unwrap();
        drop(unused);
        let [(level, text)] = levels_at(address).await.try_into().unwrap();
        assert_eq!(level, Level::Fail);
        assert!(text.contains("firewall"), "{text}");
    }

    #[tokio::test]
    async fn refusals_of_the_exchange_are_explained() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let sim = Sim::new(SimConfig::new(7, Arc::new(SystemClock)));
        let (stop, faults) = (CancellationToken::new(), sim.clone());
        let checks = async {
            let levels: Vec<_> = levels_at(address).await.into_iter().map(|it| it.0).collect();
            assert_eq!(levels, [Level::Ok; 3], "the exchange works");
            for (kind, expected) in [
                (FaultKind::Status451, "data-api.binance.vision"),
                (FaultKind::Status403, "PROVIDER=sim"),
                (FaultKind::Status429, "wait"),
                (FaultKind::Html, "portal"),
            ] {
                faults.faults().add(InjectedFault::new(kind, 1)).unwrap();
                let [(level, text)] = levels_at(address).await.try_into().unwrap();
                assert_eq!(level, Level::Fail, "{kind:?}");
                assert!(text.contains(expected), "{kind:?}: {text}");
            }
            stop.cancel();
        };
        tokio::join!(sim.serve(listener, stop.clone()), checks);
    }
}

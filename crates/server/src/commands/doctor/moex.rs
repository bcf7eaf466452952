//! Checks ISS, the interface of the Moscow Exchange: its name resolves and it returns data; shows
//! whether they are stale. The simulated exchange needs no check, because the check of tools uses it.

use std::sync::Arc;
use std::time::Duration;

use clock::SystemClock;
use fault::Fault;
use market::{Freshness, SecuritySource as _};
use market_moex::{Moex, MoexConfig};

use super::{Finding, venue};
use crate::config::{Config, MoexProvider};

const WHAT: &str = "MOEX ISS";
/// A share that is traded on every trading day.
const TICKER: &str = "SBER";
const TIMEOUT: Duration = Duration::from_secs(10);
const ADDRESS_FIX: &str = "write MOEX_ISS_URL like https://iss.moex.com/iss, with /iss at its end";

pub(super) async fn check(config: &Config) -> Vec<Finding> {
    let MoexProvider::Iss(url) = &config.moex else { return Vec::new() };
    let host = match venue::resolve(url).await {
        Ok(host) => host,
        Err(detail) => {
            let fix = "check the network and DNS, and MOEX_ISS_URL, or set MOEX_PROVIDER=sim to \
                       work without them";
            return vec![Finding::fail(WHAT, detail).fix(fix)];
        }
    };
    let mut config = MoexConfig::new(url, "moex");
    (config.http.retries, config.http.request_timeout) = (0, TIMEOUT);
    let exchange = match Moex::new(config, Arc::new(SystemClock)) {
        Ok(exchange) => exchange,
        Err(fault) => return vec![Finding::fail(WHAT, fault.to_string()).fix(ADDRESS_FIX)],
    };
    let answered = tokio::time::timeout(TIMEOUT, exchange.snapshot(TICKER, None)).await;
    exchange.drain().await;
    vec![match answered {
        Err(_) => unanswered(),
        Ok(Err(fault)) => explain(&fault),
        Ok(Ok(snapshot)) => {
            let (price, age) = (&snapshot.value.last, stale_text(&snapshot.freshness));
            Finding::ok(WHAT, format!("{host} answers, {TICKER} is {price}{age}"))
        }
    }]
}

fn stale_text(freshness: &Freshness) -> &'static str {
    if freshness.stale { ", from an earlier session" } else { "" }
}

fn unanswered() -> Finding {
    Finding::fail(WHAT, "did not answer in time").fix(
        "check the network and its firewall; proxies are not used, and ISS is not reached from \
         everywhere; set MOEX_PROVIDER=sim to work without it",
    )
}

fn explain(fault: &Fault) -> Finding {
    let fix = match fault.code() {
        "upstream_timeout" => return unanswered(),
        "upstream_unreachable" => {
            "check the network, its firewall and the machine's certificates; proxies are not used; \
             or set MOEX_PROVIDER=sim"
        }
        "upstream_refused" => {
            "its firewall blocks this network, or a portal answers in its place: try another \
             network, or MOEX_PROVIDER=sim"
        }
        "upstream_rate_limited" => "wait; other programs on this address use the same allowance",
        "upstream_malformed" | "upstream_incomplete" => {
            "something between here and there answers in its place (a portal or a proxy?), or \
             MOEX_ISS_URL is not an ISS; it ends with /iss"
        }
        "upstream_rejected"
        | "not_published"
        | "unknown_security"
        | "unknown_symbol"
        | "invalid_upstream_url" => ADDRESS_FIX,
        _ => "try again later, or set MOEX_PROVIDER=sim",
    };
    Finding::fail(WHAT, fault.to_string()).fix(fix)
}

#[cfg(test)]
mod tests {
    use market_sim::{FaultKind, InjectedFault, Sim, SimConfig};
    use tokio_util::sync::CancellationToken;

    use super::super::Level;
    use super::*;
    use crate::config::Settings;

    async fn at(url: String) -> (Level, String) {
        let settings = Settings {
            data: Some("/data".into()),
            moex_provider: "iss".to_owned(),
            moex_iss_url: url,
            ..Settings::default()
        };
        let [found] = check(&Config::resolve(settings).unwrap()).await.try_into().unwrap();
        (found.level, found.detail + &found.fix.unwrap_or_default())
    }

    #[tokio::test]
    async fn an_unreachable_exchange_is_found() {
        let unused = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = unused.local_addr().unwrap();
        drop(unused);
        for (url, expected) in [
            (format!("http://{address}/iss"), "firewall"),
            ("not an address".to_owned(), "MOEX_ISS_URL"),
        ] {
            let (level, text) = at(url).await;
            assert_eq!(level, Level::Fail, "{text}");
            assert!(text.contains(expected), "{text}");
        }
    }

    #[tokio::test]
    async fn faults_of_the_exchange_are_explained() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let sim = Sim::new(SimConfig::new(7, Arc::new(SystemClock)));
        let (stop, faults) = (CancellationToken::new(), sim.clone());
        let checks = async {
            let (level, text) = at(format!("{url}/iss")).await;
            assert_eq!(level, Level::Ok, "{text}");
            assert!(text.contains("SBER is "), "{text}");
            let (level, text) = at(url.clone()).await;
            assert_eq!(level, Level::Fail, "{text}");
            assert!(text.contains("/iss"), "{text}");
            for (kind, expected) in [
                (FaultKind::Status403, "MOEX_PROVIDER=sim"),
                (FaultKind::Status429, "wait"),
                (FaultKind::Html, "portal"),
            ] {
                faults.faults().add(InjectedFault::new(kind, 1)).unwrap();
                let (level, text) = at(format!("{url}/iss")).await;
                assert_eq!(level, Level::Fail, "{kind:?}: {text}");
                assert!(text.contains(expected), "{kind:?}: {text}");
            }
            stop.cancel();
        };
        tokio::join!(sim.serve(listener, stop.clone()), checks);
    }
}

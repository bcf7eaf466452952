//! Checks the Moscow Exchange's ISS: its name resolves, it returns data, and the age of the data.
//! The simulated exchange needs no check, because the tool call uses it.

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
const PATIENCE: Duration = Duration::from_secs(10);
const ADDRESS: &str = "write MOEX_ISS_URL like https://iss.moex.com/iss, with /iss at its end";

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
    (config.http.retries, config.http.request_timeout) = (0, PATIENCE);
    let exchange = match Moex::new(config, Arc::new(SystemClock)) {
        Ok(exchange) => exchange,
        Err(fault) => return vec![Finding::fail(WHAT, fault.to_string()).fix(ADDRESS)],
    };
    let answered = tokio::time::timeout(PATIENCE, exchange.snapshot(TICKER, None)).await;
    exchange.drain().await;
    vec![match answered {
        Err(_) => unanswered(),
        Ok(Err(fault)) => explain(&fault),
        Ok(Ok(shot)) => {
            let delay = delayed(&shot.freshness);
            Finding::ok(WHAT, format!("{host} answers, {TICKER} is {}{delay}", shot.value.last))
        }
    }]
}

fn delayed(freshness: &Freshness) -> &'static str {
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
        "upstream_rate_limited" => "wait; others on this address ask it too",
        "upstream_malformed" | "upstream_incomplete" => {
            "something between here and there answers in its place (a portal or a proxy?), or \
             MOEX_ISS_URL is not an ISS; it ends with /iss"
        }
        "upstream_rejected"
        | "not_published"
        | "unknown_security"
        | "unknown_symbol"
        | "invalid_upstream_url" => ADDRESS,
        _ => "try again later, or set MOEX_PROVIDER=sim",
    };
    Finding::fail(WHAT, fault.to_string()).fix(fix)
}

#[cfg(test)]
mod tests {
    use market_sim::{FaultKind, InjectedFault as Outage, Sim, SimConfig};
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
    async fn an_exchange_that_is_not_there_is_found() {
        let unused = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = unused.local_addr().unwrap();
        drop(unused);
        for (url, told) in [
            (format!("http://{address}/iss"), "firewall"),
            ("not an address".to_owned(), "MOEX_ISS_URL"),
        ] {
            let (level, said) = at(url).await;
            assert_eq!(level, Level::Fail, "{said}");
            assert!(said.contains(told), "{said}");
        }
    }

    #[tokio::test]
    async fn what_an_exchange_says_is_explained() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let sim = Sim::new(SimConfig::new(7, Arc::new(SystemClock)));
        let (stop, faults) = (CancellationToken::new(), sim.clone());
        let asked = async {
            let (level, said) = at(format!("{url}/iss")).await;
            assert_eq!(level, Level::Ok, "{said}");
            assert!(said.contains("SBER is "), "{said}");
            let (level, said) = at(url.clone()).await;
            assert_eq!(level, Level::Fail, "{said}");
            assert!(said.contains("/iss"), "{said}");
            for (kind, told) in [
                (FaultKind::Status403, "MOEX_PROVIDER=sim"),
                (FaultKind::Status429, "wait"),
                (FaultKind::Html, "portal"),
            ] {
                faults.faults().add(Outage::new(kind, 1)).unwrap();
                let (level, said) = at(format!("{url}/iss")).await;
                assert_eq!(level, Level::Fail, "{kind:?}: {said}");
                assert!(said.contains(told), "{kind:?}: {said}");
            }
            stop.cancel();
        };
        tokio::join!(sim.serve(listener, stop.clone()), asked);
    }
}

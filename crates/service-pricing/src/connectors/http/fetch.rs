//! Fetches pages from other shops' servers. It honours robots.txt and limits the rate per host, the
//! size, the time and the redirects. Every redirect target passes the same address check as the
//! first.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use fault::Fault;
use reqwest::header::LOCATION;
use reqwest::{Response, Url};
use ssrf_guard::{PublicOnlyResolver, url_problem};
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::connectors::http::robots::Robots;

const USER_AGENT: &str = concat!("stoa/", env!("CARGO_PKG_VERSION"), " (price collector)");
const PAGE_BYTES_MAX: usize = 2 << 20;
const ROBOTS_BYTES_MAX: usize = 500 << 10;
const REDIRECTS_MAX: usize = 3;
const ROBOTS_LIFE: Duration = Duration::from_secs(3_600);
/// The most sites whose state is kept.
const SITES_MAX: usize = 500;

/// The limits for requests to other shops' servers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FetchPolicy {
    /// Whether addresses of private networks may be requested.
    pub(crate) private: bool,
    /// The least time between two requests to one host.
    pub(crate) pause: Duration,
    /// How long one request may take, its body included.
    pub(crate) timeout: Duration,
}

pub(crate) struct Fetcher {
    client: reqwest::Client,
    fetch_policy: FetchPolicy,
    sites: Mutex<HashMap<String, Arc<Site>>>,
}

/// The state of one site: a scheme, host and port.
#[derive(Default)]
struct Site {
    /// When the next request may be sent. The lock is held while waiting, so that callers take
    /// turns.
    next: Mutex<Option<Instant>>,
    robots: Mutex<Option<(Instant, Arc<Robots>)>>,
}

impl Fetcher {
    pub(crate) fn new(fetch_policy: FetchPolicy) -> Result<Self, Fault> {
        let builder = http_client::builder(USER_AGENT)
            .timeout(fetch_policy.timeout)
            .connect_timeout(fetch_policy.timeout);
        let builder = match fetch_policy.private {
            true => builder,
            false => builder.dns_resolver(Arc::new(PublicOnlyResolver)),
        };
        let client = builder.build().map_err(Fault::internal)?;
        Ok(Self { client, fetch_policy, sites: Mutex::default() })
    }

    /// The text of a page, or why there is none; the reason is a phrase without the address.
    pub(crate) async fn page(&self, address: &str) -> Result<String, String> {
        let mut url = Url::parse(address).map_err(|_| "not an address".to_owned())?;
        for _ in 0..=REDIRECTS_MAX {
            if let Some(expected) = url_problem(&url, self.fetch_policy.private) {
                return Err(format!("not {expected}"));
            }
            let site = self.site(&url).await;
            let robots = self.robots(&site, &url).await;
            if !robots.allows(&path(&url)) {
                return Err("robots.txt asks us to stay away".to_owned());
            }
            let response = self.get(&site, url.clone(), robots.delay).await?;
            let status = response.status();
            if status.is_redirection() {
                let to = response.headers().get(LOCATION).and_then(|it| it.to_str().ok());
                url = to.and_then(|it| url.join(it).ok()).ok_or("a redirect to nowhere")?;
                continue;
            }
            if !status.is_success() {
                return Err(format!("status {}", status.as_u16()));
            }
            return text(response, PAGE_BYTES_MAX).await;
        }
        Err(format!("more than {REDIRECTS_MAX} redirects"))
    }

    async fn site(&self, url: &Url) -> Arc<Site> {
        let mut sites = self.sites.lock().await;
        if sites.len() >= SITES_MAX {
            // Drops the sites that no request is using; their rules can be fetched again.
            sites.retain(|_, site| Arc::strong_count(site) > 1);
        }
        Arc::clone(sites.entry(url.origin().ascii_serialization()).or_default())
    }

    /// The site's rules, fetched once an hour. A file that does not exist allows every path; a file
    /// that cannot be fetched allows none.
    async fn robots(&self, site: &Site, url: &Url) -> Arc<Robots> {
        let mut known = site.robots.lock().await;
        if let Some((learnt, robots)) = known.as_ref()
            && learnt.elapsed() < ROBOTS_LIFE
        {
            return Arc::clone(robots);
        }
        let robots = Arc::new(self.ask_robots(site, url).await);
        *known = Some((Instant::now(), Arc::clone(&robots)));
        robots
    }

    async fn ask_robots(&self, site: &Site, url: &Url) -> Robots {
        let Ok(mut at) = url.join("/robots.txt") else { return Robots::disallow_all() };
        for _ in 0..=REDIRECTS_MAX {
            if url_problem(&at, self.fetch_policy.private).is_some() {
                return Robots::disallow_all();
            }
            let Ok(response) = self.get(site, at.clone(), None).await else {
                return Robots::disallow_all();
            };
            let status = response.status();
            if status.is_redirection() {
                let to = response.headers().get(LOCATION).and_then(|it| it.to_str().ok());
                let Some(next) = to.and_then(|it| at.join(it).ok()) else { break };
                at = next;
                continue;
            }
            if status.is_client_error() {
                return Robots::default();
            }
            return match status.is_success() {
                true => text(response, ROBOTS_BYTES_MAX)
                    .await
                    .map_or_else(|_| Robots::disallow_all(), |text| Robots::parse(&text)),
                false => Robots::disallow_all(),
            };
        }
        Robots::default()
    }

    async fn get(
        &self,
        site: &Site,
        url: Url,
        delay: Option<Duration>,
    ) -> Result<Response, String> {
        let pause = delay.unwrap_or_default().max(self.fetch_policy.pause);
        {
            let mut next = site.next.lock().await;
            if let Some(at) = *next {
                tokio::time::sleep_until(at).await;
            }
            *next = Some(Instant::now() + pause);
        }
        let sent = self.client.get(url).send().await;
        sent.map_err(|error| why(&error).to_owned())
    }
}

/// The path with its query, which the patterns of robots.txt match.
fn path(url: &Url) -> String {
    match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    }
}

/// A text without the library's message, which contains the address.
fn why(error: &reqwest::Error) -> &'static str {
    if error.is_timeout() {
        "no answer in time"
    } else if error.is_connect() {
        "no connection"
    } else {
        "the answer broke off"
    }
}

/// The decoded body as text; fails beyond `most` bytes.
async fn text(mut response: Response, most: usize) -> Result<String, String> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| why(&error).to_owned())? {
        if bytes.len() + chunk.len() > most {
            return Err(format!("more than {} KiB", most >> 10));
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|bad| String::from_utf8_lossy(bad.as_bytes()).into()))
}

//! Notices over HTTP, to addresses that a stranger chose: no redirects, no proxies, a bounded time,
//! and never to an address inside our own network unless the operator said so.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use async_trait::async_trait;
use fault::{Fault, Kind};
use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::redirect::Policy;

use crate::push::Courier;
use crate::wire::PushConfig;

const PATIENCE: Duration = Duration::from_secs(10);
const URL_CHARS_MAX: usize = 2_048;
const TOKEN: HeaderName = HeaderName::from_static("x-a2a-notification-token");

pub struct HttpCourier {
    client: reqwest::Client,
    private: bool,
}

impl HttpCourier {
    /// `private` allows addresses of this machine and of private networks.
    pub fn new(private: bool) -> Result<Self, Fault> {
        // A provider that is installed already is the same one.
        drop(rustls::crypto::ring::default_provider().install_default());
        let builder = reqwest::Client::builder()
            .redirect(Policy::none())
            .no_proxy()
            .timeout(PATIENCE)
            .connect_timeout(PATIENCE)
            .user_agent("stoa-a2a");
        let builder = match private {
            true => builder,
            // Names are checked where they are resolved, so that what was checked is what is
            // connected to.
            false => builder.dns_resolver(std::sync::Arc::new(PublicOnly)),
        };
        Ok(Self { client: builder.build().map_err(Fault::internal)?, private })
    }
}

#[async_trait]
impl Courier for HttpCourier {
    fn accepts(&self, url: &str) -> Result<(), Fault> {
        let refused = |why: &str| Err(Fault::invalid("push_url", why).problem("url", why));
        if url.chars().count() > URL_CHARS_MAX {
            return refused("a shorter address");
        }
        let Ok(url) = Url::parse(url) else { return refused("an absolute http or https address") };
        if !matches!(url.scheme(), "http" | "https") {
            return refused("an absolute http or https address");
        }
        if !url.username().is_empty() || url.password().is_some() {
            return refused("an address without credentials in it");
        }
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        let literal: Option<IpAddr> = host.parse().ok();
        let local = host.eq_ignore_ascii_case("localhost") || host.ends_with(".localhost");
        if !self.private && (local || literal.is_some_and(|it| !is_public(it))) {
            return refused("a public address");
        }
        Ok(())
    }

    async fn deliver(&self, push: &PushConfig, json: &str) -> Result<(), Fault> {
        self.accepts(&push.url)?;
        let mut request = self
            .client
            .post(&push.url)
            .header(CONTENT_TYPE, "application/a2a+json")
            .body(json.to_owned());
        if let Some(authentication) = &push.authentication {
            let text = format!("{} {}", authentication.scheme, authentication.credentials);
            request = request.header(AUTHORIZATION, secret(text.trim())?);
        }
        if let Some(token) = &push.token {
            request = request.header(TOKEN, secret(token)?);
        }
        // The error's own text holds the address, which may hold the client's secrets.
        let response = request.send().await.map_err(|error| unreached(&error))?;
        let status = response.status();
        let said = |it: &HeaderValue| it.to_str().ok()?.trim().parse().ok();
        let wait = response.headers().get(RETRY_AFTER).and_then(said).map(Duration::from_secs);
        match status.as_u16() {
            200..300 => Ok(()),
            408 | 425 | 429 | 500.. => {
                let message = format!("the webhook answered with {status}");
                let fault = Fault::unavailable("webhook_failed", message);
                Err(wait.into_iter().fold(fault, Fault::retry_after))
            }
            _ => Err(Fault::invalid("webhook_refused", format!("the webhook answered {status}"))),
        }
    }
}

fn secret(text: &str) -> Result<HeaderValue, Fault> {
    let mut value = HeaderValue::from_str(text)
        .map_err(|_| Fault::invalid("push_secret", "the credentials do not fit a header"))?;
    value.set_sensitive(true);
    Ok(value)
}

fn unreached(error: &reqwest::Error) -> Fault {
    match error.is_timeout() {
        true => Fault::new(Kind::Timeout, "webhook_slow", "the webhook did not answer in time"),
        false => Fault::unavailable("webhook_unreached", "the webhook could not be reached"),
    }
}

/// Resolves names to public addresses alone.
struct PublicOnly;

impl Resolve for PublicOnly {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let public: Vec<SocketAddr> = found.filter(|at| is_public(at.ip())).collect();
            if public.is_empty() {
                return Err("the name has no public address".into());
            }
            Ok(Box::new(public.into_iter()) as Addrs)
        })
    }
}

/// Whether an address can only be somebody else's.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    !(address.is_unspecified()
        || address.is_loopback()
        || address.is_private()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_broadcast()
        || address.is_documentation()
        || a == 0
        || a >= 240
        // Carriers' shared space, protocol assignments, benchmarks.
        || (a == 100 && (64..128).contains(&b))
        || (a, b, c) == (192, 0, 0)
        || (a == 198 && (18..20).contains(&b)))
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [a, b, _, _, _, _, g, h] = address.segments();
    // An address of version 4 in any of its disguises counts as what it is.
    let [high, low] = [g.to_be_bytes(), h.to_be_bytes()];
    let embedded = Ipv4Addr::new(high[0], high[1], low[0], low[1]);
    if address.to_ipv4_mapped().is_some() || (a, b) == (0x64, 0xff9b) {
        return is_public_v4(embedded);
    }
    // 2000::/3 is all that is given out; 2001:db8::/32 is for books, 2002::/16 wraps version 4.
    (a & 0xe000) == 0x2000 && (a, b) != (0x2001, 0xdb8) && a != 0x2002
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(url: &str, public: bool, private: bool) {
        let accepts = |allowed| HttpCourier::new(allowed).unwrap().accepts(url).is_ok();
        assert_eq!((accepts(false), accepts(true)), (public, private), "{url}");
    }

    #[test]
    fn only_public_addresses_are_told() {
        check("https://example.com/hook", true, true);
        check("http://93.184.216.34:8080/", true, true);
        check("https://[2606:2800:220:1::1]/", true, true);
        for inside in [
            "http://127.0.0.1/",
            "http://localhost:1/",
            "http://a.localhost/",
            "http://10.1.2.3/",
            "http://172.16.0.1/",
            "http://192.168.1.1/",
            "http://169.254.169.254/latest/meta-data",
            "http://100.64.0.1/",
            "http://0.0.0.0/",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://[::1]/",
            "http://[::ffff:127.0.0.1]/",
            "http://[64:ff9b::7f00:1]/",
            "http://[fd00::1]/",
            "http://[fe80::1]/",
        ] {
            check(inside, false, true);
        }
        for wrong in ["ftp://example.com/", "example.com", "", "https://u:p@example.com/"] {
            check(wrong, false, false);
        }
    }

    #[tokio::test]
    async fn a_name_that_leads_inside_is_not_followed() {
        let push = PushConfig { url: "http://localhost./x".to_owned(), ..PushConfig::default() };
        let fault = HttpCourier::new(false).unwrap().deliver(&push, "{}").await.unwrap_err();
        assert_eq!(fault.code(), "webhook_unreached");
    }

    /// A webhook that answers once, and what it was sent.
    async fn answering(status: &str) -> (Result<(), Fault>, String) {
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let push = PushConfig {
            url: format!("http://{}/hook", listener.local_addr().unwrap()),
            token: Some("t0ken".to_owned()),
            authentication: Some(crate::wire::PushAuthentication {
                scheme: "Bearer".to_owned(),
                credentials: "s3cret".to_owned(),
            }),
            ..PushConfig::default()
        };
        let answer = format!("HTTP/1.1 {status}\r\nLocation: /\r\nContent-Length: 0\r\n\r\n");
        let hook = async {
            let (mut socket, _) = listener.accept().await.unwrap();
            let mut heard = Vec::new();
            while !heard.ends_with(b"{}") {
                assert_ne!(socket.read_buf(&mut heard).await.unwrap(), 0);
            }
            socket.write_all(answer.as_bytes()).await.unwrap();
            String::from_utf8(heard).unwrap().to_ascii_lowercase()
        };
        let courier = HttpCourier::new(true).unwrap();
        tokio::join!(courier.deliver(&push, "{}"), hook)
    }

    #[tokio::test]
    async fn a_webhook_is_sent_its_own_secrets_and_its_answer_decides() {
        let (delivered, heard) = answering("204 No Content").await;
        delivered.unwrap();
        assert!(heard.starts_with("post /hook "), "{heard}");
        for line in [
            "authorization: bearer s3cret",
            "x-a2a-notification-token: t0ken",
            "content-type: application/a2a+json",
        ] {
            assert!(heard.contains(line), "{line} is not in {heard}");
        }
        for (status, again) in [
            ("503 Service Unavailable", true),
            ("429 Too Many Requests", true),
            ("302 Found", false),
            ("410 Gone", false),
        ] {
            let fault = answering(status).await.0.unwrap_err();
            assert_eq!(fault.kind().is_retryable(), again, "{status}");
            assert!(!fault.to_string().contains("s3cret"));
        }
    }
}

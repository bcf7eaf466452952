//! Requests to one shop or webhook: one attempt, bounded in time and size, without redirects. The
//! operator's setting names the address, so every address is allowed; credentials go over https
//! alone, or to this machine.

use std::time::Duration;

use fault::{Fault, Kind};
use reqwest::header::{HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::{RequestBuilder, StatusCode, Url};
use serde_json::Value;

use crate::push::shop::title;

/// One request may take this long, its body included.
pub(super) const TIMEOUT: Duration = Duration::from_secs(15);
const BODY_BYTES_MAX: usize = 1 << 20;
/// The longest wait that a shop may ask for.
const RETRY_AFTER_MAX: Duration = Duration::from_mins(15);
const MESSAGE_CHARS_MAX: usize = 300;
const USER_AGENT: &str = concat!("stoa/", env!("CARGO_PKG_VERSION"), " (prices)");

pub(super) struct ShopClient {
    pub(super) http: reqwest::Client,
    pub(super) target: &'static str,
    /// The secrets, which are removed from the text of an answer.
    secrets: Vec<String>,
}

/// A complete answer.
pub(super) struct ShopAnswer {
    pub(super) status: StatusCode,
    pub(super) retry_after: Option<Duration>,
    body: Vec<u8>,
}

impl ShopAnswer {
    /// `None` if the body is not JSON, such as a page of a proxy.
    pub(super) fn json(&self) -> Option<Value> {
        serde_json::from_slice(&self.body).ok()
    }
}

impl ShopClient {
    /// The headers are sent with every request; the secrets never leave in a fault.
    pub(super) fn new(
        target: &'static str,
        headers: HeaderMap,
        secrets: Vec<String>,
        timeout: Duration,
    ) -> Result<Self, Fault> {
        let builder = http_client::builder(USER_AGENT)
            .timeout(timeout)
            .connect_timeout(timeout)
            .default_headers(headers);
        let http = builder.build().map_err(Fault::internal)?;
        Ok(Self { http, target, secrets })
    }

    /// Sends a request; an answer with any status is a success here.
    pub(super) async fn send(&self, request: RequestBuilder) -> Result<ShopAnswer, Fault> {
        let mut response = request.send().await.map_err(|error| self.unreachable(&error))?;
        let (status, retry_after) = (response.status(), retry_after(response.headers()));
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.unreachable(&error))? {
            if body.len() + chunk.len() > BODY_BYTES_MAX {
                return Err(self.failed("answered with more than 1 MiB"));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(ShopAnswer { status, retry_after, body })
    }

    /// The fault of a status that is not a success; `message` is the shop's text.
    pub(super) fn refusal(&self, answer: &ShopAnswer, message: Option<&str>) -> Fault {
        let status = answer.status.as_u16();
        let said = message.map(|it| format!(": {}", self.redacted_line(it))).unwrap_or_default();
        let title = title(self.target);
        match status {
            300..400 => self.failed(&format!(
                "answered with a redirect ({status}), which is not followed; set the address that \
                 it leads to"
            )),
            401 => self.fault(
                Kind::Unauthenticated,
                "shop_credentials",
                format!("{title} refused the credentials ({status}){said}"),
            ),
            403 => self.fault(
                Kind::Forbidden,
                "shop_credentials",
                format!(
                    "{title} does not allow these credentials to change prices ({status}){said}"
                ),
            ),
            429 => self.throttled(answer.retry_after),
            400 | 409 | 413 | 422 => self.fault(
                Kind::Invalid,
                "shop_refused_price",
                format!("{title} refused the price ({status}){said}"),
            ),
            _ => self.failed(&format!("answered with the status {status}{said}")),
        }
    }

    pub(super) fn throttled(&self, wait: Option<Duration>) -> Fault {
        let wait = wait.unwrap_or(Duration::from_secs(2)).min(RETRY_AFTER_MAX);
        let message = format!("{} asks for fewer requests", title(self.target));
        Fault::new(Kind::RateLimited, "shop_throttled", message).retry_after(wait)
    }

    /// A fault that a later attempt may avoid.
    pub(super) fn failed(&self, what: &str) -> Fault {
        let message = format!("{} {}", title(self.target), self.redacted_line(what));
        self.fault(Kind::Unavailable, "shop_failed", message)
    }

    pub(super) fn fault(&self, kind: Kind, code: &'static str, message: String) -> Fault {
        Fault::new(kind, code, self.redacted_line(&message))
    }

    /// The shop's text on one line, shortened, without our secrets.
    pub(super) fn redacted_line(&self, text: &str) -> String {
        let mut text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for secret in &self.secrets {
            text = text.replace(secret.as_str(), "***");
        }
        text.chars().take(MESSAGE_CHARS_MAX).collect()
    }

    /// The fault of a request without an answer. It leaves out the library's message, which
    /// contains the address.
    fn unreachable(&self, error: &reqwest::Error) -> Fault {
        if error.is_timeout() {
            let message = format!("{} did not answer in time", title(self.target));
            return Fault::new(Kind::Timeout, "shop_slow", message);
        }
        let cause = http_client::connection_cause(error);
        let cause = cause.map(|it| format!(": {it}")).unwrap_or_default();
        let message = format!("{} could not be reached{cause}", title(self.target));
        Fault::unavailable("shop_unreachable", message)
    }
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds: f64 = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// The base address of a shop without the slash at its end; `setting` names it in the fault.
pub(super) fn shop_address(setting: &'static str, text: &str) -> Result<String, Fault> {
    let refused = |expected: &str| {
        let message = format!("{setting} must be {expected}");
        Fault::invalid("invalid_setting", message).problem(setting, expected)
    };
    if let Some(expected) = ssrf_guard::address_problem(text, true) {
        return Err(refused(expected));
    }
    let url = Url::parse(text).map_err(|_| refused("an absolute https address"))?;
    if url.query().is_some() || url.fragment().is_some() {
        return Err(refused("an address without a query"));
    }
    // Without TLS, machines between this one and the shop could read the credentials.
    if url.scheme() == "http" && !is_this_machine(&url) {
        return Err(refused("an https address; http is for this machine alone"));
    }
    Ok(text.trim_end_matches('/').to_owned())
}

fn is_this_machine(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let address = host.parse::<std::net::IpAddr>();
    host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|it| it.is_loopback())
}

/// A credential as a header that is never printed.
pub(super) fn secret_header(setting: &'static str, text: &str) -> Result<HeaderValue, Fault> {
    let refused = || {
        let expected = "text without blanks at its ends and without line breaks";
        let message = format!("{setting} must be {expected}");
        Fault::invalid("invalid_setting", message).problem(setting, expected)
    };
    if text.is_empty() || text.trim() != text {
        return Err(refused());
    }
    let mut value = HeaderValue::from_str(text).map_err(|_| refused())?;
    value.set_sensitive(true);
    Ok(value)
}

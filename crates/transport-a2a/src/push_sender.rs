//! Sends notifications over HTTP to addresses that clients choose: no redirects, no proxies, 10 s
//! at most, and no private address unless the operator allows it.

use std::time::Duration;

use async_trait::async_trait;
use fault::{Fault, Kind};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER};
use ssrf_guard::PublicOnlyResolver;
use telemetry::TraceContext;

use crate::push::PushSender;
use crate::wire::PushConfig;

const DELIVERY_TIMEOUT: Duration = Duration::from_secs(10);
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
const TOKEN: HeaderName = HeaderName::from_static("x-a2a-notification-token");

/// Sends notifications over HTTP.
pub struct HttpPushSender {
    client: reqwest::Client,
    private: bool,
}

impl HttpPushSender {
    /// `private` allows addresses of this machine and of private networks.
    pub fn new(private: bool) -> Result<Self, Fault> {
        let builder = http_client::builder("stoa-a2a")
            .timeout(DELIVERY_TIMEOUT)
            .connect_timeout(DELIVERY_TIMEOUT);
        let builder = match private {
            true => builder,
            // The resolver checks the addresses of a name, so that exactly the checked address is
            // connected to.
            false => builder.dns_resolver(std::sync::Arc::new(PublicOnlyResolver)),
        };
        Ok(Self { client: builder.build().map_err(Fault::internal)?, private })
    }
}

#[async_trait]
impl PushSender for HttpPushSender {
    fn accepts(&self, url: &str) -> Result<(), Fault> {
        match ssrf_guard::address_problem(url, self.private) {
            Some(expected) => Err(Fault::invalid("push_url", expected).problem("url", expected)),
            None => Ok(()),
        }
    }

    async fn deliver(&self, push: &PushConfig, json: &str) -> Result<(), Fault> {
        self.accepts(&push.url)?;
        let mut request = self
            .client
            .post(&push.url)
            .header(CONTENT_TYPE, "application/a2a+json")
            .header(TRACEPARENT, trace(&push.task_id).to_string())
            .body(json.to_owned());
        if let Some(authentication) = &push.authentication {
            let text = format!("{} {}", authentication.scheme, authentication.credentials);
            request = request.header(AUTHORIZATION, secret(text.trim())?);
        }
        if let Some(token) = &push.token {
            request = request.header(TOKEN, secret(token)?);
        }
        // The text of the error holds the address, which may contain secrets of the client.
        let response = request.send().await.map_err(|error| unreached(&error))?;
        let status = response.status();
        let message_in = |it: &HeaderValue| it.to_str().ok()?.trim().parse().ok();
        let wait =
            response.headers().get(RETRY_AFTER).and_then(message_in).map(Duration::from_secs);
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

/// All notifications of a task belong to one trace, which has the task's id.
fn trace(task_id: &str) -> TraceContext {
    let id = uuid::Uuid::parse_str(task_id);
    id.map_or_else(|_| TraceContext::make(), |id| TraceContext::in_trace(id.into_bytes()))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(url: &str, public: bool, private: bool) {
        let accepts = |allowed| HttpPushSender::new(allowed).unwrap().accepts(url).is_ok();
        assert_eq!((accepts(false), accepts(true)), (public, private), "{url}");
    }

    #[test]
    fn only_public_addresses_get_webhooks() {
        check("https://example.com/hook", true, true);
        check("http://127.0.0.1/", false, true);
        check("http://[2001:0:7f00:1::]/", false, true);
        check("ftp://example.com/", false, false);
    }

    #[tokio::test]
    async fn a_stored_private_address_gets_no_webhook() {
        let push = PushConfig { url: "http://localhost./x".to_owned(), ..PushConfig::default() };
        let fault = HttpPushSender::new(false).unwrap().deliver(&push, "{}").await.unwrap_err();
        assert_eq!(fault.code(), "push_url");
    }

    /// A webhook that answers once, and what it was sent.
    async fn answering(status: &str) -> (Result<(), Fault>, String) {
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let push = PushConfig {
            url: format!("http://{}/hook", listener.local_addr().unwrap()),
            task_id: "4bf92f35-77b3-4da6-a3ce-929d0e0e4736".to_owned(),
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
        let push_sender = HttpPushSender::new(true).unwrap();
        tokio::join!(push_sender.deliver(&push, "{}"), hook)
    }

    #[tokio::test]
    async fn a_webhook_gets_its_secrets_and_its_status_decides_delivery() {
        let (delivered, heard) = answering("204 No Content").await;
        delivered.unwrap();
        assert!(heard.starts_with("post /hook "), "{heard}");
        for line in [
            "authorization: bearer s3cret",
            "x-a2a-notification-token: t0ken",
            "content-type: application/a2a+json",
            "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-",
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

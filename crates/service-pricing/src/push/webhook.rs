//! The webhook for price events, signed as Standard Webhooks: `webhook-id`, `webhook-timestamp` and
//! `webhook-signature`, an HMAC-SHA256 over `id.timestamp.body`. A repeated event has the same id.

use std::time::Duration;

use clock::Millis;
use data_encoding::BASE64;
use fault::{Fault, Kind};
use hmac::{Hmac, KeyInit as _, Mac as _};
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use sha2::Sha256;

use crate::push::shop_client::{ShopClient, TIMEOUT};

pub(crate) const NAME: &str = "price_webhook";
/// A shorter secret could be guessed.
const SECRET_BYTES_MIN: usize = 16;
/// The mark of a secret in base64, as libraries for Standard Webhooks write it.
const BASE64_MARK: &str = "whsec_";

/// Where price events are sent.
pub struct PriceWebhook {
    client: ShopClient,
    url: String,
    key: Vec<u8>,
}

impl PriceWebhook {
    /// The operator chose the address, so it may be any, also on a private network. A secret that
    /// begins with `whsec_` is base64, any other is used as it is written.
    pub fn new(url: &str, secret: &str) -> Result<Self, Fault> {
        Self::with_timeout(url, secret, TIMEOUT)
    }

    pub(crate) fn with_timeout(url: &str, secret: &str, timeout: Duration) -> Result<Self, Fault> {
        let refused = |setting: &'static str, expected: &str| {
            let message = format!("{setting} must be {expected}");
            Fault::invalid("invalid_setting", message).problem(setting, expected)
        };
        if let Some(expected) = ssrf_guard::address_problem(url, true) {
            return Err(refused("price_webhook_url", expected));
        }
        let key = match secret.strip_prefix(BASE64_MARK) {
            Some(text) => BASE64.decode(text.as_bytes()).ok(),
            None => Some(secret.as_bytes().to_vec()),
        };
        let key = key.filter(|it| it.len() >= SECRET_BYTES_MIN);
        let expected = "at least 16 bytes of text, or whsec_ and at least 16 bytes in base64";
        let key = key.ok_or_else(|| refused("price_webhook_secret", expected))?;
        let secrets = vec![secret.to_owned()];
        let client = ShopClient::new(NAME, HeaderMap::new(), secrets, timeout)?;
        Ok(Self { client, url: url.to_owned(), key })
    }

    /// Sends one event. Only a status of success is a delivery; a redirect is not followed.
    pub(crate) async fn deliver(&self, id: &str, body: &str, now: Millis) -> Result<(), Fault> {
        let timestamp = (now.0 / 1000).to_string();
        let request = self
            .client
            .http
            .post(&self.url)
            .header(CONTENT_TYPE, "application/json")
            .header("webhook-id", id)
            .header("webhook-timestamp", &timestamp)
            .header("webhook-signature", signature(&self.key, id, &timestamp, body)?)
            .body(body.to_owned());
        let answer = self.client.send(request).await?;
        let status = answer.status.as_u16();
        match status {
            200..300 => Ok(()),
            429 => Err(self.client.throttled(answer.retry_after)),
            408 | 425 | 500.. => Err(self.client.failed(&format!("answered with {status}"))),
            _ => {
                let message = format!("the price webhook refused the event with {status}");
                Err(self.client.fault(Kind::Invalid, "webhook_refused", message))
            }
        }
    }
}

/// `v1,` and the base64 of the HMAC-SHA256 over `id.timestamp.body`.
fn signature(key: &[u8], id: &str, timestamp: &str, body: &str) -> Result<String, Fault> {
    let mac =
        Hmac::<Sha256>::new_from_slice(key).map_err(|error| Fault::internal(error.to_string()))?;
    let signed = mac.chain_update(format!("{id}.{timestamp}.{body}")).finalize().into_bytes();
    Ok(format!("v1,{}", BASE64.encode(&signed)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the Standard Webhooks libraries.
    #[test]
    fn the_signature_is_that_of_standard_webhooks() {
        let key = BASE64.decode(b"MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let body = r#"{"test": 2432232314}"#;
        let signed = signature(&key, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", body).unwrap();
        assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn a_short_secret_or_a_wrong_address_is_refused() {
        let long = "0123456789abcdef";
        let refused = |url: &str, secret: &str| {
            let fault = PriceWebhook::new(url, secret).err()?;
            assert!(!fault.to_string().contains("0123"), "{fault}");
            Some(fault.problems()[0].field.clone())
        };
        assert_eq!(refused("http://127.0.0.1:9/hook", long), None);
        assert_eq!(refused("https://a.example/hook?key=1", long), None);
        assert_eq!(refused("https://a.example/", "whsec_MDEyMzQ1Njc4OWFiY2RlZg=="), None);
        assert_eq!(refused("ftp://a.example/", long).as_deref(), Some("price_webhook_url"));
        for short in ["", "0123", "whsec_0123456789abcdef!", "whsec_MDEyMw=="] {
            let field = refused("https://a.example/", short);
            assert_eq!(field.as_deref(), Some("price_webhook_secret"), "{short}");
        }
    }
}

//! The settings of the shops that prices are pushed to and of the webhook for price events, and their
//! metrics.

use std::time::Duration;

use auth::Secret;
use service_pricing::{PriceWebhook, PushMeter, PushTargets, Shopify, WooCommerce};

use crate::config::Settings;
use crate::exit::CommandError;
use crate::meters::Meters;

/// Addresses and credentials; each `None` unless it is set.
#[derive(Debug, Clone, Default)]
pub(crate) struct PricePushSettings {
    shopify: Option<(String, Secret)>,
    woocommerce: Option<(String, Secret, Secret)>,
    webhook: Option<(Secret, Secret)>,
}

impl PricePushSettings {
    /// A part alone is an error, because it would have no effect.
    pub(crate) fn new(settings: &Settings) -> Result<Self, CommandError> {
        let shopify = match (&settings.shopify_url, &settings.shopify_token) {
            (Some(url), Some(token)) => Some((url.clone(), token.clone())),
            (None, None) => None,
            _ => {
                return Err(incomplete("Shopify", "shopify_url and shopify_token"));
            }
        };
        let (key, secret) = (&settings.woocommerce_key, &settings.woocommerce_secret);
        let woocommerce = match (&settings.woocommerce_url, key, secret) {
            (Some(url), Some(key), Some(secret)) => {
                Some((url.clone(), key.clone(), secret.clone()))
            }
            (None, None, None) => None,
            _ => {
                let parts = "woocommerce_url, woocommerce_key and woocommerce_secret";
                return Err(incomplete("WooCommerce", parts));
            }
        };
        let webhook = match (&settings.price_webhook_url, &settings.price_webhook_secret) {
            (Some(url), Some(secret)) => Some((url.clone(), secret.clone())),
            (None, None) => None,
            _ => {
                let parts = "price_webhook_url and price_webhook_secret";
                return Err(incomplete("the price webhook", parts));
            }
        };
        Ok(Self { shopify, woocommerce, webhook })
    }

    /// The clients of what is set; a bad address or credential is an error that names its setting.
    pub(crate) fn targets(&self) -> Result<PushTargets, CommandError> {
        let mut targets = PushTargets::default();
        if let Some((url, token)) = &self.shopify {
            targets.shopify = Some(Shopify::new(url, token.reveal())?);
        }
        if let Some((url, key, secret)) = &self.woocommerce {
            targets.woocommerce = Some(WooCommerce::new(url, key.reveal(), secret.reveal())?);
        }
        if let Some((url, secret)) = &self.webhook {
            targets.webhook = Some(PriceWebhook::new(url.reveal(), secret.reveal())?);
        }
        Ok(targets)
    }
}

fn incomplete(target: &str, parts: &str) -> CommandError {
    CommandError::usage(format!("{target} needs {parts}; set all of them or none"))
}

/// Records pushes like requests to exchanges; `venue` distinguishes them.
impl PushMeter for Meters {
    fn sent(&self, target: &str, outcome: &str, took: Duration) {
        self.0.upstream(target, "price").record(outcome, took);
    }

    fn waiting(&self, target: &str, count: u64) {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        self.0.queue_depth(&format!("price_push:{target}")).set(count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(text: &str) -> Option<Secret> {
        Some(Secret::new(text))
    }

    #[track_caller]
    fn check(change: impl Fn(&mut Settings), expected: Option<&str>) {
        let mut settings = Settings::default();
        change(&mut settings);
        let made = PricePushSettings::new(&settings).and_then(|it| it.targets());
        let refused = made.err().map(|error| error.to_string());
        let is_as_expected = match (&refused, expected) {
            (Some(refused), Some(part)) => refused.contains(part) && !refused.contains("s3cret"),
            (refused, expected) => refused.is_none() && expected.is_none(),
        };
        assert!(is_as_expected, "{refused:?} is not {expected:?}");
    }

    #[test]
    fn a_target_is_set_with_all_its_parts_or_not_at_all() {
        check(|_| {}, None);
        let shopify = |url: &str, token: Option<Secret>| {
            let url = url.to_owned();
            move |it: &mut Settings| {
                it.shopify_url = Some(url.clone());
                it.shopify_token = token.clone();
            }
        };
        check(shopify("https://a.myshopify.com", secret("s3cret")), None);
        check(shopify("http://127.0.0.1:9", secret("s3cret")), None);
        check(shopify("https://a.myshopify.com", None), Some("shopify_token"));
        check(shopify("http://a.myshopify.com", secret("s3cret")), Some("shopify_url must be"));
        check(shopify("a.myshopify.com", secret("s3cret")), Some("shopify_url must be"));
        check(shopify("https://u:p@a.example", secret("s3cret")), Some("shopify_url must be"));
        check(shopify("https://a.example", secret("s3cret\n")), Some("shopify_token must be"));
        check(|it| it.woocommerce_key = secret("s3cret"), Some("woocommerce_url"));
        check(|it| it.price_webhook_secret = secret("s3cret"), Some("price_webhook_url"));
        let short = |it: &mut Settings| {
            it.price_webhook_url = secret("http://10.0.0.1/hook?s3cret");
            it.price_webhook_secret = secret("s3cret");
        };
        check(short, Some("price_webhook_secret must be"));
    }
}

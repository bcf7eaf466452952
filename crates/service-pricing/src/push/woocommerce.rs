//! WooCommerce's REST API v3: `GET products?sku=` finds a product or a variation, `PUT` sets its
//! `regular_price`. A sale price that is running stays. The key needs the permission read/write.

use std::time::Duration;

use async_trait::async_trait;
use data_encoding::BASE64;
use fault::{Fault, Kind};
use pricing_engine::Amount;
use reqwest::RequestBuilder;
use reqwest::header::{AUTHORIZATION, HeaderMap};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::push::shop::{Shop, ShopListing, not_in_shop, require_same_price, several_in_shop};
use crate::push::shop_client::{ShopClient, TIMEOUT, secret_header, shop_address};

const NAME: &str = "woocommerce";
const API_PATH: &str = "/wp-json/wc/v3";

/// A WooCommerce shop.
pub struct WooCommerce {
    client: ShopClient,
    base: String,
}

impl WooCommerce {
    /// `url` is the address of the site, such as `https://shop.example`.
    pub fn new(url: &str, key: &str, secret: &str) -> Result<Self, Fault> {
        Self::with_timeout(url, (key, secret), TIMEOUT)
    }

    pub(crate) fn with_timeout(
        url: &str,
        (key, secret): (&str, &str),
        timeout: Duration,
    ) -> Result<Self, Fault> {
        let base = shop_address("woocommerce_url", url)? + API_PATH;
        secret_header("woocommerce_key", key)?;
        secret_header("woocommerce_secret", secret)?;
        let pair = BASE64.encode(format!("{key}:{secret}").as_bytes());
        let header = secret_header("woocommerce_key", &format!("Basic {pair}"))?;
        let headers = HeaderMap::from_iter([(AUTHORIZATION, header)]);
        let secrets = vec![secret.to_owned(), key.to_owned(), pair];
        let client = ShopClient::new(NAME, headers, secrets, timeout)?;
        Ok(Self { client, base })
    }

    async fn run<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T, Fault> {
        let answer = self.client.send(request).await?;
        let json = answer.json();
        if answer.status.is_success() {
            let json = json.ok_or_else(|| {
                self.client.failed("answered with something else than JSON; is this its address?")
            })?;
            return serde_json::from_value(json)
                .map_err(|_| self.client.failed("answered in a form that is not known"));
        }
        let said = json.as_ref().and_then(|it| it["message"].as_str());
        // A product may be deleted between the two requests.
        let code = json.as_ref().and_then(|it| it["code"].as_str()).unwrap_or_default();
        if code.starts_with("woocommerce_rest_product") && code.ends_with("_invalid_id") {
            let message = "WooCommerce no longer has the product".to_owned();
            return Err(self.client.fault(Kind::NotFound, "sku_not_in_shop", message));
        }
        Err(self.client.refusal(&answer, said))
    }
}

/// A product or a variation as WooCommerce lists it.
#[derive(Deserialize)]
struct Item {
    id: u64,
    #[serde(default)]
    parent_id: u64,
    #[serde(default)]
    sku: String,
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(default)]
    regular_price: String,
}

#[derive(Deserialize)]
struct UpdatedItem {
    regular_price: String,
}

#[async_trait]
impl Shop for WooCommerce {
    fn name(&self) -> &'static str {
        NAME
    }

    async fn find(&self, sku: &str) -> Result<ShopListing, Fault> {
        let url = format!("{}/products", self.base);
        let request = self.client.http.get(url).query(&[("sku", sku), ("per_page", "100")]);
        let items: Vec<Item> = self.run(request).await?;
        // A SKU with commas is read as several.
        let exact = items.into_iter().filter(|it| it.sku == sku);
        let (mut priced, grouping): (Vec<Item>, Vec<Item>) =
            exact.partition(|it| !matches!(it.kind.as_str(), "variable" | "grouped"));
        let item = match priced.len() {
            1 => priced.remove(0),
            0 if !grouping.is_empty() => {
                let message = format!(
                    "the product {sku:?} of WooCommerce has no price of its own: its variations \
                     have, and need SKUs of their own"
                );
                return Err(self.client.fault(Kind::Conflict, "sku_without_price", message));
            }
            0 => return Err(not_in_shop(NAME, sku)),
            count => return Err(several_in_shop(NAME, sku, count)),
        };
        let is_variation = item.kind == "variation" || item.parent_id > 0;
        Ok(ShopListing {
            id: item.id.to_string(),
            product: is_variation.then(|| item.parent_id.to_string()),
            price: item.regular_price.parse().ok(),
            currency: None,
        })
    }

    async fn set_price(&self, listing: &ShopListing, price: Amount) -> Result<(), Fault> {
        let (base, id) = (&self.base, &listing.id);
        let url = match &listing.product {
            Some(product) => format!("{base}/products/{product}/variations/{id}"),
            None => format!("{base}/products/{id}"),
        };
        let body = json!({ "regular_price": price.to_string() });
        let updated: UpdatedItem = self.run(self.client.http.put(url).json(&body)).await?;
        require_same_price(NAME, price, Some(&updated.regular_price))
    }
}

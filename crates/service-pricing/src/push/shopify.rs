//! Shopify's Admin GraphQL API: `productVariants` finds a variant by its SKU,
//! `productVariantsBulkUpdate` sets its price. The token needs `read_products` and
//! `write_products`.

use std::time::Duration;

use async_trait::async_trait;
use fault::{Fault, Kind};
use pricing_engine::Amount;
use reqwest::header::{HeaderMap, HeaderName};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::push::shop::{Shop, ShopListing, not_in_shop, require_same_price, several_in_shop};
use crate::push::shop_client::{ShopClient, TIMEOUT, secret_header, shop_address};

const NAME: &str = "shopify";
const TOKEN: HeaderName = HeaderName::from_static("x-shopify-access-token");
/// The version of the API that is asked for. Shopify serves a version for at least a year and after
/// that answers with its oldest one.
const API_PATH: &str = "/admin/api/2026-10/graphql.json";
/// Shopify searches by words, so variants whose SKU only contains the words are found too.
const FIND: &str = "query PriceOfSku($query: String!) {
  shop { currencyCode }
  productVariants(first: 25, query: $query) {
    nodes { id sku price product { id } }
  }
}";
const SET: &str = "mutation SetPrice($productId: ID!, $variants: [ProductVariantsBulkInput!]!) {
  productVariantsBulkUpdate(productId: $productId, variants: $variants) {
    productVariants { id price }
    userErrors { field message }
  }
}";

/// A Shopify shop.
pub struct Shopify {
    client: ShopClient,
    endpoint: String,
}

impl Shopify {
    /// `url` is the shop's `https://NAME.myshopify.com`; one that ends in `/graphql.json` is used
    /// as it is, with the version in it.
    pub fn new(url: &str, token: &str) -> Result<Self, Fault> {
        Self::with_timeout(url, token, TIMEOUT)
    }

    pub(crate) fn with_timeout(url: &str, token: &str, timeout: Duration) -> Result<Self, Fault> {
        let base = shop_address("shopify_url", url)?;
        let headers = HeaderMap::from_iter([(TOKEN, secret_header("shopify_token", token)?)]);
        let client = ShopClient::new(NAME, headers, vec![token.to_owned()], timeout)?;
        let endpoint = match base.ends_with("/graphql.json") {
            true => base,
            false => base + API_PATH,
        };
        Ok(Self { client, endpoint })
    }

    /// Runs one operation and returns its data.
    async fn run<T: DeserializeOwned>(&self, query: &str, variables: Value) -> Result<T, Fault> {
        let body = json!({ "query": query, "variables": variables });
        let answer = self.client.send(self.client.http.post(&self.endpoint).json(&body)).await?;
        let json = answer.json();
        if !answer.status.is_success() {
            // The errors of a refused request are a text, those of an operation a list.
            let errors = json.as_ref().map(|it| &it["errors"]);
            let said = errors.and_then(|it| it.as_str().or_else(|| it[0]["message"].as_str()));
            return Err(self.client.refusal(&answer, said));
        }
        let Some(mut json) = json else {
            return Err(self.client.failed("answered with something else than JSON"));
        };
        if let Some(fault) = self.operation_fault(&json) {
            return Err(fault);
        }
        // A list has no data.
        let data = json.get_mut("data").map(Value::take).unwrap_or_default();
        serde_json::from_value(data)
            .map_err(|_| self.client.failed("answered in a form that is not known"))
    }

    /// The fault of an answer with errors, which has the status 200.
    fn operation_fault(&self, json: &Value) -> Option<Fault> {
        let error = json["errors"].as_array()?.first()?;
        let message = error["message"].as_str().unwrap_or("no message");
        let code = error["extensions"]["code"].as_str().unwrap_or(message);
        let said = self.client.redacted_line(message);
        Some(match code {
            "THROTTLED" | "Throttled" => self.client.throttled(throttle_wait(json)),
            "ACCESS_DENIED" => self.client.fault(
                Kind::Forbidden,
                "shop_credentials",
                format!("the token of Shopify lacks read_products or write_products: {said}"),
            ),
            "SHOP_INACTIVE" | "INTERNAL_SERVER_ERROR" => {
                self.client.failed(&format!("failed: {said}"))
            }
            _ => self.client.fault(
                Kind::Invalid,
                "shop_refused_price",
                format!("Shopify refused the operation: {said}"),
            ),
        })
    }
}

/// How long until the shop's allowance covers the operation again.
fn throttle_wait(json: &Value) -> Option<Duration> {
    let cost = &json["extensions"]["cost"];
    let status = &cost["throttleStatus"];
    let missing = cost["requestedQueryCost"].as_f64()? - status["currentlyAvailable"].as_f64()?;
    let seconds = missing / status["restoreRate"].as_f64().filter(|it| *it > 0.0)?;
    Duration::try_from_secs_f64(seconds.clamp(0.5, 900.0)).ok()
}

/// A search for one SKU. Quotes and backslashes are escaped, so that a SKU is never read as syntax.
fn search_by_sku(sku: &str) -> String {
    format!("sku:\"{}\"", sku.replace('\\', "\\\\").replace('"', "\\\""))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Found {
    shop: ShopCurrency,
    product_variants: Variants,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ShopCurrency {
    currency_code: String,
}

#[derive(Deserialize)]
struct Variants {
    nodes: Vec<Variant>,
}

#[derive(Deserialize)]
struct Variant {
    id: String,
    sku: Option<String>,
    price: String,
    product: Product,
}

#[derive(Deserialize)]
struct Product {
    id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Updated {
    product_variants_bulk_update: BulkUpdate,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BulkUpdate {
    product_variants: Option<Vec<UpdatedVariant>>,
    user_errors: Vec<UserError>,
}

#[derive(Deserialize)]
struct UpdatedVariant {
    id: String,
    price: String,
}

#[derive(Deserialize)]
struct UserError {
    message: String,
}

#[async_trait]
impl Shop for Shopify {
    fn name(&self) -> &'static str {
        NAME
    }

    async fn find(&self, sku: &str) -> Result<ShopListing, Fault> {
        let found: Found = self.run(FIND, json!({ "query": search_by_sku(sku) })).await?;
        let variants = found.product_variants.nodes.into_iter();
        let mut exact: Vec<Variant> =
            variants.filter(|it| it.sku.as_deref() == Some(sku)).collect();
        let variant = match exact.len() {
            1 => exact.remove(0),
            0 => return Err(not_in_shop(NAME, sku)),
            count => return Err(several_in_shop(NAME, sku, count)),
        };
        Ok(ShopListing {
            id: variant.id,
            product: Some(variant.product.id),
            price: variant.price.parse().ok(),
            currency: Some(found.shop.currency_code),
        })
    }

    async fn set_price(&self, listing: &ShopListing, price: Amount) -> Result<(), Fault> {
        let variables = json!({
            "productId": listing.product,
            "variants": [{ "id": listing.id, "price": price.to_string() }],
        });
        let updated: Updated = self.run(SET, variables).await?;
        let BulkUpdate { product_variants, user_errors } = updated.product_variants_bulk_update;
        if let Some(error) = user_errors.first() {
            let said = self.client.redacted_line(&error.message);
            let message = format!("Shopify refused the price: {said}");
            return Err(self.client.fault(Kind::Invalid, "shop_refused_price", message));
        }
        let variants = product_variants.unwrap_or_default();
        let ours = variants.iter().find(|it| it.id == listing.id);
        require_same_price(NAME, price, ours.map(|it| it.price.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sku_is_never_read_as_search_syntax() {
        assert_eq!(search_by_sku("MUG-1"), r#"sku:"MUG-1""#);
        assert_eq!(search_by_sku(r#"a" OR sku:*"#), r#"sku:"a\" OR sku:*""#);
        assert_eq!(search_by_sku(r"a\"), r#"sku:"a\\""#);
    }

    #[test]
    fn the_wait_of_a_throttled_request_follows_from_its_cost() {
        let cost = |requested: f64, available: f64, rate: f64| {
            json!({ "extensions": { "cost": { "requestedQueryCost": requested,
                "throttleStatus": { "currentlyAvailable": available, "restoreRate": rate } } } })
        };
        assert_eq!(throttle_wait(&cost(70.0, 20.0, 50.0)), Some(Duration::from_secs(1)));
        assert_eq!(throttle_wait(&cost(70.0, 66.0, 50.0)), Some(Duration::from_millis(500)));
        assert_eq!(throttle_wait(&cost(1e9, 0.0, 1.0)), Some(Duration::from_mins(15)));
        assert_eq!(throttle_wait(&cost(70.0, 0.0, 0.0)), None);
        assert_eq!(throttle_wait(&json!({})), None);
    }

    #[test]
    fn an_address_may_name_the_version() {
        let endpoint = |url: &str| Shopify::new(url, "t").unwrap().endpoint;
        let usual = "https://a.myshopify.com/admin/api/2026-10/graphql.json";
        assert_eq!(endpoint("https://a.myshopify.com/"), usual);
        let other = "https://a.myshopify.com/admin/api/2027-01/graphql.json";
        assert_eq!(endpoint(other), other);
    }
}

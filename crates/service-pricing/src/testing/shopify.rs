//! Shopify's Admin GraphQL API: `productVariants`, `shop` and `productVariantsBulkUpdate`.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use axum::{Json, Router};
use parking_lot::Mutex;
use serde_json::{Value, json};

use super::graphql::{self, Field};
use super::{ShopServer, scripted};

/// A Shopify shop with its variants; it stops when it is dropped.
pub struct TestShopify {
    server: ShopServer,
    shop: Arc<Shop>,
}

struct Shop {
    token: String,
    currency: String,
    variants: Mutex<Vec<Variant>>,
    /// The SKU and price of every change, in order.
    writes: Mutex<Vec<(String, String)>>,
    /// Refuses every price with this message.
    user_error: Mutex<Option<String>>,
}

#[derive(Clone)]
struct Variant {
    id: String,
    product: String,
    sku: String,
    price: String,
}

scripted!(TestShopify);

impl TestShopify {
    pub async fn start(token: &str) -> Self {
        Self::with_currency(token, "USD").await
    }

    pub async fn with_currency(token: &str, currency: &str) -> Self {
        let shop = Arc::new(Shop {
            token: token.to_owned(),
            currency: currency.to_owned(),
            variants: Mutex::default(),
            writes: Mutex::default(),
            user_error: Mutex::default(),
        });
        let routes = Router::new()
            .route("/admin/api/{version}/graphql.json", post(answer))
            .with_state(Arc::clone(&shop));
        Self { server: ShopServer::start(routes).await, shop }
    }

    /// Adds a variant to a product of its own.
    pub fn add(&self, sku: &str, price: &str) {
        let mut variants = self.shop.variants.lock();
        let number = variants.len() + 1;
        variants.push(Variant {
            id: format!("gid://shopify/ProductVariant/{number}"),
            product: format!("gid://shopify/Product/{number}"),
            sku: sku.to_owned(),
            price: price.to_owned(),
        });
    }

    pub fn price(&self, sku: &str) -> Option<String> {
        let variants = self.shop.variants.lock();
        variants.iter().find(|it| it.sku == sku).map(|it| it.price.clone())
    }

    /// The SKU and price of every change, in order.
    pub fn writes(&self) -> Vec<(String, String)> {
        self.shop.writes.lock().clone()
    }

    /// Refuses every price with a user error, or none.
    pub fn refuse_prices(&self, message: Option<&str>) {
        *self.shop.user_error.lock() = message.map(str::to_owned);
    }
}

async fn answer(
    State(shop): State<Arc<Shop>>,
    Path(version): Path<String>,
    headers: HeaderMap,
    Json(body): Json<Value>,
) -> (StatusCode, Json<Value>) {
    let given = headers.get("x-shopify-access-token").and_then(|it| it.to_str().ok());
    if given != Some(shop.token.as_str()) {
        let message =
            "[API] Invalid API key or access token (unrecognized login or wrong password)";
        return (StatusCode::UNAUTHORIZED, Json(json!({ "errors": message })));
    }
    let is_version = version.len() == 7 && version.starts_with("20");
    if !is_version {
        return (StatusCode::NOT_FOUND, Json(json!({ "errors": "Not Found" })));
    }
    let (text, variables) = (body["query"].as_str().unwrap_or_default(), &body["variables"]);
    let mut answer = match run(&shop, text, variables) {
        Ok(data) => json!({ "data": data }),
        Err(message) => json!({ "errors": [{ "message": message,
            "extensions": { "code": "undefinedField" } }] }),
    };
    answer["extensions"] = json!({ "cost": { "requestedQueryCost": 12, "actualQueryCost": 12,
        "throttleStatus": { "maximumAvailable": 2000.0, "currentlyAvailable": 1988,
            "restoreRate": 100.0 } } });
    (StatusCode::OK, Json(answer))
}

fn run(shop: &Shop, text: &str, variables: &Value) -> Result<Value, String> {
    let operation = graphql::parse(text).ok_or("syntax error")?;
    for (name, of_type) in &operation.variables {
        let is_right = match (name.as_str(), of_type.as_str()) {
            ("query", "String!") | ("productId", "ID!") => variables[name].is_string(),
            ("variants", "[ProductVariantsBulkInput!]!") => variables[name].is_array(),
            _ => false,
        };
        if !is_right {
            return Err(format!("Variable ${name} of type {of_type} was provided invalid value"));
        }
    }
    let mut data = json!({});
    for field in &operation.fields {
        let value = match (operation.kind.as_str(), field.name.as_str()) {
            ("query", "shop") => json!({ "name": "Test", "currencyCode": shop.currency }),
            ("query", "productVariants") => shop.find(field, variables)?,
            ("mutation", "productVariantsBulkUpdate") => shop.update(field, variables),
            (kind, name) => return Err(format!("Field '{name}' doesn't exist on type '{kind}'")),
        };
        let selected = graphql::select(&value, &field.fields);
        data[&field.name] = selected.map_err(|name| format!("Field '{name}' doesn't exist"))?;
    }
    Ok(data)
}

impl Shop {
    /// The search finds what contains the words, in any case, as Shopify's does.
    fn find(&self, field: &Field, variables: &Value) -> Result<Value, String> {
        let first = field.argument("first", variables).as_u64().ok_or("first is required")?;
        let query = field.argument("query", variables);
        let query = query.as_str().unwrap_or_default();
        let quoted = query.strip_prefix("sku:\"").and_then(|it| it.strip_suffix('"'));
        let wanted = quoted.ok_or_else(|| format!("a search that is not by SKU: {query}"))?;
        let wanted = wanted.replace("\\\"", "\"").replace("\\\\", "\\").to_lowercase();
        let variants = self.variants.lock();
        let found = variants.iter().filter(|it| it.sku.to_lowercase().contains(&wanted));
        let nodes: Vec<Value> = found.take(first as usize).map(Variant::json).collect();
        Ok(json!({ "nodes": nodes }))
    }

    fn update(&self, field: &Field, variables: &Value) -> Value {
        let product = field.argument("productId", variables);
        let refused = |message: &str| {
            json!({ "product": null, "productVariants": null,
                "userErrors": [{ "field": ["variants", "0"], "message": message }] })
        };
        if let Some(message) = &*self.user_error.lock() {
            return refused(message);
        }
        let mut variants = self.variants.lock();
        let mut updated = Vec::new();
        for input in field.argument("variants", variables).as_array().into_iter().flatten() {
            let ours = variants.iter_mut().find(|it| input["id"] == it.id && product == it.product);
            let Some(variant) = ours else { return refused("Product variant does not exist") };
            let Some(price) = input["price"].as_str().and_then(money) else {
                return refused("Price must be greater than or equal to 0");
            };
            variant.price = price;
            self.writes.lock().push((variant.sku.clone(), variant.price.clone()));
            updated.push(variant.json());
        }
        json!({ "product": { "id": product }, "productVariants": updated, "userErrors": [] })
    }
}

impl Variant {
    fn json(&self) -> Value {
        json!({ "id": self.id, "sku": self.sku, "price": self.price,
            "product": { "id": self.product } })
    }
}

/// A price with the two digits that the shop's currency has; `None` if it is negative or no number.
fn money(text: &str) -> Option<String> {
    let price: f64 = text.parse().ok().filter(|it| *it >= 0.0)?;
    Some(format!("{price:.2}"))
}

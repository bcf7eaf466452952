//! WooCommerce's REST API v3: products by SKU, and the change of a product or a variation.

use std::sync::Arc;

use axum::extract::{Path, Query, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, put};
use axum::{Json, Router};
use data_encoding::BASE64;
use parking_lot::Mutex;
use serde_json::{Value, json};

use super::{ShopServer, scripted};

type JsonAnswer = (StatusCode, Json<Value>);

/// A WooCommerce shop with its products; it stops when it is dropped.
pub struct TestWooCommerce {
    server: ShopServer,
    shop: Arc<Shop>,
}

struct Shop {
    credentials: String,
    products: Mutex<Vec<Product>>,
    /// The SKU and price of every change, in order.
    writes: Mutex<Vec<(String, String)>>,
}

struct Product {
    id: u64,
    parent: u64,
    kind: &'static str,
    sku: String,
    regular_price: String,
}

scripted!(TestWooCommerce);

impl TestWooCommerce {
    pub async fn start(key: &str, secret: &str) -> Self {
        let credentials = format!("Basic {}", BASE64.encode(format!("{key}:{secret}").as_bytes()));
        let shop =
            Arc::new(Shop { credentials, products: Mutex::default(), writes: Mutex::default() });
        let api = Router::new()
            .route("/products", get(find))
            .route("/products/{id}", put(update_product))
            .route("/products/{parent}/variations/{id}", put(update_variation))
            .layer(middleware::from_fn_with_state(Arc::clone(&shop), authenticate))
            .with_state(Arc::clone(&shop));
        let routes = Router::new().nest("/wp-json/wc/v3", api);
        Self { server: ShopServer::start(routes).await, shop }
    }

    /// Adds a simple product.
    pub fn add(&self, sku: &str, price: &str) {
        self.shop.add("simple", 0, sku, price);
    }

    /// Adds a product that has its prices in its variations; returns its number.
    pub fn add_variable(&self, sku: &str) -> u64 {
        self.shop.add("variable", 0, sku, "")
    }

    pub fn add_variation(&self, parent: u64, sku: &str, price: &str) {
        self.shop.add("variation", parent, sku, price);
    }

    pub fn price(&self, sku: &str) -> Option<String> {
        let products = self.shop.products.lock();
        products.iter().find(|it| it.sku == sku).map(|it| it.regular_price.clone())
    }

    /// The SKU and price of every change, in order.
    pub fn writes(&self) -> Vec<(String, String)> {
        self.shop.writes.lock().clone()
    }
}

fn error(status: StatusCode, code: &str, message: &str) -> JsonAnswer {
    let data = json!({ "status": status.as_u16() });
    (status, Json(json!({ "code": code, "message": message, "data": data })))
}

async fn authenticate(State(shop): State<Arc<Shop>>, request: Request, next: Next) -> Response {
    let given = request.headers().get(header::AUTHORIZATION).and_then(|it| it.to_str().ok());
    if given == Some(shop.credentials.as_str()) {
        return next.run(request).await;
    }
    let code = "woocommerce_rest_authentication_error";
    error(StatusCode::UNAUTHORIZED, code, "Consumer key is invalid.").into_response()
}

/// Several SKUs are separated by commas; variations are found too.
async fn find(
    State(shop): State<Arc<Shop>>,
    Query(query): Query<Vec<(String, String)>>,
) -> Json<Value> {
    let wanted = query.iter().find(|(name, _)| name == "sku").map(|(_, value)| value.as_str());
    let wanted = wanted.unwrap_or_default();
    let products = shop.products.lock();
    let is_wanted = |it: &&Product| it.sku == wanted || wanted.split(',').any(|sku| sku == it.sku);
    Json(products.iter().filter(is_wanted).map(Product::json).collect())
}

async fn update_product(
    State(shop): State<Arc<Shop>>,
    Path(id): Path<u64>,
    Json(body): Json<Value>,
) -> JsonAnswer {
    shop.update(id, None, &body)
}

async fn update_variation(
    State(shop): State<Arc<Shop>>,
    Path((parent, id)): Path<(u64, u64)>,
    Json(body): Json<Value>,
) -> JsonAnswer {
    shop.update(id, Some(parent), &body)
}

impl Shop {
    fn add(&self, kind: &'static str, parent: u64, sku: &str, price: &str) -> u64 {
        let mut products = self.products.lock();
        let id = 100 + products.len() as u64;
        let (sku, regular_price) = (sku.to_owned(), price.to_owned());
        products.push(Product { id, parent, kind, sku, regular_price });
        id
    }

    fn update(&self, id: u64, parent: Option<u64>, body: &Value) -> JsonAnswer {
        let bad = StatusCode::BAD_REQUEST;
        let mut products = self.products.lock();
        let Some(product) = products.iter_mut().find(|it| it.id == id) else {
            return error(bad, "woocommerce_rest_product_invalid_id", "Invalid ID.");
        };
        if product.kind == "variation" && parent != Some(product.parent) {
            let code = "woocommerce_rest_invalid_product_id";
            let message = "To manipulate product variations you should use the \
                           /products/&lt;product_id&gt;/variations/&lt;id&gt; endpoint.";
            return error(StatusCode::NOT_FOUND, code, message);
        }
        let Some(price) = body["regular_price"].as_str() else {
            let message = "Invalid parameter(s): regular_price";
            return error(bad, "rest_invalid_param", message);
        };
        // A product with variations keeps no price of its own.
        if product.kind != "variable" {
            product.regular_price = price.to_owned();
            self.writes.lock().push((product.sku.clone(), price.to_owned()));
        }
        (StatusCode::OK, Json(product.json()))
    }
}

impl Product {
    fn json(&self) -> Value {
        json!({ "id": self.id, "parent_id": self.parent, "type": self.kind, "sku": self.sku,
            "price": self.regular_price, "regular_price": self.regular_price, "sale_price": "" })
    }
}

//! The pricing tools over REST: the token is in the header, errors are in the pricing envelope, and
//! the OpenAPI document has every address.

use reqwest::{Method, RequestBuilder, StatusCode};
use serde_json::{Value, json};

use crate::contract_examples::every_scope;
use crate::pricing_path::mint;
use crate::process::{Folder, Server, http};
use crate::tables::contract_file;

struct Rest {
    server: Server,
    token: String,
    folder: Folder,
}

impl Rest {
    fn start() -> Self {
        let folder = Folder::new();
        let server = Server::start(folder.path(), &[]);
        let token = every_scope(folder.path());
        Self { server, token, folder }
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        http().request(method, self.server.url(&format!("/api/pricing{path}")))
    }

    async fn ok(&self, method: Method, path: &str, body: Value) -> Value {
        let mut request = self.request(method, path).bearer_auth(&self.token);
        if !body.is_null() {
            request = request.json(&body);
        }
        let response = request.send().await.unwrap();
        let (status, body) = (response.status(), response.json::<Value>().await.unwrap());
        assert_eq!((status, &body["ok"]), (StatusCode::OK, &json!(true)), "{path}: {body}");
        body
    }
}

async fn refused(request: RequestBuilder, status: u16, word: &str) -> Value {
    let response = request.send().await.unwrap();
    let (actual, body) = (response.status().as_u16(), response.json::<Value>().await.unwrap());
    assert_eq!((actual, &body["ok"]), (status, &json!(false)), "{body}");
    assert_eq!(body["error_code"], word, "{body}");
    body
}

#[tokio::test]
async fn a_price_is_proposed_explained_applied_and_reverted_over_rest() {
    let rest = Rest::start();
    let rows = json!({ "rows": [{ "sku": "A/1", "price": 20, "cost": 9 }] });
    assert_eq!(rest.ok(Method::POST, "/products", rows).await["count"], 1);
    let tick = json!({ "d": { "sku": "A/1", "our_price": 20, "competitor": "B",
        "competitor_price": 17 } });
    rest.ok(Method::POST, "/ticks", tick).await;
    let features = rest.ok(Method::GET, "/features?sku=A%2F1", Value::Null).await;
    assert_eq!(features["competitor_median"], 17.0);
    let made = rest.ok(Method::POST, "/proposals", json!({ "sku": "A/1", "our_price": 20 })).await;
    let id = made["proposal"]["proposal_id"].as_str().unwrap();
    let explained = rest.ok(Method::GET, &format!("/proposals/{id}"), Value::Null).await;
    assert_eq!(explained["explanation"]["sku"], "A/1");
    for (step, status) in [("apply", "applied"), ("revert", "reverted")] {
        let done = rest.ok(Method::POST, &format!("/proposals/{id}/{step}"), Value::Null).await;
        assert_eq!(done["result"]["status"], status);
    }
    let policy = json!({ "sku": "A/1", "policy": { "mode": "auto" } });
    rest.ok(Method::PUT, "/policy", policy).await;
    let policy = rest.ok(Method::GET, "/policy?sku=A%2F1", Value::Null).await;
    assert_eq!(policy["policy"]["mode"], "auto");
    let trail = rest.ok(Method::GET, "/changes?limit=2", Value::Null).await;
    assert_eq!(trail["changes"][1]["action"], "reverted", "{trail}");
}

#[tokio::test]
async fn the_price_feed_has_every_price_that_was_set() {
    let rest = Rest::start();
    let rows: Vec<Value> = (0..3)
        .map(|at| json!({ "sku": format!("P{at},\"x\""), "price": 20, "cost": 9, "currency": "EUR" }))
        .collect();
    rest.ok(Method::POST, "/products", json!({ "rows": rows })).await;
    for at in [2, 0] {
        let item =
            json!({ "sku": format!("P{at},\"x\""), "our_price": 20, "competitor_price": 15 });
        let made = rest.ok(Method::POST, "/proposals", item).await;
        let id = made["proposal"]["proposal_id"].as_str().unwrap().to_owned();
        rest.ok(Method::POST, &format!("/proposals/{id}/apply"), Value::Null).await;
    }
    let feed = async |query: &str, token: &str| {
        let request = rest.request(Method::GET, &format!("/prices.csv{query}")).bearer_auth(token);
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()["content-type"], "text/csv; charset=utf-8");
        response.text().await.unwrap()
    };
    let text = feed("", &rest.token).await;
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3, "{text}");
    assert!(lines[0].starts_with("sku,price,currency,previous_price,changed_at,"), "{text}");
    assert!(lines[1].starts_with("\"P0,\"\"x\"\"\","), "{text}");
    assert!(lines[1].contains(",EUR,20,2"), "{text}");
    assert!(lines[1].contains(",applied,") && lines[1].ends_with(",false"), "{text}");
    assert!(lines[2].starts_with("\"P2,"), "{text}");
    assert_eq!(feed("?since=2999-01-01T00:00:00Z", &rest.token).await.lines().count(), 1);
    let narrow = ["--scope", "read", "--sku-prefix", "P2"];
    let narrow = mint(rest.folder.path(), &narrow);
    assert_eq!(feed("", &narrow).await.lines().count(), 2);
    refused(rest.request(Method::GET, "/prices.csv"), 401, "auth_error").await;
    let wrong = rest.request(Method::GET, "/prices.csv?since=monday").bearer_auth(&rest.token);
    refused(wrong, 400, "validation_error").await;
}

#[tokio::test]
async fn refusals_are_in_the_pricing_envelope() {
    let rest = Rest::start();
    let proposal = json!({ "sku": "A", "our_price": 20 });
    let no_token = rest.request(Method::POST, "/proposals").json(&proposal);
    let body = refused(no_token, 401, "auth_error").await;
    assert!(body["message"].as_str().unwrap().contains("--scope propose"), "{body}");
    let reader = mint(rest.folder.path(), &["--scope", "read"]);
    let narrow = rest.request(Method::POST, "/proposals").bearer_auth(&reader).json(&proposal);
    refused(narrow, 403, "auth_error").await;
    let wrong = rest.request(Method::GET, "/features?sku=A&time_window=7d");
    refused(wrong.bearer_auth(&rest.token), 400, "validation_error").await;
    let unknown = rest.request(Method::GET, "/jobs/none").bearer_auth(&rest.token);
    refused(unknown, 404, "job_not_found").await;
    let method = rest.request(Method::DELETE, "/proposals").bearer_auth(&rest.token);
    refused(method, 405, "validation_error").await;
    // Proxies record addresses, so a token there is refused and not repeated.
    let address = format!("/sources?capability_token={}", rest.token);
    let body = refused(rest.request(Method::GET, &address), 400, "validation_error").await;
    assert!(!body.to_string().contains(&rest.token), "{body}");
}

#[tokio::test]
async fn every_pricing_tool_has_an_address_and_a_described_input() {
    let rest = Rest::start();
    let document = http().get(rest.server.url("/openapi.json")).send().await.unwrap();
    let document: Value = document.json().await.unwrap();
    for service in ["collector", "optimizer"] {
        let contract = contract_file(&format!("{service}/contract.json"));
        for tool in contract["tools"].as_array().unwrap() {
            let (path, method) = (&tool["http"]["path"], &tool["http"]["method"]);
            let method = method.as_str().unwrap().to_lowercase();
            let operation = &document["paths"][path.as_str().unwrap()][method];
            assert!(operation.is_object(), "{service}: {}", tool["name"]);
            assert!(!operation.to_string().contains("capability_token"), "{operation}");
            let input = tool["input"].as_str().unwrap().split_once('#').unwrap();
            let schemas = contract_file(&format!("{service}/{}", input.0));
            let input = schemas.pointer(input.1).unwrap();
            for (name, rule) in input["properties"].as_object().unwrap() {
                let described = rule["description"].as_str().is_some_and(|text| text.len() > 20);
                assert!(described, "{service}: {} {name}", tool["name"]);
            }
        }
    }
}

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

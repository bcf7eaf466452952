//! Prices reach shops through the binary: once although it is killed, with the secrets in no log.

use std::time::Duration;

use serde_json::{Value, json};
use service_pricing::testing::{TestShopify, TestWooCommerce, Treatment, WebhookReceiver};

use crate::contract_examples::every_scope;
use crate::process::{Folder, Server, http, mcp_call, run, stoa};

const TOKEN: &str = "shpat_s3cret_of_the_shop";
const KEYS: (&str, &str) = ("ck_s3cret_key", "cs_s3cret_secret");
const HOOK_SECRET: &str = "s3cret of the webhook";
const LONG: Duration = Duration::from_secs(90);

async fn call(server: &Server, token: &str, tool: &str, mut args: Value) -> Value {
    args["capability_token"] = json!(token);
    let answer = mcp_call(server, "/mcp/optimizer", tool, &args).await;
    assert_ne!(answer["result"]["isError"], true, "{answer}");
    answer["result"]["structuredContent"].clone()
}

/// Proposes a price of 20 downwards, applies it, and returns the new one.
pub(crate) async fn reprice(server: &Server, token: &str, sku: &str) -> f64 {
    let args = json!({ "sku": sku, "our_price": 20, "competitor_price": 16, "cost": 5 });
    let made = call(server, token, "propose_price", args).await["proposal"].clone();
    let id = json!({ "proposal_id": made["proposal_id"] });
    let applied = call(server, token, "apply_proposal", id).await;
    assert_eq!(applied["result"]["status"], "applied", "{applied}");
    made["proposed_price"].as_f64().unwrap()
}

pub(crate) async fn eventually(what: &str, is_so: impl AsyncFn() -> bool) {
    let reached = async {
        while !is_so().await {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(LONG, reached).await.unwrap_or_else(|_| panic!("never: {what}"));
}

/// Whether each push is in this state.
async fn all_are(server: &Server, token: &str, state: &str) -> bool {
    let listed = call(server, token, "list_price_pushes", json!({})).await;
    let pushes = listed["pushes"].as_array().unwrap();
    !pushes.is_empty() && pushes.iter().all(|it| it["state"] == state)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_price_is_written_once_although_the_server_is_killed() {
    let (folder, mut shop) = (Folder::new(), TestShopify::start(TOKEN).await);
    shop.add("MUG-1", "20.00");
    shop.add("MUG-2", "20.00");
    let url = shop.url();
    let settings = [("STOA_SHOPIFY_URL", url.as_str()), ("STOA_SHOPIFY_TOKEN", TOKEN)];
    let token = every_scope(folder.path());
    // The shop takes the price and does not answer; the server dies while it waits.
    let server = Server::start(folder.path(), &settings);
    shop.treat_next([Treatment::Usual, Treatment::Hang]);
    let price = reprice(&server, &token, "MUG-1").await;
    eventually("the shop has the price", async || shop.writes().len() == 1).await;
    server.kill();
    // The shop is down when the next price is applied, and the server dies at once.
    shop.stop().await;
    let server = Server::start(folder.path(), &settings);
    reprice(&server, &token, "MUG-2").await;
    server.kill();
    shop.restart().await;
    let server = Server::start(folder.path(), &settings);
    eventually("delivered", async || all_are(&server, &token, "delivered").await).await;
    let mut writes = shop.writes();
    writes.sort();
    let skus: Vec<&str> = writes.iter().map(|(sku, _)| sku.as_str()).collect();
    assert_eq!(skus, ["MUG-1", "MUG-2"], "{writes:?}");
    assert_eq!(writes[0].1, format!("{price:.2}"));
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_are_in_no_log_error_or_answer() {
    let folder = Folder::new();
    let shopify = TestShopify::start("another token").await;
    let woocommerce = TestWooCommerce::start(KEYS.0, KEYS.1).await;
    let hook = WebhookReceiver::start().await;
    woocommerce.add("MUG-1", "20");
    let echo = json!({ "code": "x", "message": format!("{} {}", KEYS.0, KEYS.1) }).to_string();
    woocommerce.treat_next([Treatment::answer(500, &echo)]);
    let (shopify_url, woocommerce_url) = (shopify.url(), woocommerce.url());
    let hook_url = format!("{}/hook?key=s3cret_in_the_address", hook.url());
    let settings = [
        ("STOA_SHOPIFY_URL", shopify_url.as_str()),
        ("STOA_SHOPIFY_TOKEN", TOKEN),
        ("STOA_WOOCOMMERCE_URL", woocommerce_url.as_str()),
        ("STOA_WOOCOMMERCE_KEY", KEYS.0),
        ("STOA_WOOCOMMERCE_SECRET", KEYS.1),
        ("STOA_PRICE_WEBHOOK_URL", hook_url.as_str()),
        ("STOA_PRICE_WEBHOOK_SECRET", HOOK_SECRET),
        ("STOA_LOG", "debug"),
    ];
    let token = every_scope(folder.path());
    let server = Server::start(folder.path(), &settings);
    let price = reprice(&server, &token, "MUG-1").await;
    eventually("WooCommerce has the price", async || {
        woocommerce.price("MUG-1").and_then(|it| it.parse().ok()) == Some(price)
    })
    .await;
    eventually("the token is refused", async || {
        let listed =
            call(&server, &token, "list_price_pushes", json!({ "target": "shopify" })).await;
        listed["pushes"][0]["reason"].as_str().is_some_and(|it| it.contains("credentials"))
    })
    .await;
    eventually("the events arrived", async || hook.received().len() >= 2).await;
    let listed = call(&server, &token, "list_price_pushes", json!({})).await;
    let health = http().get(server.url("/api/pricing/optimizer/health")).send().await.unwrap();
    let health: Value = health.json().await.unwrap();
    assert_eq!(health["status"], "degraded", "{health}");
    let metrics = http().get(server.url("/metrics")).send().await.unwrap().text().await.unwrap();
    let counted = r#"stoa_upstream_requests_total{venue="shopify",endpoint="price",outcome="shop_credentials"}"#;
    assert!(metrics.contains(counted), "{metrics}");
    let shown = format!("{} {listed} {health} {metrics}", server.log());
    assert!(!shown.contains("s3cret"), "{shown}");
}

#[test]
fn a_wrong_setting_of_a_shop_is_named() {
    let folder = Folder::new();
    for (settings, expected) in [
        (&[("STOA_SHOPIFY_URL", "https://a.myshopify.com")][..], "shopify_token"),
        (&[("STOA_SHOPIFY_URL", "http://a.example"), ("STOA_SHOPIFY_TOKEN", TOKEN)], "shopify_url"),
        (&[("STOA_PRICE_WEBHOOK_URL", "http://127.0.0.1:9/")], "price_webhook_secret"),
    ] {
        let mut command = stoa(folder.path());
        command.args(["call", "version_info", "{}"]).envs(settings.iter().copied());
        let (code, _, error) = run(&mut command);
        assert_ne!(code, 0);
        assert!(error.contains(expected) && !error.contains("s3cret"), "{error}");
    }
}

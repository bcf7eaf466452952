//! The log at its most verbose level has no password, no token and no secret of a shop in it.

use std::time::Duration;

use serde_json::{Value, json};
use service_pricing::testing::{TestShopify, TestWooCommerce, Treatment, WebhookReceiver};

use crate::archive::Person;
use crate::contract_examples::every_scope;
use crate::pricing_push::{eventually, reprice};
use crate::process::{Folder, Server, http, mcp_headers};

const OPERATOR: &str = "op-Hun73r-token-0123456789";
const PASSWORD: &str = "Sw0rd-Passw0rd-XYZ";
const TRICKY: &str = "Sw0rd \"Passw0rd\" \\XYZ), ok";

async fn mcp(server: &Server, path: &str, bearer: Option<&str>, tool: &str, params: Value) {
    let mut params = params;
    params["name"] = json!(tool);
    let request = http().post(server.url(path));
    let request = match bearer {
        Some(token) => request.bearer_auth(token),
        None => request,
    };
    mcp_headers(request, "tools/call", params).send().await.unwrap();
}

/// Waits until the log has not grown for half a second, and returns it.
async fn finished_log(server: &Server) -> String {
    let (mut before, mut same) = (0, 0);
    for _ in 0..200 {
        tokio::time::sleep(Duration::from_millis(50)).await;
        let now = server.log().len();
        same = if now == before { same + 1 } else { 0 };
        before = now;
        if same >= 10 {
            break;
        }
    }
    server.log()
}

async fn check(format: &str) {
    let folder = Folder::new();
    let settings = [
        ("STOA_LOG", "trace"),
        ("STOA_LOG_FORMAT", format),
        ("MCP_HTTP_TOKEN", OPERATOR),
        ("STOA_ARCHIVE_REGISTRATION", "true"),
    ];
    let server = Server::start(folder.path(), &settings);
    let url = server.url("/api/arkiver/auth");
    let mut secrets = vec![OPERATOR.to_owned(), "Hun73r".to_owned(), "Sw0rd".to_owned()];
    for (name, password) in [("ann", PASSWORD), ("bob", TRICKY)] {
        for action in ["register", "login"] {
            let who = json!({ "action": action, "username": name, "password": password });
            let answer: Value =
                http().post(&url).json(&who).send().await.unwrap().json().await.unwrap();
            for key in ["token", "refreshToken"] {
                let token = answer[key].as_str().unwrap_or_else(|| panic!("{answer}"));
                secrets.push(token[token.len() - 20..].to_owned());
            }
            let call = json!({ "arguments": who });
            for path in ["/mcp", "/mcp/archive"] {
                mcp(&server, path, None, "auth", call.clone()).await;
            }
            let refresh = json!({ "action": "refresh", "refreshToken": answer["refreshToken"] });
            http().post(&url).json(&refresh).send().await.unwrap();
            mcp(&server, "/mcp", None, "auth", json!({ "arguments": refresh })).await;
        }
    }
    let price = json!({ "sku": "A", "our_price": 10, "capability_token": OPERATOR });
    for path in ["/mcp", "/mcp/optimizer"] {
        mcp(&server, path, None, "propose_price", json!({ "arguments": price })).await;
    }
    let live = json!({ "arguments": { "tickers": ["BTCUSDT"] } });
    mcp(&server, "/mcp", Some(OPERATOR), "quotes_live", live.clone()).await;
    let mut in_meta = live;
    in_meta["_meta"] = json!({ "auth": { "token": OPERATOR } });
    mcp(&server, "/mcp", None, "quotes_live", in_meta).await;
    let log = finished_log(&server).await;
    assert!(log.contains("***"), "nothing was masked: {log}");
    assert_in_no_line(&log, &secrets);
}

#[track_caller]
fn assert_in_no_line(log: &str, secrets: &[String]) {
    assert!(log.len() > 10_000, "the log says too little: {log}");
    for secret in secrets {
        let leak = log.lines().find(|line| line.contains(secret));
        assert!(leak.is_none(), "{secret}: {}", leak.unwrap());
    }
}

const SHOPIFY_TOKEN: &str = "shpat_Sh0pify-t0ken";
const WOOCOMMERCE_KEY: &str = "ck_W00-key-0123";
const WOOCOMMERCE_SECRET: &str = "cs_W00-hidden-0123";
const WEBHOOK_SECRET: &str = "whsec-H00k-hidden";

/// The secrets of shops, of the price webhook and of an upload link, each used once.
async fn check_shops_and_links(format: &str) {
    let folder = Folder::new();
    let shopify = TestShopify::start(SHOPIFY_TOKEN).await;
    let woocommerce = TestWooCommerce::start(WOOCOMMERCE_KEY, WOOCOMMERCE_SECRET).await;
    let hook = WebhookReceiver::start().await;
    shopify.add("MUG-1", "20.00");
    woocommerce.add("MUG-1", "20");
    // A shop that repeats its keys in an error.
    let echo = json!({ "code": "x", "consumer_key": WOOCOMMERCE_KEY,
        "message": format!("{WOOCOMMERCE_KEY} {WOOCOMMERCE_SECRET}") });
    woocommerce.treat_next([Treatment::answer(500, &echo.to_string())]);
    let (shopify_url, woocommerce_url) = (shopify.url(), woocommerce.url());
    let hook_url = format!("{}/hook", hook.url());
    let settings = [
        ("STOA_LOG", "trace"),
        ("STOA_LOG_FORMAT", format),
        ("STOA_SHOPIFY_URL", shopify_url.as_str()),
        ("STOA_SHOPIFY_TOKEN", SHOPIFY_TOKEN),
        ("STOA_WOOCOMMERCE_URL", woocommerce_url.as_str()),
        ("STOA_WOOCOMMERCE_KEY", WOOCOMMERCE_KEY),
        ("STOA_WOOCOMMERCE_SECRET", WOOCOMMERCE_SECRET),
        ("STOA_PRICE_WEBHOOK_URL", hook_url.as_str()),
        ("STOA_PRICE_WEBHOOK_SECRET", WEBHOOK_SECRET),
    ];
    let token = every_scope(folder.path());
    let server = Server::start(folder.path(), &settings);
    let price = reprice(&server, &token, "MUG-1").await;
    eventually("both shops have the price and the webhook its events", async || {
        let written = woocommerce.price("MUG-1").and_then(|it| it.parse().ok());
        written == Some(price) && shopify.writes().len() == 1 && hook.received().len() >= 2
    })
    .await;
    let ann = Person::register(&server, "ann").await;
    let params = json!({ "name": "arkiver_add_file", "arguments": { "filename": "a.txt" } });
    let open = mcp_headers(http().post(server.url("/mcp")), "tools/call", params);
    let (_, open) = ann.send(open).await;
    let link = open["result"]["structuredContent"]["uploadUrl"].as_str().unwrap().to_owned();
    for _ in 0..2 {
        http().put(&link).body("one line").send().await.unwrap();
    }
    let link_token = link.rsplit_once('/').unwrap().1;
    let last_chars = |secret: &str| secret[secret.len() - 12..].to_owned();
    let secrets = [
        SHOPIFY_TOKEN,
        WOOCOMMERCE_KEY,
        WOOCOMMERCE_SECRET,
        WEBHOOK_SECRET,
        &last_chars(link_token),
        &last_chars(&token),
    ];
    assert_in_no_line(&finished_log(&server).await, &secrets.map(str::to_owned));
}

#[tokio::test(flavor = "multi_thread")]
async fn no_secret_of_a_shop_or_a_link_is_in_the_json_log() {
    check_shops_and_links("json").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_secret_of_a_shop_or_a_link_is_in_the_readable_log() {
    check_shops_and_links("pretty").await;
}

#[tokio::test]
async fn no_secret_is_in_the_json_log() {
    check("json").await;
}

#[tokio::test]
async fn no_secret_is_in_the_readable_log() {
    check("pretty").await;
}

//! Both shops against servers that speak their APIs and fail in the ways that shops do.

use std::time::Duration;

use crate::testing::{TestShopify, TestWooCommerce, Treatment, WebhookReceiver};
use fault::{Fault, Kind};

use crate::push::shop::{Shop, is_final};
use crate::push::{Shopify, WooCommerce};

const TOKEN: &str = "shpat_s3cret";
const KEY: &str = "ck_s3cret_key";
const SECRET: &str = "cs_s3cret";
const TIMEOUT: Duration = Duration::from_millis(500);

/// Sets the price of `MUG-1` to 12.5.
async fn set(shop: &dyn Shop) -> Result<(), Fault> {
    let listing = shop.find("MUG-1").await?;
    shop.set_price(&listing, "12.5".parse().unwrap()).await
}

async fn shopify(treatments: &[Treatment]) -> (Result<(), Fault>, TestShopify) {
    let server = TestShopify::start(TOKEN).await;
    server.add("mug-1", "1.00");
    server.add("MUG-1", "10.00");
    server.add("MUG-10", "1.00");
    server.treat_next(treatments.iter().cloned());
    let shop = Shopify::with_timeout(&server.url(), TOKEN, TIMEOUT).unwrap();
    (set(&shop).await, server)
}

async fn woocommerce(treatments: &[Treatment]) -> (Result<(), Fault>, TestWooCommerce) {
    let server = TestWooCommerce::start(KEY, SECRET).await;
    server.add("MUG-1", "10.00");
    server.treat_next(treatments.iter().cloned());
    let shop = WooCommerce::with_timeout(&server.url(), (KEY, SECRET), TIMEOUT).unwrap();
    (set(&shop).await, server)
}

/// `again` says whether another attempt is worth it.
#[track_caller]
fn check(ended: Result<(), Fault>, code: &str, again: bool, part: &str) {
    let fault = ended.unwrap_err();
    assert_eq!((fault.code(), !is_final(&fault)), (code, again), "{fault}");
    assert!(fault.message().contains(part), "{part:?} is not in {fault}");
    let shown = format!("{fault} {fault:?}");
    for secret in [TOKEN, KEY, SECRET, "127.0.0.1"] {
        assert!(!shown.contains(secret), "{shown}");
    }
}

/// The failures that both shops have, in either of their two requests.
fn common() -> Vec<(Treatment, &'static str, bool, &'static str)> {
    let (errors, message) = (format!("no {TOKEN} here"), format!("no {SECRET} here"));
    let echo = serde_json::json!({ "errors": errors, "message": message, "code": "x" }).to_string();
    vec![
        (Treatment::answer(500, "<html>Oops</html>"), "shop_failed", true, "status 500"),
        (Treatment::answer(502, ""), "shop_failed", true, "status 502"),
        (Treatment::answer(200, "<html>Maintenance</html>"), "shop_failed", true, "than JSON"),
        (Treatment::answer(200, "{}"), "shop_failed", true, "form that is not known"),
        (Treatment::answer(200, "[1]"), "shop_failed", true, "form that is not known"),
        (Treatment::answer(200, &"x".repeat(2 << 20)), "shop_failed", true, "1 MiB"),
        (Treatment::answer(404, "gone"), "shop_failed", true, "status 404"),
        (Treatment::answer(401, &echo), "shop_credentials", true, "no *** here"),
        (Treatment::answer(403, "{}"), "shop_credentials", true, "403"),
        (Treatment::answer(422, "{}"), "shop_refused_price", false, "422"),
        (Treatment::with_header(429, "retry-after", "2.0"), "shop_throttled", true, "fewer"),
        (Treatment::Slow(TIMEOUT * 4), "shop_slow", true, "did not answer"),
        (Treatment::Hang, "shop_slow", true, "did not answer"),
    ]
}

#[tokio::test]
async fn shopify_gets_the_price_and_its_failures_have_their_own_codes() {
    let (ended, server) = shopify(&[]).await;
    ended.unwrap();
    assert_eq!(server.writes(), [("MUG-1".to_owned(), "12.50".to_owned())]);
    for (treatment, code, again, part) in common() {
        check(shopify(std::slice::from_ref(&treatment)).await.0, code, again, part);
        check(shopify(&[Treatment::Usual, treatment]).await.0, code, again, part);
    }
    let throttled = r#"{"errors":[{"message":"Throttled","extensions":{"code":"THROTTLED"}}],
        "extensions":{"cost":{"requestedQueryCost":70,"actualQueryCost":null,
        "throttleStatus":{"maximumAvailable":1000,"currentlyAvailable":20,"restoreRate":50}}}}"#;
    let (ended, _) = shopify(&[Treatment::answer(200, throttled)]).await;
    let fault = ended.unwrap_err();
    assert_eq!(
        (fault.kind(), fault.retry_wait()),
        (Kind::RateLimited, Some(Duration::from_secs(1)))
    );
    let denied = r#"{"errors":[{"message":"Access denied for productVariants field",
        "extensions":{"code":"ACCESS_DENIED"}}]}"#;
    let (ended, _) = shopify(&[Treatment::answer(200, denied)]).await;
    check(ended, "shop_credentials", true, "write_products");
}

#[tokio::test]
async fn shopify_refuses_a_wrong_token_an_unknown_sku_and_a_price() {
    let server = TestShopify::start(TOKEN).await;
    let shop = Shopify::new(&server.url(), TOKEN).unwrap();
    server.add("MUG-10", "1.00");
    server.add("mug-1", "1.00");
    check(set(&shop).await, "sku_not_in_shop", false, "MUG-1");
    server.add("MUG-1", "10.00");
    let wrong = Shopify::new(&server.url(), "shpat_another").unwrap();
    check(set(&wrong).await, "shop_credentials", true, "Invalid API key");
    server.refuse_prices(Some("Price is too high"));
    check(set(&shop).await, "shop_refused_price", false, "Price is too high");
    server.refuse_prices(None);
    assert_eq!(server.writes(), []);
    let listing = shop.find("MUG-1").await.unwrap();
    let odd = shop.set_price(&listing, "12.345".parse().unwrap()).await;
    check(odd, "shop_changed_price", false, "12.345");
    server.add("MUG-1", "11.00");
    check(set(&shop).await, "sku_not_unique", false, "2 products");
}

#[tokio::test]
async fn woocommerce_gets_the_price_and_its_failures_have_their_own_codes() {
    let (ended, server) = woocommerce(&[]).await;
    ended.unwrap();
    assert_eq!(server.writes(), [("MUG-1".to_owned(), "12.50".to_owned())]);
    for (treatment, code, again, part) in common() {
        check(woocommerce(std::slice::from_ref(&treatment)).await.0, code, again, part);
        check(woocommerce(&[Treatment::Usual, treatment]).await.0, code, again, part);
    }
}

#[tokio::test]
async fn woocommerce_sets_variations_and_refuses_what_has_no_price() {
    let server = TestWooCommerce::start(KEY, SECRET).await;
    let shop = WooCommerce::new(&server.url(), KEY, SECRET).unwrap();
    check(set(&shop).await, "sku_not_in_shop", false, "MUG-1");
    let wrong = WooCommerce::new(&server.url(), KEY, "cs_another").unwrap();
    check(set(&wrong).await, "shop_credentials", true, "Consumer key is invalid");
    let parent = server.add_variable("MUG");
    server.add_variation(parent, "MUG-1", "");
    set(&shop).await.unwrap();
    assert_eq!(server.price("MUG-1").as_deref(), Some("12.50"));
    let refused = shop.find("MUG").await.map(drop);
    check(refused, "sku_without_price", false, "variations");
    server.add("A,MUG-1", "3.00");
    assert_eq!(shop.find("A,MUG-1").await.unwrap().price, "3".parse().ok());
    let gone = crate::push::shop::ShopListing { id: "999".to_owned(), ..listing_of(&shop).await };
    let gone = shop.set_price(&gone, "1".parse().unwrap()).await;
    check(gone, "sku_not_in_shop", false, "no longer");
}

async fn listing_of(shop: &WooCommerce) -> crate::push::shop::ShopListing {
    shop.find("MUG-1").await.unwrap()
}

#[tokio::test]
async fn credentials_do_not_follow_a_redirect() {
    let elsewhere = WebhookReceiver::start().await;
    for status in [301, 302, 307, 308] {
        let to = Treatment::with_header(status, "location", &format!("{}/hook", elsewhere.url()));
        check(shopify(std::slice::from_ref(&to)).await.0, "shop_failed", true, "redirect");
        check(woocommerce(&[Treatment::Usual, to]).await.0, "shop_failed", true, "redirect");
    }
    assert_eq!(elsewhere.requests(), 0);
}

#[tokio::test]
async fn the_fault_of_a_shop_that_is_down_has_no_address() {
    let mut server = TestShopify::start(TOKEN).await;
    let shop = Shopify::new(&server.url(), TOKEN).unwrap();
    server.stop().await;
    check(set(&shop).await, "shop_unreachable", true, "the connection was refused");
}

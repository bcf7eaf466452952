//! Shops that fail, restart, throttle and lack products; prices that overtake each other; the kill
//! switch.

use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_price_arrives_after_throttling_errors_and_a_restart_of_the_shop() {
    on_every_engine(async |db| {
        let mut shop = TestWooCommerce::start(KEYS.0, KEYS.1).await;
        shop.add("MUG-1", "20");
        let it = PushFixture::new(db, only_woocommerce(&shop)).await;
        it.sell("MUG-1", "20").await;
        shop.treat_next([
            Treatment::with_header(429, "retry-after", "0"),
            Treatment::answer(500, "<html></html>"),
            Treatment::Usual,
            Treatment::answer(503, ""),
        ]);
        it.reprice("MUG-1", true).await;
        let pushed = it.until("MUG-1", "delivered").await;
        assert_eq!(pushed[0]["attempts"], 4, "{pushed:?}");
        assert!(it.is_in_force("MUG-1", shop.price("MUG-1")).await);
        assert_eq!(shop.writes().len(), 1);

        shop.stop().await;
        it.reprice("MUG-1", true).await;
        let waiting = async {
            loop {
                let found = it.pushes(json!({ "state": "pending" })).await;
                if found.iter().any(|it| it["attempts"].as_u64() > Some(1)) {
                    return found;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let found = tokio::time::timeout(LONG, waiting).await.unwrap();
        assert!(found[0]["reason"].as_str().unwrap().contains("refused"), "{found:?}");
        let health = it.health().await;
        assert_eq!(health["status"], "degraded", "{health}");
        shop.restart().await;
        it.until("MUG-1", "delivered").await;
        assert!(it.is_in_force("MUG-1", shop.price("MUG-1")).await);
        it.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_newer_price_replaces_an_undelivered_one() {
    on_every_engine(async |db| {
        let mut shop = TestShopify::start(TOKEN).await;
        shop.add("MUG-1", "20.00");
        shop.add("MUG-2", "20.00");
        let it = PushFixture::new(db, only_shopify(&shop)).await;
        for sku in ["MUG-1", "MUG-2"] {
            it.sell(sku, "20").await;
        }
        shop.stop().await;
        it.reprice("MUG-1", true).await;
        it.reprice("MUG-1", true).await;
        shop.restart().await;
        it.until("MUG-1", "delivered").await;
        let writes = shop.writes();
        assert_eq!(writes.len(), 1, "{writes:?}");
        assert!(it.is_in_force("MUG-1", shop.price("MUG-1")).await);

        // A price that is overtaken between the two requests of its push is not written.
        shop.treat_next([Treatment::Slow(Duration::from_millis(700))]);
        let before = shop.requests();
        it.reprice("MUG-2", true).await;
        eventually(|| shop.requests() > before).await;
        it.reprice("MUG-2", true).await;
        it.until("MUG-2", "delivered").await;
        let writes = shop.writes();
        assert_eq!(writes.iter().filter(|(sku, _)| sku == "MUG-2").count(), 1, "{writes:?}");
        assert!(it.is_in_force("MUG-2", shop.price("MUG-2")).await);
        it.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failed_push_says_why_and_can_be_tried_again() {
    on_every_engine(async |db| {
        let shop = TestShopify::start(TOKEN).await;
        let it = PushFixture::new(db, only_shopify(&shop)).await;
        it.sell("MUG-1", "20").await;
        it.reprice("MUG-1", false).await;
        let failed = it.until("MUG-1", "failed").await;
        assert!(failed[0]["reason"].as_str().unwrap().contains("no product"), "{failed:?}");
        assert_eq!(it.trail("MUG-1").await, ["proposed", "applied", "push_failed"]);
        let health = it.health().await;
        assert!(health["dependencies"]["shopify"].as_str().unwrap().contains("1 pushes failed"));
        let reader = caller("reader", &["read"]);
        assert_eq!(it.fixture.refused(&reader, "retry_price_push", json!({})).await, "auth_error");
        shop.add("MUG-1", "20.00");
        let retried = it.fixture.ok("retry_price_push", json!({ "sku": "MUG-1" })).await;
        assert_eq!(retried["retried"], 1);
        it.until("MUG-1", "delivered").await;
        assert!(it.is_in_force("MUG-1", shop.price("MUG-1")).await);
        assert_eq!(it.fixture.ok("retry_price_push", json!({})).await["retried"], 0);
        it.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_price_in_another_currency_is_not_written() {
    on_every_engine(async |db| {
        let shop = TestShopify::with_currency(TOKEN, "EUR").await;
        shop.add("MUG-1", "20.00");
        let it = PushFixture::new(db, only_shopify(&shop)).await;
        it.sell("MUG-1", "20").await;
        it.reprice("MUG-1", false).await;
        let failed = it.until("MUG-1", "failed").await;
        let reason = failed[0]["reason"].as_str().unwrap();
        assert!(reason.contains("USD") && reason.contains("EUR"), "{reason}");
        assert_eq!(shop.writes(), []);
        it.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_kill_switch_stops_pushes_until_it_is_off() {
    on_every_engine(async |db| {
        let mut shop = TestShopify::start(TOKEN).await;
        shop.add("MUG-1", "20.00");
        let it = PushFixture::new(db, only_shopify(&shop)).await;
        it.sell("MUG-1", "20").await;
        shop.stop().await;
        it.reprice("MUG-1", true).await;
        it.fixture.ok("set_kill_switch", json!({ "on": true })).await;
        shop.restart().await;
        // Every job ends without a push.
        let idle = async {
            loop {
                let open = "SELECT COUNT(*) FROM job WHERE state IN ('queued', 'running')";
                let row = db.fetch_optional(store::sql(open)).await.unwrap().unwrap();
                if row.count(0).unwrap() == 0 {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(LONG, idle).await.unwrap();
        let listed = it.fixture.ok("list_price_pushes", json!({})).await;
        assert_eq!(
            (&listed["stopped"], &listed["targets"][0]["pending"]),
            (&json!(true), &json!(1))
        );
        assert_eq!(shop.writes(), []);
        let refused = it.fixture.call("retry_price_push", json!({})).await.unwrap_err();
        assert_eq!(refused["error_code"], "kill_switch");
        it.fixture.ok("set_kill_switch", json!({ "on": false })).await;
        it.until("MUG-1", "delivered").await;
        assert_eq!(shop.writes().len(), 1);
        it.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_for_some_products_sees_the_pushes_of_these() {
    on_every_engine(async |db| {
        let shop = TestShopify::start(TOKEN).await;
        let it = PushFixture::new(db, only_shopify(&shop)).await;
        for sku in ["A-1", "B-1"] {
            it.sell(sku, "20").await;
            it.reprice(sku, true).await;
            it.until(sku, "failed").await;
        }
        let limited = limits::limited(&["read", "apply"], &["A-"], None);
        let listed = it.fixture.call_as(&limited, "list_price_pushes", json!({})).await.unwrap();
        assert_eq!(listed["pushes"].as_array().unwrap().len(), 1, "{listed}");
        assert_eq!(listed["targets"][0]["failed"], 1);
        let retried = it.fixture.call_as(&limited, "retry_price_push", json!({})).await.unwrap();
        assert_eq!(retried["retried"], 1);
        let page = it.fixture.ok("list_price_pushes", json!({ "limit": 1 })).await;
        let rest = json!({ "limit": 1, "cursor": page["next_cursor"] });
        let rest = it.fixture.ok("list_price_pushes", rest).await;
        assert_eq!(
            (&page["pushes"][0]["sku"], &rest["pushes"][0]["sku"]),
            (&json!("B-1"), &json!("A-1"))
        );
        assert_eq!(rest["next_cursor"], Value::Null);
        it.close().await;
    })
    .await;
}

/// Whatever a shop does, it ends with the catalogue's price, and what it was sent are prices that
/// were in force, in their order.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shop_that_fails_at_random_ends_with_the_price_in_force() {
    on_every_engine(async |db| {
        let mut shop = TestShopify::start(TOKEN).await;
        shop.add("MUG-1", "20.00");
        let it = PushFixture::new(db, only_shopify(&shop)).await;
        it.sell("MUG-1", "20").await;
        let mut rng = TestRng::new(7);
        let mut in_force = Vec::new();
        for _ in 0..25 {
            match rng.below(5) {
                0 => shop.restart().await,
                1 => shop.treat_next([Treatment::answer(500, "")]),
                2 => shop.treat_next([Treatment::Slow(Duration::from_millis(rng.below(60)))]),
                3 => shop.treat_next([Treatment::Usual, Treatment::answer(429, "")]),
                _ => tokio::time::sleep(Duration::from_millis(rng.below(60))).await,
            }
            it.reprice("MUG-1", rng.one_in(2)).await;
            in_force.push(it.fixture.price("MUG-1").await.unwrap());
        }
        it.until("MUG-1", "delivered").await;
        assert!(it.is_in_force("MUG-1", shop.price("MUG-1")).await);
        let mut left = in_force.into_iter();
        for (_, written) in shop.writes() {
            let written: Amount = written.parse().unwrap();
            assert!(left.any(|it| it == written), "{written} was written out of order");
        }
        it.close().await;
    })
    .await;
}

//! What arrives: the right price in each shop, signed events at the webhook, and nothing simulated.

use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_applied_price_reaches_both_shops_and_so_does_its_revert() {
    on_every_engine(async |db| {
        let shopify = TestShopify::start(TOKEN).await;
        let woocommerce = TestWooCommerce::start(KEYS.0, KEYS.1).await;
        shopify.add("MUG-1", "20.00");
        let parent = woocommerce.add_variable("MUG");
        woocommerce.add_variation(parent, "MUG-1", "20");
        let targets = PushTargets {
            woocommerce: only_woocommerce(&woocommerce).woocommerce,
            ..only_shopify(&shopify)
        };
        let it = PushFixture::new(db, targets).await;
        it.sell("MUG-1", "20").await;
        let made = it.propose("MUG-1", false).await;
        let id = json!({ "proposal_id": made["proposal_id"] });
        let applied = it.fixture.ok("apply_proposal", id.clone()).await["result"].clone();
        assert_eq!(applied["pushes"].as_array().unwrap().len(), 2, "{applied}");
        assert!(applied["message"].as_str().unwrap().contains("Shopify"), "{applied}");
        let pushed = it.until("MUG-1", "delivered").await;
        assert!(pushed.iter().all(|it| it["price"] == made["proposed_price"]), "{pushed:?}");
        for shown in [shopify.price("MUG-1"), woocommerce.price("MUG-1")] {
            assert!(it.is_in_force("MUG-1", shown).await);
        }
        // Applying again is the same as once.
        let again = it.fixture.ok("apply_proposal", id.clone()).await["result"].clone();
        assert_eq!(again["pushes"][0]["state"], "delivered");
        it.fixture.ok("revert_proposal", id).await;
        it.until("MUG-1", "delivered").await;
        eventually(|| shopify.writes().len() == 2 && woocommerce.writes().len() == 2).await;
        assert_eq!(shopify.price("MUG-1").as_deref(), Some("20.00"));
        assert_eq!(woocommerce.price("MUG-1").as_deref(), Some("20"));
        let trail = it.trail("MUG-1").await;
        assert_eq!(trail.iter().filter(|it| *it == "pushed").count(), 4, "{trail:?}");
        let health = it.health().await;
        assert_eq!(
            (&health["status"], &health["dependencies"]["shopify"]),
            (&json!("healthy"), &json!("ok"))
        );
        it.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_policy_of_auto_pushes_too_and_a_dry_run_does_not() {
    on_every_engine(async |db| {
        let shop = TestShopify::start(TOKEN).await;
        shop.add("TEA", "20.00");
        let it = PushFixture::new(db, only_shopify(&shop)).await;
        it.sell("TEA", "20").await;
        let now = it.fixture.now();
        let ticks: Vec<Tick> = (0..40)
            .map(|day| {
                let at = Millis(now.0 - day * 86_400_000);
                let our_price = amount(if day % 2 == 0 { "20" } else { "24" });
                let units = Some(if day % 2 == 0 { 30.0 } else { 12.0 });
                Tick { our_price, units, ..tick("TEA", at) }
            })
            .collect();
        it.fixture.ingest(&ticks).await;
        it.fixture
            .ok("set_pricing_policy", json!({ "sku": "TEA", "policy": { "mode": "auto" } }))
            .await;
        let args = |dry_run: bool| {
            json!({ "dry_run": dry_run,
            "items": [{ "sku": "TEA", "our_price": 20, "cost": 12, "competitor_price": 24 }] })
        };
        it.fixture.ok("propose_prices", args(true)).await;
        assert!(it.pushes(json!({})).await.is_empty());
        let made = it.fixture.ok("propose_prices", args(false)).await;
        assert_eq!(made["applied"], 1, "{made}");
        it.until("TEA", "delivered").await;
        assert!(it.is_in_force("TEA", shop.price("TEA")).await);
        it.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_simulated_price_is_never_pushed() {
    on_every_engine(async |db| {
        let shop = TestShopify::start(TOKEN).await;
        shop.add("TEA", "20.00");
        let it = PushFixture::new(db, only_shopify(&shop)).await;
        it.sell("TEA", "20").await;
        let simulated = |rival: &str| Tick {
            origin: ticks::TickOrigin::Simulated,
            competitor_price: Some(amount(rival)),
            ..tick("TEA", it.fixture.now())
        };
        it.fixture.ingest(&[simulated("16")]).await;
        let propose = async || {
            let price = it.fixture.price("TEA").await;
            it.fixture.proposed(json!({ "sku": "TEA", "our_price": price, "cost": 5 })).await
        };
        let first = propose().await;
        assert_eq!(first["simulated"], true, "{first}");
        let id = json!({ "proposal_id": first["proposal_id"] });
        let applied = it.fixture.ok("apply_proposal", id.clone()).await["result"].clone();
        assert_eq!(applied["pushes"][0]["state"], "withheld");
        assert!(applied["message"].as_str().unwrap().contains("simulated"), "{applied}");
        let listed = it.pushes(json!({ "state": "withheld" })).await;
        assert!(listed[0]["reason"].as_str().unwrap().contains("simulated ticks"), "{listed:?}");
        // A price of observed data is pushed, and its revert to a simulated price is not.
        let mut tx = db.begin().await.unwrap();
        tx.execute(store::sql("DELETE FROM pricing_tick")).await.unwrap();
        tx.commit().await.unwrap();
        let made = it.propose("TEA", true).await;
        let second = json!({ "proposal_id": made["proposal_id"] });
        it.fixture.ok("apply_proposal", second.clone()).await;
        it.until("TEA", "delivered").await;
        let writes = shop.writes().len();
        it.fixture.ok("revert_proposal", second).await;
        it.until("TEA", "withheld").await;
        // Back before the simulated price, the shop gets the true one again.
        it.fixture.ok("revert_proposal", id).await;
        it.until("TEA", "delivered").await;
        assert_eq!(shop.price("TEA").as_deref(), Some("20.00"));
        assert_eq!(shop.writes().len(), writes + 1);
        it.close().await;
    })
    .await;
}

/// Checks the signature as a receiver does, from the secret and the request alone.
fn is_signed(received: &crate::testing::Received, secret: &str) -> bool {
    let content = format!("{}.{}.{}", received.id, received.timestamp, received.body);
    let mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    let signature = received.signature.strip_prefix("v1,").unwrap();
    let signature = BASE64.decode(signature.as_bytes()).unwrap();
    mac.chain_update(content).verify_slice(&signature).is_ok()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_webhook_gets_each_event_once_and_signed() {
    on_every_engine(async |db| {
        let hook = WebhookReceiver::start().await;
        let shop = TestShopify::start(TOKEN).await;
        let url = format!("{}/hook", hook.url());
        let webhook = Some(PriceWebhook::new(&url, HOOK_SECRET).unwrap());
        let it = PushFixture::new(db, PushTargets { webhook, ..only_shopify(&shop) }).await;
        it.sell("MUG-1", "20").await;
        hook.treat_next([Treatment::answer(503, ""), Treatment::answer(500, "")]);
        let made = it.propose("MUG-1", false).await;
        let id = json!({ "proposal_id": made["proposal_id"] });
        it.fixture.ok("apply_proposal", id.clone()).await;
        // The shop does not have the SKU.
        it.until("MUG-1", "failed").await;
        it.fixture.ok("revert_proposal", id).await;
        let bodies = || -> Vec<Value> {
            hook.received().iter().map(|it| serde_json::from_str(&it.body).unwrap()).collect()
        };
        let has = |kind: &str| bodies().iter().any(|it| it["type"] == kind);
        let kinds = ["price.proposed", "price.applied", "price.push_failed", "price.reverted"];
        eventually(|| kinds.iter().all(|kind| has(kind))).await;
        for received in hook.received() {
            assert!(is_signed(&received, HOOK_SECRET), "{received:?}");
            assert!(!is_signed(&received, "another secret!!"));
            assert!(!received.body.contains(TOKEN) && !received.body.contains(HOOK_SECRET));
        }
        let ids: std::collections::BTreeSet<String> =
            hook.received().into_iter().map(|it| it.id).collect();
        assert_eq!(ids.len(), hook.received().len(), "each event arrived once");
        let applied = bodies().into_iter().find(|it| it["type"] == "price.applied").unwrap();
        assert_eq!(applied["data"]["to_price"], made["proposed_price"]);
        assert_eq!(applied["data"]["by"], "master");
        let failed = bodies().into_iter().find(|it| it["type"] == "price.push_failed").unwrap();
        assert!(failed["data"]["reason"].as_str().unwrap().contains("MUG-1"), "{failed}");
        it.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_webhook_that_refuses_is_reported_and_stops_nothing() {
    on_every_engine(async |db| {
        let hook = WebhookReceiver::start().await;
        let webhook = PriceWebhook::new(&format!("{}/nowhere", hook.url()), HOOK_SECRET).unwrap();
        let targets = PushTargets { webhook: Some(webhook), ..PushTargets::default() };
        let it = PushFixture::new(db, targets).await;
        it.sell("MUG-1", "20").await;
        it.reprice("MUG-1", true).await;
        let degraded = async {
            loop {
                let health = it.health().await;
                if health["status"] == "degraded" {
                    return health;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let health = tokio::time::timeout(LONG, degraded).await.unwrap();
        let told = health["dependencies"]["price_webhook"].as_str().unwrap();
        assert!(told.contains("404") && !told.contains("127.0.0.1"), "{told}");
        it.close().await;
    })
    .await;
}

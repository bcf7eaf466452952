//! Policies in layers, what is applied by itself, and the switch that stops everything.

use testkit::on_every_engine;

use super::*;

#[tokio::test]
async fn policies_lie_over_each_other_and_null_gives_a_rule_back() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let toy = Some("toys".to_owned());
        fixture.import(Product { sku: "A".to_owned(), category: toy, ..Product::default() }).await;
        let set = async |of: Value, policy: Value| {
            let mut args = of;
            args["policy"] = policy;
            fixture.ok("set_pricing_policy", args).await
        };
        let in_force = async || fixture.ok("get_pricing_policy", json!({ "sku": "A" })).await;
        set(json!({}), json!({ "max_step": 0.05, "ending": ".99" })).await;
        set(json!({ "category": "toys" }), json!({ "max_step": 0.06, "mode": "auto" })).await;
        set(json!({ "sku": "A" }), json!({ "max_step": 0.07, "map_price": 9.9 })).await;
        let found = in_force().await;
        assert_eq!(found["from"], json!(["*", "category:toys", "sku:A"]));
        assert_eq!(found["policy"]["max_step"], 0.07);
        assert_eq!(
            (&found["policy"]["mode"], &found["policy"]["map_price"]),
            (&json!("auto"), &json!(9.9))
        );
        // What is not named stays, what is null goes back to the category's.
        let left = set(json!({ "sku": "A" }), json!({ "max_step": null, "mode": "block" })).await;
        assert_eq!(left["policy"], json!({ "map_price": 9.9, "mode": "block" }));
        let found = in_force().await;
        assert_eq!(found["policy"]["max_step"], 0.06);
        assert_eq!(found["policy"]["mode"], "block");
        let refused = fixture.call("propose_price", json!({ "sku": "A", "our_price": 10 })).await;
        assert_eq!(refused.unwrap_err()["error_code"], "policy_blocked");
        set(json!({ "sku": "A" }), json!({ "mode": null })).await;
        let made = fixture.proposed(json!({ "sku": "A", "our_price": 12, "cost": 5 })).await;
        assert!(made["proposed_price"].as_f64().unwrap() >= 9.9, "{made}");
        // What is wrong together is refused, and nothing of it is kept.
        let band = json!({ "sku": "A", "policy": { "position_min": 1.2, "position_max": 1.1 } });
        assert_eq!(
            fixture.call("set_pricing_policy", band).await.unwrap_err()["error_code"],
            "validation_error"
        );
        assert_eq!(in_force().await["policy"]["position"]["min_ratio"], 0.75);
        let trail = fixture.ok("list_price_changes", json!({ "sku": "A", "limit": 100 })).await;
        let policies = trail["changes"].as_array().unwrap().iter();
        assert_eq!(policies.filter(|it| it["action"] == "policy").count(), 3);
    })
    .await;
}

#[tokio::test]
async fn auto_applies_only_what_the_caller_may_and_the_switch_lets() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let policy = json!({ "policy": { "mode": "auto" } });
        fixture.ok("set_pricing_policy", policy).await;
        // Ninety days of sales make the confidence high enough.
        for sku in ["A", "B", "C", "D"] {
            let days = (1..=90).map(|day| {
                let price = [18, 20, 22][usize::try_from(day).unwrap() % 3];
                Tick {
                    our_price: Amount::from_micros(price * 1_000_000).unwrap(),
                    units: Some(400.0 * (price as f64).powf(-2.0) * 20.0),
                    ..tick(sku, Millis(NOW.0 - day * clock::DAY_MS))
                }
            });
            fixture.ingest(&days.chain([tick(sku, NOW)]).collect::<Vec<_>>()).await;
        }
        let item = |sku: &str| json!({ "sku": sku, "our_price": 22, "cost": 9 });
        let args = |sku: &str, dry: bool| json!({ "items": [item(sku)], "dry_run": dry });
        let dry = fixture.ok("propose_prices", args("A", true)).await;
        assert_eq!(dry["results"][0]["proposal"]["mode"], "auto", "{dry}");
        assert!(dry["results"][0]["message"].as_str().unwrap().contains("dry run"));
        assert_eq!(fixture.ok("list_proposals", json!({})).await["count"], 0);

        let applied = fixture.ok("propose_prices", args("A", false)).await;
        assert_eq!((&applied["applied"], &applied["results"][0]["status"]), (&json!(1), &json!("applied")));
        let price = &applied["results"][0]["proposal"]["proposed_price"];
        assert_eq!(json!(fixture.price("A").await), *price);
        let trail = fixture.ok("list_price_changes", json!({ "sku": "A" })).await;
        assert_eq!(trail["changes"][0]["note"], "by its policy: auto", "{trail}");

        let proposer = caller("proposer", &["propose"]);
        let stored = fixture.call_as(&proposer, "propose_prices", args("B", false)).await.unwrap();
        assert_eq!((&stored["applied"], &stored["results"][0]["status"]), (&json!(0), &json!("pending")));
        assert!(stored["results"][0]["message"].as_str().unwrap().contains("scope apply"), "{stored}");

        fixture.ok("set_kill_switch", json!({ "on": true, "reason": "stocktaking" })).await;
        let stopped = fixture.ok("propose_prices", args("C", false)).await;
        assert_eq!(stopped["applied"], 0);
        assert!(stopped["results"][0]["message"].as_str().unwrap().contains("stocktaking"));
        assert_eq!((fixture.price("B").await, fixture.price("C").await), (None, None));
        fixture.ok("set_kill_switch", json!({ "on": false })).await;

        // One that collides does not undo the others.
        let twice = json!({ "items": [item("D"), item("D"), { "sku": "E", "our_price": 1, "min_price": 3, "max_price": 2 }],
            "dry_run": false });
        let twice = fixture.ok("propose_prices", twice).await;
        let counts = ["proposed", "applied", "failed"].map(|it| twice[it].as_u64().unwrap());
        assert_eq!(counts, [2, 1, 1], "{twice}");
        assert!(twice["results"][1]["message"].as_str().unwrap().starts_with("not applied: the price of D"));
    })
    .await;
}

#[tokio::test]
async fn a_repeated_apply_gets_the_same_answer_even_while_changes_are_stopped() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let made = fixture
            .proposed(json!({ "sku": "A", "our_price": 20, "cost": 9, "competitor_price": 18 }))
            .await;
        let id = json!({ "proposal_id": made["proposal_id"] });
        let done = fixture.ok("apply_proposal", id.clone()).await;
        fixture.clock.advance(Duration::from_hours(48));
        fixture.ok("set_kill_switch", json!({ "on": true })).await;
        assert_eq!(fixture.ok("apply_proposal", id.clone()).await, done);
        assert_eq!(
            fixture.refused(&fixture.master, "revert_proposal", id.clone()).await,
            "kill_switch"
        );
        fixture.ok("set_kill_switch", json!({ "on": false })).await;
        let back = fixture.ok("revert_proposal", id.clone()).await;
        assert_eq!(
            (&back["result"]["price"], &fixture.ok("revert_proposal", id.clone()).await),
            (&json!(20.0), &back)
        );
        assert_eq!(
            fixture.refused(&fixture.master, "apply_proposal", id.clone()).await,
            "proposal_state"
        );
        // A cancellation is allowed whatever the switch says.
        let other = fixture.proposed(json!({ "sku": "A", "our_price": 20, "cost": 9 })).await;
        fixture.ok("set_kill_switch", json!({ "on": true })).await;
        let other = json!({ "proposal_id": other["proposal_id"] });
        let gone = fixture.ok("cancel_proposal", other.clone()).await;
        assert_eq!(fixture.ok("cancel_proposal", other).await, gone);
    })
    .await;
}

#[tokio::test]
async fn a_price_that_stays_begins_no_cooldown() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let product =
            Product { sku: "A".to_owned(), price: Some(amount("20")), ..Product::default() };
        fixture.import(product).await;
        let before = products::find(db, "A").await.unwrap().unwrap().price_changed;
        fixture.clock.advance(Duration::from_hours(1));
        // Without evidence the price is held.
        let held = fixture.proposed(json!({ "sku": "A", "our_price": 20 })).await;
        assert_eq!(held["proposed_price"], 20.0);
        fixture.ok("apply_proposal", json!({ "proposal_id": held["proposal_id"] })).await;
        assert_eq!(products::find(db, "A").await.unwrap().unwrap().price_changed, before);
    })
    .await;
}

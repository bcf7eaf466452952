//! Tests of explanations: the waterfall, its inputs, and a replay.

use testkit::on_every_engine;

use super::*;

#[tokio::test]
async fn the_waterfall_adds_up_and_says_how_old_its_inputs_are() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let mut ticks: Vec<Tick> = (1..=60)
            .map(|day| {
                let price = 18 + day % 4;
                Tick {
                    our_price: Amount::from_micros(price * 1_000_000).unwrap(),
                    units: Some(9_000.0 * (price as f64).powf(-2.2)),
                    ..tick("A", Millis(NOW.0 - day * clock::DAY_MS))
                }
            })
            .collect();
        let seen = Millis(NOW.0 - 90 * 60_000);
        ticks.push(Tick { demand_index: Some(1.4), ..tick("A", seen) });
        fixture.ingest(&ticks).await;
        let product = Product {
            sku: "A".to_owned(),
            price: Some(amount("21")),
            cost: Some(amount("9")),
            max_price: Some(amount("21.5")),
            ..Product::default()
        };
        fixture.import(product).await;
        let made = fixture.proposed(json!({ "sku": "A", "our_price": 20, "max_price": 30 })).await;
        assert_eq!(made["inputs"]["max_price"], 21.5, "the catalogue's bound is the tighter one");
        assert!(made["inputs"]["history_points"].as_u64().unwrap() >= 60, "{made}");
        let told = made["reasoning"].as_str().unwrap();
        assert!(told.contains("applying will be refused until they agree"), "{told}");
        let reply =
            fixture.ok("explain_proposal", json!({ "proposal_id": made["proposal_id"] })).await;
        let reply = &reply["explanation"];
        let money = |it: &Value| serde_json::from_value::<Amount>(it.clone()).unwrap().micros();
        let mut price = money(&reply["current_price"]);
        let mut names = Vec::new();
        for factor in reply["factors"].as_array().unwrap() {
            price += money(&factor["effect"]);
            assert_eq!(price, money(&factor["price_after"]), "{factor}");
            let name = factor["name"].as_str().unwrap();
            assert_eq!(factor["rule"], format!("{name}/{}", pricing_engine::RULES));
            assert!(!factor["input"].as_str().unwrap().is_empty());
            names.push((name, factor["age_minutes"].as_i64()));
        }
        assert_eq!(price, money(&reply["proposed_price"]));
        assert!(names.contains(&("demand_index", Some(90))), "{names:?}");
        assert!(names.contains(&("competitors", Some(90))), "{names:?}");
        assert!(
            names.iter().any(|it| it.0 == "cost_and_elasticity" && it.1.is_some()),
            "{names:?}"
        );
        // The same inputs at the same time make the same price.
        let again = fixture.proposed(json!({ "sku": "A", "our_price": 20, "max_price": 30 })).await;
        assert_eq!(again["proposed_price"], made["proposed_price"]);
        assert_eq!(again["reasoning"], made["reasoning"]);
    })
    .await;
}

#[tokio::test]
async fn a_replay_without_a_cost_promises_no_profit() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let days = (1..=30)
            .map(|day| Tick { units: Some(5.0), ..tick("A", Millis(NOW.0 - day * clock::DAY_MS)) });
        fixture.ingest(&days.collect::<Vec<_>>()).await;
        for (args, known) in [
            (json!({ "sku": "A", "time_window": "P20D" }), false),
            (json!({ "sku": "A", "time_window": "P20D", "cost": 10 }), true),
        ] {
            let reply = fixture.ok("simulate_pricing", args).await;
            let reply = &reply["simulation"];
            assert_eq!(reply["points"], 20, "{reply}");
            for way in reply["strategies"].as_array().unwrap() {
                assert_eq!(way["profit"].is_number(), known, "{way}");
                assert!(way["revenue"].as_f64().unwrap() > 0.0, "{way}");
            }
        }
        let none = json!({ "sku": "A", "market": "FR" });
        assert_eq!(
            fixture.refused(&fixture.master, "simulate_pricing", none).await,
            "optimization_error"
        );
    })
    .await;
}

#[tokio::test]
async fn what_cannot_be_a_name_or_a_cursor_is_refused_in_words() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let long = "x".repeat(201);
        for (tool, args) in [
            ("propose_price", json!({ "sku": long, "our_price": 1 })),
            ("propose_price", json!({ "sku": "a\u{0}b", "our_price": 1 })),
            ("propose_price", json!({ "sku": "A", "our_price": 1e300 })),
            ("list_proposals", json!({ "cursor": "\u{0}" })),
            ("list_price_changes", json!({ "cursor": "x" })),
            ("set_pricing_policy", json!({ "category": "\u{0}", "policy": {} })),
        ] {
            assert_eq!(
                fixture.refused(&fixture.master, tool, args).await,
                "validation_error",
                "{tool}"
            );
        }
        let id = json!({ "proposal_id": "\u{0}" });
        assert_eq!(
            fixture.refused(&fixture.master, "apply_proposal", id).await,
            "proposal_not_found"
        );
    })
    .await;
}

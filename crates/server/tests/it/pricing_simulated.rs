//! Invented prices never set a real price: simulated ticks are marked wherever they took part, are
//! never applied automatically, and can be removed.

use std::time::Duration;

use serde_json::{Value, json};

use crate::contract_examples::every_scope;
use crate::process::{Folder, Server, mcp_call};

struct Shop {
    server: Server,
    token: String,
    _folder: Folder,
}

impl Shop {
    async fn open(products: Value) -> Self {
        let folder = Folder::new();
        // The page of a product is an address of this machine at which nothing answers.
        let settings = [("STOA_PRICING_ALLOW_PRIVATE", "true")];
        let server = Server::start(folder.path(), &settings);
        let token = every_scope(folder.path());
        let shop = Self { server, token, _folder: folder };
        shop.call("import_product_catalog", json!({ "rows": products })).await;
        shop
    }

    /// The structured result and the text of a call.
    async fn call(&self, tool: &str, mut args: Value) -> (Value, String) {
        args["capability_token"] = json!(self.token);
        let answer = mcp_call(&self.server, "/mcp", tool, &args).await;
        let result = &answer["result"];
        assert_ne!(result["isError"], true, "{tool}: {answer}");
        let text = result["content"][0]["text"].as_str().unwrap().to_owned();
        (result["structuredContent"].clone(), text)
    }

    /// Collects and waits for the end of the job.
    async fn collect(&self, args: Value) -> (Value, String) {
        let (started, text) = self.call("start_collection", args).await;
        let ended = async {
            loop {
                let (status, _) =
                    self.call("get_job_status", json!({ "job_id": started["job_id"] })).await;
                if status["job"]["status"] == "DONE" {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), ended).await.unwrap();
        (started, text)
    }

    /// Proposes with the policy `auto`, as a shop does every night.
    async fn propose(&self, sku: &str) -> (Value, String) {
        let args = json!({ "items": [{ "sku": sku, "our_price": 7.5 }], "dry_run": false });
        self.call("propose_prices", args).await
    }
}

#[tokio::test]
async fn a_collection_that_names_no_connector_leaves_the_book_of_a_product_alone() {
    let tea = json!([{ "sku": "TEA-2", "currency": "EUR", "price": 7.5, "cost": 2.1 },
        { "sku": "TEA-3", "price": 7.5, "sources": ["http://127.0.0.1:9/tea-3"] }]);
    let shop = Shop::open(tea).await;
    let policy = json!({ "sku": "TEA-2", "policy": { "mode": "auto" } });
    shop.call("set_pricing_policy", policy).await;

    let (started, text) = shop.collect(json!({ "sku": "TEA-2" })).await;
    assert_eq!(started["connector"], "mock");
    assert_eq!((&started["simulated"], &started["trial"]), (&json!(true), &json!(true)));
    assert!(text.contains("kept apart") && text.contains("get_job_status"), "{text}");
    let (features, text) = shop.call("fetch_market_features", json!({ "sku": "TEA-2" })).await;
    assert_eq!(features["simulated"], true, "{features}");
    assert!(features["sample_count"].as_u64().unwrap() > 0, "{features}");
    assert!(text.contains("Simulated"), "{text}");

    let (proposed, _) = shop.propose("TEA-2").await;
    let proposal = &proposed["results"][0]["proposal"];
    assert_eq!((&proposal["simulated"], &proposed["applied"]), (&json!(false), &json!(0)));
    assert_eq!(proposal["inputs"]["competitors_used"], 0, "{proposal}");

    // An observed price stands alone.
    let tick =
        json!({ "sku": "TEA-2", "our_price": 7.5, "competitor": "A", "competitor_price": 7 });
    shop.call("ingest_tick", json!({ "d": tick })).await;
    let (features, _) = shop.call("fetch_market_features", json!({ "sku": "TEA-2" })).await;
    assert_eq!((&features["simulated"], &features["sample_count"]), (&json!(false), &json!(1)));

    // A product with addresses is collected from them.
    let (started, _) = shop.call("start_collection", json!({ "sku": "TEA-3" })).await;
    assert_eq!((&started["connector"], &started["simulated"]), (&json!("http"), &json!(false)));
}

#[tokio::test]
async fn simulated_prices_are_marked_never_applied_automatically_and_removable() {
    let shop = Shop::open(json!([{ "sku": "TEA-2", "price": 7.5, "cost": 2.1 }])).await;
    let policy = json!({ "sku": "TEA-2", "policy": { "mode": "auto" } });
    shop.call("set_pricing_policy", policy).await;
    let named = json!({ "sku": "TEA-2", "connector": "mock", "depth": 3 });
    let (started, text) = shop.collect(named).await;
    assert_eq!((&started["simulated"], &started["trial"]), (&json!(true), &json!(false)));
    assert!(text.contains("remove_simulated_ticks"), "{text}");

    let (proposed, text) = shop.propose("TEA-2").await;
    assert_eq!(proposed["applied"], 0, "{proposed}");
    let result = &proposed["results"][0];
    let proposal = &result["proposal"];
    assert!(proposal["inputs"]["competitors_used"].as_u64().unwrap() > 0, "{proposal}");
    assert_eq!((&result["status"], &proposal["simulated"]), (&json!("pending"), &json!(true)));
    let guardrails = proposal["guardrails"].as_array().unwrap();
    assert!(guardrails.iter().any(|it| it["name"] == "simulated"), "{proposal}");
    assert!(result["message"].as_str().unwrap().contains("simulated prices took part"), "{result}");
    assert!(text.contains("[simulated]"), "{text}");

    let id = json!({ "proposal_id": proposal["proposal_id"] });
    let of_tea = json!({ "sku": "TEA-2" });
    let own = json!({ "sku": "TEA-2", "our_price": 7.5 });
    for (tool, args, pointer) in [
        ("propose_price", own, "/proposal/simulated"),
        ("explain_proposal", id.clone(), "/explanation/simulated"),
        ("list_proposals", of_tea.clone(), "/proposals/0/simulated"),
        ("simulate_pricing", of_tea.clone(), "/simulation/simulated"),
        ("apply_proposal", id, "/result/simulated"),
        ("list_price_changes", of_tea.clone(), "/changes/0/simulated"),
    ] {
        let (json, text) = shop.call(tool, args).await;
        assert_eq!(json.pointer(pointer), Some(&json!(true)), "{tool}: {json}");
        assert!(text.to_lowercase().contains("simulated"), "{tool}: {text}");
    }

    let (removed, _) = shop.call("remove_simulated_ticks", of_tea.clone()).await;
    assert!(removed["removed"].as_u64().unwrap() >= 9, "{removed}");
    let (features, _) = shop.call("fetch_market_features", of_tea.clone()).await;
    assert_eq!((&features["simulated"], &features["sample_count"]), (&json!(false), &json!(0)));
    let (proposed, _) = shop.propose("TEA-2").await;
    assert_eq!(proposed["results"][0]["proposal"]["simulated"], false, "{proposed}");
    let (trail, text) = shop.call("list_price_changes", of_tea).await;
    assert_eq!(trail["changes"][1]["action"], "simulated_ticks_removed", "{trail}");
    assert!(text.contains("applied TEA-2 7.50 → "), "{text}");
}

//! Many callers at once on the same products: no two proposals are applied from one state.

use std::collections::BTreeMap;

use testkit::on_every_engine;
use tokio::task::JoinSet;

use super::*;

const CLIENTS: usize = 50;
const ROUNDS: usize = 4;
const SKUS: [&str; 3] = ["A", "B", "C"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_proposals_from_one_state_one_is_applied() {
    on_every_engine(async |db| {
        let fixture = Arc::new(Fixture::new(db).await);
        let mut clients = JoinSet::new();
        for client in 0..CLIENTS {
            let fixture = Arc::clone(&fixture);
            clients.spawn(async move {
                let mut applied = 0;
                for round in 0..ROUNDS {
                    applied += usize::from(attempt(&fixture, client + round).await);
                }
                applied
            });
        }
        let mut applied = 0;
        while let Some(client) = clients.join_next().await {
            applied += client.unwrap();
        }
        let mut chains: BTreeMap<String, Value> = BTreeMap::new();
        let trail = json!({ "limit": 100 });
        let trail =
            model::pages(&fixture, &fixture.master, "list_price_changes", "changes", trail).await;
        let mut seen = 0;
        for change in trail.iter().rev().filter(|it| it["action"] == "applied") {
            let sku = change["sku"].as_str().unwrap().to_owned();
            assert_ne!(change["from_price"], change["to_price"]);
            if let Some(last) = chains.insert(sku, change["to_price"].clone()) {
                assert_eq!(last, change["from_price"], "a link of the chain is missing: {change}");
            }
            seen += 1;
        }
        assert_eq!(seen, applied, "what was acknowledged is in the trail, and nothing else");
        assert!(applied >= SKUS.len());
        for (sku, last) in chains {
            assert_eq!(json!(fixture.price(&sku).await), last);
        }
    })
    .await;
}

/// Proposes from the price of the moment and applies; others may have been quicker.
async fn attempt(fixture: &Fixture, at: usize) -> bool {
    let sku = SKUS[at % SKUS.len()];
    let price = fixture.price(sku).await.unwrap_or(amount("20"));
    // A market far away moves every price, up and down by turns.
    let rival = price.to_f64() * if at.is_multiple_of(2) { 0.8 } else { 1.25 };
    let args = json!({ "sku": sku, "our_price": price, "competitor_price": rival,
        "cost": price.to_f64() / if at.is_multiple_of(2) { 4.0 } else { 1.4 }, "min_margin": 0 });
    let made = fixture.proposed(args).await;
    if made["proposed_price"] == made["current_price"] {
        return false;
    }
    let id = json!({ "proposal_id": made["proposal_id"] });
    match fixture.call("apply_proposal", id).await {
        Ok(_) => true,
        Err(error) => {
            assert_eq!(error["error_code"], "proposal_stale", "{error}");
            false
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cancelled_callers_do_not_block_the_others() {
    on_every_engine(async |db| {
        let fixture = Arc::new(Fixture::new(db).await);
        let mut clients = JoinSet::new();
        for client in 0..200_u64 {
            let fixture = Arc::clone(&fixture);
            clients.spawn(async move {
                let args = json!({ "sku": format!("L{client}"), "our_price": 20, "cost": 9 });
                let asks = fixture.call("propose_price", args);
                if client % 3 > 0 {
                    return Some(asks.await.unwrap()["proposal"]["proposal_id"].clone());
                }
                // Callers cancel at different times, some while they write for others.
                tokio::time::timeout(Duration::from_micros(client * 150), asks)
                    .await
                    .ok()
                    .map(|it| it.unwrap()["proposal"]["proposal_id"].clone())
            });
        }
        let mut acknowledged = Vec::new();
        while let Some(client) = clients.join_next().await {
            acknowledged.extend(client.unwrap());
        }
        assert!(acknowledged.len() >= 133, "{}", acknowledged.len());
        let all = json!({ "limit": 100, "status": "pending" });
        let stored =
            model::pages(&fixture, &fixture.master, "list_proposals", "proposals", all).await;
        let stored: Vec<&Value> = stored.iter().map(|it| &it["proposal_id"]).collect();
        assert!(acknowledged.iter().all(|id| stored.contains(&id)), "acknowledged and lost");
        let trail = json!({ "limit": 100 });
        let trail =
            model::pages(&fixture, &fixture.master, "list_price_changes", "changes", trail).await;
        assert_eq!(trail.len(), stored.len(), "each proposal is in the trail, once");
    })
    .await;
}

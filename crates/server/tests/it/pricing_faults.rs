//! Many clients change the same prices while the server is killed: acknowledged changes survive, no
//! change is partial, and no price changes twice from one state.

use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::task::JoinSet;

use crate::contract_examples::every_scope;
use crate::pricing_path::{OPTIMIZER, ask};
use crate::process::{Folder, Server};

const SETTINGS: [(&str, &str); 1] = [("STOA_RATE_PER_SECOND", "0")];
const SKUS: usize = 4;

/// The changes that the server acknowledged.
#[derive(Default)]
struct Acknowledged {
    proposed: BTreeSet<String>,
    applied: BTreeSet<String>,
    cancelled: BTreeSet<String>,
    /// The last known price of each SKU.
    prices: BTreeMap<String, Value>,
}

struct Crowd {
    url: String,
    token: String,
    acknowledged: Mutex<Acknowledged>,
    more: Notify,
}

impl Crowd {
    async fn call(&self, tool: &str, mut args: Value) -> Option<Result<Value, Value>> {
        args["capability_token"] = json!(self.token);
        ask(&self.url, None, tool, args).await
    }

    async fn ok(&self, tool: &str, args: Value) -> Value {
        self.call(tool, args).await.unwrap().unwrap()
    }

    /// One attempt of a client: propose from the known price, then apply. `None` once the server is
    /// gone.
    async fn attempt(&self, at: usize) -> Option<()> {
        let sku = format!("S{}", at % SKUS);
        let price = self.acknowledged.lock().prices.get(&sku).cloned().unwrap_or(json!(20));
        let near = price.as_f64().unwrap();
        let (cost, rival) =
            if at.is_multiple_of(2) { (near / 4.0, near * 0.8) } else { (near / 1.4, near * 1.2) };
        let args = json!({ "sku": sku, "our_price": price, "cost": cost, "competitor_price": rival,
            "min_margin": 0 });
        let made = self.call("propose_price", args).await?.unwrap();
        let made = &made["proposal"];
        let id = made["proposal_id"].as_str().unwrap().to_owned();
        self.acknowledged.lock().proposed.insert(id.clone());
        let verb = if at % 7 == 6 { "cancel_proposal" } else { "apply_proposal" };
        match self.call(verb, json!({ "proposal_id": id })).await? {
            Ok(_) if verb == "cancel_proposal" => {
                self.acknowledged.lock().cancelled.insert(id);
            }
            Ok(_) => {
                let mut acknowledged = self.acknowledged.lock();
                acknowledged.applied.insert(id);
                acknowledged.prices.insert(sku, made["proposed_price"].clone());
            }
            Err(error) => {
                assert_eq!(error["error_code"], "proposal_stale", "{error}");
                self.learn(&sku).await?;
            }
        }
        self.more.notify_one();
        Some(())
    }

    /// Reads the last applied price from the audit trail.
    async fn learn(&self, sku: &str) -> Option<()> {
        let trail = self.call("list_price_changes", json!({ "sku": sku, "limit": 100 })).await?;
        let trail = trail.unwrap();
        let last = trail["changes"].as_array().unwrap().iter().find(|it| it["action"] == "applied");
        if let Some(last) = last {
            self.acknowledged.lock().prices.insert(sku.to_owned(), last["to_price"].clone());
        }
        Some(())
    }

    /// The whole audit trail, oldest first.
    async fn trail(&self) -> Vec<Value> {
        let (mut all, mut args) = (Vec::new(), json!({ "limit": 100 }));
        loop {
            let page = self.ok("list_price_changes", args.clone()).await;
            all.extend(page["changes"].as_array().unwrap().iter().cloned());
            if page["next_cursor"].is_null() {
                all.reverse();
                return all;
            }
            args["cursor"] = page["next_cursor"].clone();
        }
    }

    async fn statuses(&self) -> BTreeMap<String, String> {
        let (mut all, mut args) = (BTreeMap::new(), json!({ "limit": 100 }));
        loop {
            let page = self.ok("list_proposals", args.clone()).await;
            for it in page["proposals"].as_array().unwrap() {
                let text = |name: &str| it[name].as_str().unwrap().to_owned();
                all.insert(text("proposal_id"), text("status"));
            }
            if page["next_cursor"].is_null() {
                return all;
            }
            args["cursor"] = page["next_cursor"].clone();
        }
    }

    /// Compares everything that was acknowledged with the audit trail.
    async fn compare(&self) {
        let (trail, statuses) = (self.trail().await, self.statuses().await);
        let mut done: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        let mut last: BTreeMap<&str, &Value> = BTreeMap::new();
        for entry in &trail {
            let text = |name: &str| entry[name].as_str().unwrap();
            let first = done.entry(text("action")).or_default().insert(text("proposal_id"));
            assert!(first, "done twice: {entry}");
            if entry["action"] == "applied"
                && let Some(before) = last.insert(text("sku"), &entry["to_price"])
            {
                assert_eq!(before, &entry["from_price"], "two from one state: {entry}");
            }
        }
        let empty = BTreeSet::new();
        let of = |action: &str| done.get(action).unwrap_or(&empty);
        assert_eq!(statuses.keys().map(String::as_str).collect::<BTreeSet<_>>(), *of("proposed"));
        for (id, status) in &statuses {
            for action in ["applied", "cancelled"] {
                let in_trail = of(action).contains(id.as_str());
                assert_eq!(in_trail, status == action, "{id} is {status}, half done");
            }
        }
        let acknowledged = self.acknowledged.lock();
        for (action, ids) in [
            ("proposed", &acknowledged.proposed),
            ("applied", &acknowledged.applied),
            ("cancelled", &acknowledged.cancelled),
        ] {
            let lost: Vec<&String> =
                ids.iter().filter(|id| !of(action).contains(id.as_str())).collect();
            assert!(lost.is_empty(), "acknowledged as {action} and lost: {lost:?}");
        }
    }

    /// The catalogue has the last price of the trail: a proposal from it can be applied.
    async fn compare_prices(&self) {
        for sku in (0..SKUS).map(|at| format!("S{at}")) {
            self.learn(&sku).await.unwrap();
            let known = self.acknowledged.lock().prices.get(&sku).cloned();
            let Some(price) = known else { continue };
            let args = json!({ "sku": sku, "our_price": price });
            let made = self.ok("propose_price", args).await;
            let reasoning = made["proposal"]["reasoning"].as_str().unwrap();
            assert!(!reasoning.contains("The catalogue has"), "{sku}: {reasoning}");
        }
    }
}

fn crowd(server: &Server, token: &str, before: Acknowledged) -> Arc<Crowd> {
    Arc::new(Crowd {
        url: server.url(OPTIMIZER),
        token: token.to_owned(),
        acknowledged: Mutex::new(before),
        more: Notify::new(),
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_clients_never_apply_two_from_one_state() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &SETTINGS);
    let token = every_scope(folder.path());
    let crowd = crowd(&server, &token, Acknowledged::default());
    let mut clients = JoinSet::new();
    for client in 0..50 {
        let crowd = Arc::clone(&crowd);
        clients.spawn(async move {
            for round in 0..4 {
                crowd.attempt(client + round).await.unwrap();
            }
        });
    }
    while let Some(client) = clients.join_next().await {
        client.unwrap();
    }
    crowd.compare().await;
    crowd.compare_prices().await;
    let acknowledged = crowd.acknowledged.lock();
    assert_eq!(acknowledged.proposed.len(), 200);
    assert!(acknowledged.applied.len() >= SKUS, "{}", acknowledged.applied.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_acknowledged_change_is_lost_by_kills() {
    let folder = Folder::new();
    let token = every_scope(folder.path());
    let mut before = Acknowledged::default();
    for round in 0..12 {
        let server = Server::start(folder.path(), &SETTINGS);
        let crowd = crowd(&server, &token, before);
        if round > 0 {
            crowd.compare().await;
            crowd.compare_prices().await;
        }
        let mut clients = JoinSet::new();
        for client in 0..8 {
            let crowd = Arc::clone(&crowd);
            clients.spawn(async move {
                let mut at = client;
                while crowd.attempt(at).await.is_some() {
                    at += 3;
                }
            });
        }
        // The kill comes while the clients are working.
        for _ in 0..5 + round * 2 {
            crowd.more.notified().await;
        }
        server.kill();
        while let Some(client) = clients.join_next().await {
            client.unwrap();
        }
        before = std::mem::take(&mut *crowd.acknowledged.lock());
    }
    assert!(before.applied.len() > 12 && before.cancelled.len() > 1, "there was something to lose");
    let server = Server::start(folder.path(), &SETTINGS);
    let crowd = crowd(&server, &token, before);
    crowd.compare().await;
    crowd.compare_prices().await;
}

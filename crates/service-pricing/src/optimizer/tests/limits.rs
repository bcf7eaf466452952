//! Tests of the limits of a credential.

use testkit::on_every_engine;

use super::*;

#[derive(Debug)]
struct TestLimits {
    prefixes: Vec<String>,
    market: Option<String>,
}

impl contract::GrantLimits for TestLimits {
    fn require_sku(&self, sku: &str) -> Result<(), Fault> {
        let known = self.prefixes.iter().any(|it| sku.starts_with(it.as_str()));
        if known { Ok(()) } else { Err(outside()) }
    }

    fn require_market(&self, market: &str) -> Result<(), Fault> {
        let known = self.market.as_ref().is_none_or(|it| it == market);
        if known { Ok(()) } else { Err(outside()) }
    }

    fn sku_prefixes(&self) -> Option<&[String]> {
        Some(&self.prefixes)
    }
}

fn outside() -> Fault {
    Fault::new(fault::Kind::Forbidden, "limit_exceeded", "outside")
}

pub(super) fn limited(scopes: &[&str], prefixes: &[&str], market: Option<&str>) -> Caller {
    let prefixes = prefixes.iter().map(|&it| it.to_owned()).collect();
    let within = TestLimits { prefixes, market: market.map(str::to_owned) };
    Caller { grant_limits: Some(Arc::new(within)), ..caller("limited", scopes) }
}

#[tokio::test]
async fn a_limited_credential_reaches_its_own_goods_alone() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let all = ["read", "write", "propose", "explain", "apply", "admin"];
        let toys = limited(&all, &["TOY-", "%"], None);
        let theirs = fixture.proposed(json!({ "sku": "BOOK-1", "our_price": 10, "cost": 5 })).await;
        let own = json!({ "sku": "TOY-1", "our_price": 10, "cost": 5 });
        let made = fixture.call_as(&toys, "propose_price", own).await.unwrap();
        let id = &theirs["proposal_id"];
        let book = json!({ "sku": "BOOK-1", "our_price": 10 });
        for (tool, args) in [
            ("propose_price", book.clone()),
            ("optimize_price", json!({ "payload": book.clone() })),
            ("explain_proposal", json!({ "proposal_id": id })),
            ("apply_proposal", json!({ "proposal_id": id })),
            ("cancel_proposal", json!({ "proposal_id": id })),
            ("revert_proposal", json!({ "proposal_id": id })),
            ("list_proposals", json!({ "sku": "BOOK-1" })),
            ("list_price_changes", json!({ "sku": "BOOK-1" })),
            ("get_pricing_policy", json!({ "sku": "BOOK-1" })),
            ("simulate_pricing", json!({ "sku": "BOOK-1" })),
            ("set_pricing_policy", json!({ "sku": "BOOK-1", "policy": {} })),
            ("set_pricing_policy", json!({ "category": "toys", "policy": {} })),
            ("set_pricing_policy", json!({ "policy": {} })),
            ("set_kill_switch", json!({ "on": true })),
        ] {
            assert_eq!(fixture.refused(&toys, tool, args).await, "auth_error", "{tool}");
        }
        let many = json!({ "items": [book, { "sku": "TOY-2", "our_price": 10, "cost": 5 }] });
        let many = fixture.call_as(&toys, "propose_prices", many).await.unwrap();
        assert_eq!((&many["proposed"], &many["failed"]), (&json!(1), &json!(1)), "{many}");
        assert_eq!(many["results"][0]["error"], "limit_exceeded");
        let list = fixture.call_as(&toys, "list_proposals", json!({})).await.unwrap();
        assert_eq!((&list["count"], &list["next_cursor"]), (&json!(1), &Value::Null));
        assert_eq!(list["proposals"][0]["proposal_id"], made["proposal"]["proposal_id"]);
        let trail = fixture.call_as(&toys, "list_price_changes", json!({})).await.unwrap();
        assert_eq!(trail["changes"].as_array().unwrap().len(), 1, "{trail}");
    })
    .await;
}

#[tokio::test]
async fn a_credential_for_another_market_reaches_no_proposal() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let all = ["read", "write", "propose", "explain", "apply", "admin"];
        let abroad = limited(&all, &[""], Some("FR"));
        let made = fixture.proposed(json!({ "sku": "A", "our_price": 10, "cost": 5 })).await;
        let id = json!({ "proposal_id": made["proposal_id"] });
        let price = json!({ "sku": "A", "our_price": 10 });
        let refused = [
            ("propose_price", price.clone()),
            ("optimize_price", json!({ "payload": price })),
            ("explain_proposal", id.clone()),
            ("apply_proposal", id.clone()),
            ("cancel_proposal", id.clone()),
            ("revert_proposal", id),
            ("list_proposals", json!({})),
            ("list_price_changes", json!({})),
            ("list_price_pushes", json!({})),
            ("retry_price_push", json!({})),
            ("get_pricing_policy", json!({})),
            ("get_pricing_policy", json!({ "sku": "A" })),
            ("set_pricing_policy", json!({ "sku": "A", "policy": {} })),
            ("set_pricing_policy", json!({ "policy": {} })),
            ("set_kill_switch", json!({ "on": true })),
            ("simulate_pricing", json!({ "sku": "A" })),
        ];
        for (tool, args) in refused.clone() {
            assert_eq!(fixture.refused(&abroad, tool, args).await, "auth_error", "{tool}");
        }
        let many = json!({ "items": [{ "sku": "A", "our_price": 10, "cost": 5 }] });
        let many = fixture.call_as(&abroad, "propose_prices", many).await.unwrap();
        assert_eq!((&many["proposed"], &many["failed"]), (&json!(0), &json!(1)), "{many}");
        // These concern no market. Every other tool has a row above.
        let reached = ["auth_metrics", "ping_health", "health_check", "version_info"];
        let known = refused.iter().map(|(tool, _)| *tool).chain(reached).chain(["propose_prices"]);
        let known: std::collections::BTreeSet<&str> = known.collect();
        let everything = contract::View::default();
        let listed = fixture.pipeline.catalog().list(&everything);
        let listed: std::collections::BTreeSet<&str> =
            listed.map(|it| &*it.tool.spec.name).collect();
        assert_eq!(known, listed);
        let there = json!({ "sku": "A", "market": "FR" });
        assert_eq!(
            fixture.refused(&abroad, "simulate_pricing", there).await,
            "optimization_error",
            "there are no ticks, but it may look"
        );
    })
    .await;
}

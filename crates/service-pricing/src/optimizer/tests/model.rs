//! Random sequences of price operations, compared with a small model.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use testkit::on_every_engine;

use super::limits::limited;
use super::*;

const CASES: usize = 30;

#[derive(Debug, Clone)]
enum Step {
    /// For the price of the catalogue, or for another.
    Propose(usize, Option<i64>),
    Apply(usize),
    Cancel(usize),
    Revert(usize),
    Import(usize, i64),
    Wait(u64),
    Switch(bool),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let (sku, which) = (0..2_usize, any::<usize>());
    let price = 1_500..1_504_i64;
    let step = prop_oneof![
        6 => (sku.clone(), proptest::option::weighted(0.3, price.clone()))
            .prop_map(|(sku, price)| Step::Propose(sku, price)),
        6 => which.prop_map(Step::Apply),
        2 => which.prop_map(Step::Cancel),
        3 => which.prop_map(Step::Revert),
        1 => (sku, price).prop_map(|(sku, price)| Step::Import(sku, price)),
        1 => (1..30_u64).prop_map(Step::Wait),
        1 => any::<bool>().prop_map(Step::Switch),
    ];
    proptest::collection::vec(step, 1..40)
}

#[derive(Debug, Clone, PartialEq)]
struct ExpectedProposal {
    id: String,
    sku: String,
    current: Amount,
    proposed: Amount,
    status: &'static str,
    expires: i64,
}

/// The expected state.
#[derive(Default)]
struct Model {
    prices: BTreeMap<String, Amount>,
    proposals: Vec<ExpectedProposal>,
    stopped: bool,
    /// Action, SKU, proposal, from, to.
    audit: Vec<(&'static str, String, String, Amount, Amount)>,
}

impl Model {
    fn status(&self, at: usize, now: Millis) -> &'static str {
        let expected = &self.proposals[at];
        if expected.status == "pending" && expected.expires <= now.0 {
            "expired"
        } else {
            expected.status
        }
    }

    /// What an attempt to move a proposal comes to: an error's word, or nothing.
    fn moved(&mut self, at: usize, verb: &str, now: Millis) -> Result<(), &'static str> {
        let (from, to) = match verb {
            "apply_proposal" => ("pending", "applied"),
            "cancel_proposal" => ("pending", "cancelled"),
            _ => ("applied", "reverted"),
        };
        match self.status(at, now) {
            found if found == to => return Ok(()),
            found if found == from => {}
            "expired" => return Err("proposal_expired"),
            _ => return Err("proposal_state"),
        }
        let expected = &mut self.proposals[at];
        let (old, new) = match to {
            "reverted" => (expected.proposed, expected.current),
            _ => (expected.current, expected.proposed),
        };
        if to != "cancelled" {
            if self.stopped {
                return Err("kill_switch");
            }
            if self.prices.get(&expected.sku).is_some_and(|price| *price != old) {
                return Err("proposal_stale");
            }
            self.prices.insert(expected.sku.clone(), new);
        }
        expected.status = to;
        self.audit.push((to, expected.sku.clone(), expected.id.clone(), old, new));
        Ok(())
    }
}

struct ModelRun<'a> {
    fixture: &'a Fixture,
    model: Model,
    skus: [String; 2],
}

impl ModelRun<'_> {
    async fn step(&mut self, step: &Step) {
        match step {
            Step::Propose(sku, price) => self.propose(&self.skus[*sku].clone(), *price).await,
            Step::Apply(at) => self.go(*at, "apply_proposal").await,
            Step::Cancel(at) => self.go(*at, "cancel_proposal").await,
            Step::Revert(at) => self.go(*at, "revert_proposal").await,
            Step::Import(sku, cents) => {
                let sku = self.skus[*sku].clone();
                let price = Amount::from_micros(cents * 10_000).unwrap();
                let product =
                    Product { sku: sku.clone(), price: Some(price), ..Product::default() };
                self.fixture.import(product).await;
                self.model.prices.insert(sku, price);
            }
            Step::Wait(hours) => self.fixture.clock.advance(Duration::from_hours(*hours)),
            Step::Switch(on) => {
                self.fixture.ok("set_kill_switch", json!({ "on": on })).await;
                self.model.stopped = *on;
            }
        }
    }

    async fn propose(&mut self, sku: &str, cents: Option<i64>) {
        let known = self.model.prices.get(sku).copied();
        let price = cents.and_then(|it| Amount::from_micros(it * 10_000)).or(known);
        let price = price.unwrap_or(amount("15"));
        let args = json!({ "sku": sku, "our_price": price, "cost": 9, "competitor_price": 15.2 });
        let reply = self.fixture.proposed(args).await;
        let expected = ExpectedProposal {
            id: reply["proposal_id"].as_str().unwrap().to_owned(),
            sku: sku.to_owned(),
            current: serde_json::from_value(reply["current_price"].clone()).unwrap(),
            proposed: serde_json::from_value(reply["proposed_price"].clone()).unwrap(),
            status: "pending",
            expires: self.fixture.now().0 + i64::try_from(LIFE.as_millis()).unwrap(),
        };
        assert_eq!(expected.current, price);
        let audit = (expected.id.clone(), expected.current, expected.proposed);
        self.model.audit.push(("proposed", sku.to_owned(), audit.0, audit.1, audit.2));
        self.model.proposals.push(expected);
    }

    async fn go(&mut self, at: usize, verb: &str) {
        if self.model.proposals.is_empty() {
            return;
        }
        let at = at % self.model.proposals.len();
        let id = self.model.proposals[at].id.clone();
        let reply = self.fixture.call(verb, json!({ "proposal_id": id })).await;
        let found = reply.as_ref().map(|_| ()).map_err(|it| it["error_code"].as_str().unwrap());
        let expected = self.model.moved(at, verb, self.fixture.now());
        assert_eq!(found, expected, "{verb} {:?}: {reply:?}", self.model.proposals[at]);
        for sku in &self.skus {
            assert_eq!(self.fixture.price(sku).await, self.model.prices.get(sku).copied());
        }
    }

    /// Compares every list, page by page, as a caller limited to these SKUs sees it.
    async fn compare(&self, prefix: &str) {
        let own = limited(&["read"], &[prefix], None);
        let now = self.fixture.now();
        let proposals = &self.model.proposals;
        for status in [None, Some("pending"), Some("expired"), Some("applied"), Some("reverted")] {
            let mut args = json!({ "limit": 3 });
            if let Some(status) = status {
                args["status"] = json!(status);
            }
            let seen = pages(self.fixture, &own, "list_proposals", "proposals", args).await;
            let seen: Vec<(&str, &str)> = seen
                .iter()
                .map(|it| (it["proposal_id"].as_str().unwrap(), it["status"].as_str().unwrap()))
                .collect();
            let expected: Vec<(&str, &str)> = (0..proposals.len())
                .rev()
                .map(|at| (proposals[at].id.as_str(), self.model.status(at, now)))
                .filter(|(_, found)| status.is_none_or(|it| it == *found))
                .collect();
            assert_eq!(seen, expected, "{status:?}");
        }
        let args = json!({ "limit": 4 });
        let audit = pages(self.fixture, &own, "list_price_changes", "changes", args).await;
        let read = |it: &Value, name: &str| it[name].as_str().unwrap().to_owned();
        let price = |it: &Value| serde_json::from_value::<Amount>(it.clone()).unwrap();
        let audit: Vec<_> = audit
            .iter()
            .rev()
            .map(|it| {
                let names = (read(it, "action"), read(it, "sku"), read(it, "proposal_id"));
                (names, price(&it["from_price"]), price(&it["to_price"]))
            })
            .collect();
        let expected = self.model.audit.iter().cloned();
        let expected: Vec<_> =
            expected.map(|(a, b, c, d, e)| ((a.to_owned(), b, c), d, e)).collect();
        assert_eq!(audit, expected);
    }
}

/// Every entry of a list, and pages that are full but for the last.
pub(super) async fn pages(
    fixture: &Fixture,
    caller: &Caller,
    tool: &str,
    field: &str,
    mut args: Value,
) -> Vec<Value> {
    let limit = usize::try_from(args["limit"].as_u64().unwrap()).unwrap();
    let mut all = Vec::new();
    loop {
        let page = fixture.call_as(caller, tool, args.clone()).await.unwrap();
        let list = page[field].as_array().unwrap();
        all.extend(list.iter().cloned());
        match page["next_cursor"].as_str() {
            Some(next) => {
                assert_eq!(list.len(), limit, "a page in the middle is full");
                args["cursor"] = json!(next);
            }
            None => {
                assert!(!list.is_empty() || all.is_empty(), "no page is empty but the only one");
                return all;
            }
        }
    }
}

#[tokio::test]
async fn whatever_happens_the_books_agree_with_the_model() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let mut runner = TestRunner::deterministic();
        let mut ends: BTreeMap<&str, usize> = BTreeMap::new();
        for case in 0..CASES {
            let steps = steps().new_tree(&mut runner).unwrap().current();
            fixture.ok("set_kill_switch", json!({ "on": false })).await;
            let prefix = format!("M{case}-");
            let skus = [format!("{prefix}a"), format!("{prefix}b")];
            let mut run = ModelRun { fixture: &fixture, model: Model::default(), skus };
            for step in &steps {
                run.step(step).await;
            }
            run.compare(&prefix).await;
            for at in 0..run.model.proposals.len() {
                *ends.entry(run.model.status(at, fixture.now())).or_default() += 1;
            }
        }
        // A run without any change would prove nothing.
        assert_eq!(ends.len(), 5, "{ends:?}");
    })
    .await;
}

//! The first use of the pricing tools: a minted token, a proposal, its explanation, its
//! application, and the audit trail.

use std::path::Path;

use serde_json::{Value, json};

use crate::contract_examples::every_scope;
use crate::process::{Folder, Server, http, mcp_headers, run, stoa};

pub(crate) const OPTIMIZER: &str = "/mcp/optimizer";

pub(crate) fn mint(data: &Path, args: &[&str]) -> String {
    let mut command = stoa(data);
    let (code, token, err) = run(command.args(["token", "mint"]).args(args));
    assert_eq!(code, 0, "{err}");
    token.trim().to_owned()
}

/// The result or the error object; `None` where the server did not answer.
pub(crate) async fn ask(
    url: &str,
    bearer: Option<&str>,
    tool: &str,
    args: Value,
) -> Option<Result<Value, Value>> {
    let mut request = http().post(url);
    if let Some(token) = bearer {
        request = request.bearer_auth(token);
    }
    let params = json!({ "name": tool, "arguments": args });
    let response = mcp_headers(request, "tools/call", params).send().await.ok()?;
    let answer: Value = response.json().await.ok()?;
    let result = &answer["result"];
    let Some(failed) = result["content"].is_array().then(|| result["isError"] == true) else {
        // Refused before it became a call.
        return Some(Err(answer));
    };
    Some(match failed {
        false => Ok(result["structuredContent"].clone()),
        true => Err(result["content"][0]["text"].as_str()?.parse().ok()?),
    })
}

/// One way to authenticate: the token in the arguments of a service's own endpoint, or in a header.
struct PricingClient<'a> {
    url: String,
    token: &'a str,
    header: bool,
}

impl PricingClient<'_> {
    async fn call(&self, tool: &str, mut args: Value) -> Result<Value, Value> {
        if !self.header {
            args["capability_token"] = json!(self.token);
        }
        let bearer = self.header.then_some(self.token);
        ask(&self.url, bearer, tool, args).await.unwrap()
    }

    async fn ok(&self, tool: &str, args: Value) -> Value {
        self.call(tool, args).await.unwrap()
    }
}

#[tokio::test]
async fn from_a_minted_token_to_a_changed_price_and_back() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    let token = every_scope(folder.path());
    for (path, header) in [(OPTIMIZER, false), ("/mcp", true), ("/mcp", false)] {
        let client = PricingClient { url: server.url(path), token: &token, header };
        let sku = format!("PATH-{}-{header}", path.len());
        walk(&client, &sku).await;
    }
}

async fn walk(client: &PricingClient<'_>, sku: &str) {
    let args = json!({ "sku": sku, "our_price": 20, "competitor_price": 17.5, "cost": 9,
        "demand_index": 0.9, "min_price": null, "max_price": 40 });
    let first = client.ok("propose_price", args.clone()).await["proposal"].clone();
    let rival = client.ok("propose_price", args).await["proposal"].clone();
    assert_eq!(first["proposed_price"], rival["proposed_price"], "the same asks, the same price");
    let id = json!({ "proposal_id": first["proposal_id"] });

    let explanation = client.ok("explain_proposal", id.clone()).await["explanation"].clone();
    let effects =
        explanation["factors"].as_array().unwrap().iter().map(|it| it["effect"].as_f64().unwrap());
    let moved = first["proposed_price"].as_f64().unwrap() - 20.0;
    assert!((effects.sum::<f64>() - moved).abs() < 1e-9, "{explanation}");
    assert!(moved != 0.0, "{explanation}");

    let applied = client.ok("apply_proposal", id.clone()).await;
    assert_eq!(applied["result"]["status"], "applied");
    assert_eq!(client.ok("apply_proposal", id.clone()).await, applied, "twice is once");
    let stale = client.call("apply_proposal", json!({ "proposal_id": rival["proposal_id"] })).await;
    let stale = stale.unwrap_err();
    assert_eq!(stale["error"], "proposal_stale", "{stale}");
    let message = stale["message"].as_str().unwrap();
    assert!(message.contains("not 20 as"), "{message}");
    client.ok("cancel_proposal", json!({ "proposal_id": rival["proposal_id"] })).await;
    let reverted = client.ok("revert_proposal", id).await;
    assert_eq!(reverted["result"]["price"], 20.0);

    let list = client.ok("list_proposals", json!({ "sku": sku })).await;
    let words: Vec<&str> = list["proposals"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["status"].as_str().unwrap())
        .collect();
    assert_eq!(words, ["cancelled", "reverted"]);
    let trail = client.ok("list_price_changes", json!({ "sku": sku })).await;
    let trail: Vec<(&str, &str)> = trail["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["action"].as_str().unwrap(), it["by"].as_str().unwrap()))
        .collect();
    let expected =
        ["reverted", "cancelled", "applied", "proposed", "proposed"].map(|it| (it, "cli"));
    assert_eq!(trail, expected);
    let old = json!({ "payload": { "sku": sku, "our_price": 20, "cost": 9 } });
    assert_eq!(client.ok("optimize_price", old).await["proposal"]["current_price"], 20.0);
}

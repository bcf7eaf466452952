//! A client of the pricing services over MCP: ticks, proposals and applied prices of its own
//! products.

use clock::{Clock as _, SystemClock};
use serde_json::{Value, json};

use crate::acknowledged::AckedProposal;
use crate::clients::{Client, RequestFailure};

const STEPS_PER_SKU: u32 = 20;
const TICKS_PER_STEP: u32 = 4;
const FIRST_PRICE: f64 = 20.0;
const COST: f64 = 9.0;
/// A write with an unknown outcome is sent again this often.
const TRIES_MAX: u32 = 50;

pub(crate) async fn run(mut client: Client) {
    let mut products = 0;
    loop {
        let sku = format!("SOAK-{}-{products}", client.number);
        if product(&mut client, &sku).await == Err(RequestFailure::LoadOver) {
            return;
        }
        products += 1;
    }
}

async fn product(client: &mut Client, sku: &str) -> Result<(), RequestFailure> {
    let (mut price, mut last_tick) = (FIRST_PRICE, 0);
    for step in 0..STEPS_PER_SKU {
        for _ in 0..TICKS_PER_STEP {
            last_tick = SystemClock.now().0.max(last_tick + 1);
            tick(client, sku, price, last_tick).await?;
        }
        let proposal = propose(client, sku, price).await;
        if proposal == Err(RequestFailure::LoadOver) {
            return Err(RequestFailure::LoadOver);
        }
        let Ok((id, proposed)) = proposal else { continue };
        // The other half stays pending.
        if step % 2 == 0 {
            apply(client, sku, &id).await?;
            price = proposed;
        }
    }
    let ask = json!({ "sku": sku, "capability_token": client.shared.token });
    client.tool("market features", "fetch_market_features", ask).await.map(drop)
}

/// Sends one tick until it is acknowledged; the same tick twice is one.
async fn tick(client: &mut Client, sku: &str, price: f64, ts: i64) -> Result<(), RequestFailure> {
    let units = f64::from(u16::try_from(client.rng.below(1_000)).unwrap_or_default());
    let competitor_price = round(price * (0.9 + client.rng.unit() * 0.2));
    let tick = json!({ "sku": sku, "our_price": price, "competitor": "shop", "units": units,
        "competitor_price": competitor_price, "ts": ts });
    let ask = json!({ "d": tick, "capability_token": client.shared.token });
    let shared = std::sync::Arc::clone(&client.shared);
    shared.acknowledged.change_sku(sku, |it| it.unknown_ticks += 1);
    let sent = repeat(client, "ingest tick", "ingest_tick", &ask).await;
    shared.acknowledged.change_sku(sku, |it| match sent {
        Ok(()) => {
            it.unknown_ticks -= 1;
            it.ticks += 1;
            it.units += units;
        }
        Err(NotDone { may_be_done: false, .. }) => it.unknown_ticks -= 1,
        Err(_) => {}
    });
    sent.map_err(|it| it.halt)
}

/// Returns the proposal's id and price.
async fn propose(
    client: &mut Client,
    sku: &str,
    price: f64,
) -> Result<(String, f64), RequestFailure> {
    let competitor_price = round(price * (0.92 + client.rng.unit() * 0.2));
    let ask = json!({ "sku": sku, "our_price": price, "cost": COST,
        "competitor_price": competitor_price, "capability_token": client.shared.token });
    let answer = client.tool("propose price", "propose_price", ask).await?;
    let proposal = &answer["proposal"];
    let id = proposal["proposal_id"].as_str().unwrap_or_default().to_owned();
    let price = proposal["proposed_price"].as_f64().unwrap_or_default();
    let kept = AckedProposal { id: id.clone(), price, applied: false };
    client.shared.acknowledged.change_sku(sku, |it| it.proposals.push(kept));
    Ok((id, price))
}

/// Applies the proposal until that is acknowledged; applying twice is applying once.
async fn apply(client: &mut Client, sku: &str, id: &str) -> Result<(), RequestFailure> {
    let ask = json!({ "proposal_id": id, "capability_token": client.shared.token });
    let shared = std::sync::Arc::clone(&client.shared);
    shared.acknowledged.change_sku(sku, |it| it.unknown_price = true);
    let sent = repeat(client, "apply proposal", "apply_proposal", &ask).await;
    shared.acknowledged.change_sku(sku, |it| {
        it.unknown_price = sent.is_err_and(|it| it.may_be_done);
        for proposal in it.proposals.iter_mut().filter(|it| it.id == id) {
            proposal.applied = sent.is_ok();
        }
    });
    sent.map_err(|it| it.halt)
}

/// A write that was not acknowledged.
#[derive(Debug, Clone, Copy)]
struct NotDone {
    halt: RequestFailure,
    /// Whether it was sent without an answer at least once.
    may_be_done: bool,
}

async fn repeat(
    client: &mut Client,
    kind: &'static str,
    tool: &str,
    ask: &Value,
) -> Result<(), NotDone> {
    for tries in 0..TRIES_MAX {
        match client.tool(kind, tool, ask.clone()).await {
            Ok(_) => return Ok(()),
            Err(RequestFailure::Unknown) => {}
            Err(halt) => return Err(NotDone { halt, may_be_done: tries > 0 }),
        }
    }
    Err(NotDone { halt: RequestFailure::Unknown, may_be_done: true })
}

fn round(price: f64) -> f64 {
    (price * 100.0).round() / 100.0
}

//! Pushes to shops as the contract shows them, and their part of the health check.

use contract::next_step;
use fault::Fault;
use serde_json::{Value, json};

use crate::optimizer::Optimizer;
use crate::push::title;
use crate::service_info::Dependency;
use crate::storage::proposals::StoredProposal;
use crate::storage::pushes::{self, Push, PushQuery, PushState};

/// At most as many as there are shops.
const SHOPS_MAX: u32 = 10;

pub(crate) fn push(push: &Push) -> Value {
    json!({
        "target": push.target,
        "sku": push.sku,
        "price": push.price,
        "state": push.state.word(),
        "attempts": push.attempts,
        "reason": push.reason,
        "proposal_id": push.proposal,
        "created_at": push.created.to_rfc3339(),
        "updated_at": push.updated.to_rfc3339(),
    })
}

/// A push in one line.
pub(crate) fn line(push: &Push) -> String {
    let (target, state) = (title(&push.target), push.state.word());
    let mut line = format!("{} {} to {target}: {state}", push.sku, push.price);
    match push.attempts {
        0 | 1 => {}
        count => line.push_str(&format!(", {count} attempts")),
    }
    if let Some(reason) = &push.reason {
        line.push_str(&format!(" ({reason})"));
    }
    line
}

/// The pushes of the price that a proposal set or took back, if that is still in force.
pub(crate) async fn of_proposal(
    service: &Optimizer,
    stored: &StoredProposal,
) -> Result<Vec<Push>, Fault> {
    if service.outbox.targets().is_empty() {
        return Ok(Vec::new());
    }
    let query = PushQuery { sku: Some(&stored.sku), ..PushQuery::default() };
    let mut found = pushes::page(&service.db, query, SHOPS_MAX).await?;
    found.retain(|it| it.proposal == stored.id);
    Ok(found)
}

/// Where the price goes, at the end of a sentence.
pub(crate) fn sentence(pushes: &[Push]) -> String {
    let said = pushes.iter().map(|push| {
        let title = title(&push.target);
        match push.state {
            PushState::Pending => format!("; it is being pushed to {title}"),
            PushState::Delivered => format!("; {title} has it"),
            PushState::Failed => format!("; the push to {title} failed"),
            PushState::Withheld => {
                format!("; it is not pushed to {title}, because it is simulated")
            }
        }
    });
    said.collect()
}

pub(crate) fn next_steps(sku: &str, pushes: &[Push]) -> String {
    match pushes.is_empty() {
        true => String::new(),
        false => next_step("list_price_pushes", &json!({ "sku": sku })),
    }
}

/// Adds the pushes to the result of a proposal; a server without shops leaves them out.
pub(crate) fn add(result: &mut Value, pushes: &[Push]) {
    if pushes.is_empty() {
        return;
    }
    let shown =
        |it: &Push| json!({ "target": it.target, "state": it.state.word(), "reason": it.reason });
    result["pushes"] = pushes.iter().map(shown).collect();
}

/// A shop is in trouble if it cannot be reached, refuses our credentials, or lacks a price.
pub(crate) async fn dependencies(service: &Optimizer) -> Vec<Dependency> {
    let outbox = &service.outbox;
    let counts = match outbox.targets().is_empty() {
        true => Vec::new(),
        // A broken database is reported as such.
        false => pushes::counts(&service.db, None).await.unwrap_or_default(),
    };
    let failed = |target: &str| {
        let of = |it: &&pushes::PushCount| it.target == target && it.state == PushState::Failed;
        counts.iter().find(of).map_or(0, |it| it.count)
    };
    let shops = outbox.shops.iter().map(|shop| {
        let trouble = shop.problem().or_else(|| match failed(shop.target) {
            0 => None,
            count => Some(format!("{count} pushes failed; list_price_pushes says why")),
        });
        Dependency { name: shop.target, trouble, vital: false }
    });
    let webhook = outbox.webhook.iter();
    let webhook =
        webhook.map(|it| Dependency { name: it.target, trouble: it.problem(), vital: false });
    shops.chain(webhook).collect()
}

//! How the proposing tools compute a proposal, prepare its stored form and, for a single one, store
//! it and reply.

use std::sync::Arc;

use clock::Millis;
use contract::{Cx, JsonReply};
use fault::Fault;
use pricing_engine::{Ask, Proposal};
use serde_json::json;

use crate::optimizer::pricing_input;
use crate::optimizer::{Optimizer, wire};
use crate::storage::proposals::{Kept, Status};

pub(crate) async fn made(
    cx: &Cx<Optimizer>,
    ask: Ask,
    note: Option<String>,
) -> Result<JsonReply, Fault> {
    pricing_input::within_reach(&cx.caller, &ask.sku)?;
    let service_info = &cx.service;
    let mut body = computed(service_info, ask).await?;
    body.reasoning.extend(note.into_iter().flat_map(|note| [" ".to_owned(), note]));
    let kept = Arc::new(service_info.kept(body, &cx.caller.subject)?);
    service_info.group_commit.keep(&service_info.db, &kept).await?;
    let text =
        format!("{}\n{}\nproposal_id {}", wire::line(&kept.body), kept.body.reasoning, kept.id);
    Ok(JsonReply::new(json!({ "ok": true, "proposal": wire::kept(&kept, kept.created) }), text))
}

pub(crate) async fn computed(service_info: &Optimizer, ask: Ask) -> Result<Proposal, Fault> {
    let case = pricing_input::complete(&service_info.db, ask).await?;
    let mut body = pricing_engine::propose(&case.ask, &case.policy)?;
    if let Some(price) = case.other_price {
        body.reasoning.push_str(&format!(
            " The catalogue has {price}, not {}: applying will be refused until they agree.",
            body.current
        ));
    }
    Ok(body)
}

impl Optimizer {
    pub(crate) fn kept(&self, body: Proposal, by: &str) -> Result<Kept, Fault> {
        let now = self.now();
        Ok(Kept {
            id: self.ids.next(now),
            sku: body.sku.clone(),
            status: Status::Pending,
            current: body.current,
            proposed: body.price,
            by: by.to_owned(),
            created: now,
            expires: Millis(now.0.saturating_add(self.life_ms)),
            ended: None,
            body,
        })
    }
}

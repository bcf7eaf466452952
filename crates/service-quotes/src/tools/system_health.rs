//! `system.health`: whether quotes can be had right now.

use contract::Cx;
use fault::Fault;

use crate::Quotes;
use crate::answer::HealthReply;
use crate::wire::{NoArgs, api_cx};

pub(crate) async fn call(cx: Cx<Quotes>, _: NoArgs) -> Result<HealthReply, Fault> {
    cx.service.api.health(&api_cx(&cx)).await
}

//! `system.health`: whether the venues and the archive work.

use contract::Cx;
use fault::Fault;

use crate::Quotes;
use crate::reply::HealthReply;
use crate::wire::{NoArgs, api_context};

pub(crate) async fn call(cx: Cx<Quotes>, _: NoArgs) -> Result<HealthReply, Fault> {
    cx.service.api.health(&api_context(&cx)).await
}

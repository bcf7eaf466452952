//! `propose_price`: computes one proposal from the caller's figures and stores it.

use contract::{Cx, JsonReply};
use fault::Fault;

use crate::optimizer::Optimizer;
use crate::optimizer::pricing_input::Asked;
use crate::optimizer::proposing::made;

pub(crate) async fn call(cx: Cx<Optimizer>, asked: Asked) -> Result<JsonReply, Fault> {
    let ask = asked.ask(cx.service.now())?;
    made(&cx, ask, None).await
}

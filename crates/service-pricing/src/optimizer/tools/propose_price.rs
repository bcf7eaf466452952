//! `propose_price`: computes one proposal from the caller's figures and stores it.

use contract::{Cx, JsonReply};
use fault::Fault;

use crate::optimizer::Optimizer;
use crate::optimizer::pricing_input::PriceArgs;
use crate::optimizer::proposing::propose_and_reply;

pub(crate) async fn call(cx: Cx<Optimizer>, args: PriceArgs) -> Result<JsonReply, Fault> {
    let input = args.input(cx.service.now())?;
    propose_and_reply(&cx, input, None).await
}

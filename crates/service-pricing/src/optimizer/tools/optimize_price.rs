//! `optimize_price`: the older form of `propose_price`, with its figures in one `payload` object.

use contract::{Cx, JsonReply};
use fault::Fault;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::optimizer::Optimizer;
use crate::optimizer::proposing::propose_and_reply;

#[derive(Deserialize)]
pub(crate) struct Args {
    payload: Map<String, Value>,
}

pub(crate) async fn call(cx: Cx<Optimizer>, args: Args) -> Result<JsonReply, Fault> {
    let read = pricing_engine::legacy::read(&args.payload, cx.service.now().0)?;
    let note = match read.ignored.as_slice() {
        [] => None,
        ignored => {
            Some(format!("Fields of the payload that mean nothing here: {}.", ignored.join(", ")))
        }
    };
    propose_and_reply(&cx, read.input, note).await
}

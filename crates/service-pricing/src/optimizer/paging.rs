//! The checks that the listing tools share: the SKU filter against the caller's limits, and cursors.

use contract::Cx;
use fault::Fault;

use crate::optimizer::Optimizer;
use crate::optimizer::pricing_input::{self, MARKET};

pub(crate) fn within_reach(cx: &Cx<Optimizer>, sku: Option<&str>) -> Result<(), Fault> {
    match sku {
        Some(sku) => pricing_input::within_reach(&cx.caller, sku),
        None => cx.caller.require_market(MARKET),
    }
}

pub(crate) fn wrong_cursor() -> Fault {
    let expected = "the next_cursor of an earlier answer";
    Fault::invalid("invalid_input", format!("cursor: expected {expected}"))
        .problem("cursor", expected)
}

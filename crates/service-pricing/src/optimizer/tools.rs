//! The optimizer's tools, one file each; `crate::tools` has the four that both
//! contracts share.

pub(crate) mod apply_proposal;
pub(crate) mod cancel_proposal;
pub(crate) mod explain_proposal;
pub(crate) mod get_pricing_policy;
pub(crate) mod list_price_changes;
pub(crate) mod list_price_pushes;
pub(crate) mod list_proposals;
pub(crate) mod optimize_price;
pub(crate) mod price_feed;
pub(crate) mod propose_price;
pub(crate) mod propose_prices;
pub(crate) mod retry_price_push;
pub(crate) mod revert_proposal;
pub(crate) mod set_kill_switch;
pub(crate) mod set_pricing_policy;
pub(crate) mod simulate_pricing;

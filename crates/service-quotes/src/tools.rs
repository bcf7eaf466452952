//! One file per tool of the contract, named after it; each has one `call`.

pub(crate) mod quotes_historical;
pub(crate) mod quotes_live;
pub(crate) mod system_health;
pub(crate) mod system_metadata;

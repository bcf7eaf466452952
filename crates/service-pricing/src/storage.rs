//! What the two services share and keep: products, ticks, proposals, policies, and the trail of what
//! was done. Rules about prices are not here; these are the storage.

pub(crate) mod audit;
pub(crate) mod group_commit;
pub(crate) mod inbox;
pub(crate) mod policies;
pub(crate) mod products;
pub(crate) mod proposals;
mod schema;
pub(crate) mod sources;
pub(crate) mod switch;
pub(crate) mod ticks;

pub use schema::MIGRATIONS;

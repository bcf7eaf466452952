//! The tables of the two services: products, ticks, proposals, pushes, policies, sources and the
//! audit log. Pricing rules are in `pricing-engine`.

pub(crate) mod audit;
pub(crate) mod group_commit;
pub(crate) mod inbox;
pub(crate) mod policies;
pub(crate) mod products;
pub(crate) mod proposals;
pub(crate) mod pushes;
pub(crate) mod schedules;
mod schema;
pub(crate) mod sources;
pub(crate) mod switch;
pub(crate) mod ticks;

pub use schema::MIGRATIONS;

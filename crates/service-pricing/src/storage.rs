//! The tables of the two services: products, ticks, proposals, pushes, policies, sources and the
//! audit log. Pricing rules are in `pricing-engine`.

pub(crate) mod audit;
pub(crate) mod policies;
pub(crate) mod products;
pub(crate) mod proposal_writer;
pub(crate) mod proposals;
pub(crate) mod pushes;
pub(crate) mod schedules;
mod schema;
pub(crate) mod sources;
pub(crate) mod switch;
pub(crate) mod tick_writer;
pub(crate) mod ticks;

pub use schema::MIGRATIONS;

//! The mathematics of the price optimizer: computes a price with its reasons from the data about a
//! product.
//!
//! Pure: no I/O, no clock, no randomness; the same input gives the same proposal. It does not know
//! tools, tokens or stores. Money is exact ([`money`], [`grid`]); estimates are floats and become
//! prices only through the grid and the guardrails.

pub mod confidence;
pub mod demand;
pub mod elasticity;
mod fit;
mod follow;
pub mod grid;
pub mod guardrails;
pub mod legacy;
mod linear;
pub mod money;
pub mod objective;
pub mod outliers;
pub mod periods;
pub mod policy;
pub mod pricing_input;
pub mod propose;
mod reasoning;
pub mod refusal;
pub mod replay;
#[cfg(feature = "testing")]
pub mod shop;
pub mod waterfall;

pub use confidence::Confidence;
pub use demand::ExpectedEffect;
pub use elasticity::{Elasticity, EstimateQuality};
pub use grid::{Currency, Grid, PriceEnding};
pub use guardrails::GuardrailAct;
pub use money::{Amount, Rate, figure};
pub use outliers::{ExcludedPrice, Market};
pub use periods::periods;
pub use policy::{Mode, Policy, Position, Prior};
pub use pricing_input::{CompetitorPrice, HistoryPoint, Inputs, PricingInput};
pub use propose::{ALGORITHM, Aim, Proposal, propose, propose_with};
pub use refusal::{Bound, Refusal};
pub use waterfall::{Factor, RULES};

#[cfg(test)]
mod tests;

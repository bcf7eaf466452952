//! Documents of our own making with what is true of them, for tests here and elsewhere.
#![allow(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "a document that cannot be made fails the test"
)]

mod generator;
mod russian;
mod truth;

pub use generator::{Dice, corpus, ordinal};
pub use truth::{Score, Truth, found, plain, plain_court, stated};

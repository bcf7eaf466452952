//! Generated documents with the facts they state, for tests here and in other crates.
#![allow(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "a document that cannot be made fails the test"
)]

mod expected;
mod generator;
mod russian;

pub use expected::{ExpectedFacts, Score, counted, found, plain, plain_court, stated};
pub use generator::{CorpusRng, corpus, ordinal};

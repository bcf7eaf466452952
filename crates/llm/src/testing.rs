//! Models for tests.
pub struct Placeholder;

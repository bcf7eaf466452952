//! What tests of every crate share: databases of both engines, folders that go away, and a clock
//! that does what it is told.
//!
//! A fixture that cannot be had fails the test at once, so panics are at home here.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "this crate is only ever part of a test"
)]

mod clock;
mod databases;
mod folder;
pub mod postgres;

pub use clock::FakeClock;
pub use databases::on_every_engine;
pub use folder::TempFolder;

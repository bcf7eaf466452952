//! Fixtures that tests of every crate share: databases of both engines, temporary folders, a clock
//! that tests set by hand, and a seeded generator of random data.
//!
//! A fixture that cannot be created panics, which fails the test at once.
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
mod rng;

pub use clock::{FakeClock, TokioClock};
pub use databases::on_every_engine;
pub use folder::TempFolder;
pub use rng::TestRng;

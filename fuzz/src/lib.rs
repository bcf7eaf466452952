//! Fuzz targets for everything that parses foreign bytes, and a deterministic runner of them on the
//! stable toolchain. A run depends on the target, the seed and the number of the run alone.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a failed law is a panic, and the results belong on the terminal"
)]

pub mod mutation;
pub mod runner;
pub mod targets;

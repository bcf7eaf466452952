//! The transport over real sockets and pipes, with a small service of its own behind it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

mod authentication;
mod double;
mod following;
mod http;
mod resources;
mod stdio;
mod tasks;
mod wire;

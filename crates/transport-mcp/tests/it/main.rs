//! The transport over real sockets and pipes, with a small service of its own behind it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

mod authentication;
mod client;
mod fixture;
mod http;
mod progress;
mod prompts;
mod resources;
mod session_calls;
mod stdio;
mod tasks;

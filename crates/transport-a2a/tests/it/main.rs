//! Tests of the protocol as clients use it, with an invented tool.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

mod endpoints;
mod fixture;
mod restart;
mod streams;
mod tasks;
mod test_server;
mod webhooks;

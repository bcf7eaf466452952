//! The protocol as clients speak it, over a tool made up for the occasion.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

mod doors;
mod fixture;
mod house;
mod restart;
mod streams;
mod tasks;
mod webhooks;

//! The protocol as clients speak it, over a tool made up for the occasion.
#![allow(clippy::panic, reason = "a test that cannot go on says so")]

mod doors;
mod house;
mod restart;
mod streams;
mod tasks;
mod webhooks;

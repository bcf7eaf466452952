//! The binary as users run it: started as a process and called over its real transports.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test that cannot go on stops, and reads the environment cargo gives it"
)]

mod agents;
mod archive;
mod archive_chat;
mod archive_contract;
mod attacks;
mod bad_input;
mod candles;
mod chat_login;
mod cli;
mod collector;
mod contract_examples;
mod durability;
mod http_api;
mod install;
mod language_model;
mod mcp;
mod metrics;
mod oauth;
mod open_reading;
mod operations;
mod pricing_access;
mod pricing_faults;
mod pricing_health;
mod pricing_path;
mod pricing_push;
mod pricing_rest;
mod pricing_schedules;
mod pricing_simulated;
mod process;
mod simulated;
mod source_files;
mod spelling;
mod streams;
mod tables;
mod tasks;
mod users;
mod venue_faults;
mod webhooks;

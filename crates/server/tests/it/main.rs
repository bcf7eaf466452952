//! The binary as its users meet it: started as a process, spoken to over its real transports.

#![expect(clippy::disallowed_methods, reason = "tests read the environment cargo gives them")]

mod bad_input;
mod cli;
mod contract_examples;
mod durability;
mod http_api;
mod mcp;
mod operations;
mod process;
mod tables;
mod tidy;
mod venue_faults;

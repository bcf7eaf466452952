//! Code that several benchmarks share. Each benchmark is a program in `bin`.

pub mod binaries;
pub mod delivery;
pub mod frames;
pub mod search_corpus;
pub mod search_peers;

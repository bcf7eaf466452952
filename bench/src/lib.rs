//! Code that several benchmarks share. Each benchmark is a program in `bin`.

pub mod binaries;
pub mod delivery;
pub mod frames;
pub mod outcome;
pub mod processes;
pub mod search_cases;
pub mod search_corpus;
pub mod search_peers;
pub mod text_rng;

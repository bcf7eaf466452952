//! What several of the benchmarks need. Each of them is a program in `bin`.

pub mod binaries;
pub mod frames;

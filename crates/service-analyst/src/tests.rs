//! Tests of the whole analyst against fake tools that compute their answers by formula.

mod eval;
mod fake_tools;
mod gaps;
mod invariants;
mod model;

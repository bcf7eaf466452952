//! The analyst as a whole, against tools that answer by formula.

mod eval;
mod floor;
mod gaps;
mod laws;
mod model;

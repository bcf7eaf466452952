//! The analyst as a whole, against tools that answer by formula.

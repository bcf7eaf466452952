//! The collector as a whole, on both engines.

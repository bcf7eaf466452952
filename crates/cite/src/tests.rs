//! Laws of the whole.

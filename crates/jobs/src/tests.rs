//! The queue on both engines.

//! The tools that both contracts share.

pub(crate) mod health_tools;

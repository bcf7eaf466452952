//! service-quotes

//! Streams over real connections, with a service that does as it is told.

mod documents;
pub(crate) mod fixture;
mod sse;
mod ws;

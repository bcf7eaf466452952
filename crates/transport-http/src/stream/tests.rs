//! Streams over real connections, with a service that does as it is told.

mod documents;
pub(crate) mod house;
mod sse;
mod ws;

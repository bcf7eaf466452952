//! Streams over real connections, with a scripted service.

mod documents;
pub(crate) mod fixture;
mod sse;
mod ws;

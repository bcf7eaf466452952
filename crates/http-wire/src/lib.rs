//! HTTP headers that several transports write the same way: refusals, event streams and entity tags.
#![warn(missing_docs)]

mod entity_tag;
mod response;

pub use entity_tag::EntityTag;
pub use response::{add_refusal_headers, event_stream};

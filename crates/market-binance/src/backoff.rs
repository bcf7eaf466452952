//! Waits that double up to a bound; shared with other venues.

pub(crate) use upstream::{Backoff, chance};

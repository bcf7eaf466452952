//! Everybody who follows one series; shared with other venues.

pub(crate) use upstream::{Hub, Seat};

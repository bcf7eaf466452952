//! One file per tool; each has one `call`.

pub(crate) mod health;
pub(crate) mod historical;
pub(crate) mod live;
pub(crate) mod metadata;

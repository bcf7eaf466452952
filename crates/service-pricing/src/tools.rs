//! The four tools that the collector and the optimizer share, one file each.

pub(crate) mod auth_metrics;
pub(crate) mod health_check;
pub(crate) mod ping_health;
pub(crate) mod version_info;

use serde::Deserialize;

/// The arguments of a tool that has none.
#[derive(Deserialize)]
pub(crate) struct NoArgs {}

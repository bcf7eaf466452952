//! Volume indicators: prices weighted by traded volume.

pub(crate) mod adl;
pub(crate) mod chaikin;
pub(crate) mod cmf;
pub(crate) mod eom;
mod flow_total;
pub(crate) mod force;
pub(crate) mod mfi;
pub(crate) mod nvi;
pub(crate) mod obv;
pub(crate) mod vpt;
pub(crate) mod vwap;

pub use adl::Adl;
pub use chaikin::Chaikin;
pub use cmf::Cmf;
pub use eom::Eom;
pub use flow_total::FlowTotal;
pub use force::Force;
pub use mfi::Mfi;
pub use nvi::Nvi;
pub use obv::{Obv, StrictObv};
pub use vpt::{SmoothVpt, Vpt};
pub use vwap::{RollingVwap, Vwap, VwapSession};

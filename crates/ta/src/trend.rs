//! Trend indicators: direction and strength of price movement.

pub(crate) mod adx;
pub(crate) mod aroon;
pub(crate) mod cci;
pub(crate) mod dpo;
pub(crate) mod ema;
pub(crate) mod ichimoku;
pub(crate) mod kst;
pub(crate) mod macd;
pub(crate) mod mass_index;
pub(crate) mod psar;
pub(crate) mod sar;
pub(crate) mod sma;
pub(crate) mod stc;
pub(crate) mod trix;
pub(crate) mod vortex;
pub(crate) mod wma;

pub use adx::Adx;
pub use aroon::Aroon;
pub use cci::Cci;
pub use dpo::Dpo;
pub use ema::Ema;
pub use ichimoku::Ichimoku;
pub use kst::Kst;
pub use macd::Macd;
pub use mass_index::MassIndex;
pub use psar::Psar;
pub use sar::Sar;
pub use sma::Sma;
pub use stc::Stc;
pub use trix::Trix;
pub use vortex::Vortex;
pub use wma::Wma;

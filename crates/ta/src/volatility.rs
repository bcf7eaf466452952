//! Volatility indicators: size of price swings.

pub(crate) mod atr;
pub(crate) mod bandwidth;
pub(crate) mod bollinger;
pub(crate) mod donchian;
pub(crate) mod keltner;
pub(crate) mod ulcer;

pub use atr::Atr;
pub use bandwidth::Bandwidth;
pub use bollinger::Bollinger;
pub use donchian::Donchian;
pub use keltner::{Keltner, KeltnerAtr};
pub use ulcer::Ulcer;

//! Momentum indicators: speed of price and volume changes.

pub(crate) mod awesome;
pub(crate) mod kama;
pub(crate) mod ppo;
pub(crate) mod pvo;
pub(crate) mod roc;
pub(crate) mod rsi;
pub(crate) mod stoch;
pub(crate) mod stoch_rsi;
pub(crate) mod tsi;
pub(crate) mod ultimate;
pub(crate) mod williams;

pub use awesome::Awesome;
pub use kama::Kama;
pub use ppo::Ppo;
pub use pvo::Pvo;
pub use roc::Roc;
pub use rsi::Rsi;
pub use stoch::Stoch;
pub use stoch_rsi::StochRsi;
pub use tsi::Tsi;
pub use ultimate::Ultimate;
pub use williams::WilliamsR;

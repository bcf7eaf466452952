//! Technical indicators over candles, batch and incremental, with values that agree with Python's
//! `ta` 0.11 or, with `parity=talib`, with TA-Lib's seeding.
//!
//! Each indicator is a small state machine in a file of its own. [`Indicator::update`] takes a
//! closed candle, [`Indicator::preview`] shows what a forming candle would give without changing
//! anything, [`Indicator::extend`] takes a whole history at once. [`Spec`] finds indicators by
//! name. Nothing here reads clocks, files or networks, and nothing panics on any candle: a value
//! that is not available is `NaN`.
//!
//! ```
//! use ta::{Arg, Candle, Indicator, Spec, momentum::Rsi};
//!
//! let mut rsi = Rsi::new(2, ta::Parity::Ta)?;
//! let candle = |c: f64| Candle { t: 0, o: c, h: c, l: c, c, v: 1.0 };
//! assert!(rsi.update(&candle(10.0))[0].is_nan());
//! assert_eq!(rsi.preview(&candle(11.0)), [100.0]);
//! assert_eq!(rsi.update(&candle(9.0)), [0.0]);
//!
//! let macd = Spec::parse("macd", &[("fast", Arg::Number(5.0))])?;
//! assert_eq!(macd.outputs(), ["macd", "signal", "hist"]);
//! assert_eq!(macd.to_string(), "macd(fast=5,slow=26,signal=9,parity=ta)");
//! # Ok::<(), ta::Error>(())
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

#[doc(hidden)]
pub mod block;
mod candle;
mod delayed;
mod error;
mod indicator;
pub mod momentum;
pub mod returns;
mod signal_oscillator;
mod simd;
mod spec;
pub mod trend;
pub mod volatility;
pub mod volume;

#[cfg(test)]
mod golden;
#[cfg(test)]
mod laws;

pub use candle::{Candle, Candles};
pub use error::Error;
pub(crate) use indicator::OutputSink;
pub use indicator::{Indicator, Stream};
pub use spec::{Arg, Memory, PERIOD_MAX, Param, ParamKind, Parity, Spec, known};

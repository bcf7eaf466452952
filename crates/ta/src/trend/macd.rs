//! Moving average convergence divergence: the line is fast - slow, of exponential averages of the
//! close; the signal is an exponential average of the line; hist = line - signal.

use crate::indicator::erase;
use crate::signal_oscillator::{PARAMS, SignalOscillator};
use crate::spec::{Entry, Memory};

pub(crate) const ENTRY: Entry = Entry {
    name: "macd",
    params: PARAMS,
    outputs: &["macd", "signal", "hist"],
    memory: |_| Memory::Decaying,
    build: |v| Ok(erase(Macd::new(v.period(0), v.period(1), v.period(2), v.parity(3))?)),
};

/// Moving average convergence divergence of the close.
pub type Macd = SignalOscillator<false, false>;
